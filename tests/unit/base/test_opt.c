/* The rules of opt.h, one row each. */
#include "base/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct values {
	bool follow, all;
	const char *node;
	int64_t tail, wait_ms;
};

struct global {
	bool json;
};

static const struct opt opts[] = {
	{"follow", 'f', OPT_FLAG, NULL, "go on", offsetof(struct values, follow), 0, 0},
	{"all", 'a', OPT_FLAG, NULL, "all of them", offsetof(struct values, all), 0, 0},
	{"node", 'N', OPT_TEXT, "NODE", "only this", offsetof(struct values, node), 0, 0},
	{"tail", 'n', OPT_NUMBER, "COUNT", "the last", offsetof(struct values, tail), 0, 1000},
	{"wait-for-quite-a-long-time", 0, OPT_DURATION, "TIME", "how long",
	 offsetof(struct values, wait_ms), 100, 60000},
};

static const struct opt globals[] = {
	{"json", 0, OPT_FLAG, NULL, "as JSON", offsetof(struct global, json), 0, 0},
};

enum { ARGS_MAX = 8, LINE = 256 };

struct run {
	char copy[LINE], operands[LINE]; /* operands joined by a comma */
	struct values v;
	struct global g;
	struct err e;
};

/* Split line at spaces and parse it. */
static int parse(struct run *r, const char *line, bool first_ends)
{
	char *args[ARGS_MAX + 1], *save = NULL;
	const struct opt_set sets[] = {{opts, 5, &r->v}, {globals, 1, &r->g}};
	struct opt_args a = {args, 0};
	struct str operands;
	int rc;

	*r = (struct run){.v = {.tail = -1, .wait_ms = -1}};
	(void)snprintf(r->copy, sizeof(r->copy), "%s", line);
	for (char *w = strtok_r(r->copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		args[a.n++] = w;
	rc = opt_parse(sets, 2, &a, first_ends, &r->e);
	str_init(&operands, LINE - 1);
	for (int i = 0; rc == 0 && i < a.n; i++)
		str_addf(&operands, "%s%s", i > 0 ? "," : "", a.v[i]);
	(void)snprintf(r->operands, sizeof(r->operands), "%s", operands.p);
	str_fini(&operands);
	return rc;
}

static void test_good(void **state)
{
	static const struct {
		const char *line;
		bool first_ends;
		struct values want;
		bool json;
		const char *operands;
	} rows[] = {
		{"", false, {false, false, NULL, -1, -1}, false, ""},
		{"-f", false, {true, false, NULL, -1, -1}, false, ""},
		{"--follow x", false, {true, false, NULL, -1, -1}, false, "x"},
		{"x -f y", false, {true, false, NULL, -1, -1}, false, "x,y"},
		{"x -f y", true, {false, false, NULL, -1, -1}, false, "x,-f,y"},
		{"-a x -f", true, {false, true, NULL, -1, -1}, false, "x,-f"},
		{"-fa", false, {true, true, NULL, -1, -1}, false, ""},
		{"-fn5", false, {true, false, NULL, 5, -1}, false, ""},
		{"-fn 5", false, {true, false, NULL, 5, -1}, false, ""},
		{"-n 0", false, {false, false, NULL, 0, -1}, false, ""},
		{"--tail=1000", false, {false, false, NULL, 1000, -1}, false, ""},
		{"--tail 7 --tail 8", false, {false, false, NULL, 8, -1}, false, ""},
		{"--node h1 --json", false, {false, false, "h1", -1, -1}, true, ""},
		{"--node=h1", false, {false, false, "h1", -1, -1}, false, ""},
		{"-Nh1", false, {false, false, "h1", -1, -1}, false, ""},
		{"--node=", false, {false, false, "", -1, -1}, false, ""},
		{"--node -f", false, {false, false, "-f", -1, -1}, false, ""},
		{"-- -f --json", false, {false, false, NULL, -1, -1}, false, "-f,--json"},
		{"-", false, {false, false, NULL, -1, -1}, false, "-"},
		{"--wait-for-quite-a-long-time 2s",
		 false,
		 {false, false, NULL, -1, 2000},
		 false,
		 ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r;

		print_message("# %s\n", rows[i].line);
		assert_int_equal(parse(&r, rows[i].line, rows[i].first_ends), 0);
		assert_int_equal(r.v.follow, rows[i].want.follow);
		assert_int_equal(r.v.all, rows[i].want.all);
		assert_int_equal(r.v.tail, rows[i].want.tail);
		assert_int_equal(r.v.wait_ms, rows[i].want.wait_ms);
		assert_int_equal(r.g.json, rows[i].json);
		assert_string_equal(r.v.node != NULL ? r.v.node : "-",
				    rows[i].want.node != NULL ? rows[i].want.node : "-");
		assert_string_equal(r.operands, rows[i].operands);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *line, *error;
	} rows[] = {
		{"--folow", "unknown option --folow; did you mean --follow?"},
		{"--fol", "unknown option --fol"}, /* never abbreviated */
		{"--zzzzzzzz", "unknown option --zzzzzzzz"},
		{"-x", "unknown option -x"},
		{"-fx", "unknown option -x"},
		{"--follow=1", "--follow takes no value"},
		{"--node", "--node needs a value: NODE"},
		{"-fn", "--tail needs a value: COUNT"},
		{"-n -1", "from 0 to 1000"},
		{"-n 1001", "from 0 to 1000"},
		{"-n 5x", "from 0 to 1000"},
		{"-n +5", "from 0 to 1000"},
		{"--tail=", "from 0 to 1000"},
		{"-n 99999999999999999999", "from 0 to 1000"},
		{"--wait-for-quite-a-long-time 5", "--wait-for-quite-a-long-time: "},
		{"--wait-for-quite-a-long-time 10ms", "want 100ms to 1m00s"},
		{"--wait-for-quite-a-long-time 2m", "want 100ms to 1m00s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run r;

		print_message("# %s\n", rows[i].line);
		assert_int_equal(parse(&r, rows[i].line, false), -1);
		assert_int_equal(r.e.code, ERR_INVALID);
		if (strstr(r.e.msg, rows[i].error) == NULL)
			print_error("%s\n", r.e.msg);
		assert_non_null(strstr(r.e.msg, rows[i].error));
	}
}

static void test_help(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 4096);
	opt_help(opts, 5, &s);
	opt_help(globals, 1, &s);
	assert_string_equal(s.p, "  -f, --follow              go on\n"
				 "  -a, --all                 all of them\n"
				 "  -N, --node NODE           only this\n"
				 "  -n, --tail COUNT          the last\n"
				 "      --wait-for-quite-a-long-time TIME\n"
				 "                            how long\n"
				 "      --json                as JSON\n");
	str_fini(&s);
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"status", "nodes", "node show", "events"};
	static const struct {
		const char *word, *near;
	} rows[] = {
		{"staus", "status"},
		{"nodse", "nodes"},
		{"node shw", "node show"},
		{"event", "events"},
		{"x", NULL},
		{"launch", NULL},
		{"statusstatusstatusstatusstatusstatus", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *near = opt_nearest(rows[i].word, words, 4);

		print_message("# %s\n", rows[i].word);
		assert_string_equal(near != NULL ? near : "-",
				    rows[i].near != NULL ? rows[i].near : "-");
	}
}

static void test_wrap(void **state)
{
	static const struct {
		const char *text;
		size_t at, indent;
		const char *want;
	} rows[] = {
		{"", 0, 0, "\n"},
		{"one", 10, 10, "one\n"},
		/* 80 columns, and one more. */
		{"aaaa bbbb", 71, 4, "aaaa bbbb\n"},
		{"aaaa bbbb", 72, 4, "aaaa\n    bbbb\n"},
		{"one\ntwo  three \nfour", 0, 0, "one two three four\n"},
		{"one\n\ntwo\n  three four\nfive", 0, 2, "one\n\n  two\n    three four five\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str s;

		str_init(&s, 1000);
		print_message("# %zu\n", i);
		opt_wrap(&s, rows[i].text, rows[i].at, rows[i].indent);
		assert_string_equal(s.p, rows[i].want);
		str_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),    cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),     cmocka_unit_test(test_help),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
