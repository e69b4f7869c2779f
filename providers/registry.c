#include "providers/registry.h"

#include <string.h>

#include "providers/aws.h"
#include "providers/ironic.h"
#include "providers/lambda.h"
#include "providers/lyceum.h"
#include "providers/openstack.h"
#include "providers/sim.h"
#include "providers/spheron.h"
#include "providers/static.h"

const struct provider_ops *const provider_drivers[] = {
	&provider_aws,     &provider_ironic,    &provider_lambda,
	&provider_lyceum,  &provider_openstack, &provider_sim,
	&provider_spheron, &provider_static,    NULL,
};

const struct provider_ops *provider_find(const char *name)
{
	for (size_t i = 0; provider_drivers[i] != NULL; i++)
		if (strcmp(provider_drivers[i]->name, name) == 0)
			return provider_drivers[i];
	return NULL;
}
