/* test_spenders.c - what budgets have of jobs is compared with what the ledger has, by day and
 * spender, once it is over; late records are waited for. */
#include "spenders_lab.h"

#include "ledger/status.h"

static void assert_says(const struct fixture *f, const char *what, bool says)
{
	struct status s;
	struct str out;
	struct err e = {0};

	str_init(&out, 1 << 16);
	assert_int_equal(status_read(&s, f->l, f->ledger, &e), 0);
	status_print(&s, T0 * 1000, &out);
	status_json(&s, T0 * 1000, &out);
	if ((strstr(out.p, what) != NULL) != says)
		fail_msg("%s %s", out.p, what);
	status_fini(&s);
	str_fini(&out);
}

/* The boot, from when it was ready until the end, and as late as burstd saw that. */
static void test_they_agree(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	job_spent(f, 0, (100 + 3630 + 20) * UNIT);
	exec(f->journal, /* machines are others */
	     "INSERT INTO spent VALUES (%lld, 1, '', '', '', '', 'gpu', 'h100', 'aws', 'spot', 5)",
	     (long long)DAY_0);
	knows(f, 8000);
	assert_states(f, (struct states){.agree = 1});
	assert_says(f, "            1 of 1 daily sums of jobs are the same\n", true);
	assert_says(f,
		    "\"budget_jobs_agree\":1,\"budget_jobs_explained\":0,\"budget_jobs_wait\":0,"
		    "\"budget_jobs_differ\":0",
		    true);
	assert_says(f, "\"jobs_differ\":[]", true);
	/* Another's is another sum. */
	exec(f->journal,
	     "INSERT INTO spent VALUES (%lld, 0, 'physics', 'bob', 'normal', '', 'gpu', 'h100',"
	     " 'aws', 'spot', 5)",
	     (long long)DAY_0);
	knows(f, 8100);
	assert_states(f, (struct states){.agree = 1, .wait = 1});
}

/* The boot is exact; the rest is as late as squeue and the clocks let it be. */
static void test_the_bounds(void **state)
{
	const struct fixture *f = *state;
	static const struct {
		int64_t nano;
		bool agrees;
	} rows[] = {{(100 + 3600 - SPENDERS_LATE_S - SPENDERS_EARLY_S) * UNIT - 8, true},
		    {(100 + 3600 - SPENDERS_LATE_S - SPENDERS_EARLY_S) * UNIT - 9, false},
		    {(100 + 3630 + SPENDERS_LATE_S) * UNIT + 8, true},
		    {(100 + 3630 + SPENDERS_LATE_S) * UNIT + 9, false}};

	whole_job(f, "c1", 7);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		job_spent(f, 0, rows[i].nano);
		knows(f, 8000 + (int64_t)i);
		assert_states(f, rows[i].agrees ? (struct states){.agree = 1}
						: (struct states){.wait = 1});
	}
}

/* It is a disagreement an hour after the last news, and none once it is mended. */
static void test_one_differs(void **state)
{
	const struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CURRENCY, "EUR", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	whole_job(f, "c1", 7);
	job_spent(f, 0, 5000 * UNIT);
	knows(f, 8000);
	assert_states(f, (struct states){.wait = 1});
	assert_says(f, "0 of 1 daily sums of jobs are the same, 1 wait for late records\n", true);
	jobs_until(f, 8000 + 3600); /* burstd may not have told all */
	assert_int_equal(pass_compute(&f->pass, (T0 + 8010) * 1000, &e), 0);
	assert_states(f, (struct states){.wait = 1});
	knows(f, 8000 + 3599);
	assert_states(f, (struct states){.wait = 1});
	knows(f, 8000 + 3600);
	assert_states(f, (struct states){.differ = 1});
	assert_says(f,
		    "            0 of 1 daily sums of jobs are the same, 1 differ\n"
		    "  2026-11-10, account physics, user anna, QOS normal, partition gpu, aws spot,"
		    " pool h100: budgets have 5000.00 EUR, the ledger has 3700.00\n",
		    true);
	assert_says(f,
		    "\"jobs_differ\":[{\"day\":\"2026-11-10\",\"account\":\"physics\",\"user\":"
		    "\"anna\",\"qos\":\"normal\",\"partition\":\"gpu\",\"provider\":\"aws\","
		    "\"market\":\"spot\",\"pool\":\"h100\",\"spent_nano\":5000000000000,"
		    "\"bill_nano\":3700000000000}]",
		    true);
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 12000);
	assert_states(f, (struct states){.agree = 1});
	job_spent(f, 0, 3750 * UNIT / 2); /* less */
	knows(f, 12100);
	assert_states(f, (struct states){.wait = 1});
	knows(f, 12100 + 3600);
	assert_states(f, (struct states){.differ = 1});
}

/* sacct tells late, or burstd, or one of them never. */
static void test_one_side(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1", 7);
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 8000);
	assert_states(f, (struct states){.wait = 1});
	the_job(f, "c1", 7);
	knows(f, 8100);
	assert_states(f, (struct states){.agree = 1});
	exec(f->journal, "DELETE FROM spent");
	whole_job(f, "c2", 8);
	knows(f, 8200);
	assert_states(f, (struct states){.wait = 1});
	knows(f, 12000);
	assert_states(f, (struct states){.differ = 1});
	job_spent(f, 0, 2 * 3750 * UNIT);
	knows(f, 12100);
	assert_states(f, (struct states){.agree = 1});
}

