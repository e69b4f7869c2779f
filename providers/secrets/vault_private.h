/* vault_private.h - the struct that vault*.c share; only these include it. */
#ifndef PROVIDERS_SECRETS_VAULT_PRIVATE_H
#define PROVIDERS_SECRETS_VAULT_PRIVATE_H

#include <stdint.h>

#include "core/secret_store.h"

#define VAULT_LOOK_PATH "auth/token/lookup-accessor"

struct vault {
	char *address[SECRET_ADDRESSES_MAX + 1]; /* "https://host:port" */
	char *namespace;                         /* NULL: none */
	char *data, *metadata;                   /* "kv/data/slurm/prod/node" */
	char *login, *enrol;                     /* enrol: creation_path of a secret_id */
	char *role_id;
	struct secret *secret_id, *token;
	int64_t until;
};

/* --- vault_reply.c --- */
/* As secret_store_ops.parse. */
void vault_parse(const void *self, const struct secret_op *op, const struct secret_reply *reply,
		 struct secret_result *out);

#endif
