/* burstctl budget import: what is sent for allocations of ColdFront, and what is said of it. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

#define IMPORT "--socket SOCKET budget import DIR/a.json --budget cloud --reason x "

#define OF(id, account, amount, more)                                                              \
	"{\"id\":" id ",\"status\":\"Active\",\"allocation_attributes\":["                         \
	"{\"allocation_attribute_type\":\"slurm_account_name\",\"value\":\"" account "\"},"        \
	"{\"allocation_attribute_type\":\"Cloud Budget (EUR)\",\"value\":\"" amount "\"}]" more    \
	"}"
#define PHYSICS OF("3", "Physics", "500", "")
#define CHEM    OF("4", "chem", "0", ",\"end_date\":\"2099-12-31\"")
#define BIO     OF("5", "bio", "7", "")
#define GEO     OF("6", "geo", "9", "")
#define OVER    "{\"id\":8,\"status\":\"Expired\",\"allocation_attributes\":[]}"
#define FILE_OF "[" PHYSICS "," CHEM "," BIO "," GEO "," OVER "]"

#define LINE(value, more) "{\"name\":\"cloud\",\"value\":\"" value "\"" more "}"
#define IS_SET(amount, until, id)                                                                  \
	",\"set\":{\"amount\":\"" amount "\",\"until_ms\":" until ",\"id\":" id ",\"by\":"         \
	"\"root\"}"
#define LINES(each, lines)                                                                         \
	"{\"ok\":true,\"currency\":\"EUR\",\"each\":\"" each "\",\"budgets\":[" lines              \
	"],\"next\":\"\",\"next_value\":\"\"}"
#define HAS_PHYSICS LINE("physics", IS_SET("500.00", "0", "11"))
#define HAS_BIO     LINE("bio", IS_SET("7.00", "4000000000000", "12"))
#define HAS_OLD     LINE("old", IS_SET("3.00", "0", "13"))
#define HAD         LINES("account", HAS_PHYSICS "," HAS_BIO "," LINE("geo", "") "," HAS_OLD)
#define DONE        "{\"ok\":true,\"id\":21}"

static void stop(struct lab *l)
{
	lab_remove(l, "a.json");
	lab_free(l);
}

static struct lab *start(const char *file)
{
	struct lab *l = lab_new();

	lab_write(l, "a.json", file);
	return l;
}

/* The end of the last day is the begin of the next one, here: nine hours before UTC. */
#define CHEM_UNTIL "4102412400000"

static void test_what_is_sent(void **state)
{
	static const char *const replies[] = {HAD, DONE};
	static const char want[] =
		"ACCOUNT  AMOUNT  UNTIL                ALLOCATION  RESULT           OVERRIDE\n"
		"bio        7.00  -                             5  set                    21\n"
		"chem       0.00  2100-01-01T00:00:00           4  set                    21\n"
		"geo        9.00  -                             6  set                    21\n"
		"physics  500.00  -                             3  as it was              11\n"
		"old        3.00  -                             -  not in the file        13\n"
		"\n"
		"budget cloud, in EUR: 3 set, 0 to set, 1 as they were; allocations that are not "
		"active: 1, without that attribute: 0\n";
	struct lab *l = start(FILE_OF);

	(void)state;
	lab_run(l, IMPORT, replies, 2);
	lab_want(l, 0, want, "");
	assert_int_equal(l->nrequests, 4);
	assert_string_equal(l->requests[0], "{\"op\":\"budgets\",\"budget\":\"cloud\",\"v\":1}");
	assert_string_equal(
		l->requests[1],
		"{\"op\":\"budget-set\",\"budget\":\"cloud\",\"value\":\"bio\",\"amount\":"
		"\"7.00\",\"reason\":\"x\",\"v\":1}");
	assert_string_equal(
		l->requests[2],
		"{\"op\":\"budget-set\",\"budget\":\"cloud\",\"value\":\"chem\",\"amount\":"
		"\"0.00\",\"reason\":\"x\",\"until_ms\":" CHEM_UNTIL ",\"v\":1}");
	stop(l);
}

/* What is so already is left alone, though a clock was set since. */
static void test_what_is_so_already(void **state)
{
	static const struct {
		const char *had, *options;
		size_t sent;
	} rows[] = {
		{IS_SET("500.00", "0", "1"), "", 0},
		{IS_SET("500.01", "0", "1"), "", 1},
		{"", "", 1},
		{IS_SET("500.00", "2000000", "1"), "", 1},
		{IS_SET("500.00", "0", "1"), "--until 1970-01-01T00:33:20Z", 1},
		{IS_SET("500.00", "2000000", "1"), "--until 1970-01-01T00:33:20Z", 0},
		{IS_SET("500.00", "2060000", "1"), "--until 1970-01-01T00:33:20Z", 0},
		{IS_SET("500.00", "1939999", "1"), "--until 1970-01-01T00:33:20Z", 1},
		{IS_SET("500.00", "2060001", "1"), "--until 1970-01-01T00:33:20Z", 1},
	};
	struct lab *l = start("[" OF("3", "physics", "500", "") "]");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char had[400], line[200];
		const char *replies[] = {had, DONE};

		(void)snprintf(had, sizeof(had), "%s%s%s",
			       "{\"ok\":true,\"currency\":\"EUR\",\"each\":\"account\",\"budgets\":"
			       "[{\"name\":\"cloud\",\"value\":\"physics\"",
			       rows[i].had, "}],\"next\":\"\",\"next_value\":\"\"}");
		(void)snprintf(line, sizeof(line), IMPORT "%s", rows[i].options);
		print_message("# %s %s\n", rows[i].had, rows[i].options);
		lab_run(l, line, replies, 2);
		assert_int_equal(l->rc, 0);
		assert_int_equal(l->nrequests, 1 + rows[i].sent);
	}
	stop(l);
}

