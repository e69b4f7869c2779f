/* test_aws.c - what the driver aws asks for, byte by byte.  tests/contract/aws.py has it talk to
 * somebody. */
#include "tests/unit/providers/aws_lab.h"

static void test_a_launch_names_all_of_its_nodes_from_birth(void **state)
{
	struct provider_op op = create(3);
	struct provider_request rq;

	(void)state;
	wants[1].gen = wants[2].gen = 12;
	build(&rq, &op);
	assert_string_equal(rq.method, "POST");
	assert_string_equal(rq.url, "https://ec2.eu-west-1.amazonaws.com/");
	assert_string_equal(
		rq.body,
		"Action=RunInstances&Version=2016-11-15&ClientToken=tok&MinCount=1&MaxCount=3"
		"&InstanceType=p5.48xlarge&ImageId=ami-1&SubnetId=subnet-b"
		"&MetadataOptions.HttpTokens=required&MetadataOptions.HttpPutResponseHopLimit=1"
		"&InstanceInitiatedShutdownBehavior=terminate"
		"&TagSpecification.1.ResourceType=instance"
		"&TagSpecification.1.Tag.1.Key=Name&TagSpecification.1.Tag.1.Value=c%5B1-3%5D"
		"&TagSpecification.1.Tag.2.Key=burstd-cluster&TagSpecification.1.Tag.2.Value=" UUID
		"&TagSpecification.1.Tag.3.Key=burstd-batch&TagSpecification.1.Tag.3.Value=tok"
		"&TagSpecification.1.Tag.4.Key=burstd-node"
		"&TagSpecification.1.Tag.4.Value=c%5B1-3%5D"
		"&TagSpecification.1.Tag.5.Key=burstd-generation"
		"&TagSpecification.1.Tag.5.Value=1%2C12%2A2"
		"&TagSpecification.2.ResourceType=volume"
		"&TagSpecification.2.Tag.1.Key=burstd-cluster&TagSpecification.2.Tag.1."
		"Value=" UUID);
	assert_int_equal(rq.body_len, strlen(rq.body));
	assert_non_null(header(&rq, "Authorization"));
	assert_string_equal(header(&rq, "X-Amz-Date"), "20261118T110640Z");
	assert_null(header(&rq, "X-Amz-Security-Token"));
	assert_null(strstr(rq.body, SECRET));
	provider_request_fini(&rq);
}

/* core/roll.h: the image of a create is before that of the provider's section. */
static void test_a_create_may_name_its_image(void **state)
{
	struct provider_op op = create(3);
	struct provider_place named = *op.u.create.place;
	struct provider_request rq;

	(void)state;
	named.image = "ami-2";
	op.u.create.place = &named;
	build(&rq, &op);
	assert_non_null(strstr(rq.body, "&ImageId=ami-2&"));
	assert_null(strstr(rq.body, "ami-1"));
	provider_request_fini(&rq);
}

/* I4: the token stands for these bytes; the time and the session may be others. */
static void test_a_create_is_the_same_bytes_whenever_it_is_built(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(7);
	struct provider_request a, b;

	(void)state;
	place.zone = "";
	build(&a, &op);
	conf.credential = NULL; /* no session yet, and another process */
	reopen(&conf);
	op.at_ms = 0;
	build(&b, &op);
	assert_string_equal(a.body, b.body);
	assert_string_equal(a.url, b.url);
	assert_null(header(&b, "Authorization"));
	provider_request_fini(&a);
	provider_request_fini(&b);
}

static void test_a_zone_is_a_subnet_and_no_zone_is_any(void **state)
{
	struct provider_op op = create(1);
	struct provider_request rq;
	unsigned seen = 0;

	(void)state;
	for (int i = 0; i < 64; i++) {
		char token[16];

		(void)snprintf(token, sizeof(token), "t%d", i);
		op.u.create.token = token;
		place.zone = "eu-west-1a";
		build(&rq, &op);
		assert_true(has(&rq, "SubnetId=subnet-a") || has(&rq, "SubnetId=subnet-c"));
		provider_request_fini(&rq);
		place.zone = "";
		build(&rq, &op);
		seen |= has(&rq, "SubnetId=subnet-a") ? 1 : 0;
		seen |= has(&rq, "SubnetId=subnet-b") ? 2 : 0;
		seen |= has(&rq, "SubnetId=subnet-c") ? 4 : 0;
		provider_request_fini(&rq);
	}
	assert_int_equal(seen, 7);
}

