/* file.h - a file on this machine, for development and for sites without a secret store. */
#ifndef PROVIDERS_SECRETS_FILE_H
#define PROVIDERS_SECRETS_FILE_H

#include "core/secret_store.h"

extern const struct secret_store_ops secrets_file;

#endif
