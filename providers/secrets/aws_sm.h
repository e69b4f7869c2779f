/* aws_sm.h - AWS Secrets Manager: JSON 1.1, signed with the sessions of the driver aws. */
#ifndef PROVIDERS_SECRETS_AWS_SM_H
#define PROVIDERS_SECRETS_AWS_SM_H

#include "core/secret_store.h"

extern const struct secret_store_ops secrets_aws;

#endif
