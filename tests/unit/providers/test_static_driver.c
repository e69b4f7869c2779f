/* test_static_driver.c - the driver static alone: the configurations it takes, what it asks of
 * burst-static, and what it makes of the replies. */
#include "static_site.h"

#include "providers/registry.h"

static void test_open_refuses(void **state)
{
	static const char *const good[] = {"/site", "%n", NULL},
				 *const addr[] = {"/site", "%a", NULL},
				 *const none[] = {"/site", "n1", NULL},
				 *const percent[] = {"/site", "%%n", NULL};
	static const struct {
		const char *const *on, *const *off, *const *status;
		const char *url, *credential;
		uint32_t concurrency;
		const char *want_err; /* NULL: good */
	} rows[] = {
		{good, good, good, "", NULL, 16, NULL},
		{good, addr, good, NULL, NULL, 32, NULL},
		{NULL, good, good, "", NULL, 16, "want on = "},
		{good, NULL, good, "", NULL, 16, "want off = "},
		{good, good, none, "", NULL, 16, "want status = "},
		{good, percent, good, "", NULL, 16, "want off = "},
		{good, good, good, "http://x", NULL, 16, "url"},
		{good, good, good, "", "s3cret", 16, "credential_file"},
		{good, good, good, "", NULL, 33, "concurrency: at most 32"},
	};

	(void)state;
	assert_ptr_equal(provider_find("static"), &provider_static);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct static_options own = {.on = rows[i].on,
						   .off = rows[i].off,
						   .status = rows[i].status,
						   .records = "/r",
						   .program = "/p"};
		const struct provider_conf conf = {.name = "own",
						   .url = rows[i].url,
						   .credential = rows[i].credential,
						   .timeout_ms = 1000,
						   .concurrency = rows[i].concurrency,
						   .options = &own};
		struct err e = {0};
		void *s = &e;

		print_message("# row %zu\n", i);
		assert_int_equal(provider_static.open(&s, &conf, &e),
				 rows[i].want_err == NULL ? 0 : -1);
		assert_true((s != NULL) == (rows[i].want_err == NULL));
		if (rows[i].want_err != NULL)
			assert_non_null(strstr(e.msg, rows[i].want_err));
		assert_null(strstr(e.msg, "s3cret"));
		provider_static.close(s);
	}
	provider_static.close(NULL);
}

/* The same bytes every time (I4), and no word of the configuration is seen by a shell. */
static void test_build(void **state)
{
	static const char *const want[] = {
		NULL,    "create", "--dir", NULL,  "--timeout-ms", "10000",    "--jobs",
		"4",     "--on",   "4",     NULL,  "on",           "%n",       "`id` $HOME; %% %a",
		"--off", "3",      NULL,    "off", "%n",           "--status", "3",
		NULL,    "status", "%n"};
	struct provider_request rq = {0}, again = {0};
	struct provider_op op;
	struct fix f;

	(void)state;
	start(&f);
	op = create_op("n1", 7, cluster);
	assert_int_equal(provider_static.build(f.self, &op, &rq, NULL), 0);
	assert_int_equal(provider_static.build(f.self, &op, &again, NULL), 0);
	assert_int_equal(rq.kind, PROVIDER_COMMAND);
	assert_true(rq.deadline_ms >= 60000);
	assert_string_equal(rq.body, "0b1c2d3e-0000-4000-8000-000000000001 n1 7\n");
	assert_string_equal(again.body, rq.body);
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(rq.argv[i], again.argv[i]);
		if (want[i] != NULL)
			assert_string_equal(rq.argv[i], want[i]);
	}
	assert_null(rq.argv[COUNT(want)]);
	provider_request_fini(&rq);
	provider_request_fini(&again);
	stop(&f);
}

static void test_build_refuses(void **state)
{
	static struct provider_place spot = {
		.type = "t", .region = "r", .zone = "", .market = PROVIDER_SPOT};
	static const char *const bad_ids[] = {"", "n1", ":1:0b1c2d3e", "n1:1 x", "n1:1\nn2:1:x"};
	struct provider_request rq = {0};
	struct provider_op op;
	struct err e = {0};
	struct fix f;

	(void)state;
	start(&f);
	op = create_op("n1", 7, cluster);
	op.u.create.place = &spot;
	assert_int_equal(provider_static.build(f.self, &op, &rq, &e), -1);
	assert_non_null(strstr(e.msg, "spot"));
	spot.market = PROVIDER_RESERVED;
	assert_int_equal(provider_static.build(f.self, &op, &rq, &e), -1);
	op = create_op("../n1", 7, cluster);
	assert_int_equal(provider_static.build(f.self, &op, &rq, &e), -1);
	op = create_op("n1", UINT64_MAX, cluster);
	assert_int_equal(provider_static.build(f.self, &op, &rq, &e), -1);
	op = create_op("n1", 7, "two words");
	assert_int_equal(provider_static.build(f.self, &op, &rq, &e), -1);
	for (size_t i = 0; i < COUNT(bad_ids); i++) {
		op = (struct provider_op){.kind = PROVIDER_DELETE};
		op.u.del.ids = &bad_ids[i];
		op.u.del.nids = 1;
		assert_int_equal(provider_static.build(f.self, &op, &rq, &e), -1);
	}
	stop(&f);
}

