/* test_sim_reply.c - what the driver sim makes of replies, friendly and hostile. */
#include "providers/sim.h"
#include "sim_lab.h"
#include "tests/unit/two_headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void parse(struct provider_result *out, enum provider_op_kind kind, long status,
		  const char *body, const char *retry)
{
	struct provider_op op = op_of(kind);
	struct header v[2];
	struct provider_reply reply = {.status = status,
				       .body = body,
				       .len = strlen(body),
				       .headers = two_headers(v, retry, NULL)};

	memset(out, 0, sizeof(*out));
	provider_sim.parse(self, &op, &reply, out);
}

#define N1   "{\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":\"pending\"}"
#define N2   "{\"name\":\"n2\",\"generation\":7,\"id\":\"b\",\"state\":\"running\"}"
#define OURS "\"cluster\":\"0b1c2d3e-0000-4000-8000-000000000001\""
#define O1   "{" OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":\"running\"}"
#define DEEP "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

/* What a whole request comes to, for every reply we could think of (F1, F4, F7, F8, F16-F19, F30).
 */
static const struct {
	enum provider_op_kind kind;
	long status;
	const char *body;
	enum provider_code code;
} replies[] = {
	{PROVIDER_CREATE, 200, "{\"instances\":[" N1 "," N2 "]}", PROVIDER_OK},
	{PROVIDER_CREATE, 200, "{\"x\":1,\"instances\":[" N1 "," N2 "],\"y\":{}}", PROVIDER_OK},
	{PROVIDER_CREATE, 200, "{\"instances\":[" N1 "]}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 202, "{}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 202, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 202, "{\"operation\":\"a b\"}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 202, "<html>", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":[" N2 "," N1 "]}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":[" N1 "," N1 "]}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200,
	 "{\"instances\":[" N1 ",{\"name\":\"n2\",\"generation\":7,\"id\":\"a\"}]}",
	 PROVIDER_AMBIGUOUS}, /* two nodes, one id */
	{PROVIDER_CREATE, 200,
	 "{\"instances\":[" N1 ",{\"name\":\"n2\",\"generation\":\"7\",\"id\":\"b\"}]}",
	 PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200,
	 "{\"instances\":[" N1 ",{\"name\":\"n2\",\"generation\":8,\"id\":\"b\"}]}",
	 PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":[" N1 "," N2, PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":[" N1 ",7]}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":{}}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":[],\"instances\":[" N1 "," N2 "]}",
	 PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "<html>ok</html>", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, DEEP DEEP DEEP, PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"instances\":[1e400,1e400]}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"a\":\"\\u0000\"}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 200, "{\"a\":\"\xff\xfe\"}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 201, "{}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 302, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 500, "{\"error\":{\"code\":\"internal\"}}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 500, "{\"error\":{\"code\":\"capacity\"}}", PROVIDER_CAPACITY},
	{PROVIDER_CREATE, 502, "<html>", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 503, "{\"error\":{\"code\":\"capacity\"}}", PROVIDER_CAPACITY},
	{PROVIDER_CREATE, 503, "{\"error\":{\"code\":7}}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 503, "{\"error\":\"capacity\"}", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 504, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 408, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 400, "{\"error\":{\"code\":\"invalid\"}}", PROVIDER_INVALID},
	{PROVIDER_CREATE, 404, "{\"error\":{\"code\":\"not-found\"}}", PROVIDER_INVALID},
	{PROVIDER_CREATE, 403, "{\"error\":{\"code\":\"quota\"}}", PROVIDER_QUOTA},
	{PROVIDER_CREATE, 403, "{\"error\":{\"code\":\"novel\"}}", PROVIDER_DENIED},
	{PROVIDER_CREATE, 401, "", PROVIDER_DENIED},
	{PROVIDER_CREATE, 409, "{\"error\":{\"code\":\"token-mismatch\"}}", PROVIDER_CONFLICT},
	{PROVIDER_CREATE, 409, "{\"error\":{\"code\":\"not-yet\"}}", PROVIDER_NOT_YET},
	{PROVIDER_CREATE, 429, "busy", PROVIDER_RATE},
	{PROVIDER_LIST, 200, "{\"instances\":[" O1 "],\"cursor\":\"\"}", PROVIDER_OK},
	{PROVIDER_LIST, 200, "{\"instances\":[],\"cursor\":\"\"}", PROVIDER_OK},
	{PROVIDER_LIST, 200, "{\"instances\":[],\"cursor\":\"c2\"}", PROVIDER_MORE},
	{PROVIDER_LIST, 200, "{\"instances\":[],\"cursor\":\"c1\"}", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "{\"instances\":[]}", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "{\"instances\":[],\"cursor\":null}", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "{\"instances\":[],\"cursor\":5}", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "{\"cursor\":\"\"}", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "{\"instances\":null,\"cursor\":\"\"}", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "[]", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 200, "{\"instances\":[" O1 "],\"cur", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 500, "", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 401, "{\"error\":{\"code\":\"denied\"}}", PROVIDER_DENIED},
	{PROVIDER_LIST, 404, "{\"error\":{\"code\":\"not-found\"}}", PROVIDER_INVALID},
	{PROVIDER_LIST, 204, "", PROVIDER_TRANSIENT},
	{PROVIDER_DELETE, 200,
	 "{\"results\":[{\"id\":\"a\",\"state\":\"ended\"},{\"id\":\"b\",\"state\":\"x\"}]"
	 "}",
	 PROVIDER_OK},
	{PROVIDER_DELETE, 200, "{\"results\":[{\"id\":\"a\",\"state\":\"ended\"}]}",
	 PROVIDER_TRANSIENT},
	{PROVIDER_DELETE, 200,
	 "{\"results\":[{\"id\":\"b\",\"state\":\"ended\"},{\"id\":\"a\",\"state\":\"x\"}]"
	 "}",
	 PROVIDER_TRANSIENT},
	{PROVIDER_DELETE, 200, "{\"results\":[{\"id\":\"a\"},{\"id\":\"b\",\"state\":\"x\"}]}",
	 PROVIDER_TRANSIENT},
	{PROVIDER_DELETE, 200, "", PROVIDER_TRANSIENT},
	{PROVIDER_DELETE, 500, "{}", PROVIDER_TRANSIENT},
	{PROVIDER_QUOTES, 200, "{\"offers\":[]}", PROVIDER_OK},
	{PROVIDER_NOTICES, 200, "{\"notices\":[],\"cursor\":\"\"}", PROVIDER_OK},
	{PROVIDER_NOTICES, 200, "{\"notices\":[]}", PROVIDER_TRANSIENT}, /* where to go on? */
	{PROVIDER_NOTICES, 200, "{\"cursor\":\"1\"}", PROVIDER_TRANSIENT},
	{PROVIDER_NOTICES, 404, "{}", PROVIDER_INVALID}, /* an older simcloud */
	{PROVIDER_REPORT, 200, "{}", PROVIDER_OK},
	{PROVIDER_REPORT, 404, "{\"error\":{\"code\":\"not-found\"}}", PROVIDER_INVALID},
	{PROVIDER_REPORT, 500, "", PROVIDER_TRANSIENT},
	{PROVIDER_CONSOLE, 200, "{\"console\":\"a\"}", PROVIDER_OK},
	{PROVIDER_CONSOLE, 200, "{}", PROVIDER_OK},
	{PROVIDER_CONSOLE, 200, "{\"console\":\"a", PROVIDER_TRANSIENT},
	{PROVIDER_CONSOLE, 404, "{\"error\":{\"code\":\"not-found\"}}", PROVIDER_INVALID},
	{PROVIDER_CONSOLE, 500, "", PROVIDER_TRANSIENT},
	{PROVIDER_QUOTES, 200, "{\"offers\":[{}]}", PROVIDER_TRANSIENT},
	{PROVIDER_QUOTES, 200,
	 "{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"spot\","
	 "\"price\":\"1.5\",\"currency\":\"EUR\",\"available\":null}]}",
	 PROVIDER_OK},
	{PROVIDER_QUOTES, 200,
	 "{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"spot\","
	 "\"price\":1.5,\"currency\":\"EUR\"}]}",
	 PROVIDER_TRANSIENT},
	{PROVIDER_QUOTES, 200,
	 "{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"zone\":\"z\",\"market\":\"spot\","
	 "\"price\":\"-1\",\"currency\":\"EUR\"}]}",
	 PROVIDER_TRANSIENT},
	{PROVIDER_QUOTES, 200,
	 "{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"zone\":\"z\",\"market\":"
	 "\"lease\","
	 "\"price\":\"1\",\"currency\":\"EUR\"}]}",
	 PROVIDER_TRANSIENT},
};

/* A create that is an operation is asked about until it has ended (ADR 36). */
static void test_an_operation_is_asked_about(void **state)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_request rq = {0};
	struct header v[2];
	struct provider_reply gone = {.status = 404, .body = "{}", .len = 2};
	struct provider_result r;

	(void)state;
	parse(&r, PROVIDER_CREATE, 202, "{\"operation\":\"op-7\"}", NULL);
	assert_int_equal(r.code, PROVIDER_MORE);
	assert_string_equal(r.cursor, "op-7");
	assert_int_equal(r.retry_after_ms, 2000);
	op.cursor = r.cursor;
	assert_int_equal(provider_sim.build(self, &op, &rq, NULL), 0);
	assert_string_equal(rq.method, "GET");
	assert_non_null(strstr(rq.url, "/v1/operations/op-7"));
	assert_null(rq.body);
	provider_request_fini(&rq);
	provider_result_fini(&r);
	parse(&r, PROVIDER_CREATE, 202, "{\"operation\":\"op-7\"}", "9");
	assert_int_equal(r.retry_after_ms, 9000);
	provider_result_fini(&r);
	op.cursor = "op-7";
	gone.headers = two_headers(v, NULL, NULL);
	provider_sim.parse(self, &op, &gone, &r); /* it is forgotten, and was not refused */
	assert_int_equal(r.code, PROVIDER_AMBIGUOUS);
	provider_result_fini(&r);
}

