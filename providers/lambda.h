/* lambda.h - the driver for Lambda Cloud (docs/providers/lambda.md). */
#ifndef PROVIDERS_LAMBDA_H
#define PROVIDERS_LAMBDA_H

#include "core/conf_option.h"
#include "core/provider.h"

struct lambda_options { /* provider_conf.options; NULL or "": not given */
	const char *ssh_key, *image, *address, *firewall_rulesets, *file_systems;
};

extern const struct provider_ops provider_lambda;
extern const struct conf_driver lambda_options; /* lambda_options.c */

#endif