static void test_a_dry_run(void **state)
{
	struct lab *l = start(FILE_OF);

	(void)state;
	lab_run_once(l, IMPORT "--dry-run", HAD);
	assert_int_equal(l->rc, 0);
	assert_int_equal(l->nrequests, 1);
	assert_non_null(
		strstr(l->out, "geo        9.00  -                             6  would be set"));
	assert_non_null(strstr(l->out, ": 0 set, 3 to set, 1 as they were;"));
	lab_run_once(l, IMPORT "-n --json", HAD);
	assert_non_null(strstr(l->out, "\"dry_run\": true"));
	assert_non_null(strstr(l->out, "\"result\": \"to-set\""));
	assert_non_null(strstr(l->out, "\"result\": \"same\""));
	assert_non_null(strstr(l->out, "\"result\": \"not-in-file\""));
	assert_non_null(strstr(l->out, "\"inactive\": 1"));
	stop(l);
}

/* Nothing is sent but the question. */
static void test_nothing_is_changed(void **state)
{
	static const char usual[] = "[" OF("3", "physics", "500", "") "]";
	static const struct {
		const char *file, *options, *reply, *want;
	} rows[] = {
		{"[" OF("3", "a", "5", "") "," OF("4", "b", "x", "") "]", "", HAD,
		 "a.json: allocation 4: \"Cloud Budget (EUR)\": \"x\" is no amount"},
		{usual, "", LINES("user", ""), "--budget: want one with each = account"},
		{usual, "", LINES("", ""), "--budget: want one with each = account"},
		{usual, "", "{\"ok\":false,\"error\":\"no budget is named \\\"cloud\\\"\"}",
		 "no budget is named"},
		{usual, "--until someday", HAD, "is not a time"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab *l = start(rows[i].file);
		char line[200];

		(void)snprintf(line, sizeof(line), IMPORT "%s", rows[i].options);
		lab_run_once(l, line, rows[i].reply);
		print_message("# %s\n", l->err);
		assert_int_not_equal(l->rc, 0);
		assert_non_null(strstr(l->err, rows[i].want));
		assert_string_equal(l->out, "");
		for (size_t k = 0; k < l->nrequests; k++)
			assert_null(strstr(l->requests[k], "budget-set"));
		stop(l);
	}
}

/* burstd refuses one: what was set before it is said. */
static void test_it_stops(void **state)
{
	static const char *const replies[] = {HAD, DONE,
					      "{\"ok\":false,\"error\":\"the journal failed\"}"};
	struct lab *l = start(FILE_OF);

	(void)state;
	lab_run(l, IMPORT, replies, 3);
	assert_int_equal(l->rc, 1);
	assert_int_equal(l->nrequests, 3);
	assert_non_null(strstr(l->err, "the journal failed"));
	assert_non_null(strstr(l->out, ": 1 set, 2 to set, 1 as they were;"));
	stop(l);
}

static void test_another_attribute(void **state)
{
	static const char *const replies[] = {HAD, DONE};
	struct lab *l =
		start("[{\"id\":1,\"status\":\"Active\",\"allocation_attributes\":["
		      "{\"allocation_attribute_type\":\"slurm_account_name\",\"value\":\"a\"},"
		      "{\"allocation_attribute_type\":\"GPU money\",\"value\":\"4\"}]}]");

	(void)state;
	lab_run(l, IMPORT, replies, 2);
	assert_int_equal(l->nrequests, 1);
	assert_non_null(strstr(l->out, "without that attribute: 1\n"));
	lab_write(l, "a.json",
		  "[{\"id\":1,\"status\":\"Active\",\"allocation_attributes\":["
		  "{\"allocation_attribute_type\":\"slurm_account_name\",\"value\":\"a\"},"
		  "{\"allocation_attribute_type\":\"GPU-money\",\"value\":\"4\"}]}]");
	lab_run(l, IMPORT "--attribute GPU-money", replies, 2);
	assert_int_equal(l->nrequests, 2);
	assert_non_null(strstr(l->requests[1], "\"value\":\"a\",\"amount\":\"4.00\""));
	stop(l);
}

static void test_usage(void **state)
{
	static const char *const lines[] = {"--socket SOCKET budget import DIR/a.json --reason x",
					    "--socket SOCKET budget import DIR/a.json --budget b"};
	struct lab *l = start("[]");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		lab_run_once(l, lines[i], HAD);
		assert_int_equal(l->rc, CLI_USAGE);
		assert_non_null(strstr(l->err, "--budget BUDGET, and why, by --reason TEXT"));
		assert_int_equal(l->nrequests, 0);
	}
	stop(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_sent), cmocka_unit_test(test_what_is_so_already),
		cmocka_unit_test(test_a_dry_run),    cmocka_unit_test(test_nothing_is_changed),
		cmocka_unit_test(test_it_stops),     cmocka_unit_test(test_another_attribute),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
