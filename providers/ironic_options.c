#include "core/conf.h"
#include "providers/ironic.h"

#define FIELD(name) offsetof(struct ironic_options, name)

/* clang-format off */
static const struct conf_option rows[] = {
	{"provider", "application_credential", "",
	 "id of the application credential of Keystone whose secret is in credential_file; or its name, with user",
	 false, CONF_TEXT, 0, 0, FIELD(application_credential)},
	{"provider", "user", "",
	 "name or id of the user of Keystone whose password is in credential_file; empty, without application_credential: no Keystone",
	 false, CONF_PHRASE, 0, 0, FIELD(user)},
	{"provider", "user_domain", "default",
	 "name or id of the user's domain",
	 false, CONF_PHRASE, 0, 0, FIELD(user_domain)},
	{"provider", "project", "",
	 "name or id of the user's project",
	 false, CONF_PHRASE, 0, 0, FIELD(project)},
	{"provider", "project_domain", "default",
	 "name or id of the project's domain",
	 false, CONF_PHRASE, 0, 0, FIELD(project_domain)},
	{"provider", "region", "",
	 "region of Keystone's catalog; empty: the only one there",
	 false, CONF_TEXT, 0, 0, FIELD(region)},
	{"provider", "interface", "public",
	 "endpoint of Ironic in the catalog: public, internal or admin",
	 false, CONF_NAME, 0, 0, FIELD(interface)},
	{"provider", "image", "",
	 "image_source of the machines: a URL, or an id of Glance; empty: none, as the deploy interface may allow",
	 false, CONF_TEXT, 0, 0, FIELD(image)},
	{"provider", "image_checksum", "",
	 "image_checksum: of an image that is a URL, or the URL of a file with checksums",
	 false, CONF_TEXT, 0, 0, FIELD(image_checksum)},
	{"provider", "kernel", "",
	 "kernel, for images of one partition: a URL, or an id of Glance",
	 false, CONF_TEXT, 0, 0, FIELD(kernel)},
	{"provider", "ramdisk", "",
	 "ramdisk, for images of one partition: a URL, or an id of Glance",
	 false, CONF_TEXT, 0, 0, FIELD(ramdisk)},
	{"provider", "traits", "",
	 "traits that each machine must have, comma-separated; a zone Z of an offer is CUSTOM_Z besides",
	 false, CONF_TEXT, 0, 0, FIELD(traits)},
	{"provider", "address", "name",
	 "where a machine's address is: name, or a member of extra or properties, as properties.address",
	 false, CONF_NAME, 0, 0, FIELD(address)},
};
/* clang-format on */

const struct conf_driver ironic_options = {
	.name = "ironic",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(rows[0]),
	.attest = CONF_ATTEST_CALLBACK,
	.size = sizeof(struct ironic_options),
};
