/* aws.h - the driver for Amazon EC2 (docs/aws.md): its Query API, signed by Signature Version 4.
 *
 * An instance has its node and generation in its tags from birth, though one call makes many: the
 * tags of a batch name all of its nodes, in order, and the instance's launch index is its place in
 * that list (ADR 14). */
#ifndef PROVIDERS_AWS_H
#define PROVIDERS_AWS_H

#include "core/provider.h"

extern const struct provider_ops provider_aws;

#endif
