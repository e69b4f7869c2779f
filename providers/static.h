/* static.h - the driver for machines that a site owns, which the site's own commands switch on and
 * off and check (docs/static.md).
 *
 * Its requests are COMMANDs for burst-static (scripts/node/burst-static), which runs the site's
 * commands and keeps a record of each machine that is on, in place of a cloud's tags. */
#ifndef PROVIDERS_STATIC_H
#define PROVIDERS_STATIC_H

#include "core/conf_option.h"
#include "core/provider.h"

struct static_options {
	const char *const *on, *const *off, *const *status; /* NULL-terminated, or NULL */
	const char *records, *program;
};

extern const struct conf_driver static_options;
extern const struct provider_ops provider_static;

#endif
