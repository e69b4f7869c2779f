/* test_closing_budgets.c - what a closed month's statement shows of budgets and overrides is in its
 * record, and stays, whatever the journal has later. */
#include "budgeted.h"
#include "exported.h"

enum { AT = DEC + 3600 };

static const char closes[] = "DROP TRIGGER budget_override_kept; DROP TRIGGER budget_override_open;"
			     "DROP TRIGGER budget_override_stays; DROP TRIGGER budget_period_kept;"
			     "DROP TRIGGER budget_period_open; DROP TRIGGER budget_period_stays;"
			     "DROP TRIGGER IF EXISTS closing_kept;";

/* Two budgets in November, one of the year, and overrides: 1 ends in December, 2 was taken back in
 * November, 3 has no end. */
static void fill_all(struct fixture *f)
{
	fill(f);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 100, 211, 12, 5));
	came_to(f, "'each', 'anna'", NOV, NOV + 7 * DAY_S, UNITS(702, 0, 33, 0, 5));
	came_to(f, "'year', ''", NOV - 300 * DAY_S, JAN, UNITS(801, 0, 1, 1, 5));
	override(f, 1, "", 100, DEC + 500);
	override(f, 2, "anna", 200, DEC + 500);
	override(f, 3, "", 300, DEC);
	take_back(f, 2, 5000);
	exec(f->journal, "UPDATE budget_override SET until_ms = 9223372036854775807 WHERE id = 3");
	settle_until(f, AT);
}

static void assert_bad(struct fixture *f, int64_t seq)
{
	struct ledger_period_check c;
	struct err e = {0};

	assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
	assert_int_equal(c.bad, seq);
	if (seq != 0)
		assert_string_equal(c.what, "has budgets, or overrides, that differ");
}

/* Each change in what a statement of November shows is seen; what only December's shows is not
 * November's, and may change. */
static void test_they_are_in_the_record(void **state)
{
	static const struct {
		const char *sql;
		int bad;
	} rows[] = {
		{"UPDATE budget_period SET budget = 'x' WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET value = 'x' WHERE budget = 'each'", 1},
		{"UPDATE budget_period SET period = 'x' WHERE budget = 'each'", 1},
		{"UPDATE budget_period SET begin_ms = begin_ms + 1 WHERE budget = 'each'", 1},
		{"UPDATE budget_period SET end_ms = end_ms + 1 WHERE budget = 'each'", 1},
		{"UPDATE budget_period SET amount_nano = 1 WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET added_nano = 1 WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET carried_nano = 1 WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET spent_nano = 1 WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET held_nano = 1 WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET at_ms = 1 WHERE budget = 'physics'", 1},
		{"UPDATE budget_period SET counted = 'x' WHERE budget = 'physics'", 1},
		{"DELETE FROM budget_period WHERE budget = 'each'", 1},
		{"INSERT INTO budget_period SELECT 'y', value, period, begin_ms, end_ms, last_day,"
		 " 1, 0, 0, 0, 0, 1, '' FROM budget_period WHERE budget = 'physics'",
		 1},
		{"UPDATE budget_period SET spent_nano = 2 WHERE budget = 'year'", 0},
		{"UPDATE budget_override SET id = 9 WHERE id = 1", 1},
		{"UPDATE budget_override SET budget = 'x' WHERE id = 1", 1},
		{"UPDATE budget_override SET value = 'x' WHERE id = 2", 1},
		{"UPDATE budget_override SET nano = 1 WHERE id = 3", 1},
		{"UPDATE budget_override SET made_ms = made_ms + 1 WHERE id = 3", 1},
		{"UPDATE budget_override SET made_by = 'x' WHERE id = 1", 1},
		{"UPDATE budget_override SET reason = 'x' WHERE id = 1", 1},
		{"UPDATE budget_override SET replaces = 1 WHERE id = 1", 1},
		{"UPDATE budget_override SET until_ms = until_ms + 1 WHERE id = 2", 1},
		{"UPDATE budget_override SET revoked_by = '' WHERE id = 2", 1},
		{"UPDATE budget_override SET revoked_why = 'x' WHERE id = 2", 1},
		{"UPDATE budget_override SET until_day = 99999 WHERE id = 2", 1},
		{"DELETE FROM budget_override WHERE id = 3", 1},
		{"UPDATE budget_override SET until_ms = until_ms + 1, revoked_by = 'x' WHERE id = "
		 "1",
		 0},
	};
	struct fixture *f = *state;

	fill_all(f);
	close_month(f, NOVEMBER, AT);
	assert_good(f, AT);
	exec(f->ledger,
	     "%s CREATE TABLE b AS SELECT * FROM budget_period;"
	     " CREATE TABLE o AS SELECT * FROM budget_override",
	     closes);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].sql);
		exec(f->ledger, "%s", rows[i].sql);
		assert_bad(f, rows[i].bad);
		exec(f->ledger, "DELETE FROM budget_period; INSERT INTO budget_period SELECT * FROM"
				" b; DELETE FROM budget_override; INSERT INTO budget_override"
				" SELECT * FROM o");
		assert_bad(f, 0);
	}
}

