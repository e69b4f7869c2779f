/* test_audit.c - the judge: duplicate and leaked seconds from a meter and wanted intervals. */
#include "providers/simcloud/audit.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

enum { ROWS = 5, NO = -1 };

struct life { /* seconds; NO: not (yet) */
	const char *node;
	int64_t gen, start, deleted, end;
	const char *cluster; /* NULL: "c" */
};

struct row {
	const char *what;
	struct life lives[ROWS];
	const char *wanted;
	int64_t grace, now; /* seconds */
	int64_t duplicate, leaked;
};

static const struct row rows[] = {
	{"nothing at all", {{0}}, "", 10, 100, 0, 0},
	{"wanted for as long as it lives",
	 {{"n", 1, 10, 50, 60, NULL}},
	 "n 5000 50000\n",
	 10,
	 100,
	 0,
	 0},
	{"ends within the grace", {{"n", 1, 10, 55, 60, NULL}}, "n 5000 50000\n", 10, 100, 0, 0},
	{"ends one second late", {{"n", 1, 10, 55, 61, NULL}}, "n 5000 50000\n", 10, 100, 0, 1},
	{"never ends", {{"n", 1, 10, NO, NO, NULL}}, "n 5000 50000\n", 10, 100, 0, 40},
	{"still wanted", {{"n", 1, 10, NO, NO, NULL}}, "n 5000 -\n", 10, 100, 0, 0},
	{"nobody ever wanted it", {{"n", 1, 10, NO, NO, NULL}}, "", 10, 100, 0, 80},
	{"created after it was wanted",
	 {{"n", 1, 70, NO, NO, NULL}},
	 "n 5000 50000\n",
	 10,
	 100,
	 0,
	 20},
	{"wanted again before the grace is over",
	 {{"n", 1, 10, NO, 90, NULL}},
	 "n 5000 50000\nn 55000 90000\n",
	 10,
	 100,
	 0,
	 0},
	{"wanted again too late",
	 {{"n", 1, 10, NO, 90, NULL}},
	 "n 70000 90000\nn 5000 50000\n",
	 10,
	 100,
	 0,
	 10},
	{"two stretches, each beyond the grace",
	 {{"n", 1, 10, NO, 90, NULL}},
	 "n 20000 30000\nn 50000 60000\n",
	 5,
	 100,
	 0,
	 5 + 15 + 25},
	{"intervals overlap",
	 {{"n", 1, 10, NO, 60, NULL}},
	 "n 5000 50000\nn 8000 20000\n",
	 10,
	 100,
	 0,
	 0},
	{"another node is wanted", {{"n1", 1, 0, NO, 30, NULL}}, "n 0 -\nn2 0 -\n", 10, 100, 0, 20},
	{"grace zero", {{"n", 1, 10, 50, 51, NULL}}, "n 5000 50000\n", 0, 100, 0, 1},
	{"P2: two at once",
	 {{"n", 1, 0, NO, 50, NULL}, {"n", 2, 30, NO, 60, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 20,
	 0},
	{"P2: an older one whose delete was accepted is excused",
	 {{"n", 1, 0, 25, 50, NULL}, {"n", 2, 30, NO, 60, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 0,
	 0},
	{"excused only from when its delete was accepted",
	 {{"n", 1, 0, 40, 50, NULL}, {"n", 2, 30, NO, 60, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 10,
	 0},
	{"P2: two of one generation are never excused",
	 {{"n", 1, 0, 25, 50, NULL}, {"n", 1, 30, NO, 60, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 20,
	 0},
	{"a younger one that was deleted is not excused",
	 {{"n", 1, 0, NO, 50, NULL}, {"n", 2, 20, 25, 40, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 20,
	 0},
	{"three at once count twice",
	 {{"n", 1, 0, NO, 50, NULL}, {"n", 2, 10, NO, 50, NULL}, {"n", 3, 20, NO, 30, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 40 + 10,
	 0},
	{"one after the other",
	 {{"n", 1, 0, NO, 50, NULL}, {"n", 2, 50, NO, 60, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 0,
	 0},
	{"both open",
	 {{"n", 1, 0, NO, NO, NULL}, {"n", 2, 90, NO, NO, NULL}},
	 "n 0 -\n",
	 10,
	 100,
	 10,
	 0},
	{"two nodes are not one",
	 {{"n", 1, 0, NO, 50, NULL}, {"m", 1, 0, NO, 50, NULL}},
	 "n 0 -\nm 0 -\n",
	 10,
	 100,
	 0,
	 0},
	{"another cluster's are not ours",
	 {{"n", 1, 0, NO, 50, NULL}, {"n", 1, 0, NO, NO, "other"}, {"x", 1, 0, NO, NO, "other"}},
	 "n 0 -\n",
	 10,
	 100,
	 0,
	 0},
	{"duplicate and leaked",
	 {{"n", 1, 0, NO, 50, NULL}, {"n", 2, 10, NO, 90, NULL}},
	 "n 0 60000\n",
	 10,
	 100,
	 40,
	 20},
};

static struct meter *meter_of(const struct life *lives)
{
	struct meter *m = meter_new();

	for (size_t i = 0; i < ROWS && lives[i].node != NULL; i++) {
		struct meter_row r = {.node = lives[i].node,
				      .cluster = lives[i].cluster != NULL ? lives[i].cluster : "c",
				      .type = "t",
				      .region = "r",
				      .zone = "z",
				      .currency = "EUR",
				      .gen = (uint64_t)lives[i].gen,
				      .price_nano_h = INT64_C(3600000000000),
				      .start_ms = lives[i].start * 1000};

		(void)meter_start(m, &r);
		if (lives[i].deleted != NO)
			meter_deleted(m, (uint32_t)i, lives[i].deleted * 1000);
		if (lives[i].end != NO)
			meter_ended(m, (uint32_t)i, lives[i].end * 1000, "test");
	}
	return m;
}

static void judge(struct audit_result *r, const struct meter *m, const struct row *row)
{
	struct audit_opts o = {
		.cluster = "c", .grace_ms = row->grace * 1000, .now_ms = row->now * 1000};
	struct audit_wanted *wanted;
	size_t n;

	assert_int_equal(audit_read_wanted(&wanted, &n, row->wanted, NULL), 0);
	audit_run(r, m, wanted, n, &o);
	free(wanted);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct meter *m = meter_of(rows[i].lives);
		struct audit_result r;
		int64_t dup = 0, leaked = 0;

		judge(&r, m, &rows[i]);
		if (r.duplicate_ms != rows[i].duplicate * 1000 ||
		    r.leaked_ms != rows[i].leaked * 1000)
			print_error("%s: %" PRId64 " %" PRId64 "\n", rows[i].what, r.duplicate_ms,
				    r.leaked_ms);
		assert_int_equal(r.duplicate_ms, rows[i].duplicate * 1000);
		assert_int_equal(r.leaked_ms, rows[i].leaked * 1000);
		/* What is told one by one adds up to the sums. */
		for (size_t k = 0; k < r.nfindings; k++)
			*(r.findings[k].leaked ? &leaked : &dup) += r.findings[k].ms;
		assert_int_equal(dup, r.duplicate_ms);
		assert_int_equal(leaked, r.leaked_ms);
		audit_result_fini(&r);
		meter_free(m);
	}
}

static void test_sums(void **state)
{
	static const struct row row = {
		"",
		{{"n", 1, 0, NO, 50, NULL}, {"m", 1, 90, NO, NO, NULL}, {"x", 1, 0, NO, 9, "o"}},
		"n 0 -\nm 0 -\n",
		10,
		100,
		0,
		0};
	struct meter *m = meter_of(row.lives);
	struct audit_result r;
	struct str s;

	(void)state;
	judge(&r, m, &row);
	assert_int_equal(r.instances, 2);
	assert_int_equal(r.instance_ms, 60000);
	assert_int_equal(r.cost_nano, INT64_C(60000000000)); /* one unit a second */
	str_init(&s, 4096);
	audit_write(&r, m, true, &s);
	assert_string_equal(s.p, "{\"instances\":2,\"instance_seconds\":60.000,\"cost\":\"60.00\","
				 "\"currency\":\"EUR\",\"duplicate_seconds\":0.000,"
				 "\"leaked_seconds\":0.000,\"now_ms\":100000,\"findings\":[]}\n");
	str_fini(&s);
	audit_result_fini(&r);
	meter_free(m);
}

static void test_text_tells_what_was_found(void **state)
{
	static const struct row row = {"", {{"n", 4, 10, NO, NO, NULL}}, "", 10, 100, 0, 0};
	struct meter *m = meter_of(row.lives);
	struct audit_result r;
	struct str s;

	(void)state;
	judge(&r, m, &row);
	str_init(&s, 4096);
	audit_write(&r, m, false, &s);
	assert_non_null(strstr(s.p, "leaked: node n generation 4 (sim-00000000) for 80.000 s from "
				    "1970-01-01T00:00:20.000Z\n"));
	assert_non_null(strstr(s.p, "leaked seconds       80.000\n"));
	str_fini(&s);
	audit_result_fini(&r);
	meter_free(m);
}

static void test_now_is_what_the_meter_knows_last(void **state)
{
	static const struct life lives[ROWS] = {{"n", 1, 0, NO, NO, NULL},
						{"m", 1, 70, NO, 80, NULL}};
	struct audit_opts o = {.cluster = "", .grace_ms = 0, .now_ms = -1};
	struct meter *m = meter_of(lives);
	struct audit_result r;

	(void)state;
	audit_run(&r, m, NULL, 0, &o);
	assert_int_equal(r.now_ms, 80000);
	assert_int_equal(r.instance_ms, 90000);
	assert_int_equal(r.leaked_ms, 90000);
	audit_result_fini(&r);
	meter_free(m);
}

static void test_wanted_file(void **state)
{
	static const struct {
		const char *text;
		int rc;
		size_t n;
	} files[] = {
		{"", 0, 0},
		{"\n\n# comment\n  # another\n", 0, 0},
		{"a 1 2", 0, 1},
		{"a 1 2\nb 2 -\n", 0, 2},
		{"  a\t1   2  \n", 0, 1},
		{"a 1\n", -1, 0},
		{"a 1 2 3\n", -1, 0},
		{"a x 2\n", -1, 0},
		{"a 1 x\n", -1, 0},
		{"a - 2\n", -1, 0},
		{"a 2 1\n", -1, 0},
		{"a -1 1\n", -1, 0},
		{"a 1 99999999999999999999\n", -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct audit_wanted *w;
		struct err e = {0};
		size_t n;

		assert_int_equal(audit_read_wanted(&w, &n, files[i].text, &e), files[i].rc);
		if (files[i].rc == 0) {
			assert_int_equal(n, files[i].n);
		} else {
			assert_null(w);
			assert_non_null(strstr(e.msg, "line 1"));
		}
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_text_tells_what_was_found),
		cmocka_unit_test(test_now_is_what_the_meter_knows_last),
		cmocka_unit_test(test_wanted_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
