/* registry.h - every driver of a secret store; main.c hands it to the engine. */
#ifndef PROVIDERS_SECRETS_REGISTRY_H
#define PROVIDERS_SECRETS_REGISTRY_H

#include "core/secret_store.h"

extern const struct secret_store_ops *const secrets_drivers[]; /* NULL-terminated */

const struct secret_store_ops *secrets_find(const char *name); /* or NULL */

#endif
