/* test_sim.c - the driver sim: what it can, and what it sends. */
#include "providers/sim.h"
#include "sim_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/registry.h"

static void test_user_data_of_a_create(void **state)
{
	struct provider_op op = op_of(PROVIDER_CREATE);
	struct provider_request rq = {0}, again = {0};
	struct err e = {0};

	(void)state;
	op.u.create.user_data = "#!/bin/sh\n: \"x\" \\n\n";
	assert_int_equal(provider_sim.build(self, &op, &rq, NULL), 0);
	assert_non_null(strstr(rq.body, "\"user_data\":\"#!/bin/sh\\n: \\\"x\\\" \\\\n\\n\","));
	assert_int_equal(provider_sim.build(self, &op, &again, NULL), 0);
	assert_string_equal(rq.body, again.body);
	provider_request_fini(&rq);
	provider_request_fini(&again);
	op.u.create.user_data = "\xff";
	rq = (struct provider_request){0};
	assert_int_equal(provider_sim.build(self, &op, &rq, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
}

static void test_registry(void **state)
{
	(void)state;
	assert_ptr_equal(provider_find("sim"), &provider_sim);
	assert_null(provider_find("simx"));
	assert_null(provider_find(""));
}

static void test_open_refuses(void **state)
{
	static const struct {
		const char *url, *credential;
		int rc;
	} rows[] = {
		{"http://127.0.0.1:80", NULL, 0},
		{"https://cloud.example/api", "word", 0},
		{NULL, NULL, -1},
		{"ftp://x", NULL, -1},
		{"http://", NULL, -1},
		{"http:///x", NULL, -1},
		{"http://user@host", NULL, -1},
		{"http://host/?q", NULL, -1},
		{"http://ho st", NULL, -1},
		{"http://host\r\nX: y", NULL, -1},
		{"http://host", "", -1},
		{"http://host", "two words", -1},
		{"http://host", "line\r\nX-Evil: 1", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_conf conf = {
			.name = "p", .url = rows[i].url, .credential = rows[i].credential};
		struct err e = {0};
		void *s = &e;

		assert_int_equal(provider_sim.open(&s, &conf, &e), rows[i].rc);
		assert_true((s != NULL) == (rows[i].rc == 0));
		if (rows[i].credential != NULL && rows[i].credential[0] != '\0')
			assert_null(strstr(e.msg, rows[i].credential));
		provider_sim.close(s);
	}
}

static void test_caps(void **state)
{
	struct provider_caps caps = provider_sim.caps(self);

	(void)state;
	assert_int_equal(caps.flags, PROVIDER_TOKENS | PROVIDER_TAGS | PROVIDER_GANGS |
					     PROVIDER_TELLS | PROVIDER_REPORTS | PROVIDER_FABRICS |
					     PROVIDER_CONSOLES | PROVIDER_PATHS | PROVIDER_IMAGES);
	assert_int_equal(caps.paths_max, 1000);
	assert_int_equal(caps.create_max, 1000);
	assert_int_equal(caps.delete_max, 1000);
	assert_true(caps.token_ms >= 3600000);
}

static void test_build(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		const char *method, *url, *body;
	} rows[] = {
		{PROVIDER_CREATE, "POST", "http://127.0.0.1:1/v1/instances",
		 "{\"token\":\"tok\",\"cluster\":\"0b1c2d3e-0000-4000-8000-000000000001\","
		 "\"type\":\"gpu_8x_h100\",\"region\":\"eu-north-1\",\"zone\":\"\","
		 "\"market\":\"on-demand\",\"instances\":["
		 "{\"name\":\"n1\",\"generation\":1,\"group\":0},"
		 "{\"name\":\"n2\",\"generation\":7,\"group\":3}]}"},
		{PROVIDER_LIST, "GET",
		 "http://127.0.0.1:1/v1/instances?limit=1000&fields="
		 "cluster,name,generation,id,state,address,created_ms,ended_ms,reclaim_ms&cluster="
		 "0b1c2d3e-0000-4000-8000-000000000001&cursor=c1",
		 NULL},
		{PROVIDER_DELETE, "POST", "http://127.0.0.1:1/v1/instances/delete",
		 "{\"ids\":[\"a\",\"b\"]}"},
		{PROVIDER_QUOTES, "GET", "http://127.0.0.1:1/v1/offers", NULL},
		{PROVIDER_NOTICES, "GET",
		 "http://127.0.0.1:1/v1/notices?wait=20000&after=17&cluster="
		 "0b1c2d3e-0000-4000-8000-000000000001",
		 NULL},
		{PROVIDER_REPORT, "POST", "http://127.0.0.1:1/v1/instances/sim-1/report",
		 "{\"reason\":\"XID 79: \\\"bus\\\" \xc3\xa9\"}"},
		{PROVIDER_CONSOLE, "GET", "http://127.0.0.1:1/v1/instances/sim-1/console", NULL},
		{PROVIDER_TOPOLOGY, "POST", "http://127.0.0.1:1/v1/topology",
		 "{\"ids\":[\"a\",\"b\"]}"},
		{PROVIDER_FABRIC_MAKE, "POST", "http://127.0.0.1:1/v1/fabrics",
		 "{\"cluster\":\"0b1c2d3e-0000-4000-8000-000000000001\",\"name\":\"tok\"}"},
		{PROVIDER_FABRIC_LIST, "GET",
		 "http://127.0.0.1:1/v1/fabrics?limit=1000&cluster="
		 "0b1c2d3e-0000-4000-8000-000000000001",
		 NULL},
		{PROVIDER_FABRIC_DROP, "DELETE", "http://127.0.0.1:1/v1/fabrics/tok", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_request rq = {0}, again = {0};
		struct provider_op op = op_of(rows[i].kind);
		int auth = 0;

		assert_int_equal(provider_sim.build(self, &op, &rq, NULL), 0);
		assert_int_equal(provider_sim.build(self, &op, &again, NULL), 0);
		assert_int_equal(rq.kind, PROVIDER_HTTP);
		assert_string_equal(rq.method, rows[i].method);
		assert_string_equal(rq.url, rows[i].url);
		if (rows[i].body != NULL) {
			assert_string_equal(rq.body, rows[i].body);
			assert_int_equal(rq.body_len, strlen(rows[i].body));
			assert_string_equal(again.body, rq.body); /* I4 */
		} else {
			assert_null(rq.body);
		}
		for (int h = 0; rq.headers[h] != NULL; h++)
			auth += strcmp(rq.headers[h], "Authorization: Bearer s3cret") == 0;
		assert_int_equal(auth, 1);
		assert_null(strstr(rq.url, "s3cret"));
		provider_request_fini(&rq);
		provider_request_fini(&again);
	}
}

/* A cursor that is left out would ask for the first page again. */
static void test_the_longest_cursor_is_sent_whole(void **state)
{
	char cursor[PROVIDER_CURSOR_MAX + 1] = {0};
	struct provider_op op = op_of(PROVIDER_LIST);
	struct provider_request rq = {0};
	const char *sent;

	(void)state;
	memset(cursor, '%', sizeof(cursor) - 1);
	op.cursor = cursor;
	assert_int_equal(provider_sim.build(self, &op, &rq, NULL), 0);
	sent = strstr(rq.url, "&cursor=%25");
	assert_non_null(sent);
	assert_int_equal(strlen(sent), strlen("&cursor=") + 3 * strlen(cursor));
	provider_request_fini(&rq);
}

static void test_build_refuses_what_can_never_be_asked(void **state)
{
	static char big[200];
	static struct provider_want many[1001];
	struct provider_place bad = {.type = "a\"b", .region = "r", .zone = ""};
	struct provider_want named = {big, 1, 0};
	struct provider_op ops[8];
	const char *quoted[] = {"x\"y"}, *nothing[] = {""};

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	for (size_t i = 0; i < 1001; i++)
		many[i] = wants[0];
	for (size_t i = 0; i < 5; i++)
		ops[i] = op_of(PROVIDER_CREATE);
	ops[0].u.create.nwants = 0;
	ops[1].u.create.wants = many;
	ops[1].u.create.nwants = 1001;
	ops[2].u.create.place = &bad;
	ops[3].u.create.wants = &named;
	ops[3].u.create.nwants = 1;
	ops[4].u.create.token = big;
	for (size_t i = 5; i < 8; i++)
		ops[i] = op_of(PROVIDER_DELETE);
	ops[5].u.del.nids = 0;
	ops[6].u.del.ids = quoted;
	ops[6].u.del.nids = 1;
	ops[7].u.del.ids = nothing;
	ops[7].u.del.nids = 1;
	for (size_t i = 0; i < 8; i++) {
		struct provider_request rq = {0};
		struct err e = {0};

		assert_int_equal(provider_sim.build(self, &ops[i], &rq, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_null(rq.url);
		assert_null(rq.body);
	}
	ops[1].u.create.nwants = 1000;
	{
		struct provider_request rq = {0};

		assert_int_equal(provider_sim.build(self, &ops[1], &rq, NULL), 0);
		provider_request_fini(&rq);
	}
}

static void test_fini_releases_a_command_too(void **state)
{
	struct provider_request rq = {.kind = PROVIDER_COMMAND};

	(void)state;
	rq.argv = calloc(3, sizeof(char *));
	rq.argv[0] = strdup("/bin/true");
	rq.argv[1] = strdup("x");
	rq.body = strdup("stdin");
	provider_request_fini(&rq);
	assert_null(rq.argv);
	assert_null(rq.body);
	provider_request_fini(&rq); /* twice is fine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_open_refuses),
		cmocka_unit_test_setup_teardown(test_caps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build, setup, teardown),
		cmocka_unit_test_setup_teardown(test_user_data_of_a_create, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_longest_cursor_is_sent_whole, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_build_refuses_what_can_never_be_asked, setup,
						teardown),
		cmocka_unit_test(test_fini_releases_a_command_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
