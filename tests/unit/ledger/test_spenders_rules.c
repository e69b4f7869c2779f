/* test_spenders_rules.c - where the ledger and budgets mean different things of a job the budgets
 * are compared with what they must have; and what of them is read. */
#include "spenders_lab.h"

#define AGREE     ((struct states){.agree = 1})
#define EXPLAINED ((struct states){.explained = 1})
#define WAIT      ((struct states){.wait = 1})

/* --- whose the machine is ----------------------------------------------------------------------
 */

/* It never was up: the ledger has that as nobody's, and the job's budget has paid for it. */
static void test_a_boot_that_failed(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "delete_asked", 900, 0);
	job(f, &(struct job){7, 8, 50, 890, "BOOT_FAIL", "c1"});
	knows(f, 920);
	assert_states(f, (struct states){0});
	life(f, "c1", "ended", 1000, 0);
	job_spent(f, 0, 900 * UNIT);
	knows(f, 1100);
	assert_int_equal(money(f, "1"), 900 * UNIT);
	assert_states(f, EXPLAINED);
	job_spent(f, 0, 900 * UNIT + 5);
	knows(f, 1200);
	assert_states(f, WAIT);
	job_spent(f, 0, 900 * UNIT - 5);
	knows(f, 1300);
	assert_states(f, WAIT);
}

/* burstd has one job pay for the boot, the ledger both. */
static void test_bought_for_two(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	buyer(f, "c1", 8);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 200, 0);
	job(f, &(struct job){7, 4, 230, 250, "COMPLETED", "c1"});
	for (int i = 0; i < 2; i++) {
		knows(f, 8000 + i);
		/* Nothing of it, if the other has paid, ... */
		assert_states(f, AGREE);
		job_spent(f, 0, 100 * UNIT);
	}
	/* ... or all of it, and its own half for as long as squeue may be late. */
	job_spent(f, 0, (100 + (50 + SPENDERS_LATE_S) / 2) * UNIT);
	knows(f, 8100);
	assert_states(f, AGREE);
	job_spent(f, 0, (101 + (50 + SPENDERS_LATE_S) / 2) * UNIT);
	knows(f, 8200);
	assert_states(f, WAIT);
}

/* One of two nodes is up three minutes before the job begins: the ledger has it as idle. */
static void test_a_node_that_waits_for_others(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	for (int i = 1; i <= 2; i++) {
		char node[3] = {'c', (char)('0' + i), '\0'};

		machine(f, node);
		buyer(f, node, 7);
		life(f, node, "wanted", 0, 0);
		life(f, node, "created", 100, 0);
		life(f, node, "ready", 200 * i, 0);
	}
	job(f, &(struct job){7, 8, 410, 4010, "COMPLETED", "c1,c2"});
	job_spent(f, 0, (100 + 3810 + 300 + 3610) * UNIT);
	knows(f, 8000);
	assert_int_equal(money(f, "kind & 15 = 0"), 7200 * UNIT);
	assert_states(f, AGREE);
	job_spent(f, 0, (100 + 3810 + 300 + 3610 + 2 * SPENDERS_LATE_S) * UNIT);
	knows(f, 8100);
	assert_states(f, AGREE);
	job_spent(f, 0, (101 + 3810 + 300 + 3610 + 2 * SPENDERS_LATE_S) * UNIT);
	knows(f, 8200);
	assert_states(f, WAIT);
}

