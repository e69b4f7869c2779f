/* test_openstack_create.c - the driver openstack: creates, what becomes of them, and refusals. */
#include "tests/unit/providers/openstack_lab.h"

/* --- requests ----------------------------------------------------------------------------------
 */

static void body_is(const struct provider_op *op, const char *body)
{
	struct provider_request rq;

	build(&rq, op);
	assert_string_equal(rq.method, "POST");
	assert_string_equal(rq.url, NOVA "/servers");
	assert_string_equal(rq.body, body);
	provider_request_fini(&rq);
}

#define META(batch, nodes, gens)                                                                   \
	"\"metadata\":{\"burstd-cluster\":\"" UUID "\",\"burstd-batch\":\"" batch                  \
	"\",\"burstd-node\":\"" nodes "\",\"burstd-generation\":\"" gens "\"},\"tags\":[\"" TAG    \
	"\"]"

/* A server's name is its host name, so one alone has the node's. */
static void test_one_server_has_the_name_of_its_node(void **state)
{
	struct provider_op op = create(1);

	(void)state;
	body_is(&op, "{\"server\":{\"name\":\"c1\",\"flavorRef\":\"f-1\",\"imageRef\":\"" IMAGE
		     "\",\"networks\":\"auto\"," META(BATCH, "c1", "4") "}}");
}

static void test_a_job_is_one_create_of_all_its_nodes(void **state)
{
	struct provider_op op = create(3);

	(void)state;
	wants[2].gen = 5;
	body_is(&op,
		"{\"server\":{\"name\":\"" BATCH "\",\"flavorRef\":\"f-1\",\"imageRef\":\"" IMAGE
		"\",\"networks\":\"auto\",\"min_count\":3,\"max_count\":3,"
		"\"return_reservation_id\":true," META(BATCH, "c[1-3]", "4*2,5") "}}");
}

/* The image of a create is before that of the provider's section (core/roll.h). */
static void test_a_create_may_name_its_image(void **state)
{
	struct provider_op op = create(1);
	struct provider_place named = *op.u.create.place;

	(void)state;
	named.image = "i-2";
	op.u.create.place = &named;
	body_is(&op, "{\"server\":{\"name\":\"c1\",\"flavorRef\":\"f-1\",\"imageRef\":\"i-2\","
		     "\"networks\":\"auto\"," META(BATCH, "c1", "4") "}}");
	named.image = "";
	body_is(&op, "{\"server\":{\"name\":\"c1\",\"flavorRef\":\"f-1\",\"imageRef\":\"" IMAGE
		     "\",\"networks\":\"auto\"," META(BATCH, "c1", "4") "}}");
}

static void test_options_say_how_a_server_is_made(void **state)
{
	struct provider_op op;

	(void)state;
	options.networks = "n-1,n-2";
	options.security_groups = "default,slurm";
	options.key_name = "admin";
	options.server_group = "g-1";
	options.volume_type = "ssd";
	options.spot_suffix = ".spot";
	options.volume_gb = 50;
	options.config_drive = 1;
	reset(USUAL_FLAVORS);
	op = create(1);
	place.zone = "az1";
	place.market = PROVIDER_SPOT;
	op.u.create.user_data = "#!";
	body_is(&op,
		"{\"server\":{\"name\":\"c1\",\"flavorRef\":\"f-2\",\"block_device_mapping_v2\":[{"
		"\"boot_index\":0,\"uuid\":\"" IMAGE "\",\"source_type\":\"image\","
		"\"destination_type\":\"volume\",\"volume_size\":50,\"volume_type\":\"ssd\","
		"\"delete_on_termination\":true}],\"networks\":[{\"uuid\":\"n-1\"},{\"uuid\":\"n-"
		"2\"}],"
		"\"availability_zone\":\"az1\",\"key_name\":\"admin\",\"security_groups\":[{"
		"\"name\":\"default\"},{\"name\":\"slurm\"}],\"config_drive\":true,"
		"\"user_data\":\"IyE=\"," META(BATCH, "c1",
					       "4") "},"
						    "\"os:scheduler_hints\":{\"group\":\"g-1\"}}");
}

