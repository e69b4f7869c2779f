#include "providers/secrets/registry.h"

#include <string.h>

#include "providers/secrets/aws_sm.h"
#include "providers/secrets/file.h"
#include "providers/secrets/vault.h"

const struct secret_store_ops *const secrets_drivers[] = {
	&secrets_aws,
	&secrets_file,
	&secrets_vault,
	NULL,
};

const struct secret_store_ops *secrets_find(const char *name)
{
	for (size_t i = 0; secrets_drivers[i] != NULL; i++)
		if (strcmp(secrets_drivers[i]->name, name) == 0)
			return secrets_drivers[i];
	return NULL;
}