static void test_parse_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		struct provider_result r;

		parse(&r, replies[i].kind, replies[i].status, replies[i].body, NULL);
		if (r.code != replies[i].code)
			print_error("row %zu: %ld %s: %s\n", i, replies[i].status, replies[i].body,
				    provider_code_str(r.code));
		assert_int_equal(r.code, replies[i].code);
		/* A result that is not OK has nothing in it that could be taken for one. */
		if (r.code != PROVIDER_OK && r.code != PROVIDER_MORE) {
			assert_int_equal(r.nitems + r.ninstances + r.nquotes, 0);
			assert_null(r.items);
			assert_null(r.instances);
			assert_true(r.message[0] != '\0');
		} else {
			assert_string_equal(r.message, "");
		}
		provider_result_fini(&r);
	}
}

/* Any cut of a good reply, and any one byte changed, is either read or refused, never a crash; a
 * list cut short is never a shorter list (I12). */
static void test_parse_survives_damage(void **state)
{
	static const char *const good[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = "{\"instances\":[" N1 "," N2 "]}",
		[PROVIDER_LIST] = "{\"instances\":[" O1 "],\"cursor\":\"\"}",
		[PROVIDER_DELETE] =
			"{\"results\":[{\"id\":\"a\",\"state\":\"ended\"},{\"id\":\"b\","
			"\"error\":{\"code\":\"not-yet\",\"retry_after_ms\":5}}]}",
		[PROVIDER_QUOTES] =
			"{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"market\":\"spot\","
			"\"price\":\"1.5\",\"currency\":\"EUR\"}]}",
		[PROVIDER_NOTICES] = "{\"notices\":[{\"id\":\"i\",\"kind\":\"reclaim\","
				     "\"at_ms\":5}],\"cursor\":\"9\"}",
		[PROVIDER_FABRIC_MAKE] = "{\"name\":\"tok\"}",
		[PROVIDER_FABRIC_LIST] = "{\"fabrics\":[{\"name\":\"a\",\"cluster\":\"c\"}],"
					 "\"cursor\":\"\"}",
		[PROVIDER_FABRIC_DROP] = "{}",
	};
	static const char bytes[] = "\"{}[],:0x\x01\xff";

	(void)state;
	for (int kind = PROVIDER_CREATE; kind < PROVIDER_NOPS; kind++) {
		struct provider_op op = op_of((enum provider_op_kind)kind);
		size_t len = good[kind] != NULL ? strlen(good[kind]) : 0;

		for (size_t i = 0; i < len * sizeof(bytes); i++) {
			char *copy = strdup(good[kind]);
			struct provider_reply reply = {.status = 200, .body = copy, .len = len};
			struct provider_result r = {0};

			copy[i % len] = bytes[i / len];
			if (i / len == sizeof(bytes) - 1) {
				copy[i % len] = good[kind][i % len];
				reply.len = i % len; /* cut */
			}
			provider_sim.parse(self, &op, &reply, &r);
			if (i / len == sizeof(bytes) - 1)
				assert_int_not_equal(r.code, PROVIDER_OK);
			provider_result_fini(&r);
			free(copy);
		}
	}
}

