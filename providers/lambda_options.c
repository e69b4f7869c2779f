#include "core/conf.h"
#include "providers/lambda.h"

#define FIELD(name) offsetof(struct lambda_options, name)

/* clang-format off */
static const struct conf_option rows[] = {
	{"provider", "ssh_key", NULL,
	 "name of the SSH key that Lambda puts on each instance; it wants exactly one",
	 false, CONF_PHRASE, 0, 0, FIELD(ssh_key)},
	{"provider", "image", "",
	 "family or id of the image; empty: the latest Lambda Stack",
	 true, CONF_TEXT, 0, 0, FIELD(image)},
	{"provider", "address", "public",
	 "which address of an instance slurmctld is told: public or private",
	 false, CONF_NAME, 0, 0, FIELD(address)},
	{"provider", "firewall_rulesets", "",
	 "ids of firewall rulesets of the offers' region, comma-separated; empty: the global rules alone",
	 false, CONF_TEXT, 0, 0, FIELD(firewall_rulesets)},
	{"provider", "file_systems", "",
	 "names of file systems of the offers' region to mount, comma-separated",
	 false, CONF_PHRASE, 0, 0, FIELD(file_systems)},
};
/* clang-format on */

const struct conf_driver lambda_options = {
	.name = "lambda",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(rows[0]),
	.attest = CONF_ATTEST_CALLBACK,
	.size = sizeof(struct lambda_options),
};
