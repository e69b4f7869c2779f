/* test_rest_reply.c - replies of a REST cloud: what a status means, what people are told. */
#include "providers/common/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rest_row rows[] = {
	{.ops = REST_OP(PROVIDER_CREATE),
	 .status = 500,
	 .says = "could not be provisioned",
	 .means = PROVIDER_CAPACITY},
	{.status = 418, .means = PROVIDER_RATE},
	{.code = "quota", .means = PROVIDER_QUOTA},
	{.code = "capacity", .means = PROVIDER_CAPACITY},
	{.code = "not-found", .means = PROVIDER_NOT_FOUND},
	{.code = "not-yet", .means = PROVIDER_NOT_YET},
	{.code = "taken", .means = PROVIDER_CONFLICT},
	{.code = "lost", .means = PROVIDER_AMBIGUOUS},
	{.code = "upstream/full", .means = PROVIDER_CAPACITY},
	{.code = "upstream/", .means = PROVIDER_AMBIGUOUS},
	{.code = "quota", .means = PROVIDER_INVALID}, /* the first that fits decides */
};
static const struct rest_api api = {
	.auth = REST_BASIC,
	.error_code = "error.code",
	.error_message = "error.message",
	.error_wait = "error.wait",
	.wait_unit_ms = 1000,
	.shows_code = true,
	.request_id = "X-Request-Id",
	.rows = rows,
	.nrows = sizeof(rows) / sizeof(rows[0]),
};
static const struct rest_api plain_api = {.auth = REST_BEARER};

static struct rest rest_of(const struct rest_api *a, const char *credential)
{
	const struct provider_conf conf = {
		.name = "p", .url = "https://cloud.example/api", .credential = credential};
	struct rest r;

	assert_int_equal(rest_init(&r, a, &conf, NULL), 0);
	return r;
}

static struct provider_reply reply_of(long status, const char *body)
{
	return (struct provider_reply){.status = status, .body = body, .len = strlen(body)};
}

/* --- what a status means -----------------------------------------------------------------------
 */

static void test_a_status_means_by_kind(void **state)
{
	static const struct {
		long status;
		enum provider_code create, list, del, make, drop;
	} table[] = {
#define SAME(c) c, c, c, c, c
#define LOST                                                                                       \
	PROVIDER_AMBIGUOUS, PROVIDER_TRANSIENT, PROVIDER_TRANSIENT, PROVIDER_TRANSIENT,            \
		PROVIDER_TRANSIENT
		{0, LOST},
		{100, LOST},
		{302, LOST},
		{399, LOST},
		{400, SAME(PROVIDER_INVALID)},
		{401, SAME(PROVIDER_DENIED)},
		{402, SAME(PROVIDER_DENIED)},
		{403, SAME(PROVIDER_DENIED)},
		{404, PROVIDER_INVALID, PROVIDER_INVALID, PROVIDER_NOT_FOUND, PROVIDER_INVALID,
		 PROVIDER_NOT_FOUND},
		{405, SAME(PROVIDER_INVALID)},
		{407, SAME(PROVIDER_DENIED)},
		{408, LOST},
		{409, PROVIDER_CONFLICT, PROVIDER_TRANSIENT, PROVIDER_NOT_YET, PROVIDER_CONFLICT,
		 PROVIDER_NOT_YET},
		{410, PROVIDER_INVALID, PROVIDER_INVALID, PROVIDER_NOT_FOUND, PROVIDER_INVALID,
		 PROVIDER_NOT_FOUND},
		{413, SAME(PROVIDER_INVALID)},
		{422, SAME(PROVIDER_INVALID)},
		{423, PROVIDER_AMBIGUOUS, PROVIDER_TRANSIENT, PROVIDER_NOT_YET, PROVIDER_TRANSIENT,
		 PROVIDER_NOT_YET},
		{425, SAME(PROVIDER_RATE)},
		{429, SAME(PROVIDER_RATE)},
		{499, SAME(PROVIDER_INVALID)},
		{500, LOST},
		{502, LOST},
		{503, LOST},
		{504, LOST},
		{599, LOST},
#undef SAME
#undef LOST
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		long status = table[i].status;

		assert_int_equal(rest_code_of_status(PROVIDER_CREATE, status), table[i].create);
		assert_int_equal(rest_code_of_status(PROVIDER_LIST, status), table[i].list);
		assert_int_equal(rest_code_of_status(PROVIDER_DELETE, status), table[i].del);
		assert_int_equal(rest_code_of_status(PROVIDER_FABRIC_MAKE, status), table[i].make);
		assert_int_equal(rest_code_of_status(PROVIDER_FABRIC_DROP, status), table[i].drop);
	}
}

