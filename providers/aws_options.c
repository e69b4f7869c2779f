#include "core/conf.h"
#include "core/conf_option.h"
#include "providers/aws.h"

#define FIELD(name) offsetof(struct aws_options, name)

/* clang-format off */
static const struct conf_option rows[] = {
	{"provider", "region", "",
	 "region of EC2, such as eu-west-1",
	 false, CONF_TEXT, 0, 0, FIELD(region)},
	{"provider", "image", "",
	 "AMI of the instances; empty: launch_template's",
	 true, CONF_TEXT, 0, 0, FIELD(image)},
	{"provider", "subnets", "",
	 "ZONE=SUBNET,ZONE=SUBNET; empty: those of the default VPC",
	 false, CONF_TEXT, 0, 0, FIELD(subnets)},
	{"provider", "security_groups", "",
	 "ids of security groups, comma-separated",
	 false, CONF_TEXT, 0, 0, FIELD(security_groups)},
	{"provider", "instance_profile", "",
	 "name or ARN of the instances' profile",
	 false, CONF_TEXT, 0, 0, FIELD(instance_profile)},
	{"provider", "key_name", "",
	 "SSH key pair of instances",
	 false, CONF_TEXT, 0, 0, FIELD(key_name)},
	{"provider", "launch_template", "",
	 "id or name of a launch template, with :VERSION; empty: none",
	 false, CONF_TEXT, 0, 0, FIELD(launch_template)},
	{"provider", "reservations", "",
	 "TYPE=TARGET,TYPE@ZONE=TARGET: capacity reservations of offers of market reserved, as an id, block:ID or a group's ARN; empty: any open one",
	 false, CONF_TEXT, 0, 0, FIELD(reservations)},
	{"provider", "role", "",
	 "ARN of a role that burstd assumes; empty: its own rights",
	 false, CONF_TEXT, 0, 0, FIELD(role)},
	{"provider", "sts_url", "",
	 "URL of STS; empty: the region's",
	 false, CONF_URL, 0, 0, FIELD(sts_url)},
	{"provider", "metadata_url", "",
	 "URL of the instance metadata service; empty: EC2's",
	 false, CONF_URL, 0, 0, FIELD(metadata_url)},
	{"provider", "address", "private",
	 "which address of an instance slurmctld is told: private, public or ipv6",
	 false, CONF_NAME, 0, 0, FIELD(address)},
	{"provider", "notice_queue", "",
	 "URL of the SQS queue with notices of reclaims; empty: none",
	 false, CONF_URL, 0, 0, FIELD(notice_queue)},
};
/* clang-format on */

const struct conf_driver aws_options = {
	.name = "aws",
	.options = rows,
	.noptions = sizeof(rows) / sizeof(rows[0]),
	.attest = CONF_ATTEST_AWS,
	.size = sizeof(struct aws_options),
};