/* Nothing was bought for it, but its other node booted for somebody: perhaps since it came. */
static void test_nodes_of_others(void **state)
{
	const struct fixture *f = *state;
	static const struct {
		const char *nodes;
		int64_t submit, high;
	} rows[] = {
		/* fixture.h submits at the begin */
		{"c1,c2", 5000, 2 * (1000 + SPENDERS_LATE_S + SPENDERS_EARLY_S)},
		{"c1,c2", 4000, 2 * (2000 + SPENDERS_LATE_S + SPENDERS_EARLY_S)},
		{"c1,c2", 0, 2 * (4600 + SPENDERS_LATE_S + SPENDERS_EARLY_S)},
		{"c1", 4000, 1000 + SPENDERS_LATE_S + SPENDERS_EARLY_S},
	};

	since(f, -1);
	for (int i = 1; i <= 2; i++) {
		char node[3] = {'c', (char)('0' + i), '\0'};

		machine(f, node);
		life(f, node, "wanted", 0, 0);
		life(f, node, "created", 100, 0);
		life(f, node, "ready", 200, 0);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		exec(f->ledger, "DELETE FROM attempt; DELETE FROM attempt_on");
		job(f, &(struct job){7, 8, 5000, 6000, "COMPLETED", rows[i].nodes});
		exec(f->ledger, "UPDATE attempt SET submit_s = %lld; UPDATE lifetime SET dirty = 1",
		     (long long)(T0 + rows[i].submit));
		job_spent(f, 0, rows[i].high * UNIT);
		knows(f, 8000 + 200 * (int64_t)i);
		assert_states(f, AGREE);
		job_spent(f, 0, rows[i].high * UNIT + 9);
		knows(f, 8100 + 200 * (int64_t)i);
		assert_states(f, WAIT);
	}
}

/* One was bought for it, and the other, which was up, waits from then on. */
static void test_a_node_is_bought(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 200, 0);
	machine(f, "c2");
	buyer(f, "c2", 7);
	life(f, "c2", "wanted", 3000, 0);
	life(f, "c2", "created", 3300, 0);
	life(f, "c2", "ready", 3600, 0);
	job(f, &(struct job){7, 8, 3610, 5610, "COMPLETED", "c1,c2"});
	exec(f->ledger, "UPDATE attempt SET submit_s = %lld", (long long)T0 + 500);
	job_spent(f, 0, (610 + 2000 + 300 + 2010 + 2 * SPENDERS_LATE_S + SPENDERS_EARLY_S) * UNIT);
	knows(f, 8000);
	assert_states(f, AGREE);
	job_spent(f, 0, (611 + 2000 + 300 + 2010 + 2 * SPENDERS_LATE_S + SPENDERS_EARLY_S) * UNIT);
	knows(f, 8100);
	assert_states(f, WAIT);
}

/* The provider said later that the bill began sooner: the boot was spent by then. */
static void test_a_begin_that_is_corrected(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 200, 0);
	life(f, "c1", "registered", 200, 0);
	life(f, "c1", "created", 210, 50);
	life(f, "c1", "registered", 220, 0);
	job(f, &(struct job){7, 8, 230, 231, "COMPLETED", "c1"});
	job_spent(f, 0, 100 * UNIT);
	knows(f, 8000);
	assert_states(f, AGREE);
}

/* It was given up as it came up, and burstd put down all of it to the boot. */
static void test_given_up_as_it_came_up(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "released", 200, 0);
	life(f, "c1", "ready", 200, 0);
	life(f, "c1", "ended", 300, 0);
	job(f, &(struct job){7, 8, 50, 60, "CANCELLED", "c1"});
	job_spent(f, 0, 200 * UNIT);
	knows(f, 500);
	assert_states(f, AGREE);
}

/* --- how much of it ----------------------------------------------------------------------------
 */

/* A quarter of the GPUs, whatever memory it has: for the ledger it has nearly all. */
static void test_shares(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1", 9);
	job(f, &(struct job){7, 2, 230, 4230, "COMPLETED", "c1"});
	job_spent(f, 0, 1000 * UNIT);
	knows(f, 8000);
	assert_states(f, AGREE);
	exec(f->ledger, "UPDATE attempt SET memory_mb = 900000; UPDATE lifetime SET dirty = 1");
	knows(f, 8100);
	assert_states(f, EXPLAINED);
	job_spent(f, 0, 4000 * UNIT);
	knows(f, 8200);
	assert_states(f, WAIT);
	/* By CPUs, if it has more of these. */
	exec(f->ledger, "UPDATE attempt SET memory_mb = 0, cpus = 96; UPDATE lifetime SET dirty ="
			" 1");
	knows(f, 8300);
	assert_states(f, AGREE);
}

