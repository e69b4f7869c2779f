/* burstctl report, and cost job: what is asked of burst-ledger, and how its answers are shown. */
#include "lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define S "--socket SOCKET "

static void test_requests(void **state)
{
	static const struct {
		const char *line, *request;
	} rows[] = {
		{S "report", "{\"op\":\"report\",\"form\":\"table\",\"v\":1}"},
		{S "report --csv --by user,day",
		 "{\"op\":\"report\",\"form\":\"csv\",\"by\":\"user,day\",\"v\":1}"},
		{S "report --json -p 2026-03 -u ann",
		 "{\"op\":\"report\",\"form\":\"json\",\"period\":\"2026-03\",\"user\":\"ann\","
		 "\"v\":1}"},
		{S "report --mine --from 2026-03-29 --to 2026-04-01",
		 "{\"op\":\"report\",\"form\":\"table\",\"from\":\"2026-03-29\",\"to\":\"2026-04-"
		 "01\",\"mine\":true,"
		 "\"v\":1}"},
		{S "cost job 4711", "{\"op\":\"job\",\"job\":\"4711\",\"explain\":false,\"v\":1}"},
		{S "cost job 4711 --json",
		 "{\"op\":\"job\",\"job\":\"4711\",\"explain\":false,\"form\":\"json\",\"v\":1}"},
		{S "cost job 7_2 --explain",
		 "{\"op\":\"job\",\"job\":\"7_2\",\"explain\":true,\"v\":1}"},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		lab_run_once(l, rows[i].line, "{\"ok\":true,\"text\":\"\"}");
		assert_int_equal(l->rc, 0);
		assert_string_equal(l->requests[0], rows[i].request);
	}
	lab_free(l);
}

static void test_answers(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	/* Words of others do not steer the terminal, and times are local. */
	lab_run_once(l, S "report",
		     "{\"ok\":true,\"text\":\"account COST\\na\\u001b[31m  1.00\\n\\nz\\n\"}");
	lab_want(l, 0, "account COST\na?[31m  1.00\n\nz\n", "");
	lab_run_once(l, S "cost job 1", "{\"ok\":true,\"text\":\"from 1970-01-01T00:00:01Z\\n\"}");
	lab_want(l, 0, "from 1970-01-01T09:00:01\n", "");
	/* A file for programs is as it came. */
	lab_run_once(l, S "report --csv",
		     "{\"ok\":true,\"text\":\"day\\n1970-01-01T00:00:01Z\\n\\\"'=1\\\"\\n\"}");
	lab_want(l, 0, "day\n1970-01-01T00:00:01Z\n\"'=1\"\n", "");
	lab_run_once(l, S "report --json", "{\"ok\":true,\"rows\":[],\"from\":\"2026-11-01\"}");
	lab_want(l, 0, "{\n  \"rows\": [],\n  \"from\": \"2026-11-01\"\n}\n", "");
	lab_run_once(l, S "cost job 1 --json", "{\"ok\":true,\"text\":\"x\"}");
	lab_want(l, 0, "{\n  \"text\": \"x\"\n}\n", "");
	lab_run_once(l, S "report",
		     "{\"ok\":true,\"text\":\"x\\n\",\"warning\":\"2 have no price\"}");
	assert_int_equal(l->rc, 0);
	assert_string_equal(l->out, "x\n");
	assert_string_equal(l->err, "burstctl: 2 have no price\n");
	lab_run_once(l, S "cost job 1",
		     "{\"ok\":false,\"code\":\"not-found\",\"error\":\"no job\"}");
	lab_want(l, 1, "", "burstctl: no job\n");
	lab_free(l);
}

/* It is there, and does not answer: the hint is about that service. */
static void test_no_answer(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run_once(l, S "--timeout 100ms report", lab_hang);
	lab_want(l, 3, "", "is it stuck? (systemctl status burst-ledger)");
	lab_free(l);
}

static void test_refused(void **state)
{
	static const struct {
		const char *line;
		int rc;
		const char *err;
	} rows[] = {
		{"report --json --csv", 2, "want --json or --csv, not both"},
		{"report -p 2026-03 --to 2026-03-01", 2, "want --period, or --from and --to"},
		{"report x", 2, "x"},
		{"cost", 2, "cost"},
		{"cost job", 2, "ID is missing"},
		{"--socket DIR/none report", 3, "cannot reach burst-ledger: nobody listens at "},
		{"--socket DIR/none cost job 1", 3,
		 "is it running? (systemctl status burst-ledger)"},
		{"--socket DIR/none status", 3, "is it running? (systemctl status burstd; "},
	};
	struct lab *l = lab_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		lab_run(l, rows[i].line, NULL, 0);
		lab_want(l, rows[i].rc, "", rows[i].err);
	}
	lab_free(l);
}

/* The words of --by, the last one of a list. */
static void test_completion(void **state)
{
	struct lab *l = lab_new();

	(void)state;
	lab_run(l, "complete -- report --by account,c", NULL, 0);
	lab_want(l, 0, "account,class\n", "");
	lab_run(l, "complete -- report --by=p", NULL, 0);
	lab_want(l, 0, "--by=partition\n--by=provider\n--by=pool\n", "");
	lab_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),   cmocka_unit_test(test_answers),
		cmocka_unit_test(test_no_answer),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_completion),
	};

	return cmocka_run_group_tests_name("burstctl report", tests, NULL, NULL);
}
