/* burstctl budget override, overrides and revoke. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

#define S "--socket SOCKET "

#define ROW                                                                                        \
	"\"id\":7,\"budget\":\"students\",\"value\":\"ann\",\"added\":\"5.00\",\"made_ms\":"       \
	"1000000,"                                                                                 \
	"\"until_ms\":2000000,\"active\":true,\"by\":\"root\",\"reason\":\"a deadline\","          \
	"\"revoked_by\":\"\",\"revoked_why\":\"\""
#define ANSWER "{\"ok\":true," ROW ",\"currency\":\"EUR\"}"

static void test_requests(void **state)
{
	static const struct {
		const char *line, *request, *out;
	} rows[] = {
		{"budget override students/ann --add 5 --reason deadline --until "
		 "1970-01-01T00:33:20Z",
		 "{\"op\":\"budget-override\",\"add\":\"5\",\"reason\":\"deadline\",\"budget\":"
		 "\"students\",\"value\":\"ann\",\"until_ms\":2000000,\"v\":1}",
		 "override 7: budget students/ann has 5.00 EUR more until 1970-01-01T09:33:20; "
		 "\"burstctl budget revoke 7\" ends it\n"},
		{"budget override physics --add 5 --reason deadline",
		 "{\"op\":\"budget-override\",\"add\":\"5\",\"reason\":\"deadline\",\"budget\":"
		 "\"physics\",\"value\":\"\",\"v\":1}",
		 "override 7: "},
		{"budget revoke 7 --reason over",
		 "{\"op\":\"budget-revoke\",\"id\":7,\"reason\":\"over\",\"v\":1}",
		 "override 7 has ended: budget students/ann has 5.00 EUR less; jobs that it let "
		 "start "
		 "run on\n"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[200];

		(void)snprintf(line, sizeof(line), S "%s", rows[i].line);
		lab_run_once(l, line, ANSWER);
		print_message("# %s -> %s", rows[i].line, l->out);
		assert_int_equal(l->rc, 0);
		assert_string_equal(l->requests[0], rows[i].request);
		assert_non_null(strstr(l->out, rows[i].out));
	}
	lab_free(l);
}

#define SET(until)                                                                                 \
	"{\"ok\":true,\"id\":7,\"budget\":\"students\",\"value\":\"ann\",\"set\":\"0.00\","        \
	"\"made_ms\":1000000,\"until_ms\":" until ",\"active\":true,\"by\":\"root\",\"reason\":"   \
	"\"x\",\"revoked_by\":\"\",\"revoked_why\":\"\",\"currency\":\"EUR\"}"

static void test_what_is_set(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "budget set students/ann --amount 0 --reason x", SET("0"));
	assert_string_equal(l->requests[0],
			    "{\"op\":\"budget-set\",\"amount\":\"0\",\"reason\":\"x\",\"budget\":"
			    "\"students\",\"value\":\"ann\",\"v\":1}");
	lab_want(l, 0,
		 "override 7: budget students/ann has 0.00 EUR in each period, instead of "
		 "burstd.conf's amount; \"burstctl budget revoke 7\" ends it\n",
		 "");
	lab_run_once(l, S "budget set students/ann --amount 0 --reason x --for 1d", SET("2000000"));
	assert_non_null(strstr(l->requests[0], "\"until_ms\":1"));
	assert_non_null(strstr(l->out, "in each period until 1970-01-01T09:33:20, instead of"));
	lab_run_once(l, S "budget set b --amount 1 --reason x --json", SET("0"));
	assert_non_null(strstr(l->out, "\"set\": \"0.00\""));
	lab_run_once(l, S "budget revoke 7 --reason over", SET("0"));
	lab_want(
		l, 0,
		"override 7 has ended: budget students/ann is no longer set to 0.00 EUR; jobs that "
		"it let start run on\n",
		"");
	lab_free(l);
}

static void test_for_is_from_now(void **state)
{
	struct lab *l = lab_new();
	long long until;

	(void)state;
	lab_run_once(l, S "budget override physics --add 5 --reason x --for 1d", ANSWER);
	assert_int_equal(l->rc, 0);
	until = strtoll(strstr(l->requests[0], "until_ms\":") + 10, NULL, 10);
	assert_true(until > 1700000000000 + 86400000);
	lab_free(l);
}

static void test_usage(void **state)
{
	static const char *const lines[][2] = {
		{"budget override physics --add 5", "--reason TEXT"},
		{"budget override physics --reason x", "--add AMOUNT"},
		{"budget override physics --add 5 --reason x --until 2026-12-24 --for 1d",
		 "only one of them"},
		{"budget override physics --add 5 --reason x --until someday", "is not a time"},
		{"budget set physics --amount 5", "--reason TEXT"},
		{"budget set physics --reason x", "--amount AMOUNT"},
		{"budget set physics --amount 5 --reason x --until 2026-12-24 --for 1d",
		 "only one of them"},
		{"budget revoke x --reason x", "number of an override"},
		{"budget revoke 0 --reason x", "number of an override"},
		{"budget revoke 7", "--reason TEXT"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[200];

		(void)snprintf(line, sizeof(line), S "%s", lines[i][0]);
		lab_run_once(l, line, "");
		print_message("# %s -> %s", lines[i][0], l->err);
		assert_int_equal(l->rc, CLI_USAGE);
		assert_non_null(strstr(l->err, lines[i][1]));
	}
	lab_free(l);
}

static void test_list(void **state)
{
	static const char *const pages[] = {
		"{\"ok\":true,\"now_ms\":1000000,\"currency\":\"EUR\",\"overrides\":[{" ROW
		"}],\"next\":7}",
		"{\"ok\":true,\"now_ms\":1000000,\"currency\":\"EUR\",\"overrides\":[{\"id\":3,"
		"\"budget\":\"physics\",\"value\":\"\",\"set\":\"500.00\",\"until_ms\":0,"
		"\"active\":false,\"by\":\"uid 5\",\"reason\":\"x\",\"revoked_by\":\"root\","
		"\"revoked_why\":\"a mistake\"}],\"next\":0}"};
	static const char want[] =
		"ID  BUDGET        CHANGE  AMOUNT  UNTIL                BY     REASON      "
		"REVOKED\n"
		" 7  students/ann  add       5.00  1970-01-01T09:33:20  root   a deadline  -\n"
		" 3  physics       set to  500.00  -                    uid 5  x           a "
		"mistake\n";
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, S "budget overrides --all", pages, 2);
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->out, want);
	assert_string_equal(l->requests[0], "{\"op\":\"budget-overrides\",\"ended\":true,\"v\":1}");
	assert_string_equal(l->requests[1],
			    "{\"op\":\"budget-overrides\",\"ended\":true,\"before\":7,\"v\":1}");
	lab_run_once(l, S "budget overrides physics",
		     "{\"ok\":true,\"now_ms\":1,\"overrides\":[],\"next\":0}");
	assert_string_equal(l->out,
			    "nothing changes the amounts of burstd.conf; --all lists what did\n");
	assert_non_null(strstr(l->requests[0], "\"budget\":\"physics\""));
	lab_run_once(l, S "budget overrides -a --json",
		     "{\"ok\":true,\"now_ms\":1,\"overrides\":[],\"next\":0}");
	assert_non_null(strstr(l->out, "\"overrides\": []"));
	assert_null(strstr(l->out, "next"));
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_what_is_set),
		cmocka_unit_test(test_for_is_from_now),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests_name("overrides", tests, NULL, NULL);
}
