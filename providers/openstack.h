/* openstack.h - the driver for OpenStack's Nova, with Keystone (docs/providers/openstack.md).
 *
 * A server is found by its tag, which has the cluster's uuid and is what lists are filtered by. Its
 * metadata names all nodes of the create that made it, in order, and the number that Nova puts at
 * the end of its name is its place in that list (members.h).  Both are part of the create, so they
 * are there from birth. */
#ifndef PROVIDERS_OPENSTACK_H
#define PROVIDERS_OPENSTACK_H

#include <stdint.h>

#include "core/provider.h"

struct openstack_options {
	/* texts; NULL is "" */
	char *region, *interface;
	char *user, *user_domain, *project, *project_domain, *application_credential;
	char *image, *volume_type, *networks, *address_network, *security_groups, *key_name;
	char *server_group, *spot_suffix, *spot_trait;
	uint32_t volume_gb; /* 0: no volume */
	uint32_t together;  /* single nodes in one create */
	int config_drive;
};

extern const struct provider_ops provider_openstack;

#endif