/* When one ended is in the record of the month in which it did. */
static void test_an_end_in_a_later_month(void **state)
{
	struct fixture *f = *state;

	fill_all(f);
	close_month(f, NOVEMBER, AT);
	take_back(f, 3, DEC + 700);
	settle_until(f, JAN + 3600);
	close_month(f, DECEMBER, JAN + 3600);
	assert_good(f, JAN + 3600);
	exec(f->ledger, "%s UPDATE budget_override SET revoked_why = 'x' WHERE id = 3", closes);
	assert_bad(f, 2);
}

/* The record cannot be made one without them. */
static void test_a_record_that_lost_them(void **state)
{
	struct ledger_period_check c;
	struct fixture *f = *state;
	struct err e = {0};

	fill_all(f);
	close_month(f, NOVEMBER, AT);
	exec(f->ledger, "%s UPDATE closing SET budgets = ''", closes);
	assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
	assert_int_equal(c.bad, 1);
	assert_string_equal(c.what, "changed");
}

/* What changes while a month is open again is in its next record; the one before says nothing of it
 * any more. */
static void test_a_month_that_was_opened_again(void **state)
{
	struct fixture *f = *state;

	fill_all(f);
	close_month(f, NOVEMBER, AT);
	settle_until(f, JAN + 3600);
	close_month(f, DECEMBER, JAN + 3600);
	assert_int_equal(try_reopen(f, DECEMBER, JAN + 3700), 0);
	assert_int_equal(try_reopen(f, NOVEMBER, JAN + 3700), 0);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 100, 222, 0, 6));
	take_back(f, 1, 6000);
	settle_until(f, JAN + 7200);
	assert_good(f, JAN + 7200);
	assert_int_equal(ask(f->ledger, "SELECT spent_nano FROM budget_period WHERE budget ="
					" 'physics'"),
			 INT64_C(222000000000));
	close_month(f, NOVEMBER, JAN + 7200);
	close_month(f, DECEMBER, JAN + 7200);
	assert_good(f, JAN + 7200);
	exec(f->ledger, "%s UPDATE budget_period SET spent_nano = 1 WHERE budget = 'physics'",
	     closes);
	assert_bad(f, 5);
	exec(f->ledger, "UPDATE budget_period SET spent_nano = 222000000000 WHERE budget ="
			" 'physics'; UPDATE budget_period SET spent_nano = 7 WHERE budget ="
			" 'year'");
	assert_bad(f, 6);
}

/* A journal that was restored from before a revocation (F58), or was changed, changes nothing that
 * a closed month has shown; what ends in an open month ends. */
static void test_an_older_journal(void **state)
{
	struct fixture *f = *state;
	const struct export x = ask_for(f, EXPORT_STATEMENT);
	char *had, *has;
	struct str out;

	str_init(&out, OUT);
	fill_all(f);
	set_currency(f);
	close_month(f, NOVEMBER, AT);
	had = all_of(f, NOVEMBER);
	exec(f->journal,
	     "UPDATE budget_override SET until_ms = %lld, revoked_by = '', revoked_why = ''"
	     " WHERE id = 2",
	     (long long)(T0 + DEC + 900) * 1000);
	take_back(f, 1, DEC - 1); /* told after the close */
	override(f, 4, "late", 400, DEC + 900);
	take_back(f, 3, DEC + 50);
	override(f, 5, "", DEC + 40, DEC + 900);
	pass(f, AT + 100);
	assert_int_equal(
		ask(f->ledger, "SELECT COUNT(*) FROM note WHERE key = 'facts_why' AND text <> ''"),
		0);
	has = all_of(f, NOVEMBER);
	assert_same_text(had, has);
	free(has);
	free(had);
	write_it(f, &x, &out);
	assert_has(&out, "of 2 (revoked by auditor: too much)", true);
	assert_has(&out, "team/late", false);
	assert_good(f, AT + 100);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM budget_override WHERE id = 3 AND"
					" revoked_by = 'auditor'"),
			 1);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM budget_override"), 4);
	str_fini(&out);
}

