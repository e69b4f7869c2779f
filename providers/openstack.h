/* openstack.h - the driver for OpenStack's Nova, with Keystone (docs/providers/openstack.md).
 *
 * A server is found by its tag, which has the cluster's uuid and is what lists are filtered by. Its
 * metadata names all nodes of the create that made it, in order, and the number that Nova puts at
 * the end of its name is its place in that list (members.h).  Both are part of the create, so they
 * are there from birth. */
#ifndef PROVIDERS_OPENSTACK_H
#define PROVIDERS_OPENSTACK_H

#include "core/conf_option.h"
#include "core/provider.h"

enum { OPENSTACK_CREATE_MAX = 100 }; /* servers in one create */

struct openstack_options { /* texts: NULL is "", or the default where there is one */
	const char *region, *interface;
	const char *user, *user_domain, *project, *project_domain, *application_credential;
	const char *image, *volume_type, *networks, *address_network, *security_groups, *key_name;
	const char *server_group, *spot_suffix, *spot_trait;
	uint32_t volume_gb; /* 0: no volume */
	uint32_t together;  /* single nodes in one create; 0: as many as by default */
	int config_drive;
};

extern const struct provider_ops provider_openstack;
extern const struct conf_driver openstack_options; /* openstack_options.c */

#endif