static void test_rows_of_a_driver_come_first(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *code, *words;
		enum provider_code means;
	} table[] = {
		{PROVIDER_CREATE, 500, "", "It could not be provisioned now.", PROVIDER_CAPACITY},
		{PROVIDER_CREATE, 503, "", "It could not be provisioned now.", PROVIDER_OK},
		{PROVIDER_CREATE, 500, "", "could not", PROVIDER_OK},
		{PROVIDER_DELETE, 500, "", "It could not be provisioned now.", PROVIDER_OK},
		{PROVIDER_LIST, 418, "", "", PROVIDER_RATE},
		{PROVIDER_CREATE, 403, "quota", "", PROVIDER_QUOTA},
		{PROVIDER_FABRIC_MAKE, 403, "quota", "", PROVIDER_QUOTA},
		{PROVIDER_LIST, 403, "quota", "", PROVIDER_TRANSIENT},
		{PROVIDER_CREATE, 403, "quota2", "quota", PROVIDER_OK},
		{PROVIDER_CREATE, 503, "capacity", "", PROVIDER_CAPACITY},
		{PROVIDER_DELETE, 503, "capacity", "", PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_MAKE, 503, "capacity", "", PROVIDER_TRANSIENT},
		{PROVIDER_DELETE, 400, "not-found", "", PROVIDER_NOT_FOUND},
		{PROVIDER_FABRIC_DROP, 400, "not-found", "", PROVIDER_NOT_FOUND},
		{PROVIDER_CREATE, 400, "not-found", "", PROVIDER_INVALID},
		{PROVIDER_LIST, 400, "not-found", "", PROVIDER_INVALID},
		{PROVIDER_CREATE, 409, "not-yet", "", PROVIDER_NOT_YET},
		{PROVIDER_DELETE, 409, "not-yet", "", PROVIDER_NOT_YET},
		{PROVIDER_QUOTES, 409, "not-yet", "", PROVIDER_TRANSIENT},
		{PROVIDER_CREATE, 409, "taken", "", PROVIDER_CONFLICT},
		{PROVIDER_DELETE, 409, "taken", "", PROVIDER_TRANSIENT},
		{PROVIDER_CREATE, 400, "lost", "", PROVIDER_AMBIGUOUS},
		{PROVIDER_DELETE, 400, "lost", "", PROVIDER_TRANSIENT},
		{PROVIDER_FABRIC_MAKE, 400, "lost", "", PROVIDER_TRANSIENT},
		{PROVIDER_CREATE, 400, "novel", "", PROVIDER_OK},
		{PROVIDER_CREATE, 400, "upstream/", "", PROVIDER_AMBIGUOUS},
		{PROVIDER_CREATE, 400, "upstream/down", "", PROVIDER_AMBIGUOUS},
		{PROVIDER_CREATE, 400, "upstream/full", "", PROVIDER_CAPACITY},
		{PROVIDER_CREATE, 400, "upstream/full/2", "", PROVIDER_AMBIGUOUS},
		{PROVIDER_CREATE, 400, "upstream", "", PROVIDER_OK},
		{PROVIDER_CREATE, 400, "lost/1", "", PROVIDER_OK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (rest_code(&api, table[i].kind, table[i].status, table[i].code, table[i].words,
			      PROVIDER_OK) != table[i].means)
			fail_msg("row %zu", i);
	assert_int_equal(rest_code(&plain_api, PROVIDER_CREATE, 500, "quota", "", PROVIDER_RATE),
			 PROVIDER_RATE);
}

/* --- what people are told ----------------------------------------------------------------------
 */

static void test_a_refusal_is_told(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum provider_code code;
		const char *message;
	} table[] = {
		{403, "{\"error\":{\"code\":\"quota\",\"message\":\"8 GPUs\"}}", PROVIDER_QUOTA,
		 "quota: 8 GPUs"},
		{403, "{\"error\":{\"code\":\"quota\"}}", PROVIDER_QUOTA,
		 "quota: error without a message"},
		{400, "{\"error\":{\"code\":\"c\",\"message\":\"m\"}}", PROVIDER_INVALID, "c: m"},
		{403, "{\"error\":{\"message\":\"8 GPUs\"}}", PROVIDER_DENIED, "8 GPUs"},
		{401, "{\"error\":{\"message\":\"pass and user:pass and dXNlcjpwYXNz\"}}",
		 PROVIDER_DENIED, "*** and *** and ***"},
		{500, "", PROVIDER_AMBIGUOUS, "HTTP status 500 without an error message"},
		{502, "<html>", PROVIDER_AMBIGUOUS, "HTTP status 502 without an error message"},
		{500, "{\"error\":\"no\"}", PROVIDER_AMBIGUOUS,
		 "HTTP status 500 without an error message"},
		{400, "{\"error\":{\"code\":7,\"message\":[]}}", PROVIDER_INVALID,
		 "HTTP status 400 without an error message"},
		{400, "{\"error\":{\"message\":\"a\\u001b[2J\\nb\"}}", PROVIDER_INVALID, "a?[2J?b"},
	};
	struct rest r = rest_of(&api, "user:pass");
	const struct provider_op op = {.kind = PROVIDER_CREATE};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct provider_reply reply = reply_of(table[i].status, table[i].body);
		struct provider_result out = {0};

		rest_refused(&r, &op, &reply, &out);
		assert_int_equal(out.code, table[i].code);
		assert_string_equal(out.message, table[i].message);
		assert_int_equal(out.retry_after_ms, 0);
		provider_result_fini(&out);
	}
	rest_fini(&r);
}