static void test_without_subnets_the_zone_is_said(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	own.subnets = "";
	own.security_groups = "sg-1,sg-2";
	own.launch_template = "lt-1";
	conf.user_data = "#!/bin/sh";
	own.key_name = "ops";
	own.instance_profile = "nodes";
	reopen(&conf);
	place.market = PROVIDER_SPOT;
	build(&rq, &op);
	assert_true(has(&rq, "Placement.AvailabilityZone=eu-west-1b"));
	assert_true(has(&rq, "SecurityGroupId.2=sg-2"));
	assert_true(has(&rq, "LaunchTemplate.LaunchTemplateId=lt-1"));
	assert_true(has(&rq, "LaunchTemplate.Version=%24Default"));
	assert_true(has(&rq, "UserData=IyEvYmluL3No"));
	assert_false(has(&rq, "UserData=QUI%3D"));
	assert_true(has(&rq, "KeyName=ops"));
	assert_true(has(&rq, "IamInstanceProfile.Name=nodes"));
	assert_true(has(&rq, "InstanceMarketOptions.MarketType=spot"));
	/* One that stays asked for would buy again, whatever becomes of the node. */
	assert_true(has(&rq, "InstanceMarketOptions.SpotOptions.SpotInstanceType=one-time"));
	assert_true(has(&rq, "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior="
			     "terminate"));
	assert_null(strstr(rq.body, "MetadataOptions")); /* the template's business */
	assert_null(strstr(rq.body, "SubnetId"));
	provider_request_fini(&rq);
}

/* Capacity that is paid for already, or nothing at all: neither spot nor a fleet. */
static void test_reserved_capacity_is_insisted_on(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	own.launch_template = "lt-1";
	reopen(&conf);
	place.market = PROVIDER_RESERVED;
	place.zone = ""; /* a choice of subnets */
	build(&rq, &op);
	assert_true(has(&rq, "Action=RunInstances"));
	assert_true(has(&rq, "CapacityReservationSpecification.CapacityReservationPreference="
			     "capacity-reservations-only"));
	assert_null(strstr(rq.body, "InstanceMarketOptions"));
	provider_request_fini(&rq);
	op = create(7);
	place.market = PROVIDER_RESERVED;
	place.zone = "";
	assert_int_equal(provider_aws.fits(self, &op.u.create), 7);
	place.market = PROVIDER_ON_DEMAND;
	build(&rq, &op);
	assert_null(strstr(rq.body, "CapacityReservation"));
	provider_request_fini(&rq);
}

#define GROUP  "arn:aws:resource-groups:eu-west-1:1:group/burst"
#define SPEC   "CapacityReservationSpecification."
#define TARGET SPEC "CapacityReservationTarget."
#define ONLY   SPEC "CapacityReservationPreference=capacity-reservations-only"
#define BLOCK  "InstanceMarketOptions.MarketType=capacity-block"
#define IN_GROUP                                                                                   \
	TARGET                                                                                     \
	"CapacityReservationResourceGroupArn=arn%3Aaws%3Aresource-groups%3Aeu-west-1%3A1%3Agroup%" \
	"2Fburst"

static void test_a_reservation_is_named_by_type_and_zone(void **state)
{
	static const struct {
		const char *type, *zone;
		enum provider_market market;
		const char *has, *has_too, *not ; /* not: the beginning of a parameter */
	} rows[] = {
		{"p5.48xlarge", "eu-west-1b", PROVIDER_RESERVED, ONLY,
		 TARGET "CapacityReservationId=cr-b", "InstanceMarketOptions"},
		{"p5.48xlarge", "eu-west-1a", PROVIDER_RESERVED, BLOCK,
		 TARGET "CapacityReservationId=cr-a", SPEC "CapacityReservationPreference"},
		{"g6.xlarge", "eu-west-1b", PROVIDER_RESERVED, ONLY, IN_GROUP,
		 "InstanceMarketOptions"},
		{"g5.xlarge", "eu-west-1b", PROVIDER_RESERVED, BLOCK, IN_GROUP,
		 SPEC "CapacityReservationPreference"},
		{"p4d.24xlarge", "eu-west-1b", PROVIDER_RESERVED, ONLY, "MaxCount=2", TARGET},
		{"p5.48xlarge", "eu-west-1b", PROVIDER_ON_DEMAND, "MaxCount=2", "MinCount=1", SPEC},
		{"p5.48xlarge", "eu-west-1b", PROVIDER_SPOT,
		 "InstanceMarketOptions.MarketType=spot", "MinCount=1", SPEC},
		{"p5.48xlarge", "", PROVIDER_ON_DEMAND, "SubnetId=subnet-b1", "MinCount=1", SPEC},
		/* The offer leaves the zone open: it is the reservation's. */
		{"p5.48xlarge", "", PROVIDER_RESERVED, BLOCK, "SubnetId=subnet-a1",
		 SPEC "CapacityReservationPreference"},
	};
	struct provider_conf conf = usual();

	(void)state;
	own.reservations = "p5.48xlarge@eu-west-1a=block:cr-a,p5.48xlarge@eu-west-1b=cr-b,"
			   "g6.xlarge=" GROUP ",g5.xlarge=block:" GROUP;
	own.subnets = "eu-west-1a=subnet-a1,eu-west-1b=subnet-b1";
	reopen(&conf);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = create(2);
		struct provider_request rq;

		place.type = rows[i].type;
		place.zone = rows[i].zone;
		place.market = rows[i].market;
		build(&rq, &op);
		if (!has(&rq, rows[i].has) || !has(&rq, rows[i].has_too) ||
		    strstr(rq.body, rows[i].not ) != NULL)
			fail_msg("row %zu: %s", i, rq.body);
		provider_request_fini(&rq);
	}
}