static void test_the_configured_user_data_is_for_creates_without_their_own(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	conf.user_data = "ours";
	reopen(&conf);
	login(USUAL_FLAVORS);
	build(&rq, &op);
	has(&rq, "\"user_data\":\"b3Vycw==\"");
	provider_request_fini(&rq);
	op.u.create.user_data = "#!";
	build(&rq, &op);
	has(&rq, "\"user_data\":\"IyE=\"");
	provider_request_fini(&rq);
}

static void test_a_repeated_create_has_the_same_bytes(void **state)
{
	struct provider_op op = create(5);
	struct provider_request a, b;

	(void)state;
	build(&a, &op);
	op.at_ms = 99;
	login(USUAL_FLAVORS);
	build(&b, &op);
	assert_string_equal(a.url, b.url);
	assert_string_equal(a.body, b.body);
	provider_request_fini(&a);
	provider_request_fini(&b);
}

/* --- how many, and what cannot be --------------------------------------------------------------
 */

static size_t fits(size_t n)
{
	struct provider_op op = create(n);

	return provider_openstack.fits(self, &op.u.create);
}

static size_t fits_of(size_t n, size_t jobs_of)
{
	struct provider_op op = create(n);

	for (size_t i = 0; i < n; i++)
		wants[i].group = jobs_of != 0 ? (uint32_t)(1 + i / jobs_of) : 0;
	return provider_openstack.fits(self, &op.u.create);
}

/* Nova finds hosts for all servers of a create, or for none. */
static void test_no_job_waits_for_the_hosts_of_another(void **state)
{
	(void)state;
	assert_int_equal(fits(1), 1);
	assert_int_equal(fits(40), 40);
	assert_int_equal(fits(101), 100);
	assert_int_equal(fits_of(12, 4), 4);
	assert_int_equal(fits_of(12, 0), 8);
	assert_int_equal(fits_of(3, 0), 3);
	options.together = 1;
	reset(USUAL_FLAVORS);
	assert_int_equal(fits_of(12, 0), 1);
	assert_int_equal(fits_of(12, 6), 6);
}

/* 2,040 bytes of names go into eight values of metadata. */
static void test_names_go_on_in_further_values(void **state)
{
	struct provider_op op = create(60);
	struct provider_request rq;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		(void)snprintf(names[i], sizeof(names[i]), "%c%060zu", i % 2 == 0 ? 'a' : 'b', i);
	refuse(&op, "more names than the metadata can hold");
	op.u.create.nwants = provider_openstack.fits(self, &op.u.create);
	assert_int_equal(op.u.create.nwants, 32);
	build(&rq, &op);
	has(&rq, "\"burstd-node-8\":\"");
	assert_null(strstr(rq.body, "burstd-node-9"));
	provider_request_fini(&rq);
}

static void test_creates_that_cannot_be(void **state)
{
	char *text = mem_zalloc(49151);
	struct provider_op op = create(1);

	(void)state;
	op.u.create.nwants = 0;
	refuse(&op, "1 to 100 servers");
	op = create(101);
	refuse(&op, "1 to 100 servers");
	op = create(1);
	op.u.create.token = "a b";
	refuse(&op, "plain token");
	op = create(1);
	wants[0].node = "a b";
	refuse(&op, "not a node's name");
	op = create(1);
	wants[0].gen = 0;
	refuse(&op, "generation");
	op = create(1);
	op.u.create.cluster = "not, a tag";
	refuse(&op, "cannot be sent");
	op = create(1);
	place.fabric = "f";
	refuse(&op, "no fabrics");
	op = create(1);
	place.region = "R2";
	refuse(&op, "region R1");
	op = create(1);
	memset(text, 'x', 49150);
	op.u.create.user_data = text;
	refuse(&op, "49149");
	op = create(3);
	op.cursor = "r-1";
	refuse(&op, "not a cursor");
	free(text);
}

/* `burstd --check`, and a reload, ask for a create of each offer. */
static void test_offers_can_be_checked_before_the_first_login(void **state)
{
	struct provider_conf conf = usual();
	struct provider_op op = create(1);
	struct provider_request rq;

	(void)state;
	reopen(&conf);
	build(&rq, &op);
	has(&rq, "\"flavorRef\":\"g1.h100\"");
	provider_request_fini(&rq);
	place.market = PROVIDER_SPOT;
	refuse(&op, "want spot_suffix or spot_trait");
	place.market = PROVIDER_ON_DEMAND;
	place.region = "R2";
	refuse(&op, "region R1");
	options.region = "";
	reopen(&conf);
	build(&rq, &op);
	provider_request_fini(&rq);
	op.cursor = "r-1/0";
	refuse(&op, "not logged in");
}