static void test_without_keys_for_errors_the_status_is_told(void **state)
{
	struct rest r = rest_of(&plain_api, "s3cret");
	struct provider_reply reply = reply_of(404, "{\"error\":{\"code\":\"x\"}}");
	const struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result out = {0};

	(void)state;
	rest_refused(&r, &op, &reply, &out);
	assert_int_equal(out.code, PROVIDER_INVALID);
	assert_string_equal(out.message, "HTTP status 404 without an error message");
	rest_fini(&r);
}

static void test_the_key_of_basic_is_masked(void **state)
{
	struct rest r = rest_of(&api, "key:");
	struct provider_reply reply = reply_of(401, "");
	struct provider_result out = {0};

	(void)state;
	rest_message(&r, &reply, "key, a2V5Og== or key:?", &out);
	assert_string_equal(out.message, "***, *** or ***?");
	rest_fini(&r);
}

static void test_the_vendors_number_of_a_request_is_the_end(void **state)
{
	static const char longest[] =
		"1234567890123456789012345678901234567890123456789012345678901234";
	static const struct {
		const char *id, *end;
	} table[] = {
		{"req-17", "words (req-17)"},
		{longest, "(1234567890123456789012345678901234567890123456789012345678901234)"},
		{"12345678901234567890123456789012345678901234567890123456789012345", "words"},
		{"two words", "words"},
		{"pass", "words (***)"},
	};
	struct rest r = rest_of(&api, "user:pass");

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct header v = {"x-request-id", table[i].id};
		struct provider_reply reply = {.status = 500, .headers = {&v, 1}};
		struct provider_result out = {0};
		char text[512];
		size_t n;

		rest_message(&r, &reply, "words", &out);
		n = strlen(out.message);
		assert_true(n >= strlen(table[i].end));
		assert_string_equal(out.message + n - strlen(table[i].end), table[i].end);
		/* However long the words are, the number is whole. */
		(void)snprintf(text, sizeof(text), "%0*dwords", 300, 0);
		rest_message(&r, &reply, text, &out);
		assert_int_equal(strlen(out.message), sizeof(out.message) - 1);
		if (table[i].end[5] != '\0')
			assert_int_equal(out.message[sizeof(out.message) - 2], ')');
	}
	rest_fini(&r);
}

