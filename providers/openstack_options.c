/* openstack_options.c - the options that only this driver has. */
#include "core/conf_option.h"
#include "providers/openstack_private.h"

#define AT(field) offsetof(struct openstack_options, field)
#define TEXT(option, help_text)                                                                    \
	{                                                                                          \
		"provider", #option, "", help_text, false, CONF_TEXT, 0, 0, AT(option)             \
	}

/* clang-format off */
static const struct conf_option options[] = {
	TEXT(region, "region of the catalog; empty: the only one there"),
	{"provider", "interface", "public",
	 "endpoint of Nova in the catalog: public, internal or admin",
	 false, CONF_NAME, 0, 0, AT(interface)},
	TEXT(user, "name or id of the user whose password is in credential_file"),
	{"provider", "user_domain", "default",
	 "name or id of the user's domain",
	 false, CONF_TEXT, 0, 0, AT(user_domain)},
	TEXT(project, "name or id of the project; not with application_credential, which has its own"),
	{"provider", "project_domain", "default",
	 "name or id of the project's domain",
	 false, CONF_TEXT, 0, 0, AT(project_domain)},
	TEXT(application_credential,
	     "id, or name with user, of the application credential whose secret is in credential_file"),
	TEXT(image, "id of the image of the servers"),
	{"provider", "volume_gb", "0",
	 "size of the volume, made from the image, that a server boots from; 0: none, its own disk",
	 false, CONF_COUNT, 0, 65536, AT(volume_gb)},
	TEXT(volume_type, "type of that volume; empty: the cloud's default"),
	{"provider", "networks", "auto",
	 "ids of networks, comma-separated; auto: the project's only one",
	 false, CONF_TEXT, 0, 0, AT(networks)},
	TEXT(address_network, "name of the network whose address is the node's; empty: the first"),
	TEXT(security_groups, "names or ids of security groups, comma-separated; empty: default"),
	TEXT(key_name, "SSH key pair of the servers"),
	{"provider", "config_drive", "false",
	 "true: user-data on a disk as well, for clouds without a metadata service",
	 false, CONF_YES, 0, 0, AT(config_drive)},
	TEXT(server_group, "id of a server group that all servers are put into"),
	TEXT(spot_suffix, "market = spot buys the flavor whose name is the type and this, such as .spot"),
	TEXT(spot_trait, "trait that flavors of preemptible servers require, such as CUSTOM_PREEMPTIBLE"),
	{"provider", "together", "8",
	 "single nodes asked for at once; Nova finds hosts for all of them, or for none",
	 false, CONF_COUNT, 1, OPENSTACK_CREATE_MAX, AT(together)},
};
/* clang-format on */

const struct conf_driver openstack_options = {
	.name = "openstack",
	.options = options,
	.noptions = sizeof(options) / sizeof(options[0]),
	.size = sizeof(struct openstack_options),
};