static void test_notices(void **state)
{
	struct provider_result r;

	(void)state;
	parse(&r, PROVIDER_NOTICES, 200,
	      "{\"notices\":[{\"seq\":1,\"id\":\"i-1\",\"kind\":\"reclaim\",\"at_ms\":1800},"
	      "{\"id\":\"i-2\",\"kind\":\"earthquake\",\"at_ms\":7},"
	      "{\"id\":\"\",\"kind\":\"faulty\"},"
	      "{\"id\":\"i-3\",\"kind\":\"faulty\"},"
	      "{\"id\":\"i-3\",\"kind\":\"maintenance\",\"at_ms\":-1}],\"cursor\":\"17\"}",
	      NULL);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nnotices, 2);
	assert_string_equal(r.notices[0].id, "i-1");
	assert_int_equal(r.notices[0].kind, PROVIDER_NOTICE_RECLAIM);
	assert_int_equal(r.notices[0].at_ms, 1800);
	assert_int_equal(r.notices[1].kind, PROVIDER_NOTICE_FAULTY);
	assert_int_equal(r.notices[1].at_ms, 0);
	assert_int_equal(r.nunread, 3);
	assert_string_equal(r.cursor, "17");
	assert_null(r.ack);
	provider_result_fini(&r);
}

static void test_create_items(void **state)
{
	struct provider_result r;

	(void)state;
	parse(&r, PROVIDER_CREATE, 200,
	      "{\"instances\":[{\"name\":\"n1\",\"generation\":1,\"id\":\"i-1\",\"state\":"
	      "\"booting\","
	      "\"address\":\"10.77.0.9\",\"hostname\":\"n1\",\"created_ms\":12,\"new\":[]},"
	      "{\"name\":\"n2\",\"generation\":7,\"error\":{\"code\":\"capacity\",\"message\":"
	      "\"no\"}}]}",
	      NULL);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.nitems, 2);
	assert_int_equal(r.items[0].code, PROVIDER_OK);
	assert_string_equal(r.items[0].instance.id, "i-1");
	assert_string_equal(r.items[0].instance.node, "n1");
	assert_string_equal(r.items[0].instance.cluster, cluster);
	assert_string_equal(r.items[0].instance.addr, "10.77.0.9");
	assert_int_equal(r.items[0].instance.state, PROVIDER_PENDING);
	assert_int_equal(r.items[0].instance.created_ms, 12);
	assert_int_equal(r.items[1].code, PROVIDER_CAPACITY);
	provider_result_fini(&r);
}