/* However long a secret is, and how often it comes, no cut leaves a part of it. */
static void test_no_part_of_a_long_secret_is_told(void **state)
{
	char secret[1001], body[100000];
	const struct provider_op op = {.kind = PROVIDER_LIST};
	struct provider_result out = {0};
	struct provider_reply reply;
	struct rest r;
	size_t n;

	(void)state;
	memset(secret, 'S', 1000);
	secret[1000] = '\0';
	r = rest_of(&plain_api, secret);
	r.api = &api;
	n = (size_t)snprintf(body, sizeof(body), "{\"error\":{\"message\":\"");
	for (int i = 0; i < 90; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n, "%s,", secret);
	(void)snprintf(body + n, sizeof(body) - n, "\"}}");
	reply = reply_of(400, body);
	rest_refused(&r, &op, &reply, &out);
	assert_null(strchr(out.message, 'S'));
	assert_int_equal(strncmp(out.message, "***,***,", 8), 0);
	rest_fini(&r);
}

static void test_a_time_to_wait_is_in_a_header_or_in_the_body(void **state)
{
	static const struct {
		const char *header, *body;
		int64_t ms;
	} table[] = {
		{"7", "", 7000},
		{"", "{\"error\":{\"wait\":8}}", 8000},
		{"7", "{\"error\":{\"wait\":8}}", 8000},
		{"9", "{\"error\":{\"wait\":\"8\"}}", 9000},
		{"", "{\"error\":{\"wait\":-8}}", 0},
		{"", "{\"error\":{\"wait\":\"soon\"}}", 0},
		{"", "{\"error\":{\"wait\":86399}}", 86399000},
		{"", "{\"error\":{\"wait\":86401}}", REST_RETRY_MAX_MS},
		{"", "{\"error\":{\"wait\":9223372036854775807}}", REST_RETRY_MAX_MS},
		{"99999999", "", REST_RETRY_MAX_MS},
	};
	struct rest r = rest_of(&api, "user:pass");
	const struct provider_op op = {.kind = PROVIDER_LIST};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct header v = {"Retry-After", table[i].header};
		struct provider_reply reply = reply_of(429, table[i].body);
		struct provider_result out = {0};

		reply.headers = (struct headers){&v, 1};
		rest_refused(&r, &op, &reply, &out);
		assert_int_equal(out.code, PROVIDER_RATE);
		assert_int_equal(out.retry_after_ms, table[i].ms);
	}
	rest_fini(&r);
}

static void test_a_delete_of_one_that_is_gone_is_told_of_that_one(void **state)
{
	static const char *const ids[] = {"i-1", "i-2"};
	static const struct {
		long status;
		size_t n;
		enum provider_code code, item;
	} table[] = {
		{404, 1, PROVIDER_OK, PROVIDER_NOT_FOUND}, {409, 1, PROVIDER_OK, PROVIDER_NOT_YET},
		{404, 2, PROVIDER_NOT_FOUND, PROVIDER_OK}, {403, 1, PROVIDER_DENIED, PROVIDER_OK},
		{500, 1, PROVIDER_TRANSIENT, PROVIDER_OK},
	};
	struct rest r = rest_of(&api, "user:pass");

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct provider_op op = {.kind = PROVIDER_DELETE};
		struct provider_reply reply =
			reply_of(table[i].status, "{\"error\":{\"message\":\"m\",\"wait\":3}}");
		struct provider_result out = {0};

		op.u.del.ids = ids;
		op.u.del.nids = table[i].n;
		rest_refused(&r, &op, &reply, &out);
		assert_int_equal(out.code, table[i].code);
		assert_int_equal(out.nitems, table[i].code == PROVIDER_OK);
		assert_string_equal(out.message, table[i].code == PROVIDER_OK ? "" : "m");
		assert_int_equal(out.retry_after_ms, 3000);
		if (out.nitems == 1) {
			assert_int_equal(out.items[0].code, table[i].item);
			assert_string_equal(out.items[0].instance.id, "i-1");
		}
		provider_result_fini(&out);
	}
	rest_fini(&r);
}

/* --- reading a success -------------------------------------------------------------------------
 */

static int read_one(const struct rest *r, const struct provider_op *op, struct doc *d,
		    struct provider_result *out)
{
	(void)r;
	out->items = calloc(1, sizeof(*out->items));
	out->nitems = 1;
	if (op->kind == PROVIDER_REPORT && !doc_has(&d->top, NULL))
		return 0;
	doc_id(&d->top, "id", out->items[0].instance.id, sizeof(out->items[0].instance.id));
	return strcmp(out->items[0].instance.id, "odd") == 0 ? -1 : 0;
}

