#include <stddef.h>

#include "providers/lambda.h"

#define OWN(field) offsetof(struct lambda_options, field)

/* clang-format off */
static const struct conf_option options[] = {
	{"provider", "ssh_key", NULL,
	 "driver lambda: name of the SSH key that Lambda puts on each instance; it wants exactly one",
	 false, CONF_TEXT, 0, 0, OWN(ssh_key)},
	{"provider", "image", "",
	 "driver lambda: family or id of the image; empty: the latest Lambda Stack",
	 false, CONF_TEXT, 0, 0, OWN(image)},
	{"provider", "address", "public",
	 "driver lambda: which address of an instance slurmctld is told: public or private",
	 false, CONF_NAME, 0, 0, OWN(address)},
	{"provider", "firewall_rulesets", "",
	 "driver lambda: ids of firewall rulesets of the offers' region, comma-separated; empty: the global rules alone",
	 false, CONF_TEXT, 0, 0, OWN(firewall_rulesets)},
	{"provider", "file_systems", "",
	 "driver lambda: names of file systems of the offers' region to mount, comma-separated",
	 false, CONF_TEXT, 0, 0, OWN(file_systems)},
};
/* clang-format on */

const struct conf_driver lambda_options = {
	.name = "lambda",
	.options = options,
	.noptions = sizeof(options) / sizeof(options[0]),
	.size = sizeof(struct lambda_options),
};