static void test_never_told(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 8000);
	assert_states(f, (struct states){.wait = 1});
	knows(f, 11600);
	assert_states(f, (struct states){.differ = 1});
	/* Without Slurm's accounting nothing is known for sure. */
	job_spent(f, 1, 3750 * UNIT);
	jobs_until(f, -T0);
	pass(f, 100000);
	assert_states(f, (struct states){.differ = 1, .wait = 1});
	pass(f, 200000);
	assert_states(f, (struct states){.differ = 1, .wait = 1});
}

/* What goes on is in neither, but its boot is over. */
static void test_while_it_runs(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	job(f, &(struct job){7, 8, 230, 0, "RUNNING", "c1"});
	knows(f, 150);
	assert_states(f, (struct states){0});
	life(f, "c1", "ready", 200, 0);
	job_spent(f, 0, 100 * UNIT);
	knows(f, 500);
	assert_states(f, (struct states){.agree = 1});
	job(f, &(struct job){7, 8, 230, 3830, "COMPLETED", "c1"});
	knows(f, 3840);
	assert_states(f, (struct states){.wait = 1});
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 3900);
	assert_states(f, (struct states){.agree = 1});
	/* The machine goes on without it. */
	knows(f, 9000);
	assert_states(f, (struct states){.agree = 1});
}

/* The machine went from under it: the job's time ends there, by burstd and by the ledger. */
static void test_the_machine_ends_first(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1", 7);
	job(f, &(struct job){7, 8, 230, 0, "RUNNING", "c1"});
	job_spent(f, 0, (100 + 7300) * UNIT);
	knows(f, 8000);
	assert_states(f, (struct states){.agree = 1});
	/* No longer than until burstd knew that it was gone. */
	job_spent(f, 0, (100 + 7300) * UNIT + 9);
	knows(f, 8100);
	assert_states(f, (struct states){.wait = 1});
	job(f, &(struct job){7, 8, 230, 7700, "NODE_FAIL", "c1"});
	knows(f, 8200);
	assert_states(f, (struct states){.wait = 1});
	job_spent(f, 0, (100 + 7300 - SPENDERS_LATE_S - SPENDERS_EARLY_S) * UNIT);
	knows(f, 8300);
	assert_states(f, (struct states){.agree = 1});
}

/* The provider says that it ended sooner than burstd saw it: until then the job was there. */
static void test_found_gone_later(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 200, 0);
	life(f, "c1", "ended", 7500, 7000);
	job(f, &(struct job){7, 8, 230, 7600, "NODE_FAIL", "c1"});
	job_spent(f, 0, (100 + 7300) * UNIT);
	knows(f, 8000);
	assert_states(f, (struct states){.agree = 1});
	job_spent(f, 0, (100 + 6800 - SPENDERS_LATE_S - 30 - SPENDERS_EARLY_S) * UNIT - 8);
	knows(f, 8100);
	assert_states(f, (struct states){.agree = 1});
	job_spent(f, 0, (100 + 6800 - SPENDERS_LATE_S - 30 - SPENDERS_EARLY_S) * UNIT - 9);
	knows(f, 8200);
	assert_states(f, (struct states){.wait = 1});
}

static void test_over_midnight(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", DAY_S - 400, 0);
	life(f, "c1", "created", DAY_S - 300, 0);
	life(f, "c1", "ready", DAY_S - 200, 0);
	job(f, &(struct job){7, 8, DAY_S - 180, 2 * DAY_S - 20, "COMPLETED", "c1"});
	job_spent(f, 0, 300 * UNIT);
	job_spent(f, 1, DAY_S * UNIT);
	job_spent(f, 2, 5 * UNIT); /* the end was seen then */
	knows(f, 2 * DAY_S + 60);
	assert_states(f, (struct states){.agree = 3});
	job_spent(f, 1, (DAY_S - 30) * UNIT); /* a whole day but for its end */
	job_spent(f, 2, 0);
	knows(f, 2 * DAY_S + 70);
	assert_states(f, (struct states){.agree = 2, .wait = 1});
}

/* A queue's two attempts, and the time between them in which squeue was not asked. */
static void test_requeued(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1", 7);
	job(f, &(struct job){7, 8, 230, 2000, "REQUEUED", "c1"});
	job(f, &(struct job){7, 8, 2010, 5000, "COMPLETED", "c1"});
	job_spent(f, 0, (100 + 4810) * UNIT);
	knows(f, 8000);
	assert_states(f, (struct states){.agree = 1});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_they_agree),
		TEST(test_the_bounds),
		TEST(test_one_differs),
		TEST(test_one_side),
		TEST(test_never_told),
		TEST(test_while_it_runs),
		TEST(test_the_machine_ends_first),
		TEST(test_found_gone_later),
		TEST(test_over_midnight),
		TEST(test_requeued),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
