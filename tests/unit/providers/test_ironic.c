/* test_ironic.c - the driver ironic: its options, its requests, and the steps of a create and a
 * delete.  Bodies are in the form of Ironic 39's answers (tests/contract/ironic_driver.py). */
#include "ironic_lab.h"

#include "base/str.h"

/* --- open ---
 */

static void test_what_cannot_be_opened(void **state)
{
	static const char bad_address[] = "extra", odd[] = "extra.a/b", lower[] = "custom_x",
			  gap[] = "CUSTOM_X,,CUSTOM_Y", both[] = "CUSTOM_X,HW_Y";
	static const struct ironic_options options[] = {
		{.address = bad_address}, {.address = odd}, {.traits = lower}, {.traits = gap}};
	const struct ironic_options good = {.traits = both, .address = "properties.ip"};
	struct provider_conf conf = {.name = "here", .url = "http://ironic:6385"};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(options); i++)
		assert_int_equal(open_with(&options[i], NULL, &e), -1);
	assert_int_equal(open_with(&good, NULL, &e), 0);
	provider_ironic.close(self);
	assert_int_equal(provider_ironic.open(&self, &conf, &e), 0); /* noauth */
	provider_ironic.close(self);
	conf.credential = "no-colon";
	assert_int_equal(provider_ironic.open(&self, &conf, &e), -1);
	conf.credential = NULL;
	conf.url = NULL;
	assert_int_equal(provider_ironic.open(&self, &conf, &e), -1);
}

static void test_what_it_can(void **state)
{
	struct provider_caps caps = provider_ironic.caps(self);

	(void)state;
	assert_int_equal(caps.flags, PROVIDER_TOKENS | PROVIDER_TAGS);
	assert_int_equal(caps.create_max, 1);
	assert_int_equal(caps.delete_max, 1);
	assert_null(caps.region);
}

static void test_headers(void **state)
{
	struct provider_op op = op_at(PROVIDER_LIST, "");
	struct provider_request rq = {0};
	bool version = false, basic = false;

	(void)state;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), 0);
	for (size_t i = 0; rq.headers[i] != NULL; i++) {
		version |= strcmp(rq.headers[i], "X-OpenStack-Ironic-API-Version: 1.56") == 0;
		basic |= strcmp(rq.headers[i], "Authorization: Basic "
					       "YWRtaW46czNjcmV0Lm9mLXRoZS1sNGI=") == 0;
	}
	assert_true(version && basic);
	provider_request_fini(&rq);
}

/* --- create ---
 */

