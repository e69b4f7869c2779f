#include "core/conf.h"
#include "core/conf_option.h"
#include "providers/static.h"

#define FIELD(name) offsetof(struct static_options, name)

/* clang-format off */
static const struct conf_option rows[] = {
	{"provider", "on", "",
	 "command that switches node %n on",
	 false, CONF_ARGV, 0, 0, FIELD(on)},
	{"provider", "off", "",
	 "command that switches node %n off",
	 false, CONF_ARGV, 0, 0, FIELD(off)},
	{"provider", "status", "",
	 "command that prints whether node %n is on or off",
	 false, CONF_ARGV, 0, 0, FIELD(status)},
	{"provider", "records", "/var/lib/burstd/static",
	 "directory for the records of machines that are on",
	 false, CONF_PATH, 0, 0, FIELD(records)},
	{"provider", "program", "/usr/libexec/burstd/burst-static",
	 "program that runs these commands",
	 false, CONF_PROGRAM, 0, 0, FIELD(program)},
};
/* clang-format on */

const struct conf_driver static_options = {
	.name = "static",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(rows[0]),
	.attest = CONF_ATTEST_OFF,
	.size = sizeof(struct static_options),
};