/* One member of a batch may be unclear while the others are not. */
static void test_create_item_codes(void **state)
{
	static const struct {
		const char *item;
		enum provider_code code;
	} rows[] = {
		{"\"id\":\"b\",\"state\":\"pending\"", PROVIDER_OK},
		{"\"id\":\"b\"", PROVIDER_OK},
		{"\"id\":\"b\",\"address\":null", PROVIDER_OK},
		{"\"state\":\"pending\"", PROVIDER_AMBIGUOUS},
		{"\"id\":\"\"", PROVIDER_AMBIGUOUS},
		{"\"id\":5", PROVIDER_AMBIGUOUS},
		{"\"id\":\"b\\n\"", PROVIDER_AMBIGUOUS},
		{"\"id\":\"b\",\"created_ms\":\"x\"", PROVIDER_AMBIGUOUS},
		{"\"id\":\"b\",\"address\":7", PROVIDER_AMBIGUOUS},
		{"\"error\":{\"code\":\"quota\"}", PROVIDER_QUOTA},
		{"\"error\":{\"code\":\"internal\"}", PROVIDER_AMBIGUOUS},
		{"\"error\":{\"code\":\"novel\"}", PROVIDER_AMBIGUOUS},
		{"\"error\":{}", PROVIDER_AMBIGUOUS},
		{"\"error\":null", PROVIDER_AMBIGUOUS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;
		char body[512];

		(void)snprintf(body, sizeof(body),
			       "{\"instances\":[" N1 ",{\"name\":\"n2\",\"generation\":7,%s}]}",
			       rows[i].item);
		parse(&r, PROVIDER_CREATE, 200, body, NULL);
		assert_int_equal(r.code, PROVIDER_OK);
		assert_int_equal(r.items[0].code, PROVIDER_OK);
		assert_int_equal(r.items[1].code, rows[i].code);
		provider_result_fini(&r);
	}
}

/* I12, I14, F13, F19: one instance of a list, ours and of others. */
static void test_list_instances(void **state)
{
	static const struct {
		const char *instance;
		enum provider_code code;
		enum provider_state st;
		const char *node;
	} rows[] = {
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":\"running\"",
		 PROVIDER_OK, PROVIDER_RUNNING, "n1"},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":\"reclaiming\"",
		 PROVIDER_OK, PROVIDER_RECLAIMING, "n1"},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":\"ended\"",
		 PROVIDER_OK, PROVIDER_ENDED, "n1"},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":\"dreaming\"",
		 PROVIDER_OK, PROVIDER_UNKNOWN, "n1"},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"state\":7", PROVIDER_OK,
		 PROVIDER_UNKNOWN, "n1"},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\"", PROVIDER_OK,
		 PROVIDER_UNKNOWN, "n1"},
		/* ours, and its tags cannot be read: the list counts all the same */
		{OURS ",\"name\":\"n1\",\"generation\":\"1\",\"id\":\"a\"", PROVIDER_OK, 0, ""},
		{OURS ",\"name\":\"n1\",\"generation\":-1,\"id\":\"a\",\"state\":\"running\"",
		 PROVIDER_OK, PROVIDER_RUNNING, ""},
		{OURS ",\"name\":\"n1\",\"id\":\"a\"", PROVIDER_OK, 0, ""},
		{OURS ",\"generation\":1,\"id\":\"a\",\"state\":\"ended\"", PROVIDER_OK,
		 PROVIDER_ENDED, ""},
		{OURS ",\"name\":\"../x\",\"generation\":1,\"id\":\"a\"", PROVIDER_OK, 0, ""},
		{OURS ",\"name\":[],\"generation\":{},\"id\":\"a\"", PROVIDER_OK, 0, ""},
		/* ... but not without an id, or with an address that is none */
		{OURS ",\"name\":\"../x\",\"generation\":1", PROVIDER_TRANSIENT, 0, ""},
		{OURS ",\"name\":\"n1\",\"generation\":1", PROVIDER_TRANSIENT, 0, ""},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":null", PROVIDER_TRANSIENT, 0, ""},
		{OURS ",\"name\":\"n1\",\"generation\":1,\"id\":\"a\",\"address\":[]",
		 PROVIDER_TRANSIENT, 0, ""},
		/* untagged: tags are switched off, or not there yet */
		{"\"id\":\"a\",\"state\":\"running\"", PROVIDER_OK, PROVIDER_RUNNING, ""},
		{"\"id\":\"a\",\"cluster\":null,\"state\":\"running\"", PROVIDER_OK,
		 PROVIDER_RUNNING, ""},
		/* somebody else's */
		{"\"cluster\":\"x\",\"name\":\"My VM\",\"generation\":\"?\",\"id\":\"a\"",
		 PROVIDER_OK, PROVIDER_UNKNOWN, ""},
		{"\"cluster\":\"x\",\"id\":\"a\",\"address\":7", PROVIDER_OK, PROVIDER_UNKNOWN, ""},
		{"\"cluster\":\"x\"", PROVIDER_TRANSIENT, 0, ""},
		/* a tag that cannot be read may be ours */
		{"\"cluster\":5,\"id\":\"a\"", PROVIDER_TRANSIENT, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;
		char body[512];

		(void)snprintf(body, sizeof(body), "{\"instances\":[" O1 ",{%s}],\"cursor\":\"\"}",
			       rows[i].instance);
		parse(&r, PROVIDER_LIST, 200, body, NULL);
		if (r.code != rows[i].code)
			print_error("row %zu: %s\n", i, body);
		assert_int_equal(r.code, rows[i].code);
		if (r.code == PROVIDER_OK) {
			assert_int_equal(r.ninstances, 2);
			assert_int_equal(r.instances[1].state, rows[i].st);
			assert_string_equal(r.instances[1].node, rows[i].node);
			assert_int_equal(r.instances[1].gen, rows[i].node[0] != '\0');
			assert_string_equal(r.instances[1].id, "a");
		}
		provider_result_fini(&r);
	}
}