static void test_requests_of_a_create(void **state)
{
	static const char image[] = "http://i/n.img", sum[] = "http://i/sums", k[] = "http://i/k",
			  r[] = "http://i/r", traits[] = "CUSTOM_A,HW_B";
	const struct ironic_options o = {
		.image = image, .image_checksum = sum, .kernel = k, .ramdisk = r, .traits = traits};
	const struct provider_place zoned = {
		.type = "h100", .region = "here", .zone = "rack-3.b", .market = PROVIDER_ON_DEMAND};
	struct provider_op op = op_at(PROVIDER_CREATE, "");

	(void)state;
	provider_ironic.close(self);
	assert_int_equal(open_with(&o, "#!/bin/sh\necho \"x\"\n", NULL), 0);
	op.u.create.place = &zoned;
	assert_request(&op, "POST " API "allocations {\"name\":\"" NAME
			    "\",\"resource_class\":\"h100\",\"traits\":[\"CUSTOM_A\",\"HW_B\","
			    "\"CUSTOM_RACK_3_B\"],\"extra\":{\"burstd-cluster\":\"" CLUSTER
			    "\",\"burstd-node\":\"h100-7\",\"burstd-generation\":\"12\","
			    "\"burstd-signature\":\"06893936644116418c5309800f6e15c4\"}}");
	op.cursor = CHOSEN;
	assert_request(&op, "GET " API "allocations/" NAME);
	op.cursor = AT("l");
	assert_request(&op, "GET " API "nodes/" MACHINE "?fields=instance_uuid%2Cprovision_state%"
			    "2Creservation%2Cinstance_info");
	op.cursor = AT("n");
	assert_request(&op,
		       "PATCH " API "nodes/" MACHINE
		       " [{\"op\":\"add\",\"path\":\"/instance_info/display_name\",\"value\":"
		       "\"" NAME "\"},{\"op\":\"add\",\"path\":\"/instance_info/image_source\","
		       "\"value\":\"http://i/n.img\"},{\"op\":\"add\",\"path\":\"/instance_info/"
		       "image_checksum\",\"value\":\"http://i/sums\"},{\"op\":\"add\",\"path\":"
		       "\"/instance_info/kernel\",\"value\":\"http://i/k\"},{\"op\":\"add\","
		       "\"path\":\"/instance_info/ramdisk\",\"value\":\"http://i/r\"}]");
	op.cursor = AT("d");
	assert_request(&op, "PUT " API "nodes/" MACHINE
			    "/states/provision {\"target\":\"active\",\"configdrive\":{"
			    "\"meta_data\":{\"uuid\":\"" ID "\",\"name\":\"h100-7\",\"hostname\":"
			    "\"h100-7\"},\"user_data\":\"#!/bin/sh\\necho \\\"x\\\"\\n\"}}");
	op.u.create.user_data = "own";
	assert_request(&op, "PUT " API "nodes/" MACHINE
			    "/states/provision {\"target\":\"active\",\"configdrive\":{"
			    "\"meta_data\":{\"uuid\":\"" ID "\",\"name\":\"h100-7\",\"hostname\":"
			    "\"h100-7\"},\"user_data\":\"own\"}}");
	op.cursor = AT("x");
	assert_request(&op, "DELETE " API "allocations/" NAME);
}

/* Whenever it is sent, the request that buys has the same bytes (I4). */
static void test_two_builds_are_the_same(void **state)
{
	struct provider_op op = op_at(PROVIDER_CREATE, "");
	char *one = request_of(&op), *two;

	(void)state;
	op.at_ms += 86400000;
	two = request_of(&op);
	assert_string_equal(one, two);
	free(one);
	free(two);
}

static void test_creates_that_there_are_not(void **state)
{
	const struct provider_place spot = {
		.type = "h100", .region = "", .zone = "", .market = PROVIDER_SPOT};
	const struct provider_place fabric = {.type = "h100",
					      .region = "",
					      .zone = "",
					      .market = PROVIDER_ON_DEMAND,
					      .fabric = "f"};
	const struct provider_want odd = {"n~1", 1, 0};
	static const char *const cursors[] = {"?",
					      "b 0 0 0 o - - ",
					      "l 0 0 0 o - - ",
					      "l 0 0 0 o " ID " - ",
					      "l x 0 0 o " ID " " MACHINE " ",
					      "l 0 0 99 o " ID " " MACHINE " ",
					      "l 0 0 0 z " ID " " MACHINE " ",
					      "l 0 0 0 o ../../v1 " MACHINE " ",
					      "l 0 0 0 o " ID " " MACHINE};
	struct provider_op op = op_at(PROVIDER_CREATE, "");
	struct provider_request rq = {0};

	(void)state;
	op.u.create.place = &spot;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
	op.u.create.place = &fabric;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
	op = op_at(PROVIDER_CREATE, "");
	op.u.create.wants = &odd;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
	for (size_t i = 0; i < COUNT(cursors); i++) {
		op = op_at(PROVIDER_CREATE, cursors[i]);
		assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
		op = op_at(PROVIDER_DELETE, cursors[i]);
		assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
	}
}

/* --- steps ---
 */

struct row {
	enum provider_op_kind kind;
	const char *cursor;
	long status;
	const char *body;
	enum provider_code code;
	const char *then; /* the beginning of the next cursor, or of the message */
	enum provider_code item;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct provider_result r =
			parse_at(rows[i].kind, rows[i].cursor, rows[i].status, rows[i].body);
		const char *then = r.code == PROVIDER_MORE ? r.cursor : r.message;