/* Of three CPUs on two nodes burstd counts one and a half on each, the ledger two. */
static void test_uneven_nodes(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	for (int i = 1; i <= 2; i++) {
		char node[3] = {'c', (char)('0' + i), '\0'};

		machine(f, node);
		life(f, node, "wanted", 0, 0);
		life(f, node, "created", 0, 0);
		life(f, node, "ready", 0, 0);
	}
	exec(f->journal, "DROP TRIGGER machine_append_only; UPDATE machine SET cpus = 2, gpus = 0,"
			 " memory_mb = 0");
	job(f, &(struct job){7, 0, 10000, 30000, "COMPLETED", "c1,c2"});
	exec(f->ledger, "UPDATE attempt SET cpus = 2");
	job_spent(f, 0, 2 * 15000 * UNIT);
	knows(f, 40000);
	assert_states(f, AGREE);
}

/* What the machine has was not known to burstd: it counted all of it. */
static void test_unmeasured(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1", 9);
	exec(f->journal, "DROP TRIGGER machine_append_only; UPDATE machine SET cpus = 0, gpus = 0,"
			 " memory_mb = 0");
	job(f, &(struct job){7, 2, 230, 4230, "COMPLETED", "c1"});
	job(f, &(struct job){8, 8, 5000, 5001, "COMPLETED", "c1"});
	job_spent(f, 0, 4000 * UNIT);
	knows(f, 8000);
	assert_states(f, AGREE);
	job_spent(f, 0, 900 * UNIT);
	knows(f, 8100);
	assert_states(f, AGREE);
}

/* Budgets go on by the price of the purchase, or by one that the row had later. */
static void test_prices(void **state)
{
	const struct fixture *f = *state;

	price(f, "spot", "quote", 2 * 3600 * UNIT, 0);
	whole_job(f, "c1", 7);
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 8000);
	assert_int_equal(money(f, "kind & 96 = 32"), 2 * 3700 * UNIT);
	assert_states(f, EXPLAINED);
	job_spent(f, 0, 2 * 3750 * UNIT);
	knows(f, 8100);
	assert_states(f, WAIT);
	exec(f->journal,
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) VALUES"
	     " ('c1', 1, 'running', 'i-c1', %lld, 0, %lld)",
	     (long long)(T0 + 150) * 1000, (long long)(2 * 3600 * UNIT));
	knows(f, 8200);
	assert_states(f, AGREE);
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 8300);
	assert_states(f, AGREE);
	exec(f->journal,
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) VALUES"
	     " ('c1', 1, 'running', 'i-c1', %lld, 0, %lld)",
	     (long long)(T0 + 160) * 1000, (long long)(1800 * UNIT));
	job_spent(f, 0, 3750 * UNIT / 2);
	knows(f, 8400);
	assert_states(f, AGREE);
}

/* EC2 gives the first hour back; budgets have spent it all the same. */
static void test_before_credits(void **state)
{
	const struct fixture *f = *state;
	struct err e = {0};

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	since(f, -1);
	machine(f, "c1");
	buyer(f, "c1", 7);
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ready", 200, 0);
	life(f, "c1", "taken", 2700, 0);
	life(f, "c1", "ended", 2700, 0);
	job(f, &(struct job){7, 8, 230, 2720, "NODE_FAIL", "c1"});
	job_spent(f, 0, 2600 * UNIT);
	knows(f, 8000);
	assert_int_equal(money(f, "1"), 0);
	assert_states(f, AGREE);
}

/* --- what is known -----------------------------------------------------------------------------
 */

static void test_seen_again(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	life(f, "c1", "seen", 7600, 0);
	life(f, "c1", "ended", 7700, 0);
	job_spent(f, 0, 0);
	knows(f, 8000);
	assert_states(f, AGREE);
	job_spent(f, 0, (100 + 3630 + SPENDERS_LATE_S) * UNIT + 9);
	knows(f, 8100);
	assert_states(f, WAIT);
}

