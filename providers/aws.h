/* aws.h - the driver for Amazon EC2 (docs/aws.md): its Query API, signed by Signature Version 4.
 *
 * An instance has its node and generation in its tags from birth, though one call makes many: the
 * tags of a batch name all of its nodes, in order, and the instance's launch index is its place in
 * that list (ADR 14). */
#ifndef PROVIDERS_AWS_H
#define PROVIDERS_AWS_H

#include "core/conf_option.h"
#include "core/provider.h"

struct aws_options { /* "" or NULL: not given */
	const char *region, *image, *subnets, *security_groups, *instance_profile, *key_name;
	const char *launch_template, *role, *sts_url, *metadata_url, *notice_queue, *reservations;
	const char *address;
};

extern const struct conf_driver aws_options;
extern const struct provider_ops provider_aws;

#endif
