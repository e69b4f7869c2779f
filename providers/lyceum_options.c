#include "core/conf.h"
#include "providers/lyceum.h"

#define FIELD(name) offsetof(struct lyceum_options, name)

/* clang-format off */
static const struct conf_option rows[] = {
	{"provider", "ssh_public_key", NULL,
	 "SSH public key that Lyceum lets into each machine: ssh-ed25519 AAAA...",
	 false, CONF_PHRASE, 0, 0, FIELD(ssh_public_key)},
};
/* clang-format on */

const struct conf_driver lyceum_options = {
	.name = "lyceum",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(rows[0]),
	.attest = CONF_ATTEST_OFF,
	.size = sizeof(struct lyceum_options),
};
