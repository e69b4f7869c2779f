/* aws.h - the driver for Amazon EC2 (docs/aws.md): its Query API, signed by Signature Version 4.
 *
 * Who an instance is, is in its tags from birth, by one call for many nodes: the tags of a batch
 * name all of its nodes, in order, and the instance's launch index says which of them it is (ADR
 * 14). */
#ifndef PROVIDERS_AWS_H
#define PROVIDERS_AWS_H

#include "core/provider.h"

extern const struct provider_ops provider_aws;

#endif
