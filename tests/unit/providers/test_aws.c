/* test_aws.c - what the driver aws asks for, byte by byte, and who is who in a batch.
 * tests/contract/aws.py has it talk to somebody. */
#include "tests/unit/providers/aws_lab.h"

/* --- open -------------------------------------------------------------------------------------
 */

static void test_it_is_known_by_its_name_and_says_what_ec2_can(void **state)
{
	struct provider_caps caps = provider_aws.caps(self);

	(void)state;
	assert_ptr_equal(provider_find("aws"), &provider_aws);
	assert_int_equal(caps.flags,
			 PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_REPORTS | PROVIDER_FABRICS);
	assert_int_equal(caps.create_max, 500);
	assert_int_equal(caps.delete_max, 250);
	assert_int_equal(caps.token_ms, 86400000);
	assert_int_equal(caps.reclaim_ms, 120000);
	assert_int_equal(caps.limits[PROVIDER_CREATE].requests.size, 5);
	assert_int_equal(caps.limits[PROVIDER_CREATE].requests.per_s, 2);
	assert_int_equal(caps.limits[PROVIDER_CREATE].instances.size, 1000);
	assert_int_equal(caps.limits[PROVIDER_CREATE].instances.per_s, 2);
	assert_int_equal(caps.limits[PROVIDER_DELETE].requests.per_s, 5);
	assert_int_equal(caps.limits[PROVIDER_DELETE].instances.per_s, 20);
	assert_int_equal(caps.limits[PROVIDER_LIST].requests.per_s, 20);
	assert_int_equal(caps.limits[PROVIDER_LOGIN].requests.per_s, 0); /* not EC2's */
	assert_int_equal(caps.limits[PROVIDER_NOTICES].requests.per_s, 0);
	/* What is bought in one create fits, or it would wait for ever. */
	assert_true(caps.create_max <= caps.limits[PROVIDER_CREATE].instances.size);
	assert_true(caps.delete_max <= caps.limits[PROVIDER_DELETE].instances.size);
	assert_true(provider_aws.good_until(self) == INT64_MAX);
}

static void test_a_configuration_that_cannot_work_is_refused(void **state)
{
	static const struct {
		const char *want;
		struct provider_conf conf;
	} rows[] = {
		{"region", {.region = ""}},
		{"region", {.region = "eu west"}},
		{"image or launch_template", {.region = "r", .image = ""}},
		{"url", {.region = "r", .image = "i", .url = "ftp://x"}},
		{"url", {.region = "r", .image = "i", .url = "https://u@x/"}},
		{"sts_url", {.region = "r", .image = "i", .sts_url = "x"}},
		{"url: want https", {.region = "r", .image = "i", .url = "http://ec2.example/"}},
		{"url: want https", {.region = "r", .image = "i", .url = "http://127.example.com"}},
		{"sts_url: want https",
		 {.region = "r", .image = "i", .sts_url = "http://127.0.0.1.example.com/"}},
		{"metadata_url", {.region = "r", .image = "i", .metadata_url = "http:///"}},
		{"subnets", {.region = "r", .image = "i", .subnets = "subnet-1"}},
		{"subnets", {.region = "r", .image = "i", .subnets = "a=s,=t"}},
		{"subnets", {.region = "r", .image = "i", .subnets = "a="}},
		{"security_groups", {.region = "r", .image = "i", .security_groups = "sg-1,,sg-2"}},
		{"credential_file", {.region = "r", .image = "i", .credential = "KEY SECRET"}},
		{"credential_file",
		 {.region = "r", .image = "i", .credential = "aws_access_key_id = A"}},
		{"credential_file",
		 {.region = "r",
		  .image = "i",
		  .credential = "[a]\naws_access_key_id=A\n[b]\naws_secret_access_key=B"}},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_conf conf = rows[i].conf;
		struct err e = {0};
		void *s = &e;

		conf.name = "x";
		assert_int_equal(provider_aws.open(&s, &conf, &e), -1);
		assert_null(s);
		if (strstr(e.msg, rows[i].want) == NULL)
			fail_msg("row %zu: %s", i, e.msg);
	}
}