static void test_delete_items(void **state)
{
	struct provider_result r;

	(void)state;
	parse(&r, PROVIDER_DELETE, 200,
	      "{\"results\":[{\"id\":\"a\",\"state\":\"stopping\"},{\"id\":\"b\",\"error\":"
	      "{\"code\":\"not-yet\",\"retry_after_ms\":90000}}]}",
	      NULL);
	assert_int_equal(r.code, PROVIDER_OK);
	assert_int_equal(r.items[0].instance.state, PROVIDER_STOPPING);
	assert_int_equal(r.items[1].code, PROVIDER_NOT_YET);
	assert_int_equal(r.retry_after_ms, 90000);
	provider_result_fini(&r);
	parse(&r, PROVIDER_DELETE, 200,
	      "{\"results\":[{\"id\":\"a\",\"error\":{\"code\":\"not-found\"}},{\"id\":\"b\","
	      "\"error\":"
	      "{\"code\":\"novel\"}}]}",
	      NULL);
	assert_int_equal(r.items[0].code, PROVIDER_NOT_FOUND);
	assert_int_equal(r.items[1].code, PROVIDER_TRANSIENT);
	provider_result_fini(&r);
}

/* Why it failed is said like the refusal of a create; no word, or one that says nothing of the
 * place: transient. */
