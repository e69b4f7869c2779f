/* test_counted.c - the sums of burstd's budgets are compared with the bills of machines that have
 * ended, day by day; what later prices and times explain is no problem, and anything else is. */
#include "ledger/counted.h"

#include "fixture.h"
#include "ledger/status.h"

#define UNIT  INT64_C(1000000000) /* a second of a machine at 3,600 an hour */
#define DAY_0 (T0 / 86400)
#define DAY_S INT64_C(86400)

/* What budgets have of the machines of fixture.h. */
static void spent(const struct fixture *f, int64_t day, int64_t nano)
{
	exec(f->journal,
	     "INSERT OR REPLACE INTO spent VALUES (%lld, 1, '', '', '', '', 'gpu', 'h100', 'aws',"
	     " 'spot', %lld); INSERT OR REPLACE INTO spent VALUES (%lld, 0, 'physics', 'anna',"
	     " 'normal', '', 'gpu', 'h100', 'aws', 'spot', 1)",
	     (long long)(DAY_0 + day), (long long)nano, (long long)(DAY_0 + day));
}

static void since(const struct fixture *f, int64_t at)
{
	exec(f->journal, "INSERT OR REPLACE INTO meta VALUES ('budgets_since', %lld)",
	     (long long)(T0 + at) * 1000);
}

/* From 100 to 700. */
static void whole_life(const struct fixture *f, const char *node)
{
	machine(f, node);
	life(f, node, "wanted", 0, 0);
	life(f, node, "created", 100, 0);
	life(f, node, "ready", 200, 0);
	life(f, node, "ended", 700, 0);
}

static void assert_states(const struct fixture *f, int agree, int explained, int differ)
{
	struct err e = {0};
	int64_t n[LEDGER_DIFFERS + 1];

	assert_int_equal(ledger_count_agreed(f->l, n, &e), 0);
	assert_int_equal(n[LEDGER_AGREES], agree);
	assert_int_equal(n[LEDGER_EXPLAINED], explained);
	assert_int_equal(n[LEDGER_DIFFERS], differ);
}

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

static void test_they_agree(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	machine(f, "c2"); /* it runs: in no sum */
	life(f, "c2", "wanted", 0, 0);
	life(f, "c2", "created", 150, 0);
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_states(f, 1, 0, 0);
	assert_says(f, "budgets     1 of 1 daily sums of machines are the same\n", true);
	assert_says(f, "\"budgets_agree\":1,\"budgets_explained\":0,\"budgets_differ\":0", true);
	/* And when it ends. */
	life(f, "c2", "ended", 850, 0);
	spent(f, 0, 1300 * UNIT);
	pass(f, 900);
	assert_states(f, 1, 0, 0);
}

static void test_one_differs(void **state)
{
	const struct fixture *f = *state;

	struct err e = {0};

	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CURRENCY, "EUR", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	since(f, -1);
	whole_life(f, "c1");
	spent(f, 0, 500 * UNIT);
	pass(f, 800);
	assert_states(f, 0, 0, 1);
	assert_says(f,
		    "budgets     0 of 1 daily sums of machines are the same, 1 differ\n"
		    "  2026-11-10, aws spot, pool h100: budgets have 500.00 EUR, the bill is"
		    " 600.00\n",
		    true);
	assert_says(f,
		    "{\"day\":\"2026-11-10\",\"provider\":\"aws\",\"market\":\"spot\",\"pool\":"
		    "\"h100\",\"spent_nano\":500000000000,\"bill_nano\":600000000000}",
		    true);
	/* What is mended is compared again, though no machine has news. */
	spent(f, 0, 600 * UNIT);
	pass(f, 900);
	assert_states(f, 1, 0, 0);
}

/* Budgets count milliseconds, the ledger seconds. */
static void test_within_a_second(void **state)
{
	const struct fixture *f = *state;
	static const struct {
		int64_t nano;
		bool agrees;
	} rows[] = {{601 * UNIT, true},
		    {601 * UNIT + 5, false},
		    {599 * UNIT, true},
		    {599 * UNIT - 5, false}};

	since(f, -1);
	whole_life(f, "c1");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		spent(f, 0, rows[i].nano);
		pass(f, 800 + (int64_t)i);
		assert_states(f, rows[i].agrees, 0, !rows[i].agrees);
	}
}

static void test_over_midnight(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	life(f, "c1", "wanted", DAY_S - 300, 0);
	life(f, "c1", "created", DAY_S - 250, 0);
	life(f, "c1", "ended", 2 * DAY_S + 50, 0);
	spent(f, 0, 250 * UNIT);
	spent(f, 1, DAY_S * UNIT);
	spent(f, 2, 50 * UNIT);
	pass(f, 2 * DAY_S + 60);
	assert_states(f, 3, 0, 0);
	spent(f, 1, (DAY_S - 10) * UNIT);
	spent(f, 2, 60 * UNIT);
	pass(f, 2 * DAY_S + 70);
	assert_states(f, 1, 0, 2);
}