/* What comes with a create is in place of what is configured. */
static void test_user_data_of_a_create(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(2);
	struct provider_request rq = {0};
	char *big = mem_zalloc(16384 + 2);
	struct err e = {0};

	(void)state;
	conf.user_data = "#!/bin/sh";
	reopen(&conf);
	op.u.create.user_data = "AB";
	build(&rq, &op);
	assert_true(has(&rq, "UserData=QUI%3D"));
	assert_false(has(&rq, "UserData=IyEvYmluL3No"));
	provider_request_fini(&rq);
	memset(big, 'x', 16384 + 1);
	op.u.create.user_data = big;
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	big[16384] = '\0';
	build(&rq, &op);
	provider_request_fini(&rq);
	free(big);
}

static void test_too_much_user_data_is_refused(void **state)
{
	struct provider_conf conf = usual();
	char *big = mem_zalloc(16385 + 1);
	struct err e = {0};
	void *s;

	(void)state;
	memset(big, 'x', 16385);
	conf.user_data = big;
	assert_int_equal(provider_aws.open(&s, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "user_data_file"));
	big[16384] = '\0';
	assert_int_equal(provider_aws.open(&s, &conf, &e), 0);
	provider_aws.close(s);
	free(big);
}

/* --- requests ---------------------------------------------------------------------------------
 */

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
	conf.subnets = "";
	conf.security_groups = "sg-1,sg-2";
	conf.launch_template = "lt-1";
	conf.user_data = "#!/bin/sh";
	conf.key_name = "ops";
	conf.instance_profile = "nodes";
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

/* Capacity that is paid for already, or nothing at all: neither spot nor a fleet, which may prefer
 * it only. */