/* --- answers -----------------------------------------------------------------------------------
 */

static void test_one_server_is_known_at_once(void **state)
{
	struct provider_op op = create(1);
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &op, 202, "create-one");
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 1);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_string_equal(r.items[0].instance.id, "88947f67-bc37-4ebc-ab16-075677006e6f");
	assert_string_equal(r.items[0].instance.node, "c1");
	assert_int_equal(r.items[0].instance.gen, 4);
	assert_string_equal(r.items[0].instance.cluster, UUID);
	assert_int_equal(r.items[0].instance.state, PROVIDER_PENDING);
	provider_result_fini(&r);
}

#define SERVER(id, name, status, batch)                                                            \
	"{\"id\":\"" id "\",\"name\":\"" name "\",\"status\":\"" status "\",\"metadata\":{"        \
	"\"burstd-cluster\":\"" UUID "\",\"burstd-batch\":\"" batch "\",\"burstd-node\":"          \
	"\"c[1-3]\",\"burstd-generation\":\"4*3\"},\"created\":\"2026-11-28T14:48:17Z\"}"
#define SERVERS(rows) "{\"servers\":[" rows "]}"
#define S(id, name)   SERVER(id, name, "BUILD", BATCH)

/* Ask what became of it; the cursor of the next question. */
static void ask(struct provider_op *op, struct provider_result *r, const char *cursor,
		const char *body)
{
	struct provider_request rq;

	op->cursor = cursor;
	build(&rq, op);
	assert_string_equal(rq.method, "GET");
	assert_string_equal(rq.url, NOVA "/servers/detail?limit=1000&reservation_id=r-1");
	assert_null(rq.body);
	provider_request_fini(&rq);
	parse(r, op, 200, body);
}

static void goes_on(struct provider_op *op, const char *cursor, const char *body, const char *next,
		    int64_t wait_ms)
{
	struct provider_result r;

	ask(op, &r, cursor, body);
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_string_equal(r.cursor, next);
	assert_int_equal(r.retry_after_ms, wait_ms);
	assert_int_equal(r.nitems, 0);
	provider_result_fini(&r);
}

/* As seen at a real Nova: one of three for seconds, and no link to more. */
static void test_several_are_asked_for_until_all_are_seen(void **state)
{
	struct provider_op op = create(3);
	struct provider_result r;

	(void)state;
	parse(&r, &op, 202, "{\"reservation_id\":\"r-1\"}");
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_string_equal(r.cursor, "r-1/0");
	assert_int_equal(r.retry_after_ms, 1000);
	provider_result_fini(&r);
	goes_on(&op, "r-1/0", SERVERS(""), "r-1/1", 1000);
	goes_on(&op, "r-1/1", SERVERS(S("i-2", "b-2")), "r-1/2", 1000);
	goes_on(&op, "r-1/4", SERVERS(S("i-2", "b-2") "," S("i-1", "b-1")), "r-1/5", 3000);
	ask(&op, &r, "r-1/5",
	    SERVERS(S("i-3", "b-3") "," S("i-1", "b-1") "," SERVER("i-2", "b-2", "ERROR", BATCH)));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 3);
	for (size_t i = 0; i < 3; i++) {
		const char id[] = {'i', '-', (char)('1' + i), '\0'};

		assert_int_equal(r.items[i].code, PROVIDER_OK);
		assert_string_equal(r.items[i].instance.id, id);
		assert_string_equal(r.items[i].instance.node, wants[i].node);
		assert_int_equal(r.items[i].instance.state, PROVIDER_PENDING);
	}
	provider_result_fini(&r);
}

/* A list finds it later, or proves that it is not there. */
static void test_what_has_not_been_seen_in_the_end_is_open(void **state)
{
	struct provider_op op = create(3);
	struct provider_result r;

	(void)state;
	ask(&op, &r, "r-1/19", SERVERS(S("i-2", "b-2")));
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 3);
	assert_int_equal(r.items[0].code, PROVIDER_AMBIGUOUS);
	assert_int_equal(r.items[1].code, PROVIDER_OK);
	assert_int_equal(r.items[2].code, PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
}

