#include "core/conf.h"
#include "providers/spheron.h"

#define FIELD(name) offsetof(struct spheron_options, name)

/* clang-format off */
static const struct conf_option rows[] = {
	{"provider", "team", NULL,
	 "id of the team that pays, and whose deployments are listed",
	 false, CONF_TEXT, 0, 0, FIELD(team)},
	{"provider", "ssh_key", NULL,
	 "id of the SSH key that Spheron puts on each deployment; it wants exactly one",
	 false, CONF_TEXT, 0, 0, FIELD(ssh_key)},
	{"provider", "operating_system", NULL,
	 "operating system, one of the os_options of the offers",
	 false, CONF_PHRASE, 0, 0, FIELD(operating_system)},
};
/* clang-format on */

const struct conf_driver spheron_options = {
	.name = "spheron",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(rows[0]),
	.attest = CONF_ATTEST_CALLBACK,
	.size = sizeof(struct spheron_options),
};