static void test_a_failed_instance_says_why(void **state)
{
	struct provider_result r;

	(void)state;
	parse(&r, PROVIDER_LIST, 200,
	      "{\"instances\":[{\"cluster\":\"c-1\",\"name\":\"n1\",\"generation\":1,\"id\":\"i-"
	      "1\",\"state\":"
	      "\"failed\",\"error\":{\"code\":\"quota\",\"message\":\"no more\"}},"
	      "{\"cluster\":\"c-1\",\"name\":\"n2\",\"generation\":1,\"id\":\"i-2\",\"state\":"
	      "\"failed\"},"
	      "{\"cluster\":\"c-1\",\"name\":\"n3\",\"generation\":1,\"id\":\"i-3\",\"state\":"
	      "\"running\","
	      "\"error\":{\"code\":\"capacity\"}}],\"cursor\":\"\"}",
	      NULL);
	assert_int_equal(r.ninstances, 3);
	assert_int_equal(r.nfailures, 2);
	assert_string_equal(r.failures[0].id, "i-1");
	assert_int_equal(r.failures[0].code, PROVIDER_QUOTA);
	assert_string_equal(r.failures[0].message, "no more");
	assert_string_equal(r.failures[1].id, "i-2");
	assert_int_equal(r.failures[1].code, PROVIDER_TRANSIENT);
	assert_string_equal(r.failures[1].message, "");
	provider_result_fini(&r);
}