static void test_the_tables_keep_them(void **state)
{
	static const char *const tries[] = {
		"UPDATE budget_override SET until_ms = 1 WHERE id = 2",
		"UPDATE budget_override SET nano = 1 WHERE id = 3",
		"UPDATE budget_override SET until_day = 1 WHERE id = 3",
		"DELETE FROM budget_override WHERE id = 3",
		"INSERT INTO budget_override SELECT 9, budget, value, nano, made_ms, until_ms,"
		" made_by, reason, revoked_by, revoked_why, replaces, made_day, until_day FROM"
		" budget_override WHERE id = 3",
		"INSERT INTO budget_period SELECT 'y', value, period, begin_ms, end_ms, last_day,"
		" 1, 0, 0, 0, 0, 1, '' FROM budget_period WHERE budget = 'physics'"};
	struct fixture *f = *state;

	fill_all(f);
	close_month(f, NOVEMBER, AT);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		sqlite3 *db;

		assert_int_equal(sqlite3_open(f->ledger, &db), SQLITE_OK);
		print_message("# %s\n", tries[i]);
		assert_int_equal(sqlite3_exec(db, tries[i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
		sqlite3_close(db);
	}
}

/* Makes the only record what an older version would have written. */
static void make_record_old(const struct fixture *f)
{
	char hash[DIGEST_SIZE];
	sqlite3_stmt *st;
	struct digest d;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->ledger, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT seq, month, revision, closed, at_ms, invoice,"
					    " booking, n, who, reason, allowed, zone, totals,"
					    " chain, digest FROM closing",
					    -1, &st, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	digest_begin(&d, "0000000000000000000000000000000000000000000000000000000000000000");
	for (int i = 0; i < 15; i++)
		digest_text(&d, (const char *)sqlite3_column_text(st, i));
	digest_end(&d, hash);
	sqlite3_finalize(st);
	sqlite3_close(db);
	exec(f->ledger,
	     "DROP TRIGGER closing_kept; UPDATE closing SET budgets = '', hash = '%s';"
	     "UPDATE note SET text = '%s' WHERE key = 'closing_head'",
	     hash, hash);
}

static void assert_bare(struct fixture *f, int64_t bare)
{
	struct ledger_period_check c;
	struct err e = {0};

	assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
	assert_int_equal(c.bad, 0);
	assert_int_equal(c.bare, bare);
}

/* A month that was closed by an older version keeps its record, and has none of budgets; the next
 * record has all of them. */
static void test_a_ledger_from_before(void **state)
{
	struct fixture *f = *state;

	fill_all(f);
	ledger_close(f->l);
	exec(f->ledger, NO_BUDGETS_IN_RECORDS "PRAGMA user_version = 8;"
					      "CREATE TABLE was AS SELECT * FROM budget_override");
	open_ledger(f);
	assert_int_equal(ask(f->ledger, "PRAGMA user_version"), 9);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM was AS w JOIN budget_override AS o"
					" USING (id, made_ms, until_ms, revoked_by)"
					" WHERE made_day * 86400000 <= made_ms"
					" AND made_day * 86400000 + 86400000 > made_ms"
					" AND until_day = until_ms / 86400000"),
			 3);
	close_month(f, NOVEMBER, AT);
	assert_bare(f, 0);
	make_record_old(f);
	assert_bare(f, 1);
	assert_good(f, AT);
	settle_until(f, JAN + 3600);
	close_month(f, DECEMBER, JAN + 3600);
	assert_bare(f, 1);
	exec(f->ledger, "%s UPDATE budget_period SET spent_nano = 1 WHERE budget = 'physics'",
	     closes);
	assert_bad(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_they_are_in_the_record),  TEST(test_an_end_in_a_later_month),
		TEST(test_a_record_that_lost_them), TEST(test_a_month_that_was_opened_again),
		TEST(test_an_older_journal),        TEST(test_the_tables_keep_them),
		TEST(test_a_ledger_from_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