/* What began before there were budgets may be in them in part, or not at all. */
static void test_since_when(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	since(f, 3000);
	job_spent(f, 0, 850 * UNIT);
	knows(f, 8000);
	assert_states(f, AGREE);
	job_spent(f, 0, (100 + 3630 + SPENDERS_LATE_S) * UNIT + 9);
	knows(f, 8100);
	assert_states(f, WAIT);
	job_spent(f, 0, 850 * UNIT);
	knows(f, 8200);
	assert_states(f, AGREE);
	/* It is another time: all is compared anew. */
	since(f, 50);
	knows(f, 8210);
	assert_states(f, WAIT);
	job_spent(f, 0, 3700 * UNIT);
	knows(f, 8220);
	assert_states(f, AGREE);
	since(f, 0);
	knows(f, 8300);
	assert_states(f, AGREE);
	since(f, 2 * DAY_S);
	job_spent(f, 1, 3700 * UNIT); /* a day before them */
	knows(f, 2 * DAY_S + 8000);
	assert_states(f, AGREE);
	the_job(f, "c1", 8); /* likewise, told late */
	knows(f, 3 * DAY_S);
	assert_states(f, AGREE);
}

static void test_without_budgets(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	exec(f->journal, "DELETE FROM meta WHERE key = 'budgets_since'");
	job_spent(f, 0, 1);
	knows(f, 8000);
	assert_states(f, (struct states){0});
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM spent_job"), 0);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM stay"), 0);
	/* Nor is what had ended before them. */
	since(f, 7501);
	knows(f, 8100);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM stay"), 0);
	since(f, 7500);
	knows(f, 8200);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM stay"), 1);
}

/* Only days are read that may have changed: of what is held now, and those of today. */
static void test_what_is_read(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	job_spent(f, 0, 3750 * UNIT);
	exec(f->journal,
	     "INSERT INTO hold VALUES ('c9', 1, 5, 'run', 1, %lld, %lld, 0, 'a', 'u', 'q', '', 'p',"
	     " 'h100', 'aws', 'spot')",
	     (long long)(T0 + 2 * DAY_S + 50) * 1000, (long long)(T0 + 9 * DAY_S) * 1000);
	exec(f->journal, /* a machine spends on its own */
	     "INSERT INTO hold VALUES ('c9', 1, 0, 'machine', 1, %lld, %lld, 1, '', '', '', '', "
	     "'p',"
	     " 'h100', 'aws', 'spot')",
	     (long long)T0 * 1000, (long long)(T0 + 9 * DAY_S) * 1000);
	knows(f, 5 * DAY_S);
	assert_states(f, AGREE);
	job_spent(f, 0, 1); /* by nothing */
	job_spent(f, 1, 2); /* by a begin that was said to be earlier */
	knows(f, 5 * DAY_S + 100);
	assert_states(f, (struct states){.agree = 1, .wait = 1});
	exec(f->journal, "DELETE FROM hold");
	job_spent(f, 2, 3); /* that has ended */
	knows(f, 5 * DAY_S + 200);
	assert_states(f, (struct states){.agree = 1, .wait = 2});
	job_spent(f, 3, 3);
	job_spent(f, 4, 3);
	knows(f, 5 * DAY_S + 300);
	assert_states(f, (struct states){.agree = 1, .wait = 3});
	/* A journal that was put back is read anew, and what it lacks is forgotten. */
	job_spent(f, 5, 3);
	knows(f, 5 * DAY_S + 400);
	exec(f->journal, "DELETE FROM life WHERE kind = 'ended'; DELETE FROM spent");
	exec(f->journal,
	     "INSERT INTO spent VALUES (%lld, 0, 'physics', 'bob', 'normal', '', 'gpu', 'h100',"
	     " 'aws', 'spot', 5)",
	     (long long)DAY_0 + 5);
	knows(f, 5 * DAY_S + 500);
	assert_int_equal(ask(f->ledger, "SELECT SUM(nano) FROM spent_job WHERE day ="
					" (SELECT MAX(day) FROM spent_job)"),
			 5);
}

