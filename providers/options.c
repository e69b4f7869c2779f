#include "providers/options.h"

#include "core/conf.h"
#include "core/conf_option.h"
#include "providers/aws.h"
#include "providers/ironic.h"
#include "providers/lambda.h"
#include "providers/lyceum.h"
#include "providers/openstack.h"
#include "providers/spheron.h"
#include "providers/static.h"

static const struct conf_driver sim_options = {.name = "sim", .attest = CONF_ATTEST_CALLBACK};

const struct conf_driver *const provider_options[] = {
	&aws_options,     &ironic_options,    &lambda_options,
	&lyceum_options,  &openstack_options, &sim_options,
	&spheron_options, &static_options,    NULL,
};