static void test_what_ec2_could_not_do_is_not_asked(void **state)
{
	struct provider_request rq = {0};
	struct provider_op op = create(1);
	const char *ids[] = {"i-1 "};
	struct err e;

	(void)state;
	place.region = "us-east-1"; /* its lists would never show it */
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	assert_string_equal(e.msg, "this provider is for region eu-west-1, not us-east-1");
	op = create(1);
	place.zone = "eu-west-1c";
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	assert_non_null(strstr(e.msg, "subnets has none in zone eu-west-1c"));
	op = create(0);
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	op = create(1);
	wants[0].node = "c1,c2";
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	op = create(1);
	op.u.create.token =
		"a-token-that-is-longer-than-the-sixty-four-bytes-that-ec2-takes-at-most";
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	op = (struct provider_op){.kind = PROVIDER_DELETE};
	op.u.del.ids = ids;
	op.u.del.nids = 1;
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	op.u.del.nids = 0;
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	op = (struct provider_op){.kind = PROVIDER_LOGIN};
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
}

static void test_a_gang_in_front_comes_whole_or_not_at_all(void **state)
{
	struct provider_op op = create(5);
	struct provider_request rq;

	(void)state;
	wants[0].group = wants[1].group = wants[2].group = 4;
	wants[3].group = wants[4].group = 5;
	build(&rq, &op);
	assert_true(has(&rq, "MinCount=3"));
	assert_true(has(&rq, "MaxCount=5"));
	provider_request_fini(&rq);
}

/* At most one job of a launch gets a part of its nodes: MinCount is the size of each. */
static void test_jobs_of_one_size_are_launched_together(void **state)
{
	static const struct {
		const char *groups; /* of each node; '0' stands alone */
		size_t fits;
	} rows[] = {
		{"0000", 4},           {"0001122", 3}, {"112233", 6}, {"1122333", 4},
		{"11112222", 8},       {"11220", 4},   {"11111", 5},  {"1111122222", 10},
		{"1111122222033", 10}, {"10", 2},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = create(strlen(rows[i].groups));

		for (size_t k = 0; k < op.u.create.nwants; k++)
			wants[k].group = (uint32_t)(rows[i].groups[k] - '0');
		if (provider_aws.fits(self, &op.u.create) != rows[i].fits)
			fail_msg("%s", rows[i].groups);
	}
}

static void test_lists_deletes_and_prices_are_asked_for(void **state)
{
	static const char *const ids[] = {"i-1", "i-2"}, *const types[] = {"p5.48xlarge"};
	struct provider_op op = {.kind = PROVIDER_LIST, .at_ms = now_ms};
	struct provider_request rq;

	(void)state;
	op.u.list.cluster = UUID;
	op.cursor = "a+/=";
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=DescribeInstances&Version=2016-11-15"
				     "&Filter.1.Name=tag%3Aburstd-cluster&Filter.1.Value.1=" UUID
				     "&MaxResults=250&NextToken=a%2B%2F%3D");
	provider_request_fini(&rq);
	op = (struct provider_op){.kind = PROVIDER_DELETE, .at_ms = now_ms};
	op.u.del.ids = ids;
	op.u.del.nids = 2;
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=TerminateInstances&Version=2016-11-15"
				     "&InstanceId.1=i-1&InstanceId.2=i-2");
	provider_request_fini(&rq);
	op = (struct provider_op){.kind = PROVIDER_REPORT, .at_ms = now_ms};
	op.u.report.id = "i-1";
	op.u.report.words = "XID 79"; /* EC2 no longer has a place for words */
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=ReportInstanceStatus&Version=2016-11-15"
				     "&InstanceId.1=i-1&Status=impaired&ReasonCode.1=other");
	provider_request_fini(&rq);
	op = (struct provider_op){.kind = PROVIDER_CONSOLE, .at_ms = now_ms};
	op.u.console.id = "i-1";
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=GetConsoleOutput&Version=2016-11-15"
				     "&InstanceId=i-1&Latest=true");
	provider_request_fini(&rq);
	op = (struct provider_op){.kind = PROVIDER_QUOTES, .at_ms = now_ms};
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	op.cursor = "";
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=DescribeInstanceTypes&Version=2016-11-15"
				     "&Filter.1.Name=instance-type&Filter.1.Value.1=p5.48xlarge"
				     "&MaxResults=100");
	provider_request_fini(&rq);
	op.cursor = "p";
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=DescribeSpotPriceHistory&Version=2016-11-15"
				     "&StartTime=2026-11-18T11%3A06%3A40.000Z"
				     "&ProductDescription.1=Linux%2FUNIX"
				     "&Filter.1.Name=instance-type&Filter.1.Value.1=p5.48xlarge"
				     "&MaxResults=1000");
	provider_request_fini(&rq);
}