#define N1 "instance n1 7 0b1c2d3e-0000-4000-8000-000000000001 "

/* Most make no sense: nothing in them is believed. */
static const struct {
	enum provider_op_kind kind;
	long status;
	const char *body;
	enum provider_code code;
} replies[] = {
	{PROVIDER_CREATE, 0, "ok n1:7:0b1c2d3e - 5\n", PROVIDER_OK},
	{PROVIDER_CREATE, 0, "ok n1:7:0b1c2d3e 10.0.0.1 5\n", PROVIDER_OK},
	{PROVIDER_CREATE, 0, "", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, " ok n1:7:0b1c2d3e - 5\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "ok n1:7:0b1c2d3e - 5", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "ok n1:8:0b1c2d3e - 5\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "ok n1:7:0b1c2d3e - x\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "ok\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "ok n1:7:0b1c2d3e - 5\nok n1:7:0b1c2d3e - 5\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 127, "ok n1:7:0b1c2d3e - 5\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 0, "capacity no\n", PROVIDER_CAPACITY},
	{PROVIDER_CREATE, 0, "not-yet 5000 no\n", PROVIDER_NOT_YET},
	{PROVIDER_CREATE, 0, "not-yet soon\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_CREATE, 1, "transient no directory\n", PROVIDER_TRANSIENT},
	{PROVIDER_CREATE, 0, "ambiguous it may be on\n", PROVIDER_AMBIGUOUS}, /* F1 */
	{PROVIDER_CREATE, 0, "maybe\n", PROVIDER_AMBIGUOUS},
	{PROVIDER_DELETE, 0, "ok \n", PROVIDER_OK},
	{PROVIDER_DELETE, 0, "not-found x\n", PROVIDER_NOT_FOUND},
	{PROVIDER_DELETE, 137, "", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, "end 0\n", PROVIDER_OK},
	{PROVIDER_LIST, 0, N1 "running - 5 0\nend 1\n", PROVIDER_OK},
	{PROVIDER_LIST, 0, N1 "absent - 5 0\nend 1\n", PROVIDER_OK},
	{PROVIDER_LIST, 0, "", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, N1 "running - 5 0\n", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, N1 "running - 5 0\nend 2\n", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, N1 "running - 5 0\nend 1\nend 1\n", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, N1 "running - 5 0\nend 1", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, N1 "off - 5 0\nend 1\n", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, N1 "running - 5\nend 1\n", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 0, "bad n1\nend 1\n", PROVIDER_TRANSIENT},
	{PROVIDER_LIST, 2, "end 0\n", PROVIDER_TRANSIENT},
	{PROVIDER_QUOTES, 0, "ok\n", PROVIDER_OK},
	{PROVIDER_QUOTES, 1, "transient flock is not installed\n", PROVIDER_TRANSIENT},
};

#undef N1

static struct provider_op op_of(enum provider_op_kind kind)
{
	static const char *const ids[] = {"n1:7:0b1c2d3e"};
	struct provider_op op = {.kind = kind};

	if (kind == PROVIDER_CREATE)
		op = create_op("n1", 7, cluster);
	if (kind == PROVIDER_DELETE) {
		op.u.del.ids = ids;
		op.u.del.nids = 1;
	}
	if (kind == PROVIDER_LIST) {
		op.u.list.cluster = cluster;
		op.cursor = "";
	}
	return op;
}

static void test_parse_hostile(void **state)
{
	struct fix f;

	(void)state;
	start(&f);
	for (size_t i = 0; i < COUNT(replies); i++) {
		const struct provider_op op = op_of(replies[i].kind);
		struct provider_result r = {0};
		struct provider_reply reply = {.status = replies[i].status,
					       .body = replies[i].body,
					       .len = strlen(replies[i].body)};

		print_message("# row %zu\n", i);
		provider_static.parse(f.self, &op, &reply, &r);
		assert_int_equal(r.code, replies[i].code);
		assert_true((r.code == PROVIDER_OK) == (r.message[0] == '\0'));
		if (r.code != PROVIDER_OK)
			assert_true(r.nitems == 0 && r.ninstances == 0 && r.nquotes == 0);
		provider_result_fini(&r);
	}
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_refuses),
		cmocka_unit_test(test_build),
		cmocka_unit_test(test_build_refuses),
		cmocka_unit_test(test_parse_hostile),
	};

	return cmocka_run_group_tests_name("static_driver", tests, NULL, NULL);
}
