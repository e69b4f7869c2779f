/* registry.h - the table of drivers of secret stores, which main.c gives to the engine. */
#ifndef PROVIDERS_SECRETS_REGISTRY_H
#define PROVIDERS_SECRETS_REGISTRY_H

#include "core/secret_store.h"

extern const struct secret_store_ops *const secrets_drivers[]; /* NULL-terminated */

const struct secret_store_ops *secrets_find(const char *name); /* or NULL */

#endif
