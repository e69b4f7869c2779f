/* vault.h - HashiCorp Vault and OpenBao: a KV v2 engine, AppRole, response wrapping. */
#ifndef PROVIDERS_SECRETS_VAULT_H
#define PROVIDERS_SECRETS_VAULT_H

#include "core/secret_store.h"

extern const struct secret_store_ops secrets_vault;

#endif