static void test_servers_of_another_create_are_none_of_this(void **state)
{
	struct provider_op op = create(3);

	(void)state;
	goes_on(&op, "r-1/0", SERVERS(SERVER("i-1", "b-1", "BUILD", "other") ",{\"id\":\"i-9\"}"),
		"r-1/1", 1000);
}

/* An answer about two servers of one node, or of none, is not believed; it is asked again. */
static void test_answers_that_make_no_sense_leave_all_open(void **state)
{
	static const struct {
		long status;
		const char *cursor, *body;
		enum provider_code code;
	} rows[] = {
		{202, "", "{\"reservation_id\":\"\"}", PROVIDER_AMBIGUOUS},
		{202, "", "{\"reservation_id\":\"a/b\"}", PROVIDER_AMBIGUOUS},
		{202, "", "{\"reservation_id\":7}", PROVIDER_AMBIGUOUS},
		{202, "", "{\"server\":{\"id\":\"i-1\"}}", PROVIDER_AMBIGUOUS},
		{202, "", "", PROVIDER_AMBIGUOUS},
		{200, "", "<html>", PROVIDER_AMBIGUOUS},
		{200, "r-1/0", SERVERS(S("i-1", "b-1") "," S("i-2", "b-1")), PROVIDER_AMBIGUOUS},
		{200, "r-1/0", SERVERS(S("i-1", "b-1") "," S("i-1", "b-2")), PROVIDER_AMBIGUOUS},
		{200, "r-1/0", SERVERS(S("i-1", "b-4")), PROVIDER_AMBIGUOUS},
		{200, "r-1/0", SERVERS(S("i-1", "renamed")), PROVIDER_AMBIGUOUS},
		{200, "r-1/0", SERVERS(S("", "b-1")), PROVIDER_AMBIGUOUS},
		{200, "r-1/0", "{\"servers\":[", PROVIDER_AMBIGUOUS},
		{200, "r-1/0", "", PROVIDER_AMBIGUOUS},
		{200, "r-1/1000", SERVERS(""), PROVIDER_AMBIGUOUS},
		{400, "r-1/0", "{\"badRequest\":{\"message\":\"no\"}}", PROVIDER_AMBIGUOUS},
		{404, "r-1/0", "", PROVIDER_AMBIGUOUS},
		{403, "r-1/0", "{\"forbidden\":{\"message\":\"Quota exceeded\"}}",
		 PROVIDER_AMBIGUOUS},
		{500, "r-1/0", "", PROVIDER_AMBIGUOUS},
		{401, "r-1/0", "", PROVIDER_DENIED},
		{429, "r-1/0", "", PROVIDER_RATE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = create(3);
		struct provider_result r;

		op.cursor = rows[i].cursor;
		parse(&r, &op, rows[i].status, rows[i].body);
		if (r.code != rows[i].code || r.nitems != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
}

/* --- refusals ----------------------------------------------------------------------------------
 */

#define FAULT(name, text) "{\"" name "\":{\"code\":1,\"message\":\"" text "\"}}"

/* Nova's own words are in nova/exception.py. */
static void test_refusals(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
	} rows[] = {
		{403,
		 FAULT("forbidden",
		       "Quota exceeded for cores: Requested 8, but already used 0 of 4"),
		 PROVIDER_QUOTA},
		{403, FAULT("forbidden", "Quota exceeded, too many servers in group"),
		 PROVIDER_QUOTA},
		{403, FAULT("forbidden", "Maximum number of ports exceeded"), PROVIDER_QUOTA},
		{403, FAULT("forbidden", "Maximum number of metadata items exceeds 5"),
		 PROVIDER_QUOTA},
		{403, FAULT("forbidden", "Project 1 is over a limit for [servers]"),
		 PROVIDER_QUOTA},
		{413, FAULT("overLimit", "Quota exceeded for instances"), PROVIDER_QUOTA},
		{403,
		 FAULT("forbidden", "Policy doesn't allow os_compute_api:servers:create to be "
				    "performed."),
		 PROVIDER_DENIED},
		{403,
		 FAULT("forbidden",
		       "Only volume-backed servers are allowed for flavors with zero disk."),
		 PROVIDER_INVALID},
		{401, FAULT("error", "The request you have made requires authentication."),
		 PROVIDER_DENIED},
		{409,
		 FAULT("conflictingRequest",
		       "Multiple possible networks found, use a Network ID to be "
		       "more specific."),
		 PROVIDER_INVALID},
		{409,
		 FAULT("conflictingRequest",
		       "More than one possible network found. Specify network ID(s)"),
		 PROVIDER_INVALID},
		{409, FAULT("conflictingRequest", "Multiple security groups found matching 'a'."),
		 PROVIDER_INVALID},
		{409, FAULT("conflictingRequest", "Instance c1 already exists."),
		 PROVIDER_CONFLICT},
		{503, FAULT("serviceUnavailable", "No valid host was found. "), PROVIDER_CAPACITY},
		{503, "<html>", PROVIDER_AMBIGUOUS},
		{500, FAULT("computeFault", "Unexpected API Error."), PROVIDER_AMBIGUOUS},
		{504, "", PROVIDER_AMBIGUOUS},
		{429, FAULT("overLimit", "slowly"), PROVIDER_RATE},
		{400, FAULT("badRequest", "Invalid key_name provided."), PROVIDER_INVALID},
		{400, "", PROVIDER_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = create(1);
		struct provider_result r;

		parse(&r, &op, rows[i].status, rows[i].body);
		if (r.code != rows[i].code || r.nitems != 0 || r.message[0] == '\0')
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		provider_result_fini(&r);
	}
}

static void test_refusals_of_a_real_nova(void **state)
{
	struct provider_op op = create(1);
	struct provider_result r;

	(void)state;
	parse_fixture(&r, &op, 403, "quota");
	assert_int_equal(r.code, PROVIDER_QUOTA);
	assert_string_equal(
		r.message,
		"Quota exceeded for cores, instances, ram: Requested 400, 50, 819200, but "
		"already used 13, 6, 18944 of 20, 10, 51200 cores, instances, ram");
	provider_result_fini(&r);
	parse_fixture(&r, &op, 400, "no-flavor");
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
	parse_fixture(&r, &op, 400, "no-network");
	assert_int_equal(r.code, PROVIDER_INVALID);
	provider_result_fini(&r);
}

static void test_a_throttle_says_how_long(void **state)
{
	struct provider_op op = create(1);
	struct provider_result r;

	(void)state;
	parse_with(&r, &op, 429, FAULT("overLimit", "slowly"), "Retry-After", "7");
	assert_int_equal(r.code, PROVIDER_RATE);
	assert_int_equal(r.retry_after_ms, 7000);
	provider_result_fini(&r);
	parse(&r, &op, 413, "{\"overLimit\":{\"message\":\"Quota\",\"retryAfter\":\"9\"}}");
	assert_int_equal(r.retry_after_ms, 9000);
	provider_result_fini(&r);
}

/* With it the cloud's support finds what happened. */
static void test_the_number_of_the_request_is_in_the_message(void **state)
{
	struct provider_op op = create(1);
	struct provider_result r;

	(void)state;
	parse_with(&r, &op, 500, FAULT("computeFault", "oops"), "x-openstack-request-id", "req-17");
	assert_string_equal(r.message, "oops (req-17)");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_one_server_has_the_name_of_its_node),
		T(test_a_job_is_one_create_of_all_its_nodes),
		T(test_a_create_may_name_its_image),
		T(test_options_say_how_a_server_is_made),
		T(test_the_configured_user_data_is_for_creates_without_their_own),
		T(test_a_repeated_create_has_the_same_bytes),
		T(test_no_job_waits_for_the_hosts_of_another),
		T(test_names_go_on_in_further_values),
		T(test_creates_that_cannot_be),
		T(test_offers_can_be_checked_before_the_first_login),
		T(test_one_server_is_known_at_once),
		T(test_several_are_asked_for_until_all_are_seen),
		T(test_what_has_not_been_seen_in_the_end_is_open),
		T(test_servers_of_another_create_are_none_of_this),
		T(test_answers_that_make_no_sense_leave_all_open),
		T(test_refusals),
		T(test_refusals_of_a_real_nova),
		T(test_a_throttle_says_how_long),
		T(test_the_number_of_the_request_is_in_the_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
