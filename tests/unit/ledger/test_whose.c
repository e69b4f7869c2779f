/* test_whose.c - what a user sees of the ledger: their own, and no word or sum of anybody else. */
#include "base/date.h"
#include "ledger/explain.h"
#include "ledger/report.h"
#include "people.h"

static const char *const of_others[] = {"bob", "biology", "idle", "boot", "teardown", "c2"};

static int setup_people(void **state)
{
	int rc = setup(state);

	make_people(*state);
	return rc;
}

static int64_t report(const struct fixture *f, const char *by, const char *user, struct str *out)
{
	struct report_want w = {.from_day = 0, .to_day = 100000, .user = user};
	struct report r;
	struct err e = {0};
	int64_t nano;

	str_clear(out);
	assert_int_equal(report_parse(&w, by, &e), 0);
	assert_int_equal(report_make(&r, f->l, &w, &e), 0);
	put_json(&r, out);
	report_csv(&r, out);
	report_table(&r, out);
	nano = r.total.nano;
	report_fini(&r);
	return nano;
}

static int64_t cost_of(const struct fixture *f, const char *user)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
		       "SELECT SUM(p.nano) FROM posting p JOIN attempt a ON a.id = p.attempt"
		       " JOIN word w ON w.id = a.user WHERE w.text = '%s'",
		       user);
	return ask(f->ledger, sql);
}

/* By whatever it is asked, with the postings or with the sums by day. */
static void a_report_of_a_user_has_their_jobs_only(void **state)
{
	static const char *const by[] = {
		"account",   "user",           "partition", "qos",   "wckey", "provider", "market",
		"pool",      "type",           "day",       "month", "class", "job",      "node",
		"class,day", "job,node,class", "user,class"};
	const struct fixture *f = *state;
	struct str out;

	str_init(&out, OUT);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		print_message("# by %s\n", by[i]);
		assert_true(report(f, by[i], "anna", &out) == cost_of(f, "anna"));
		for (size_t k = 0; k < 2; k++)
			assert_null(strstr(out.p, of_others[k]));
		assert_null(strstr(out.p, "idle"));
		assert_null(strstr(out.p, "c2"));
		assert_true(report(f, by[i], "bob", &out) == cost_of(f, "bob"));
		assert_null(strstr(out.p, "anna"));
		assert_null(strstr(out.p, "physics"));
	}
	/* All of it is more than all of theirs: what nobody caused. */
	assert_true(report(f, "user", NULL, &out) > cost_of(f, "anna") + cost_of(f, "bob"));
	str_fini(&out);
}

static void who_has_no_jobs_sees_nothing(void **state)
{
	static const char *const names[] = {"carl", "", "ann", "anna ", "ANNA", "physics", "%"};
	const struct fixture *f = *state;
	struct str out;

	str_init(&out, OUT);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(report(f, "user", names[i], &out) == 0);
		assert_non_null(strstr(out.p, "{\"rows\":[]}"));
		assert_true(report(f, "job,node", names[i], &out) == 0);
		assert_non_null(strstr(out.p, "{\"rows\":[]}"));
	}
	str_fini(&out);
}

static int explain(const struct fixture *f, const char *id, const char *user, struct str *out,
		   struct err *e)
{
	struct calendar cal = f->calendar;
	const struct book b = {.ledger = f->l, .calendar = &cal, .currency = "EUR"};

	str_clear(out);
	return explain_job(&b, &(struct explain_want){.id = id, .user = user, .arithmetic = true},
			   out, e);
}

static void the_arithmetic_is_of_their_share_only(void **state)
{
	const struct fixture *f = *state;
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	assert_int_equal(explain(f, "1", "anna", &out, &e), 0);
	assert_non_null(strstr(out.p, "account physics, user anna"));
	assert_non_null(strstr(out.p, "share "));
	for (size_t k = 0; k < sizeof(of_others) / sizeof(of_others[0]); k++)
		if (strcmp(of_others[k], "boot") != 0) /* c0 was bought for jobs 1 and 2 */
			assert_null(strstr(out.p, of_others[k]));
	assert_null(strstr(out.p, "secret-project"));
	str_fini(&out);
}

/* Whether the number is somebody else's job, or none, is not to be told apart. */
static void a_job_of_others_is_as_one_that_is_not_there(void **state)
{
	static const char *const theirs[] = {"1", "3", "3_7"}, *const nobodys[] = {"4", "9", "9_7"};
	const struct fixture *f = *state;
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	for (size_t i = 0; i < 3; i++) {
		char want[100];

		for (int k = 0; k < 2; k++) {
			const char *id = k == 0 ? theirs[i] : nobodys[i];

			(void)snprintf(want, sizeof(want),
				       "the ledger knows no job %s of user bob on bought nodes",
				       id);
			assert_int_equal(explain(f, id, "bob", &out, &e), -1);
			assert_string_equal(e.msg, want);
			assert_int_equal(e.code, ERR_INVALID);
			assert_string_equal(out.p, "");
		}
	}
	assert_int_equal(explain(f, "3_7", "anna", &out, &e), 0);
	assert_int_equal(explain(f, "1", NULL, &out, &e), 0);
	str_fini(&out);
}

/* slurmctld lost its state, and began again with number 1: each sees their own job 1. */
static void a_number_may_be_jobs_of_two(void **state)
{
	const struct fixture *f = *state;
	struct str out;
	struct err e = {0};

	str_init(&out, OUT);
	job_of(f, &(struct work_of){"bob", "biology", 1, 1, 800, 900, {"c0"}});
	pass(f, 400000);
	assert_int_equal(explain(f, "1", "bob", &out, &e), 0);
	assert_null(strstr(out.p, "anna"));
	assert_null(strstr(out.p, "attempt 2"));
	assert_int_equal(explain(f, "1", "anna", &out, &e), 0);
	assert_null(strstr(out.p, "bob"));
	assert_null(strstr(out.p, "attempt 2"));
	assert_int_equal(explain(f, "1", NULL, &out, &e), 0);
	assert_non_null(strstr(out.p, "attempt 2"));
	str_fini(&out);
}

#define PEOPLE(t) cmocka_unit_test_setup_teardown(t, setup_people, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEOPLE(a_report_of_a_user_has_their_jobs_only),
		PEOPLE(who_has_no_jobs_sees_nothing),
		PEOPLE(the_arithmetic_is_of_their_share_only),
		PEOPLE(a_job_of_others_is_as_one_that_is_not_there),
		PEOPLE(a_number_may_be_jobs_of_two),
	};

	return cmocka_run_group_tests_name("ledger, whose", tests, NULL, NULL);
}
