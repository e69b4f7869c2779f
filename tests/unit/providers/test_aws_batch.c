/* test_aws_batch.c - the driver aws knows from a list who is who in a batch, since when, and why it
 * ended. */
#include "tests/unit/providers/aws_lab.h"

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
	list.cursor = "";
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
	op.cursor = "";
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
	op.cursor = "";
	parse(&r, &op, 200,
	      LIST(ONE("0", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "4"))
			   ONE("0", OURS TAG("burstd-node", "c1") TAG("burstd-generation", "5")),
		   ""));
	assert_int_equal(r.ninstances, 2);
	assert_int_equal(r.instances[0].gen, 4);
	assert_int_equal(r.instances[1].gen, 5);
	provider_result_fini(&r);
}

/* A list of one instance, with these elements. */
static void list_one(struct provider_result *r, const char *elements)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct str s;

	op.u.list.cluster = UUID;
	op.cursor = "";
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

/* F4: what EC2 accepts, and ends before it runs. */
static void test_who_failed_says_why(void **state)
{
	static const struct {
		const char *state, *code, *message;
		bool failed;
		enum provider_code means;
		const char *says;
	} rows[] = {
		{"terminated", "Client.VolumeLimitExceeded",
		 "Client.VolumeLimitExceeded: Volume limit exceeded", true, PROVIDER_QUOTA,
		 "Client.VolumeLimitExceeded: Volume limit exceeded"},
		{"terminated", "Server.InsufficientInstanceCapacity", "", true, PROVIDER_CAPACITY,
		 "Server.InsufficientInstanceCapacity"},
		{"terminated", "Client.InternalError",
		 "Client.InternalError: Client error on launch", true, PROVIDER_TRANSIENT,
		 "Client.InternalError: Client error on launch"},
		{"terminated", "Client.InvalidSnapshot.NotFound", "", true, PROVIDER_TRANSIENT,
		 "Client.InvalidSnapshot.NotFound"},
		{"terminated", "Client.InternalError", "key " SECRET " is unknown", true,
		 PROVIDER_TRANSIENT, "key *** is unknown"},
		{"terminated", "Client.UserInitiatedShutdown", "x", false, 0, ""},
		{"terminated", "Client.InstanceInitiatedShutdown", "x", false, 0, ""},
		{"terminated", "Server.SpotInstanceTermination", "x", false, 0, ""},
		{"terminated", "", "", false, 0, ""},
		{"stopping", "Server.InternalError", "x", false, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r;
		char text[400];

		print_message("# row %zu\n", i);
		(void)snprintf(text, sizeof(text),
			       "<instanceState><name>%s</name></instanceState><stateReason><code>%s"
			       "</code><message>%s</message></stateReason>",
			       rows[i].state, rows[i].code, rows[i].message);
		list_one(&r, text);
		assert_int_equal(r.ninstances, 1);
		assert_int_equal(r.nfailures, rows[i].failed);
		if (rows[i].failed) {
			assert_string_equal(r.failures[0].id, "i-1");
			assert_int_equal(r.failures[0].code, rows[i].means);
			assert_string_equal(r.failures[0].message, rows[i].says);
		}
		provider_result_fini(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_two_batches_of_one_node_are_told_apart),
		T(test_the_list_alone_says_who_each_instance_of_a_batch_is),
		T(test_as_many_nodes_go_into_a_batch_as_its_tags_can_name),
		T(test_an_instance_whose_tags_were_mangled_is_listed_without_a_node),
		T(test_times_of_ec2_are_read_to_the_millisecond),
		T(test_who_was_taken_says_its_state_reason),
		T(test_who_failed_says_why),
	};
#undef T

	return cmocka_run_group_tests_name("aws_batch", tests, NULL, NULL);
}