/* 8000 s in hours of 3600 s. */
static void test_steps_of_the_bill(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	exec(f->journal,
	     "DROP TRIGGER machine_append_only; UPDATE machine SET quantum_ms = 3600000,"
	     " minimum_ms = 9000000");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "ended", 8100, 0);
	spent(f, 0, INT64_C(10800) * UNIT);
	pass(f, 8200);
	assert_states(f, 1, 0, 0);
	/* By a fraction of a second one more is begun. */
	spent(f, 0, INT64_C(14400) * UNIT);
	pass(f, 8300);
	assert_states(f, 1, 0, 0);
	spent(f, 0, INT64_C(7000) * UNIT);
	pass(f, 8400);
	assert_states(f, 0, 0, 1);
}

/* Budgets go on by the price of the purchase. */
static void test_another_price_explains(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	price(f, "spot", "quote", 2 * 3600 * UNIT, 300);
	whole_life(f, "c1");
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_int_equal(money(f, "1"), 1000 * UNIT);
	assert_states(f, 0, 1, 0);
	assert_says(f,
		    "0 of 1 daily sums of machines are the same, 1 differ by later prices or"
		    " times\n",
		    true);
	spent(f, 0, 700 * UNIT); /* but not this */
	pass(f, 900);
	assert_states(f, 0, 0, 1);
}

static void test_a_later_time_explains(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	life(f, "c1", "ended", 750, 500); /* the provider tells it later */
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_int_equal(money(f, "1"), 400 * UNIT);
	assert_states(f, 0, 1, 0);
}

/* It was not gone, and its bill goes on. */
static void test_seen_again(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	life(f, "c1", "seen", 800, 0);
	spent(f, 0, 600 * UNIT); /* until it was given up */
	pass(f, 850);
	assert_states(f, 0, 0, 1);
	life(f, "c1", "ended", 900, 0);
	spent(f, 0, 800 * UNIT);
	pass(f, 950);
	assert_states(f, 1, 0, 0);
}

/* By the price that came later each day costs twice what budgets have, and the least time too. */
static void test_explained_day_by_day(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	price(f, "spot", "quote", 2 * 3600 * UNIT, 0);
	machine(f, "c1");
	life(f, "c1", "wanted", DAY_S - 300, 0);
	life(f, "c1", "created", DAY_S - 250, 0);
	life(f, "c1", "ended", DAY_S + 300, 0);
	machine(f, "c2"); /* of 60 s at least */
	life(f, "c2", "wanted", 2 * DAY_S, 0);
	life(f, "c2", "created", 2 * DAY_S, 0);
	life(f, "c2", "ended", 2 * DAY_S + 10, 0);
	spent(f, 0, 250 * UNIT);
	spent(f, 1, 300 * UNIT);
	spent(f, 2, 60 * UNIT);
	pass(f, 2 * DAY_S + 60);
	assert_int_equal(money(f, "1"), 2 * (550 + 60) * UNIT);
	assert_states(f, 0, 3, 0);
}

/* It lived for longer than burstd knew, and into another day. */
static void test_a_later_time_of_another_day(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	machine(f, "c1");
	life(f, "c1", "wanted", DAY_S - 300, 0);
	life(f, "c1", "created", DAY_S - 250, 0);
	life(f, "c1", "ended", DAY_S - 50, 0);
	life(f, "c1", "ended", DAY_S + 150, DAY_S + 100);
	spent(f, 0, 200 * UNIT);
	pass(f, DAY_S + 200);
	assert_int_equal(money(f, "1"), 350 * UNIT);
	assert_states(f, 0, 2, 0);
}

static void test_seen_again_by_another_price(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	price(f, "spot", "quote", 2 * 3600 * UNIT, 0);
	whole_life(f, "c1");
	life(f, "c1", "seen", 800, 0);
	life(f, "c1", "ended", 900, 0);
	spent(f, 0, 800 * UNIT);
	pass(f, 950);
	assert_states(f, 0, 1, 0);
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
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 0);
	life(f, "c1", "taken", 700, 0);
	life(f, "c1", "ended", 700, 0);
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_int_equal(money(f, "1"), 0);
	assert_states(f, 1, 0, 0);
}

/* It is another moment than before: what had ended by then is not compared any more. */
static void test_since_later(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_states(f, 1, 0, 0);
	since(f, 750);
	pass(f, 900);
	assert_states(f, 0, 0, 0);
}

