/* spheron.h - the driver for Spheron (docs/providers/spheron.md). */
#ifndef PROVIDERS_SPHERON_H
#define PROVIDERS_SPHERON_H

#include "core/conf_option.h"
#include "core/provider.h"

struct spheron_options { /* provider_conf.options; NULL or "": not given */
	const char *team, *ssh_key, *operating_system;
};

extern const struct provider_ops provider_spheron;
extern const struct conf_driver spheron_options; /* spheron_options.c */

#endif
