/* test_small_cloud.c - the example of docs/providers/writing-a-driver.md, with the list of fixtures
 * that every driver must have. */
#include "small_cloud.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLUSTER "0b1c2d3e-4f50-4000-8000-000000000001"
#define NAME    "b0b1c2d3e4f50-1-n1"

static const struct provider_place place = {
	.type = "8xh100", .region = "north", .zone = "", .market = PROVIDER_SPOT};
static const struct provider_want want = {"n1", 1, 0};
static const char *const ids[] = {"i-1"};
static void *self;

static struct provider_op op_of(enum provider_op_kind kind)
{
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_CREATE)
		op.u.create = (struct provider_create){.cluster = CLUSTER,
						       .token = "t",
						       .place = &place,
						       .wants = &want,
						       .nwants = 1,
						       .user_data = "#!"};
	if (kind == PROVIDER_LIST) {
		op.u.list.cluster = CLUSTER;
		op.cursor = "2";
	}
	if (kind == PROVIDER_DELETE) {
		op.u.del.ids = ids;
		op.u.del.nids = 1;
	}
	return op;
}

static int setup(void **state)
{
	const struct provider_conf conf = {
		.name = "small", .url = "https://small.example", .credential = "s3cret"};

	(void)state;
	return provider_small.open(&self, &conf, NULL);
}

static int teardown(void **state)
{
	(void)state;
	provider_small.close(self);
	provider_small.close(NULL);
	return 0;
}

static void test_requests(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		const char *method, *url, *body;
	} rows[] = {
		{PROVIDER_CREATE, "POST", "https://small.example/v1/instances",
		 "{\"name\":\"" NAME "\",\"type\":\"8xh100\",\"region\":\"north\",\"spot\":true,"
		 "\"script\":\"IyE=\"}"},
		{PROVIDER_LIST, "GET", "https://small.example/v1/instances?page=2", NULL},
		{PROVIDER_DELETE, "DELETE", "https://small.example/v1/instances/i-1", NULL},
		{PROVIDER_QUOTES, "GET", "https://small.example/v1/types", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_op op = op_of(rows[i].kind);
		struct provider_request rq = {0};

		assert_int_equal(provider_small.build(self, &op, &rq, NULL), 0);
		assert_string_equal(rq.method, rows[i].method);
		assert_string_equal(rq.url, rows[i].url);
		assert_string_equal(rq.body != NULL ? rq.body : "",
				    rows[i].body != NULL ? rows[i].body : "");
		provider_request_fini(&rq);
	}
}

static void test_requests_that_cannot_be(void **state)
{
	const struct provider_want upper = {"N1", 1, 0};
	struct provider_op ops[] = {op_of(PROVIDER_CREATE), op_of(PROVIDER_CREATE),
				    op_of(PROVIDER_DELETE), op_of(PROVIDER_NOTICES)};

	(void)state;
	ops[0].u.create.nwants = 2;
	ops[1].u.create.wants = &upper;
	ops[2].u.del.nids = 0;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct provider_request rq = {0};

		assert_int_equal(provider_small.build(self, &ops[i], &rq, NULL), -1);
		assert_null(rq.url);
	}
}

#define MADE              "{\"id\":\"i-1\",\"name\":\"" NAME "\",\"status\":\"starting\"}"
#define PAGE(rows, pages) "{\"instances\":[" rows "],\"pages\":" pages "}"
#define THEIRS            "{\"id\":{},\"name\":\"db\",\"status\":7,\"created_at\":\"?\"}"

/* The checklist: success, partial, capacity, quota, throttled, expired, malformed, truncated, empty
 * 200, HTML with 200, and what a driver makes of each.  (10 MiB: test_doc.c.) */