/* A token of EC2's belongs to the request that it came from. */
static void test_all_pages_of_prices_are_of_one_time(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES, .at_ms = now_ms};
	struct provider_request rq;
	struct provider_result r;

	(void)state;
	op.cursor = "p";
	parse(&r, &op, 200,
	      "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet/><nextToken>a,b=</nextToken>"
	      "</DescribeSpotPriceHistoryResponse>");
	assert_int_equal(r.code, PROVIDER_MORE);
	op.cursor = r.cursor;
	op.at_ms += 1000;
	build(&rq, &op);
	assert_true(has(&rq, "StartTime=2026-11-18T11%3A06%3A40.000Z"));
	assert_true(has(&rq, "NextToken=a%2Cb%3D"));
	provider_request_fini(&rq);
	provider_result_fini(&r);
}

/* DescribeSpotPriceHistory gives what was in force at StartTime, and all changes since. */
static void test_prices_of_the_past_are_asked_for_since_then(void **state)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES, .at_ms = now_ms};
	struct provider_request rq;

	(void)state;
	op.u.quotes.since_ms = now_ms - 3600000;
	op.cursor = "p";
	build(&rq, &op);
	assert_true(has(&rq, "StartTime=2026-11-18T10%3A06%3A40.000Z"));
	assert_false(has(&rq, "EndTime"));
	provider_request_fini(&rq);
	op.u.quotes.since_ms = now_ms - 1; /* a page goes on with the time of the first */
	op.cursor = "p1795000000123,tok";
	build(&rq, &op);
	assert_true(has(&rq, "StartTime=2026-11-18T11%3A06%3A40.123Z"));
	provider_request_fini(&rq);
}

static void test_a_type_of_many_pools_is_asked_for_once(void **state)
{
	static const char *types[256];
	struct provider_op op = {.kind = PROVIDER_QUOTES, .at_ms = now_ms};
	struct provider_request rq;

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++)
		types[i] = i == COUNT(types) - 1 ? "p5.48xlarge" : "c5.large";
	op.u.quotes.types = types;
	op.u.quotes.ntypes = COUNT(types);
	for (int page = 0; page < 2; page++) {
		op.cursor = page == 0 ? "" : "p";
		build(&rq, &op);
		assert_true(has(&rq, "Filter.1.Value.1=c5.large"));
		assert_true(has(&rq, "Filter.1.Value.2=p5.48xlarge"));
		assert_null(strstr(rq.body, "Filter.1.Value.3="));
		provider_request_fini(&rq);
	}
}

/* EC2 takes so many values; of the other types no price is known. */
static void test_no_more_than_200_types_are_asked_for(void **state)
{
	static char each[256][16];
	static const char *types[256];
	struct provider_op op = {.kind = PROVIDER_QUOTES, .at_ms = now_ms};
	struct provider_request rq;

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		(void)snprintf(each[i], sizeof(each[i]), "t.%zu", i);
		types[i] = each[i];
	}
	op.u.quotes.types = types;
	op.u.quotes.ntypes = COUNT(types);
	op.cursor = "";
	build(&rq, &op);
	assert_true(has(&rq, "Filter.1.Value.200=t.199"));
	assert_null(strstr(rq.body, "Filter.1.Value.201="));
	provider_request_fini(&rq);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_create_may_name_its_image),
		T(test_a_launch_names_all_of_its_nodes_from_birth),
		T(test_a_create_is_the_same_bytes_whenever_it_is_built),
		T(test_a_zone_is_a_subnet_and_no_zone_is_any),
		T(test_without_subnets_the_zone_is_said),
		T(test_reserved_capacity_is_insisted_on),
		T(test_a_reservation_is_named_by_type_and_zone),
		T(test_what_ec2_could_not_do_is_not_asked),
		T(test_a_gang_in_front_comes_whole_or_not_at_all),
		T(test_jobs_of_one_size_are_launched_together),
		T(test_lists_deletes_and_prices_are_asked_for),
		T(test_all_pages_of_prices_are_of_one_time),
		T(test_prices_of_the_past_are_asked_for_since_then),
		T(test_a_type_of_many_pools_is_asked_for_once),
		T(test_no_more_than_200_types_are_asked_for),
	};
#undef T

	return cmocka_run_group_tests_name("aws", tests, NULL, NULL);
}