static void test_a_reply_is_read_or_nothing_of_it_is_left(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		long status;
		const char *body;
		enum provider_code code;
		const char *message;
	} table[] = {
		{PROVIDER_CREATE, 200, "{\"id\":\"i\"}", PROVIDER_OK, ""},
		{PROVIDER_CREATE, 201, "{\"id\":\"i\"}", PROVIDER_OK, ""},
		{PROVIDER_CREATE, 299, "{\"id\":\"i\"}", PROVIDER_OK, ""},
		{PROVIDER_CREATE, 300, "{\"id\":\"i\"}", PROVIDER_AMBIGUOUS, "HTTP status 300"},
		{PROVIDER_CREATE, 199, "{\"id\":\"i\"}", PROVIDER_AMBIGUOUS, "HTTP status 199"},
		{PROVIDER_CREATE, 200, "{\"id\":[]}", PROVIDER_AMBIGUOUS,
		 "malformed reply: id: want an id of at most 95 bytes"},
		{PROVIDER_CREATE, 200, "{\"id\":\"odd\"}", PROVIDER_AMBIGUOUS, "malformed reply"},
		{PROVIDER_CREATE, 200, "<html>", PROVIDER_AMBIGUOUS, "malformed reply: no JSON"},
		{PROVIDER_CREATE, 204, "", PROVIDER_AMBIGUOUS, "malformed reply: empty"},
		{PROVIDER_LIST, 200, "", PROVIDER_TRANSIENT, "malformed reply: empty"},
		{PROVIDER_LIST, 200, "{}", PROVIDER_TRANSIENT, "malformed reply: id"},
		{PROVIDER_REPORT, 204, "", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 204, "", PROVIDER_TRANSIENT, "malformed reply: id: want an id"},
		{PROVIDER_DELETE, 200, "{\"id\":\"i\"}", PROVIDER_OK, ""},
		{PROVIDER_DELETE, 200, "<html>", PROVIDER_TRANSIENT, "malformed reply"},
		{PROVIDER_CREATE, 403, "{\"id\":\"i\"}", PROVIDER_DENIED, "HTTP status 403"},
	};
	struct rest r = rest_of(&api, "user:pass");

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct provider_op op = {.kind = table[i].kind};
		struct provider_reply reply = reply_of(table[i].status, table[i].body);
		struct provider_result out = {0};

		rest_parse(&r, &op, &reply, read_one, &out);
		if (out.code != table[i].code ||
		    strncmp(out.message, table[i].message, strlen(table[i].message)) != 0)
			fail_msg("row %zu: %s: %s", i, provider_code_str(out.code), out.message);
		assert_int_equal(out.nitems, table[i].code == PROVIDER_OK);
		assert_true((out.items != NULL) == (table[i].code == PROVIDER_OK));
		provider_result_fini(&out);
	}
	rest_fini(&r);
}

/* What a create may have made must be found by people, if nobody else finds it. */
static void test_what_cannot_be_read_may_have_made_one_instance(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		size_t n;
		const char *id, *why, *message;
	} table[] = {
		{PROVIDER_CREATE, 1, "i-1", "odd", "malformed reply about instance i-1: odd"},
		{PROVIDER_CREATE, 1, "i-1", "", "malformed reply about instance i-1"},
		{PROVIDER_CREATE, 1, "", "odd", "malformed reply: odd"},
		{PROVIDER_CREATE, 0, "", "odd", "malformed reply: odd"},
		{PROVIDER_CREATE, 2, "i-1", "odd", "malformed reply: odd"}, /* which? */
		{PROVIDER_DELETE, 1, "i-1", "odd", "malformed reply: odd"},
	};
	struct rest r = rest_of(&plain_api, "key");

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct provider_op op = {.kind = table[i].kind};
		struct provider_reply reply = reply_of(200, "{}");
		struct provider_result out = {.nitems = table[i].n};

		if (out.nitems > 0) {
			out.items = calloc(out.nitems, sizeof(*out.items));
			(void)snprintf(out.items[0].instance.id, sizeof(out.items[0].instance.id),
				       "%s", table[i].id);
		}
		rest_unreadable(&r, &op, &reply, table[i].why, &out);
		assert_string_equal(out.message, table[i].message);
		assert_int_equal(out.nitems, 0);
		provider_result_fini(&out);
	}
	rest_fini(&r);
}