/* An account that Slurm corrects is another sum; the old one is not there any more. */
static void test_another_spender(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	knows(f, 7000);
	assert_states(f, WAIT);
	exec(f->ledger, "INSERT OR IGNORE INTO word (text) VALUES ('chem'); UPDATE attempt SET"
			" account = (SELECT id FROM word WHERE text = 'chem');"
			" UPDATE lifetime SET dirty = 1");
	knows(f, 7100);
	assert_states(f, WAIT);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM job_agreement AS a JOIN dims AS d ON"
					" d.id = a.spender JOIN word AS w ON w.id = d.account"
					" WHERE w.text = 'chem'"),
			 1);
}

/* Nothing is written when nothing is new, also of days that wait. */
static void test_a_pass_without_news(void **state)
{
	const struct fixture *f = *state;

	whole_job(f, "c1", 7);
	job_spent(f, 0, 3750 * UNIT);
	job_spent(f, 1, 1);
	knows(f, 8000);
	assert_states(f, (struct states){.agree = 1, .wait = 1});
	exec(f->ledger,
	     "CREATE TRIGGER t1 BEFORE INSERT ON stay BEGIN SELECT RAISE(ABORT, 'x'); END;"
	     "CREATE TRIGGER t2 BEFORE DELETE ON stay BEGIN SELECT RAISE(ABORT, 'x'); END;"
	     "CREATE TRIGGER t3 BEFORE UPDATE ON job_agreement BEGIN SELECT RAISE(ABORT, 'x'); END;"
	     "CREATE TRIGGER t4 BEFORE DELETE ON job_agreement BEGIN SELECT RAISE(ABORT, 'x'); END;"
	     "CREATE TRIGGER t5 BEFORE UPDATE ON spent_job BEGIN SELECT RAISE(ABORT, 'x'); END");
	knows(f, 8100);
	assert_states(f, (struct states){.agree = 1, .wait = 1});
}

/* A ledger from before has booked what is to be compared. */
static void test_a_ledger_from_before(void **state)
{
	struct fixture *f = *state;

	whole_job(f, "c1", 7);
	job_spent(f, 0, 3750 * UNIT);
	knows(f, 7500 + 3600);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
	for (int i = 0; i < 2; i++) {
		ledger_close(f->l);
		exec(f->ledger, NO_BUDGETS_IN_RECORDS
		     "DROP TABLE stay; DROP TABLE spent_job; DROP TABLE job_agreement;"
		     " DELETE FROM number WHERE key IN ('held_day', 'agree_jobs_day');"
		     " PRAGMA user_version = 6");
		if (i == 1) /* it has ended before there were budgets */
			exec(f->ledger,
			     "UPDATE number SET value = %lld WHERE key ="
			     " 'budgets_since_ms'",
			     (long long)(T0 + 7501) * 1000);
		open_ledger(f);
		assert_int_equal(ask(f->ledger, "SELECT dirty FROM lifetime"), i == 0);
		knows(f, 12000 + i);
		if (i == 0)
			assert_states(f, AGREE);
	}
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_boot_that_failed),
		TEST(test_bought_for_two),
		TEST(test_a_node_that_waits_for_others),
		TEST(test_nodes_of_others),
		TEST(test_a_node_is_bought),
		TEST(test_a_begin_that_is_corrected),
		TEST(test_given_up_as_it_came_up),
		TEST(test_shares),
		TEST(test_uneven_nodes),
		TEST(test_unmeasured),
		TEST(test_prices),
		TEST(test_before_credits),
		TEST(test_seen_again),
		TEST(test_since_when),
		TEST(test_without_budgets),
		TEST(test_what_is_read),
		TEST(test_another_spender),
		TEST(test_a_pass_without_news),
		TEST(test_a_ledger_from_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