static void test_since_when(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1"); /* burstd has no budgets */
	pass(f, 800);
	assert_states(f, 0, 0, 0);
	assert_says(f, "budgets  ", false);
	/* It gets some: what has ended by then is in none, so this day cannot be compared. */
	since(f, 1000);
	spent(f, 0, 5 * UNIT);
	pass(f, 1100);
	assert_states(f, 0, 0, 0);
	/* The next one can. */
	machine(f, "c2");
	life(f, "c2", "wanted", DAY_S, 0);
	life(f, "c2", "created", DAY_S, 0);
	life(f, "c2", "ended", DAY_S + 5, 0);
	pass(f, DAY_S + 100);
	assert_states(f, 0, 0, 1);
}

static void test_days_before(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1");
	since(f, DAY_S);
	pass(f, DAY_S + 100);
	assert_states(f, 0, 0, 0);
}

/* Of a day on which burstd got budgets before any machine had ended. */
static void test_since_this_day(void **state)
{
	const struct fixture *f = *state;

	whole_life(f, "c1");
	since(f, 699);
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_states(f, 1, 0, 0);
}

/* An older journal, put back, lacks ends that the ledger knows. */
static void test_another_journal(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_states(f, 1, 0, 0);
	exec(f->journal, ""
			 " DELETE FROM life WHERE kind = 'ended'; DELETE FROM spent");
	pass(f, 900);
	spent(f, 0, 10 * UNIT);
	pass(f, 1000);
	assert_states(f, 0, 0, 0);
}

static void test_spent_by_nothing(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	assert_states(f, 0, 0, 1);
	assert_says(f, "\"bill_nano\":0}", true);
}

/* Figures of two moments are not compared. */
static void test_facts_that_are_behind(void **state)
{
	const struct fixture *f = *state;
	struct err e = {0};

	since(f, -1);
	spent(f, 0, 600 * UNIT);
	whole_life(f, "c1");
	if (pass_facts(&f->pass, (T0 + 800) * 1000, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_number(f->l, LEDGER_SPENT_MARK, 1, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	assert_int_equal(pass_compute(&f->pass, (T0 + 800) * 1000, &e), 0);
	assert_states(f, 0, 0, 0);
	pass(f, 900);
	assert_states(f, 1, 0, 0);
}

/* A ledger from before has booked what is to be compared. */
static void test_a_ledger_from_before(void **state)
{
	struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	spent(f, 0, 600 * UNIT);
	jobs_until(f, 700 + 3600);
	pass(f, 4400);
	assert_int_equal(ask(f->ledger, "SELECT state FROM lifetime"), LEDGER_FINAL);
	ledger_close(f->l);
	exec(f->ledger,
	     "DROP TRIGGER posting_open; DROP INDEX lifetime_instance; DROP TABLE closing;"
	     "DROP TABLE shown; DROP TABLE place; DROP TABLE invoice; DROP TABLE invoice_line;"
	     "ALTER TABLE posting DROP COLUMN of_day;"
	     "DROP TABLE counted; DROP TABLE spent; DROP TABLE agreement; DROP INDEX lifetime_last;"
	     " DROP TABLE budget_override; DROP TABLE budget_period;"
	     " PRAGMA user_version = 2");
	open_ledger(f);
	pass(f, 4500);
	assert_states(f, 1, 0, 0);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM booking"), 1);
}

/* Nothing is written when nothing is new. */
static void test_a_pass_without_news(void **state)
{
	const struct fixture *f = *state;

	since(f, -1);
	whole_life(f, "c1");
	spent(f, 0, 600 * UNIT);
	pass(f, 800);
	exec(f->ledger, "CREATE TRIGGER t1 BEFORE INSERT ON counted BEGIN SELECT RAISE(ABORT, 'x');"
			" END; CREATE TRIGGER t2 BEFORE DELETE ON agreement BEGIN SELECT"
			" RAISE(ABORT, 'x'); END;");
	pass(f, 900);
	assert_states(f, 1, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_they_agree),
		TEST(test_one_differs),
		TEST(test_within_a_second),
		TEST(test_over_midnight),
		TEST(test_steps_of_the_bill),
		TEST(test_another_price_explains),
		TEST(test_a_later_time_explains),
		TEST(test_seen_again),
		TEST(test_explained_day_by_day),
		TEST(test_a_later_time_of_another_day),
		TEST(test_seen_again_by_another_price),
		TEST(test_before_credits),
		TEST(test_since_later),
		TEST(test_days_before),
		TEST(test_since_when),
		TEST(test_since_this_day),
		TEST(test_another_journal),
		TEST(test_spent_by_nothing),
		TEST(test_facts_that_are_behind),
		TEST(test_a_ledger_from_before),
		TEST(test_a_pass_without_news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
