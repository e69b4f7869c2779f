/* test_report_jobs.c - jobs of one number in a report. */
#include "fixture.h"
#include "ledger/report.h"

/* slurmctld lost its state, and gave numbers again: jobs of one number are told apart by their
 * users, in each row; those of one user are one, and so is one whose user is not known. */
static void test_namesakes(void **state)
{
	struct fixture *f = *state;
	struct report_want w = {.from_day = 0, .to_day = 100000};
	struct report r;
	struct err e = {0};
	struct str out;

	exec(f->ledger,
	     "INSERT INTO word (id, text) VALUES (1, 'EUR'), (2, 'anna'), (3, 'bob'), (4, ''),"
	     " (5, '7_2');"
	     "INSERT INTO dims VALUES (1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1),"
	     " (2, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1), (3, 1, 4, 1, 1, 1, 1, 1, 1, 1, 1);"
	     "WITH n (id, job, name, dims) AS (VALUES (1, 7, '7', 2), (2, 7, '7', 1), (3, 7, '7', "
	     "2),"
	     " (4, 8, '8', 1), (5, 8, '8', 1), (6, 9, '9', 1), (7, 9, '9', 3), (8, 7, '7_2', 1))"
	     " INSERT INTO attempt SELECT id, job, id, id + 1, 0, id, name, 1, 1, 1, 1, 1, 1, 1, 0,"
	     " 0, 0, 1, 0, 1, 0 FROM n;"
	     "INSERT INTO posting SELECT NULL, 0, 1, 20000 + id, 32,"
	     " CASE WHEN id IN (1, 3) THEN 2 WHEN id = 7 THEN 3 ELSE 1 END, id, id * 1000000000, 0,"
	     " 0, 0, 1, 0, 0, 1, 0, 0 FROM attempt");
	assert_int_equal(report_parse(&w, "job", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	str_init(&out, 1 << 16);
	report_csv(&r, &out);
	assert_string_equal(out.p, "job,currency,cost,gpu_seconds,cpu_seconds,job_gpu_seconds\n"
				   "\"7 (anna)\",EUR,2,0,0,0\n\"7 (bob)\",EUR,4,0,0,0\n"
				   "7_2,EUR,8,0,0,0\n8,EUR,9,0,0,0\n9,EUR,13,0,0,0\n");
	report_fini(&r);
	/* Also where a row has but one of them. */
	assert_int_equal(report_parse(&w, "day,job", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_string_equal(r.rows[0].text[1], "7 (bob)");
	assert_string_equal(r.rows[1].text[1], "7 (anna)");
	report_fini(&r);
	/* One's own alone have no namesakes. */
	w.user = "bob";
	assert_int_equal(report_parse(&w, "job", &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	assert_int_equal(r.n, 1);
	assert_string_equal(r.rows[0].text[0], "7");
	report_fini(&r);
	str_fini(&out);
}

/* A ledger that somebody wrote to: a number by which there is an array is none, however large. */
static void test_numbers_of_a_damaged_ledger(void **state)
{
	static const char *const harms[] = {
		"UPDATE dims SET id = 9000000000000000000",
		"UPDATE dims SET account = 4611686018427387904",
		"UPDATE dims SET user = 2147483648",
		"UPDATE dims SET provider = -1",
	};
	struct fixture *f = *state;
	struct report_want w = {.from_day = 0, .to_day = 100000};

	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		struct report r;
		struct err e = {0};

		print_message("# %s\n", harms[i]);
		exec(f->ledger,
		     "DELETE FROM posting; DELETE FROM dims; DELETE FROM word;"
		     "INSERT INTO word (id, text) VALUES (1, 'EUR');"
		     "INSERT INTO dims VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);"
		     "INSERT INTO posting SELECT NULL, 0, 1, 20000, 32, 1, 1, 1000000000, 0, 0, 0, "
		     "1,"
		     " 0, 0, 1, 0, 0; %s",
		     harms[i]);
		assert_int_equal(report_parse(&w, "account,user,provider", &e), 0);
		assert_int_equal(report_make(&r, f->l, &w, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
		report_fini(&r);
	}
}

static int no_attempt(void *ctx, const struct ledger_attempt *a, struct err *e)
{
	(void)ctx;
	(void)a;
	(void)e;
	fail();
	return 0;
}

/* Differences of times are taken, which must not overflow. */
static void test_times_of_a_damaged_ledger(void **state)
{
	static const char *const columns[] = {"start_s", "end_s", "submit_s"};
	struct fixture *f = *state;

	for (size_t i = 0; i < 2 * sizeof(columns) / sizeof(columns[0]); i++) {
		struct err e = {0};

		exec(f->ledger,
		     "INSERT OR IGNORE INTO word (id, text) VALUES (1, 'x'); DELETE FROM attempt;"
		     " INSERT INTO attempt VALUES (1, 7, 1, 2, 0, 1, '7', 1, 1,"
		     " 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0); UPDATE attempt SET %s = %s",
		     columns[i / 2], i % 2 == 0 ? "9223372036854775807" : "-9223372036854775808");
		assert_int_equal(ledger_attempts_of(f->l, 7, no_attempt, NULL, &e), -1);
		assert_int_equal(e.code, ERR_DAMAGED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_times_of_a_damaged_ledger),
		TEST(test_numbers_of_a_damaged_ledger),
		TEST(test_namesakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