static void test_replies(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
		const char *message; /* its beginning */
	} rows[] = {
		{PROVIDER_CREATE, 201, MADE, PROVIDER_OK, ""},
		{PROVIDER_CREATE, 201, "{\"id\":\"i-1\",\"name\":\"other\"}", PROVIDER_AMBIGUOUS,
		 "malformed reply"},
		{PROVIDER_CREATE, 201, "{\"name\":\"" NAME "\"}", PROVIDER_AMBIGUOUS,
		 "malformed reply: id: want an id"},
		{PROVIDER_CREATE, 200, "", PROVIDER_AMBIGUOUS, "malformed reply: empty"},
		{PROVIDER_CREATE, 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply: no JSON"},
		{PROVIDER_CREATE, 201, "{\"id\":\"i-1\",\"na", PROVIDER_AMBIGUOUS, "malformed"},
		{PROVIDER_CREATE, 503,
		 "{\"error\":{\"code\":\"no_capacity\",\"message\":\"none left\"}}",
		 PROVIDER_CAPACITY, "no_capacity: none left"},
		{PROVIDER_CREATE, 500, "{\"error\":{\"message\":\"could not be provisioned\"}}",
		 PROVIDER_CAPACITY, "could not"},
		{PROVIDER_CREATE, 500, "{}", PROVIDER_AMBIGUOUS, "HTTP status 500"},
		{PROVIDER_CREATE, 403, "{\"error\":{\"code\":\"quota_exceeded\"}}", PROVIDER_QUOTA,
		 "quota_exceeded"},
		{PROVIDER_CREATE, 409, "{\"error\":{\"code\":\"name_taken\"}}", PROVIDER_CONFLICT,
		 "name_taken"},
		{PROVIDER_CREATE, 429, "", PROVIDER_RATE, "HTTP status 429"},
		{PROVIDER_LIST, 401, "{\"error\":{\"message\":\"s3cret has expired\"}}",
		 PROVIDER_DENIED, "*** has expired"},
		{PROVIDER_LIST, 200, PAGE("", "2"), PROVIDER_OK, ""}, /* accepted, not yet listed */
		{PROVIDER_LIST, 200, PAGE(MADE "," THEIRS, "2"), PROVIDER_OK, ""},
		{PROVIDER_LIST, 200, PAGE("", "3"), PROVIDER_MORE, ""},
		{PROVIDER_LIST, 200, "{\"instances\":[]}", PROVIDER_TRANSIENT,
		 "malformed reply: pages: want a whole number"},
		{PROVIDER_LIST, 200, PAGE(MADE ",{\"name\":\"" NAME "\"}", "2"), PROVIDER_TRANSIENT,
		 "malformed reply: instances[1].id: want an id"},
		{PROVIDER_LIST, 200, PAGE(MADE, "2") "x", PROVIDER_TRANSIENT, "malformed"},
		{PROVIDER_DELETE, 204, "", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 404, "", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 500, "", PROVIDER_TRANSIENT, "HTTP status 500"},
		{PROVIDER_QUOTES, 200, "{\"types\":[]}", PROVIDER_OK, ""},
		{PROVIDER_QUOTES, 200, "{\"types\":[{\"name\":\"t\"}]}", PROVIDER_TRANSIENT,
		 "malformed reply: types[0].region: want a string"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_op op = op_of(rows[i].kind);
		struct provider_reply reply = {.status = rows[i].status,
					       .body = rows[i].body,
					       .len = strlen(rows[i].body)};
		struct provider_result r = {0};

		provider_small.parse(self, &op, &reply, &r);
		if (r.code != rows[i].code ||
		    strncmp(r.message, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(r.code), r.message);
		if (r.code != PROVIDER_OK && r.code != PROVIDER_MORE)
			assert_int_equal(r.nitems + r.ninstances + r.nquotes, 0);
		provider_result_fini(&r);
	}
}

static struct provider_result parse(enum provider_op_kind kind, long status, const char *body)
{
	struct provider_op op = op_of(kind);
	struct provider_reply reply = {.status = status, .body = body, .len = strlen(body)};
	struct provider_result r = {0};

	provider_small.parse(self, &op, &reply, &r);
	return r;
}

static void test_instances_of_a_list(void **state)
{
	struct provider_result r = parse(
		PROVIDER_LIST, 200,
		PAGE("{\"id\":7,\"name\":\"" NAME "\",\"status\":\"running\",\"ip\":\"10.0.0.7\","
		     "\"created_at\":\"1970-01-01T00:00:01Z\"}," THEIRS
		     ",{\"id\":8,\"name\":\"b0b1c2d3e4f50-oops\",\"status\":\"on fire\"}"
		     ",{\"id\":9,\"name\":\"b0b1c2d3e4f50-z-n2\",\"status\":\"preempted\"}",
		     "2"));

	(void)state;
	assert_int_equal(r.ninstances, 3);
	assert_string_equal(r.instances[0].id, "7");
	assert_string_equal(r.instances[0].cluster, CLUSTER);
	assert_string_equal(r.instances[0].node, "n1");
	assert_string_equal(r.instances[0].addr, "10.0.0.7");
	assert_int_equal(r.instances[0].created_ms, 1000);
	assert_int_equal(r.instances[0].state, PROVIDER_RUNNING);
	assert_string_equal(r.instances[1].node, ""); /* ours, but who? */
	assert_string_equal(r.instances[1].cluster, CLUSTER);
	assert_int_equal(r.instances[1].state, PROVIDER_UNKNOWN);
	assert_string_equal(r.instances[2].node, "n2");
	assert_int_equal(r.instances[2].gen, 35);
	assert_true(r.instances[2].taken);
	provider_result_fini(&r);
}

static void test_a_delete_says_what_became_of_it(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
		int64_t wait_ms;
	} rows[] = {
		{204, "", PROVIDER_OK, 0},
		{404, "", PROVIDER_NOT_FOUND, 0},
		{409, "{\"error\":{\"code\":\"too_young\",\"retry_after\":300}}", PROVIDER_NOT_YET,
		 300000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r = parse(PROVIDER_DELETE, rows[i].status, rows[i].body);

		assert_int_equal(r.nitems, 1);
		assert_int_equal(r.items[0].code, rows[i].code);
		assert_string_equal(r.items[0].instance.id, "i-1");
		assert_int_equal(r.retry_after_ms, rows[i].wait_ms);
		provider_result_fini(&r);
	}
}

static void test_quotes(void **state)
{
	struct provider_result r =
		parse(PROVIDER_QUOTES, 200,
		      "{\"types\":[{\"name\":\"8xh100\",\"region\":\"north\",\"cents\":2392,"
		      "\"spot_cents\":\"800.5\",\"vcpus\":208,\"gpus\":8,\"memory_gib\":1800}]}");

	(void)state;
	assert_int_equal(r.nquotes, 2);
	assert_int_equal(r.quotes[0].price_nano_h, 23920000000);
	assert_int_equal(r.quotes[1].price_nano_h, 8005000000);
	assert_int_equal(r.quotes[1].market, PROVIDER_SPOT);
	assert_int_equal(r.quotes[1].memory_mb, 1800 * 1024);
	assert_string_equal(r.quotes[1].type, "8xh100");
	provider_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_requests_that_cannot_be, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_instances_of_a_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_delete_says_what_became_of_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_quotes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