static void test_offers(void **state)
{
	struct provider_result r;

	(void)state;
	parse(&r, PROVIDER_QUOTES, 200,
	      "{\"offers\":[{\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"zone\":\"a\","
	      "\"market\":\"on-demand\",\"price\":\"29.52\",\"currency\":\"EUR\",\"available\":3}]"
	      "}",
	      NULL);
	assert_int_equal(r.nquotes, 1);
	assert_int_equal(r.quotes[0].price_nano_h, INT64_C(29520000000));
	assert_string_equal(r.quotes[0].type, "gpu_8x_h100");
	assert_string_equal(r.quotes[0].currency, "EUR");
	assert_int_equal(r.quotes[0].market, PROVIDER_ON_DEMAND);
	assert_int_equal(r.quotes[0].terms.stock, PROVIDER_STOCK_UNSAID);
	assert_int_equal(r.quotes[0].terms.quantum_ms, 0);
	assert_int_equal(r.quotes[0].terms.minimum_ms, 0);
	provider_result_fini(&r);
	parse(&r, PROVIDER_QUOTES, 200,
	      "{\"offers\":[{\"type\":\"t\",\"region\":\"r\",\"market\":\"spot\",\"price\":\"1\","
	      "\"currency\":\"EUR\",\"stock\":\"none\",\"quantum_ms\":1000,\"minimum_ms\":60000,"
	      "\"interconnect\":\"ib:8x400\"},{\"type\":\"t\",\"region\":\"s\",\"market\":\"spot\","
	      "\"price\":\"1\",\"currency\":\"EUR\",\"stock\":\"some\",\"minimum_ms\":0}]}",
	      NULL);
	assert_int_equal(r.nquotes, 2);
	assert_int_equal(r.quotes[0].terms.stock, PROVIDER_STOCK_NONE);
	assert_int_equal(r.quotes[0].terms.quantum_ms, 1000);
	assert_int_equal(r.quotes[0].terms.minimum_ms, 60000);
	assert_string_equal(r.quotes[0].terms.interconnect, "ib:8x400");
	assert_int_equal(r.quotes[1].terms.stock, PROVIDER_STOCK_SOME);
	assert_int_equal(r.quotes[1].terms.minimum_ms, PROVIDER_NO_MINIMUM);
	provider_result_fini(&r);
}

static void test_retry_after(void **state)
{
	static const struct {
		const char *header;
		int64_t ms;
	} rows[] = {
		{NULL, 0},
		{"", 0},
		{"0", 0},
		{"7", 7000},
		{"86401", 86400000},
		{"99999999999999999999999999", 86400000},
		{"-5", 0},
		{"1.5", 0},
		{" 3", 0},
		{"Fri, 31 Dec 1999 23:59:59 GMT", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_result r;

		parse(&r, PROVIDER_LIST, 429, "{}", rows[i].header);
		assert_int_equal(r.code, PROVIDER_RATE);
		assert_int_equal(r.retry_after_ms, rows[i].ms);
		provider_result_fini(&r);
	}
}

/* The provider's words are shown to people: no control bytes, and never the credential. */
static void test_message(void **state)
{
	static const struct {
		const char *words, *message;
	} rows[] = {
		{"\"bad day\"", "bad day"},
		{"\"token s3cret is wrong\"", "token *** is wrong"},
		{"\"s3crets3cret\"", "******"},
		{"\"a\\u001b[2Jb\\nc\"", "a?[2Jb?c"},
		{"5", "error without a message"},
	};
	struct provider_result r;
	char body[1024], longer[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(body, sizeof(body),
			       "{\"error\":{\"code\":\"denied\",\"message\":%s}}", rows[i].words);
		parse(&r, PROVIDER_CREATE, 403, body, NULL);
		assert_string_equal(r.message, rows[i].message);
		provider_result_fini(&r);
	}
	/* The cut must not leave a part of it. */
	for (size_t pad = 140; pad < 165; pad++) {
		(void)snprintf(longer, sizeof(longer), "%0*ds3cret", (int)pad, 0);
		(void)snprintf(body, sizeof(body), "{\"error\":{\"message\":\"%s\"}}", longer);
		parse(&r, PROVIDER_CREATE, 403, body, NULL);
		assert_null(strstr(r.message, "s3"));
		assert_true(strlen(r.message) < sizeof(r.message));
		provider_result_fini(&r);
	}
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(provider_code_str(PROVIDER_OK), "ok");
	for (int i = 0; i < PROVIDER_NCODES; i++)
		assert_string_not_equal(provider_code_str((enum provider_code)i), "?");
	assert_string_equal(provider_code_str(PROVIDER_NCODES), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_operation_is_asked_about, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parse_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_notices, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parse_survives_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_create_items, setup, teardown),
		cmocka_unit_test_setup_teardown(test_create_item_codes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_instances, setup, teardown),
		cmocka_unit_test_setup_teardown(test_delete_items, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failed_instance_says_why, setup, teardown),
		cmocka_unit_test_setup_teardown(test_retry_after, setup, teardown),
		cmocka_unit_test_setup_teardown(test_message, setup, teardown),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