		if (r.code != rows[i].code ||
		    strncmp(then, rows[i].then, strlen(rows[i].then)) != 0 ||
		    (r.code == PROVIDER_OK && (r.nitems != 1 || r.items[0].code != rows[i].item)))
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), then);
		provider_result_fini(&r);
	}
}

#define C PROVIDER_CREATE
#define D PROVIDER_DELETE

static void test_an_allocation_is_asked_for(void **state)
{
	static const struct row rows[] = {
		{C, "", 201, ALLOC("allocating", "null", "null"), PROVIDER_MORE, "c 0 0 0 o", 0},
		{C, "", 201, ACTIVE, PROVIDER_MORE, "l 0 0 0 o " ID " " MACHINE, 0},
		{C, "", 201, ALLOC("error", "null", "\"Failed to process allocation: none\""),
		 PROVIDER_MORE, "x 0 0 0 c " ID " - Failed to process allocation: none", 0},
		{C, "", 201, ALLOC("error", "null", "null"), PROVIDER_MORE,
		 "x 0 0 0 c " ID " - no machine", 0},
		{C, "", 201, ALLOC("error", "null", "\"Unexpected exception\""), PROVIDER_MORE,
		 "x 0 0 0 y " ID " - Unexpected exception", 0},
		/* The same create before this one. */
		{C, "", 409, FAULT("An allocation with name " NAME " already exists."),
		 PROVIDER_MORE, "c 0 0 0 o - - ", 0},
		{C, "", 400, FAULT("Schema error: 'x' does not match '^CUSTOM_[A-Z0-9_]+$'"),
		 PROVIDER_INVALID, "Schema error", 0},
		{C, "", 401, "{\"error\":{\"message\":\"Incorrect username\",\"code\":401}}",
		 PROVIDER_DENIED, "Incorrect username", 0},
		{C, "", 401, FAULT("no " SECRET), PROVIDER_DENIED, "no ***", 0},
		{C, "", 403, FAULT("Access was denied to the following resource: x"),
		 PROVIDER_DENIED, "Access was denied", 0},
		{C, "", 404, FAULT("The API version does not allow allocations"), PROVIDER_INVALID,
		 "The API version", 0},
		{C, "", 406, TITLE("Version 1.56 was requested"), PROVIDER_INVALID,
		 "Version 1.56 was requested", 0},
		{C, "", 429, "slow down", PROVIDER_RATE, "HTTP status 429", 0},
		/* Ironic writes it down before it looks for somebody to do it. */
		{C, "", 503, FAULT("Requested action cannot be performed due to lack"),
		 PROVIDER_AMBIGUOUS, "Requested action", 0},
		{C, "", 500, FAULT("x"), PROVIDER_AMBIGUOUS, "x", 0},
		{C, "", 502, "<html>bad gateway</html>", PROVIDER_AMBIGUOUS, "HTTP status 502", 0},
		{C, "", 200, "", PROVIDER_AMBIGUOUS, "malformed reply: empty", 0},
		{C, "", 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply: no JSON", 0},
		{C, "", 201, ALLOC("active", "null", "null"), PROVIDER_AMBIGUOUS,
		 "malformed reply: node_uuid", 0},
		{C, "", 201, ALLOC("active", "\"../v1\"", "null"), PROVIDER_AMBIGUOUS,
		 "malformed reply: node_uuid: want a uuid", 0},
		{C, "", 201, ALLOC("odd", "null", "null"), PROVIDER_AMBIGUOUS,
		 "malformed reply: state", 0},
		{C, "", 201, "{\"uuid\":\"" ID "\",\"name\":\"b0b1c2d3e4f50-c-H100-7\"}",
		 PROVIDER_AMBIGUOUS, "malformed reply: name", 0},
		{C, CHOSEN, 200, ALLOC("allocating", "null", "null"), PROVIDER_MORE, "c 0", 0},
		{C, CHOSEN, 200, ACTIVE, PROVIDER_MORE, "l 0 0 0 o " ID " " MACHINE, 0},
		/* Accepted, and not yet to be seen; or gone. */
		{C, CHOSEN, 404, FAULT("Allocation could not be found."), PROVIDER_MORE,
		 "c 1 0 0 o - - ", 0},
		{C, "c 20 0 0 o - - ", 404, "", PROVIDER_CONFLICT, "the allocation is not", 0},
		/* A look that is refused has refused nothing. */
		{C, CHOSEN, 400, FAULT("x"), PROVIDER_AMBIGUOUS, "x", 0},
		{C, CHOSEN, 503, FAULT("x"), PROVIDER_AMBIGUOUS, "x", 0},
		{C, CHOSEN, 429, "", PROVIDER_RATE, "HTTP", 0},
		{C, CHOSEN, 401, "", PROVIDER_DENIED, "HTTP", 0},
	};

	(void)state;
	check_rows(rows, COUNT(rows));
}

#define UNFIT(why) FAULT("Failed to validate deploy or power info for node " MACHINE ": " why)

#define HIDDEN "\"** Redacted - requires baremetal:node:get:reservation permission. **\""

static void test_a_machine_is_deployed(void **state)
{
	static const struct row rows[] = {
		{C, AT("l"), 200, OURS("available"), PROVIDER_MORE, AT("n"), 0},
		{C, AT("l"), 200,
		 NODE("\"" ID "\"", "available", "null", "\"display_name\":\"" NAME "\""),
		 PROVIDER_MORE, AT("d"), 0},
		{C, AT("l"), 200, NODE("\"" ID "\"", "available", "\"c1\"", ""), PROVIDER_MORE,
		 AT("l"), 0},
		/* Locked or not, who has leased it is not shown. */
		{C, AT("l"), 200, NODE("\"" ID "\"", "available", HIDDEN, ""), PROVIDER_MORE,
		 AT("n"), 0},
		{C, "l 0 0 0 d " ID " " MACHINE " denied", 200,
		 NODE("\"" ID "\"", "available", HIDDEN, ""), PROVIDER_MORE,
		 "x 0 0 0 d " ID " " MACHINE " denied", 0},
		/* By a request whose answer was lost. */
		{C, AT("l"), 200, OURS("deploying"), PROVIDER_OK, "", PROVIDER_OK},
		{C, AT("l"), 200, OURS("active"), PROVIDER_OK, "", PROVIDER_OK},
		{C, AT("l"), 200, OURS("deploy failed"), PROVIDER_OK, "", PROVIDER_OK},
		{C, AT("l"), 200, OURS("manageable"), PROVIDER_MORE, "x 0 1000000 0 c", 0},
		/* It is another's, or nobody's. */
		{C, AT("l"), 200, NODE("\"" THEIRS "\"", "available", "null", ""), PROVIDER_MORE,
		 "c 1 1000000 0 o - - ", 0},
		{C, AT("l"), 200, NODE("null", "available", "null", ""), PROVIDER_MORE, "c 1", 0},
		{C, AT("l"), 404, "", PROVIDER_MORE, "c 1", 0},
		{C, AT("l"), 200, "{}", PROVIDER_AMBIGUOUS, "malformed reply: provision_state", 0},
		{C, AT("n"), 200, OURS("available"), PROVIDER_MORE, AT("d"), 0},
		{C, AT("n"), 200, NODE("null", "available", "null", ""), PROVIDER_MORE, AT("l"), 0},
		{C, AT("n"), 409, LOCKED, PROVIDER_MORE, AT("l"), 0},
		{C, AT("n"), 400, FAULT("no such image"), PROVIDER_MORE,
		 "l 0 1000000 0 i " ID " " MACHINE " no such image", 0},
		{C, AT("n"), 500, "", PROVIDER_AMBIGUOUS, "HTTP", 0},
		{C, AT("d"), 202, "", PROVIDER_OK, "", PROVIDER_OK},
		{C, AT("d"), 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply", 0},
		{C, AT("d"), 409, LOCKED, PROVIDER_MORE, AT("l"), 0},
		{C, AT("d"), 400, FAULT("can not be performed on node x while it is in state y"),
		 PROVIDER_MORE, AT("l"), 0},
		{C, AT("d"), 400, FAULT("because it's in maintenance mode."), PROVIDER_MORE,
		 "l 0 1000000 0 c", 0},
		{C, AT("d"), 400, FAULT("Failed to validate deploy: no image_source"),
		 PROVIDER_MORE, "l 0 1000000 0 i " ID " " MACHINE " Failed to validate", 0},
		{C, AT("d"), 400, UNFIT("Image i is missing the following properties: kernel"),
		 PROVIDER_MORE, "l 0 1000000 0 i", 0},
		{C, AT("d"), 400,
		 UNFIT("image_source's \\\\\"image_checksum\\\\\" must be provided in "
		       "instance_info for node n"),
		 PROVIDER_MORE, "l 0 1000000 0 i", 0},
		{C, AT("d"), 400,
		 UNFIT("Error parsing capabilities from Node n instance_info field."),
		 PROVIDER_MORE, "l 0 1000000 0 i", 0},
		{C, AT("d"), 400,
		 UNFIT("Missing the following IPMI credentials in node's "
		       "driver_info: ['ipmi_address']."),
		 PROVIDER_MORE, "l 0 1000000 0 c " ID " " MACHINE " Failed to validate", 0},
		{C, AT("d"), 400,
		 FAULT("'bios' boot mode is not allowed for provisioning operation."),
		 PROVIDER_MORE, "l 0 1000000 0 c", 0},
		{C, AT("d"), 503, FAULT("lack of free conductor workers"), PROVIDER_AMBIGUOUS,
		 "lack", 0},
		{C, AT("n"), 403, FAULT("not your node"), PROVIDER_MORE,
		 "l 0 1000000 0 d " ID " " MACHINE " not your node", 0},
		{C, AT("d"), 403, FAULT("denied"), PROVIDER_MORE,
		 "l 0 1000000 0 d " ID " " MACHINE " denied", 0},
		{C, AT("d"), 401, "", PROVIDER_DENIED, "HTTP", 0}, /* a session that has ended */
		{C, AT("n"), 401, "", PROVIDER_DENIED, "HTTP", 0},
		/* Refused: it has not been deployed, or has after all. */
		{C, "l 0 0 0 i " ID " " MACHINE " bad image", 200, OURS("available"), PROVIDER_MORE,
		 "x 0 0 0 i " ID " " MACHINE " bad image", 0},
		{C, "l 0 0 0 i " ID " " MACHINE " bad image", 200, OURS("deploy failed"),
		 PROVIDER_OK, "", PROVIDER_OK},
		{C, "x 0 0 0 i " ID " " MACHINE " bad image", 204, "", PROVIDER_INVALID,
		 "bad image", 0},
		{C, "x 0 0 0 c " ID " - none", 404, "", PROVIDER_CAPACITY, "none", 0},
		{C, "x 0 0 0 y " ID " - trouble", 204, "", PROVIDER_NOT_YET, "trouble", 0},
		{C, "x 0 0 0 c " ID " - none", 409, LOCKED, PROVIDER_MORE, "x 0 0 0 c", 0},
		{C, "x 0 0 0 c " ID " - none", 400, FAULT("x"), PROVIDER_AMBIGUOUS, "x", 0},
		{C, "x 0 0 0 c " ID " - none", 500, "", PROVIDER_AMBIGUOUS, "HTTP", 0},
		{C, "x 0 0 0 c " ID " - none", 200, "<html>", PROVIDER_AMBIGUOUS, "malformed", 0},
		{C, "nonsense", 200, "{}", PROVIDER_AMBIGUOUS, "", 0},
	};

	(void)state;
	check_rows(rows, COUNT(rows));
}

/* Whoever may allocate, and not deploy: the create ends as one whose first request is denied, once
 * nothing of it is left.  Any other denial on the way says nothing of what there is. */
#define BAD(tries) "x " tries " 0 0 c " ID " " MACHINE " bad BMC"

static void test_a_machine_that_cannot_be_deployed_is_given_back_for_another(void **state)
{
	static const struct row rows[] = {
		{C, BAD("0"), 204, "", PROVIDER_MORE, "b 6 0 0 o - - ", 0},
		{C, BAD("0"), 404, "", PROVIDER_MORE, "b 6 0 0 o - - ", 0},
		{C, BAD("0"), 500, "", PROVIDER_AMBIGUOUS, "HTTP", 0},
		{C, "b 6 0 0 o - - ", 201, ALLOC("allocating", "null", "null"), PROVIDER_MORE,
		 "c 6 0 0 o " ID " - ", 0},
		{C, "b 6 0 0 o - - ", 201, ACTIVE, PROVIDER_MORE, "l 6 0 0 o " ID " " MACHINE " ",
		 0},
		{C, "b 6 0 0 o - - ", 409, FAULT("already exists"), PROVIDER_MORE, "c 6 0 0 o", 0},
		{C, "l 6 0 0 o " ID " " MACHINE " ", 200, OURS("available"), PROVIDER_MORE,
		 "n 6 1000000 0 o", 0},
		/* Ironic may choose the same one, and perhaps there is no other. */
		{C, BAD("12"), 204, "", PROVIDER_MORE, "b 18 0 0 o - - ", 0},
		{C, BAD("14"), 204, "", PROVIDER_MORE, "b 20 0 0 o - - ", 0},
		{C, BAD("15"), 204, "", PROVIDER_CAPACITY, "bad BMC", 0},
		{C, BAD("18"), 204, "", PROVIDER_CAPACITY, "bad BMC", 0},
		/* Nothing of one machine. */
		{C, "x 0 0 0 c " ID " - none", 204, "", PROVIDER_CAPACITY, "none", 0},
		{C, "x 0 0 0 i " ID " " MACHINE " bad image", 204, "", PROVIDER_INVALID,
		 "bad image", 0},
	};
	struct provider_op op = op_at(C, "b 6 0 0 o - - ");
	char *again = request_of(&op), *first;
	struct provider_result r;

	(void)state;
	check_rows(rows, COUNT(rows));
	op.cursor = "";
	first = request_of(&op);
	assert_string_equal(again, first);
	free(again);
	free(first);
	r = parse_at(C, BAD("0"), 204, "");
	assert_int_equal(r.retry_after_ms, 1000); /* no storm */
	provider_result_fini(&r);
}

static void test_a_denial_on_the_way_is_final_once_the_machine_is_given_back(void **state)
{
	static const struct {
		const char *cursor;
		long status;
		enum provider_code code;
		bool for_good;
	} rows[] = {
		{"x 0 0 0 d " ID " " MACHINE " not your node", 204, PROVIDER_DENIED, true},
		{"x 0 0 0 d " ID " " MACHINE " not your node", 404, PROVIDER_DENIED, true},
		{"x 0 0 0 d " ID " " MACHINE " not your node", 403, PROVIDER_DENIED, false},
		{"x 0 0 0 d " ID " " MACHINE " not your node", 401, PROVIDER_DENIED, false},
		{"x 0 0 0 i " ID " " MACHINE " not your node", 204, PROVIDER_INVALID, false},
		{"l 0 0 0 d " ID " " MACHINE " not your node", 403, PROVIDER_DENIED, false},
		{CHOSEN, 403, PROVIDER_DENIED, false},
		{AT("d"), 401, PROVIDER_DENIED, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_result r = parse_at(C, rows[i].cursor, rows[i].status, "");

		if (r.code != rows[i].code || r.denied_for_good != rows[i].for_good)
			fail_msg("row %zu: %s", i, provider_code_str(r.code));
		if (r.denied_for_good)
			assert_string_equal(r.message, "not your node");
		provider_result_fini(&r);
	}
}

static void test_a_machine_is_undeployed(void **state)
{
	static const struct row rows[] = {
		{D, "", 200, ACTIVE, PROVIDER_MORE, "l 0 0 0 o " ID " " MACHINE, 0},
		{D, "", 200, ALLOC("error", "null", "\"x\""), PROVIDER_MORE, "x 0 0 0 o " ID, 0},
		{D, "", 200, ALLOC("allocating", "null", "null"), PROVIDER_OK, "",
		 PROVIDER_NOT_YET},
		{D, "", 404, FAULT("Allocation could not be found."), PROVIDER_OK, "",
		 PROVIDER_NOT_FOUND},
		{D, "", 200, "{\"uuid\":\"" THEIRS "\",\"state\":\"active\"}", PROVIDER_TRANSIENT,
		 "malformed reply: uuid", 0},
		{D, "", 200, "", PROVIDER_TRANSIENT, "malformed reply: empty", 0},
		{D, "", 401, "", PROVIDER_DENIED, "HTTP", 0},
		{D, "", 429, "", PROVIDER_RATE, "HTTP", 0},
		{D, "", 500, "", PROVIDER_TRANSIENT, "HTTP", 0},
		{D, AT("l"), 200, OURS("active"), PROVIDER_MORE, AT("d"), 0},
		{D, AT("l"), 200, OURS("wait call-back"), PROVIDER_MORE, AT("d"), 0},
		{D, AT("l"), 200, OURS("deploy failed"), PROVIDER_MORE, AT("d"), 0},
		{D, AT("l"), 200, OURS("error"), PROVIDER_MORE, AT("d"), 0},
		{D, AT("l"), 200, OURS("a word of tomorrow"), PROVIDER_MORE, AT("d"), 0},
		{D, AT("l"), 200, OURS("deleting"), PROVIDER_OK, "", PROVIDER_OK},
		{D, AT("l"), 200, OURS("available"), PROVIDER_MORE, AT("x"), 0},
		/* Another's, and nobody's: nothing is undeployed. */
		{D, AT("l"), 200, NODE("\"" THEIRS "\"", "active", "null", ""), PROVIDER_OK, "",
		 PROVIDER_NOT_YET},
		{D, AT("l"), 200, NODE("null", "active", "null", ""), PROVIDER_OK, "",
		 PROVIDER_NOT_YET},
		{D, AT("l"), 404, "", PROVIDER_OK, "", PROVIDER_NOT_YET},
		{D, AT("d"), 202, "", PROVIDER_OK, "", PROVIDER_OK},
		{D, AT("d"), 200, "<html>", PROVIDER_TRANSIENT, "malformed", 0},
		{D, AT("d"), 409, LOCKED, PROVIDER_OK, "", PROVIDER_NOT_YET},
		{D, AT("d"), 400, FAULT("can not be performed"), PROVIDER_OK, "", PROVIDER_NOT_YET},
		{D, AT("d"), 404, "", PROVIDER_OK, "", PROVIDER_NOT_YET},
		{D, AT("d"), 503, "", PROVIDER_TRANSIENT, "HTTP", 0},
		{D, AT("x"), 204, "", PROVIDER_OK, "", PROVIDER_OK},
		{D, AT("x"), 404, "", PROVIDER_OK, "", PROVIDER_NOT_FOUND},
		{D, AT("x"), 409, LOCKED, PROVIDER_OK, "", PROVIDER_NOT_YET},
		{D, "nonsense", 200, "{}", PROVIDER_INVALID, "", 0},
	};

	(void)state;
	check_rows(rows, COUNT(rows));
}

/* A machine is locked for seconds: without a time to wait the engine would ask at its own pace. */
static void test_what_is_locked_is_asked_for_again_in_seconds(void **state)
{
	static const struct {
		const char *cursor;
		long status;
		const char *body;
		int64_t want;
	} rows[] = {
		{"", 200, ALLOC("allocating", "null", "null"), 2000},
		{AT("l"), 200, NODE("null", "active", "null", ""), 2000},
		{AT("d"), 409, LOCKED, 10000},
		{AT("x"), 409, LOCKED, 10000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct provider_op op = op_at(PROVIDER_DELETE, rows[i].cursor);
		struct provider_result r = parse_op(&op, rows[i].status, rows[i].body);

		assert_int_equal(r.items[0].code, PROVIDER_NOT_YET);
		assert_int_equal(r.retry_after_ms, rows[i].want);
		provider_result_fini(&r);
	}
}

static void test_requests_of_a_delete(void **state)
{
	struct provider_op op = op_at(PROVIDER_DELETE, "");
	struct provider_request rq = {0};

	(void)state;
	assert_request(&op, "GET " API "allocations/" ID "?fields=uuid%2Cstate%2Cnode_uuid");
	op.cursor = AT("d");
	assert_request(&op,
		       "PUT " API "nodes/" MACHINE "/states/provision {\"target\":\"deleted\"}");
	op.cursor = AT("x");
	assert_request(&op, "DELETE " API "allocations/" ID);
	op.cursor = CHOSEN;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
	op = op_at(PROVIDER_DELETE, "");
	op.u.del.nids = 2;
	assert_int_equal(provider_ironic.build(self, &op, &rq, NULL), -1);
}

/* What was sent once, and whose answer was lost, must not hit the machine's next tenant: burstd
 * sends it again after a second, and then it has become a look. */
static void test_a_machine_is_changed_only_just_after_a_look(void **state)
{
	static const enum provider_op_kind kinds[] = {C, D};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct provider_op op = op_at(kinds[i], AT("d"));
		struct provider_result r;
		char *text;

		for (int64_t ms = -1; ms <= 1000; ms += 1001) {
			op.at_ms = NOW + ms;
			text = request_of(&op);
			assert_int_equal(strncmp(text, "GET ", 4), 0);
			free(text);
		}
		r = parse_op(&op, 200, kinds[i] == C ? OURS("available") : OURS("active"));
		assert_int_equal(r.code, PROVIDER_MORE);
		assert_int_equal(strncmp(r.cursor + 2, "0 1001000 1 o", 13), 0);
		provider_result_fini(&r);
		op.at_ms = NOW + 900;
		text = request_of(&op);
		assert_int_equal(strncmp(text, "PUT ", 4), 0);
		free(text);
	}
}

/* A server that takes longer than that each time is asked in the end. */
static void test_a_slow_server_is_asked_in_the_end(void **state)
{
	struct provider_op op = op_at(D, AT("l"));
	struct provider_result r = {0};
	char cursor[PROVIDER_CURSOR_MAX + 1] = AT("l");
	int looks = 0;

	(void)state;
	for (; looks < 20; looks++) {
		char *text;
		bool acts;

		op.cursor = cursor;
		text = request_of(&op);
		acts = strncmp(text, "PUT ", 4) == 0;
		free(text);
		if (acts)
			break;
		r = parse_op(&op, 200, OURS("active"));
		memcpy(cursor, r.cursor, sizeof(cursor));
		provider_result_fini(&r);
		op.at_ms += 30000;
	}
	assert_in_range(looks, 5, 12);
}

static void test_an_instance_is_an_allocation(void **state)
{
	struct provider_result r = parse_at(C, AT("d"), 202, "");
	const struct provider_instance *i = &r.items[0].instance;

	(void)state;
	assert_string_equal(i->id, ID);
	assert_string_equal(i->cluster, CLUSTER);
	assert_string_equal(i->node, "h100-7");
	assert_int_equal(i->gen, 12);
	assert_int_equal(i->state, PROVIDER_PENDING);
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_what_it_can),
		T(test_headers),
		cmocka_unit_test(test_what_cannot_be_opened),
		T(test_requests_of_a_create),
		T(test_two_builds_are_the_same),
		T(test_creates_that_there_are_not),
		T(test_an_allocation_is_asked_for),
		T(test_a_machine_is_deployed),
		T(test_a_machine_that_cannot_be_deployed_is_given_back_for_another),
		T(test_a_denial_on_the_way_is_final_once_the_machine_is_given_back),
		T(test_a_machine_is_undeployed),
		T(test_what_is_locked_is_asked_for_again_in_seconds),
		T(test_requests_of_a_delete),
		T(test_a_machine_is_changed_only_just_after_a_look),
		T(test_a_slow_server_is_asked_in_the_end),
		T(test_an_instance_is_an_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