static void test_reserved_capacity_is_insisted_on(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	conf.launch_template = "lt-1";
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

/* Of a job that there was room for but in part all is given back, and paid for. */
static void test_jobs_of_one_size_are_launched_together_and_large_ones_alone(void **state)
{
	static const struct {
		const char *groups; /* of each node; '0' stands alone */
		size_t fits;
	} rows[] = {
		{"0000", 4},         {"0001122", 3}, {"112233", 6}, {"1122333", 4},
		{"11112222", 8},     {"11220", 4},   {"11111", 5},  {"1111122222", 5},
		{"111112222203", 5}, {"10", 2},
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
	op.u.list.cursor = "a+/=";
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
	op = (struct provider_op){.kind = PROVIDER_QUOTES, .at_ms = now_ms};
	op.u.quotes.types = types;
	op.u.quotes.ntypes = 1;
	op.u.quotes.cursor = "";
	build(&rq, &op);
	assert_string_equal(rq.body, "Action=DescribeInstanceTypes&Version=2016-11-15"
				     "&Filter.1.Name=instance-type&Filter.1.Value.1=p5.48xlarge"
				     "&MaxResults=100");
	provider_request_fini(&rq);
	op.u.quotes.cursor = "p";
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
	op.u.quotes.cursor = "p";
	parse(&r, &op, 200,
	      "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet/><nextToken>a,b=</nextToken>"
	      "</DescribeSpotPriceHistoryResponse>");
	assert_int_equal(r.code, PROVIDER_OK);
	op.u.quotes.cursor = r.cursor;
	op.at_ms += 1000;
	build(&rq, &op);
	assert_true(has(&rq, "StartTime=2026-11-18T11%3A06%3A40.000Z"));
	assert_true(has(&rq, "NextToken=a%2Cb%3D"));
	provider_request_fini(&rq);
	provider_result_fini(&r);
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
		op.u.quotes.cursor = page == 0 ? "" : "p";
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
	op.u.quotes.cursor = "";
	build(&rq, &op);
	assert_true(has(&rq, "Filter.1.Value.200=t.199"));
	assert_null(strstr(rq.body, "Filter.1.Value.201="));
	provider_request_fini(&rq);
}

static void test_a_url_of_ones_own_is_signed_with_its_host(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request a, b;

	(void)state;
	conf.url = "https://vpce-1.example:443/x";
	reopen(&conf);
	build(&a, &op);
	assert_string_equal(a.url, "https://vpce-1.example:443/x");
	conf.url = "https://vpce-1.example/x"; /* the same to HTTP, and to the signature */
	reopen(&conf);
	build(&b, &op);
	assert_string_equal(header(&a, "Authorization"), header(&b, "Authorization"));
	provider_request_fini(&b);
	conf.url = "https://vpce-1.example:444/x";
	reopen(&conf);
	build(&b, &op);
	assert_string_not_equal(header(&a, "Authorization"), header(&b, "Authorization"));
	provider_request_fini(&a);
	provider_request_fini(&b);
}

/* --- who is who -------------------------------------------------------------------------------
 */

static void unescape(const char *from, size_t n, struct str *out)
{
	for (size_t i = 0; i < n; i++) {
		char c = from[i];

		if (c == '%') {
			char hex[3] = {from[i + 1], from[i + 2], '\0'};

			c = (char)strtoul(hex, NULL, 16);
			i += 2;
		}
		str_add(out, &c, 1);
	}
}

/* What EC2 would show of an instance that this request made: its tags, as they were asked for. */
static void show(struct str *out, const char *body, unsigned index)
{
	char key[64];

	str_addf(out,
		 "<item><instanceId>i-%u</instanceId><amiLaunchIndex>%u</amiLaunchIndex>"
		 "<instanceState><name>running</name></instanceState><tagSet>",
		 index, index);
	for (int k = 1; k < 50; k++) {
		const char *at, *end;

		(void)snprintf(key, sizeof(key), "&TagSpecification.1.Tag.%d.Key=", k);
		at = strstr(body, key);
		if (at == NULL)
			break;
		at += strlen(key);
		str_adds(out, "<item><key>");
		unescape(at, strcspn(at, "&"), out);
		str_adds(out, "</key><value>");
		end = strstr(at, "Value=") + 6;
		assert_true(strcspn(end, "&") <= 3 * 256);
		unescape(end, strcspn(end, "&"), out);
		str_adds(out, "</value></item>");
	}
	str_adds(out, "</tagSet></item>");
}

static uint32_t dice = 1;

static uint32_t roll(uint32_t sides)
{
	dice = dice * 1664525 + 1013904223;
	return (dice >> 8) % sides;
}

/* I2, I5: all kinds of batches, made by one call each; the list alone says who each one is. */
static void test_the_list_alone_says_who_each_instance_of_a_batch_is(void **state)
{
	struct provider_op list = {.kind = PROVIDER_LIST};

	(void)state;
	list.u.list.cluster = UUID;
	list.u.list.cursor = "";
	for (int round = 0; round < 100; round++) {
		struct provider_op op = create(1 + roll(WANTS_MAX));
		uint32_t spread = 1 + roll(round % 2 == 0 ? 3 : 4000), old = 1 + roll(5);
		struct provider_request rq;
		struct provider_result r;
		uint32_t number = 0;
		struct str s;

		for (size_t i = 0; i < op.u.create.nwants; i++) {
			number += 1 + roll(spread);
			(void)snprintf(names[i], sizeof(names[i]), "node-%u", number);
			wants[i].gen = round % 7 == 0 ? NOW_S + roll(old) : 1 + roll(old);
		}
		op.u.create.nwants = provider_aws.fits(self, &op.u.create);
		assert_true(op.u.create.nwants > 0);
		build(&rq, &op);
		str_init(&s, 64 * BODY_MAX);
		str_adds(&s, XML "<DescribeInstancesResponse><reservationSet><item><instancesSet>");
		for (size_t i = op.u.create.nwants; i > 0; i--)
			show(&s, rq.body, (unsigned)i - 1);
		str_adds(&s, "</instancesSet></item></reservationSet></DescribeInstancesResponse>");
		assert_false(s.full);
		parse(&r, &list, 200, s.p);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.ninstances, op.u.create.nwants);
		for (size_t i = 0; i < r.ninstances; i++) {
			size_t k = r.ninstances - 1 - i;

			assert_string_equal(r.instances[i].node, names[k]);
			assert_int_equal(r.instances[i].gen, wants[k].gen);
			assert_string_equal(r.instances[i].cluster, UUID);
		}
		provider_result_fini(&r);
		provider_request_fini(&rq);
		str_fini(&s);
	}
}

static void test_as_many_nodes_go_into_a_batch_as_its_tags_can_name(void **state)
{
	struct provider_op op = create(WANTS_MAX);
	struct provider_request rq = {0};
	struct err e;
	size_t n;

	(void)state;
	assert_int_equal(provider_aws.fits(self, &op.u.create), WANTS_MAX);
	for (size_t i = 0; i < WANTS_MAX; i++)
		(void)snprintf(names[i], sizeof(names[i]), "a-rather-long-name-for-one-node-%zu-x",
			       i);
	n = provider_aws.fits(self, &op.u.create);
	assert_in_range(n, 50, 60); /* 2,048 bytes of 36 to 38 each */
	op.u.create.nwants = n;
	build(&rq, &op);
	assert_non_null(strstr(rq.body, "burstd-node-8&"));
	assert_null(strstr(rq.body, "burstd-node-9"));
	provider_request_fini(&rq);
	op.u.create.nwants = n + 1;
	assert_int_equal(provider_aws.build(self, &op, &rq, &e), -1);
	op.u.create.nwants = 1;
	assert_int_equal(provider_aws.fits(self, &op.u.create), 1);
}

/* Tags that people have edited, and which node is read from them; "" is none. */
static const struct {
	const char *body, *node;
	uint64_t gen;
} mangled[] = {
	{LIST(ONE("1", OURS TAG("burstd-node", "c[1-3]") TAG("burstd-generation", "4*3")), ""),
	 "c2", 4},
	{LIST(ONE("0", OURS TAG("burstd-node", "c[1-") TAG("burstd-node-2", "3]")
			       TAG("burstd-generation", "4,5") TAG("burstd-generation-2", "0,6")),
	      ""),
	 "c1", 4},
	{LIST(ONE("2", OURS TAG("burstd-node", "c[1-") TAG("burstd-node-2", "3]")
			       TAG("burstd-generation", "4,5") TAG("burstd-generation-2", "0,6")),
	      ""),
	 "c3", 6},
	{LIST(ONE("3", OURS TAG("burstd-node", "c[1-3]") TAG("burstd-generation", "4*3")), ""), "",
	 0}, /* one too many */
	{LIST(ONE("", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4")), ""), "", 0},
	{LIST(ONE("00", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4")), ""), "", 0},
	{LIST(ONE("0x", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4")), ""), "", 0},
	{LIST(ONE("-1", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4")), ""), "", 0},
	{LIST(ONE("0", OURS TAG("burstd-node", "c1")), ""), "", 0},
	{LIST(ONE("0", OURS TAG("burstd-generation", "1")), ""), "", 0},
	{LIST(ONE("0", OURS TAG("burstd-node", "c[1-3]") TAG("burstd-generation", "4*2")), ""), "",
	 0},
	{LIST(ONE("0", OURS TAG("burstd-node", "c[1-3]") TAG("burstd-generation", "4*4")), ""), "",
	 0},
	{LIST(ONE("0", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4*0,1")), ""), "",
	 0},
	{LIST(ONE("0", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4x")), ""), "", 0},
	{LIST(ONE("0",
		  OURS TAG("burstd-node", "c1") TAG("burstd-generation", "99999999999999999999")),
	      ""),
	 "", 0},
	{LIST(ONE("0", OURS TAG("burstd-node", "c[0-999999999]") TAG("burstd-generation", "1")),
	      ""),
	 "", 0},
};

static void test_an_instance_whose_tags_were_mangled_is_listed_without_a_node(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	op.u.list.cluster = UUID;
	op.u.list.cursor = "";
	for (size_t i = 0; i < COUNT(mangled); i++) {
		struct provider_result r;

		print_message("# %s\n", mangled[i].body);
		parse(&r, &op, 200, mangled[i].body);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.ninstances, 1);
		assert_string_equal(r.instances[0].id, "i-1");
		assert_string_equal(r.instances[0].cluster, UUID);
		assert_string_equal(r.instances[0].node, mangled[i].node);
		assert_int_equal(r.instances[0].gen, mangled[i].gen);
		provider_result_fini(&r);
	}
}

/* A node name that is bought again has the same tag, and another generation. */
static void test_two_batches_of_one_node_are_told_apart(void **state)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result r;

	(void)state;
	op.u.list.cluster = UUID;
	op.u.list.cursor = "";
	parse(&r, &op, 200,
	      LIST(ONE("0", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4"))
			   ONE("0", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "5")),
		   ""));
	assert_int_equal(r.ninstances, 2);
	assert_int_equal(r.instances[0].gen, 4);
	assert_int_equal(r.instances[1].gen, 5);
	provider_result_fini(&r);
}

static void test_china_has_a_domain_of_its_own(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	conf.region = "cn-north-1";
	conf.subnets = "";
	reopen(&conf);
	place.region = "cn-north-1";
	build(&rq, &op);
	assert_string_equal(rq.url, "https://ec2.cn-north-1.amazonaws.com.cn/");
	provider_request_fini(&rq);
}

/* A list of one instance, with these elements. */
static void list_one(struct provider_result *r, const char *elements)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct str s;

	op.u.list.cluster = UUID;
	op.u.list.cursor = "";
	str_init(&s, 4096);
	str_addf(&s,
		 "<DescribeInstancesResponse><reservationSet><item><instancesSet><item>"
		 "<instanceId>i-1</instanceId>%s</item></instancesSet></item></reservationSet>"
		 "</DescribeInstancesResponse>",
		 elements);
	parse(r, &op, 200, s.p);
	str_fini(&s);
}

static void test_times_of_ec2_are_read_to_the_millisecond(void **state)
{
	static const struct {
		const char *launch, *state, *reason;
		int64_t created_ms, ended_ms;
	} rows[] = {
		{"2028-02-29T23:59:59Z", "running", "", INT64_C(1835481599000), 0},
		{"2028-03-01T00:00:00.250Z", "running", "", INT64_C(1835481600250), 0},
		{"2027-03-31T12:00:00.125Z", "running", "", INT64_C(1806494400125), 0},
		{"2027-01-31T00:00:00Z", "running", "User (2027-02-01 00:00:00 GMT)",
		 INT64_C(1801353600000), 0},
		{"2027-12-31T00:00:00Z", "terminated", "Client (us) (2028-01-01 00:00:01 GMT)",
		 INT64_C(1830211200000), INT64_C(1830297601000)},
		{"2027-12-31", "terminated", "somehow", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char text[400];

		(void)snprintf(text, sizeof(text),
			       "<launchTime>%s</launchTime><instanceState><name>%s</name>"
			       "</instanceState><reason>%s</reason>",
			       rows[i].launch, rows[i].state, rows[i].reason);
		list_one(&r, text);
		assert_int_equal(r.instances[0].created_ms, rows[i].created_ms);
		assert_int_equal(r.instances[0].ended_ms, rows[i].ended_ms);
		provider_result_fini(&r);
	}
}

/* F10: what EC2 took is no machine that switched itself off. */
static void test_who_was_taken_says_its_state_reason(void **state)
{
	static const struct {
		const char *reason; /* the element stateReason */
		bool taken;
	} rows[] = {
		{"<stateReason><code>Server.SpotInstanceTermination</code><message>Server."
		 "SpotInstanceTermination: x</message></stateReason>",
		 true},
		{"<stateReason><code>Server.SpotInstanceShutdown</code></stateReason>", true},
		{"<stateReason><code>Client.InstanceInitiatedShutdown</code><message>no "
		 "Server.SpotInstanceTermination</message></stateReason>",
		 false},
		{"<stateReason><code>Server.InternalError</code></stateReason>", false},
		{"<stateReason><code/><message/></stateReason>", false},
		{"<reason>Server.SpotInstanceTermination (2027-02-01 00:00:00 GMT)</reason>",
		 false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char text[400];

		(void)snprintf(text, sizeof(text),
			       "<instanceState><code>48</code><name>terminated</name>"
			       "</instanceState>%s",
			       rows[i].reason);
		list_one(&r, text);
		if (r.instances[0].taken != rows[i].taken)
			fail_msg("row %zu", i);
		provider_result_fini(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_it_is_known_by_its_name_and_says_what_ec2_can),
		T(test_a_configuration_that_cannot_work_is_refused),
		T(test_user_data_of_a_create),
		T(test_too_much_user_data_is_refused),
		T(test_a_launch_names_all_of_its_nodes_from_birth),
		T(test_a_create_is_the_same_bytes_whenever_it_is_built),
		T(test_a_zone_is_a_subnet_and_no_zone_is_any),
		T(test_without_subnets_the_zone_is_said),
		T(test_reserved_capacity_is_insisted_on),
		T(test_what_ec2_could_not_do_is_not_asked),
		T(test_a_gang_in_front_comes_whole_or_not_at_all),
		T(test_jobs_of_one_size_are_launched_together_and_large_ones_alone),
		T(test_lists_deletes_and_prices_are_asked_for),
		T(test_all_pages_of_prices_are_of_one_time),
		T(test_a_type_of_many_pools_is_asked_for_once),
		T(test_no_more_than_200_types_are_asked_for),
		T(test_a_url_of_ones_own_is_signed_with_its_host),
		T(test_two_batches_of_one_node_are_told_apart),
		T(test_china_has_a_domain_of_its_own),
		T(test_the_list_alone_says_who_each_instance_of_a_batch_is),
		T(test_as_many_nodes_go_into_a_batch_as_its_tags_can_name),
		T(test_an_instance_whose_tags_were_mangled_is_listed_without_a_node),
		T(test_times_of_ec2_are_read_to_the_millisecond),
		T(test_who_was_taken_says_its_state_reason),
	};
#undef T

	return cmocka_run_group_tests_name("aws", tests, NULL, NULL);
}
