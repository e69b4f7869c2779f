/* lyceum.h - the driver for Lyceum (docs/providers/lyceum.md). */
#ifndef PROVIDERS_LYCEUM_H
#define PROVIDERS_LYCEUM_H

#include "core/conf_option.h"
#include "core/provider.h"

struct lyceum_options { /* provider_conf.options; NULL or "": not given */
	const char *ssh_public_key;
};

extern const struct provider_ops provider_lyceum;
extern const struct conf_driver lyceum_options; /* lyceum_options.c */

#endif