/* A node that is taken for another's is paid for, and used by nobody. */
static void test_the_item_of_one_instance(void **state)
{
	const struct provider_want wants[] = {{"n1", 7, 0}};
	const struct provider_create c = {.cluster = "uuid", .wants = wants, .nwants = 1};
	const char *const ids[] = {"i-9"};
	const struct provider_op del = {.kind = PROVIDER_DELETE, .u.del = {ids, 1}};
	struct provider_result out = {0};
	const struct provider_instance *i = rest_created(&c, &out);

	(void)state;
	assert_int_equal(out.nitems, 1);
	assert_ptr_equal(i, &out.items[0].instance);
	assert_int_equal(out.items[0].code, PROVIDER_OK);
	assert_string_equal(i->cluster, "uuid");
	assert_string_equal(i->node, "n1");
	assert_int_equal(i->gen, 7);
	assert_int_equal(i->state, PROVIDER_PENDING);
	provider_result_fini(&out);
	for (int k = 0; k < 2; k++) {
		enum provider_code code = k == 0 ? PROVIDER_OK : PROVIDER_NOT_YET;

		out = (struct provider_result){0};
		rest_deleted(&del, code, &out);
		assert_int_equal(out.nitems, 1);
		assert_int_equal(out.items[0].code, code);
		assert_string_equal(out.items[0].instance.id, "i-9");
		assert_int_equal(out.items[0].instance.state,
				 k == 0 ? PROVIDER_STOPPING : PROVIDER_UNKNOWN);
		provider_result_fini(&out);
	}
}

static void test_failures_stay_in_their_order(void **state)
{
	struct provider_result out = {0};
	char id[16];

	(void)state;
	for (int k = 0; k < 5; k++) {
		(void)snprintf(id, sizeof(id), "i-%d", k);
		rest_add_failure(&out, id)->code = k == 3 ? PROVIDER_QUOTA : PROVIDER_TRANSIENT;
	}
	assert_int_equal(out.nfailures, 5);
	for (int k = 0; k < 5; k++) {
		(void)snprintf(id, sizeof(id), "i-%d", k);
		assert_string_equal(out.failures[k].id, id);
		assert_int_equal(out.failures[k].code,
				 k == 3 ? PROVIDER_QUOTA : PROVIDER_TRANSIENT);
		assert_string_equal(out.failures[k].message, "");
	}
	provider_result_fini(&out);
}

static void test_quotes_of_the_types_that_are_asked_for(void **state)
{
	const char *const types[] = {"a", "bb"};
	struct provider_op op = {.kind = PROVIDER_QUOTES, .u.quotes = {types, 2}};

	(void)state;
	assert_true(rest_wants_type(&op, "a"));
	assert_true(rest_wants_type(&op, "bb"));
	assert_false(rest_wants_type(&op, "b"));
	op.u.quotes.ntypes = 0;
	assert_true(rest_wants_type(&op, "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_status_means_by_kind),
		cmocka_unit_test(test_rows_of_a_driver_come_first),
		cmocka_unit_test(test_a_refusal_is_told),
		cmocka_unit_test(test_without_keys_for_errors_the_status_is_told),
		cmocka_unit_test(test_the_key_of_basic_is_masked),
		cmocka_unit_test(test_the_vendors_number_of_a_request_is_the_end),
		cmocka_unit_test(test_no_part_of_a_long_secret_is_told),
		cmocka_unit_test(test_a_time_to_wait_is_in_a_header_or_in_the_body),
		cmocka_unit_test(test_a_delete_of_one_that_is_gone_is_told_of_that_one),
		cmocka_unit_test(test_a_reply_is_read_or_nothing_of_it_is_left),
		cmocka_unit_test(test_what_cannot_be_read_may_have_made_one_instance),
		cmocka_unit_test(test_the_item_of_one_instance),
		cmocka_unit_test(test_failures_stay_in_their_order),
		cmocka_unit_test(test_quotes_of_the_types_that_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
