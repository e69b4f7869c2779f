/* test_export_budgets.c - a statement has what budgets came to, and what was added to them. */
#include "budgeted.h"
#include "closing.h"
#include "exported.h"

#include "ledger/pseudonym.h"

static void test_budgets(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_STATEMENT);
	struct err e = {0};
	size_t left_out;
	struct str out;
	const struct sink to = sink_str(&out);

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	pass(f, 100000);
	write_it(f, &x, &out);
	assert_has(&out, "No budget has a period within that of this statement.", true);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 100, 211, 112, 5));
	came_to(f, "'each', ''", NOV, DEC, UNITS(7701, 0, 0, 0, 5));
	came_to(f, "'each', 'anna'", NOV, DEC, UNITS(702, 0, 33, 0, 5));
	came_to(f, "'each', 'bob'", NOV, DEC, UNITS(703, 0, 34, 0, 5));
	came_to(f, "'nobody', ''", NOV, DEC, UNITS(704, 0, 0, 0, 5));
	came_to(f, "'year', ''", NOV - 1, DEC, UNITS(801, 0, 1, 1, 5));
	came_to(f, "'quarter', ''", NOV, DEC + 1, UNITS(802, 0, 1, 1, 5));
	came_to(f, "'day', ''", NOV + 1, DEC, UNITS(705, 0, 1, 0, 5));
	came_to(f, "'mixed', ''", NOV, DEC, UNITS(706, 0, 5, 0, 5)); /* before it was for each */
	came_to(f, "'mixed', 'anna'", NOV, DEC, UNITS(707, 0, 5, 0, 5));
	came_to(f, "'week', ''", NOV, NOV + 7, UNITS(708, 0, 0, 0, 5)); /* nobody used it then */
	came_to(f, "'week', 'anna'", NOV + 7, NOV + 14, UNITS(709, 0, 5, 0, 5));
	came_to(f, "'rolling', ''", -T0, NOV, UNITS(803, 0, 5, 0, 5)); /* it begins at 0 */
	pass(f, 100001);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM budget_period WHERE begin_ms = 0"),
			 0);
	write_it(f, &x, &out);
	/* Amount with what was added, spent, promised, left, used. */
	assert_has(
		&out,
		"physics</bdi></th><td class=\"t\"><bdi>accounts physics</bdi></td><td>600.00</td>"
		"<td>211.00</td><td>112.00</td><td>277.00</td><td>35.2",
		true);
	assert_has(&out, "7701.00", false); /* it says only that the budget was there */
	assert_has(&out, "each/anna", true);
	assert_has(&out, "702.00", true);
	assert_has(&out, "703.00", true);
	assert_has(&out, "704.00", true);
	assert_has(&out, "706.00", true);
	assert_has(&out, "707.00", true);
	assert_has(&out, "708.00", true);
	assert_has(&out, "709.00", true);
	assert_has(&out, "801.00", false);
	assert_has(&out, "802.00", false);
	assert_has(&out, "day (a period)", true);
	/* Not in dollars. */
	x.currency = "USD";
	str_clear(&out);
	assert_int_equal(export_write(&x, f->l, &to, &left_out, &e), 0);
	assert_has(&out, "each/anna", false);
	str_fini(&out);
}

/* What a closed month's statement shows does not change, whatever burstd settles later; once the
 * month is open again, it does. */
static void test_a_closed_month_keeps_its_budgets(void **state)
{
	struct fixture *f = *state;
	const struct export x = ask_for(f, EXPORT_STATEMENT);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 0, 201, 12, 5));
	settle_until(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 0, 203, 0, 6));
	came_to(f, "'late', ''", NOV, DEC, UNITS(701, 0, 1, 0, 6));
	came_to(f, "'physics', ''", DEC, JAN, UNITS(600, 0, 44, 0, 4000000));
	pass(f, DEC + 7200);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM note WHERE key = 'facts_why' AND"
					" text <> ''"),
			 0);
	write_it(f, &x, &out);
	assert_has(&out, "<td>201.00</td><td>12.00</td>", true);
	assert_has(&out, ">late<", false);
	assert_int_equal(try_reopen(f, NOVEMBER, DEC + 7200), 0);
	pass(f, DEC + 7201);
	write_it(f, &x, &out);
	assert_has(&out, "<td>203.00</td><td>0.00</td>", true);
	assert_has(&out, ">late<", true);
	assert_has(&out, "44.00", false); /* December's */
	str_fini(&out);
}

/* A quarter that begins with a closed month is a row of its own, and no obstacle. */
static void test_a_longer_period_after_a_close(void **state)
{
	struct fixture *f = *state;
	const struct export x = ask_for(f, EXPORT_STATEMENT);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 0, 201, 12, 5));
	settle_until(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	exec(f->journal, "DELETE FROM budget_period");
	came_to(f, "'physics', ''", NOV, JAN, UNITS(900, 0, 777, 0, 6));
	exec(f->journal, "UPDATE budget_period SET period = 'a quarter'");
	pass(f, DEC + 7200);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM note WHERE key = 'facts_why' AND"
					" text <> ''"),
			 0);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM budget_period"), 2);
	write_it(f, &x, &out);
	assert_has(&out, "<td>201.00</td><td>12.00</td>", true);
	assert_has(&out, "777.00", false);
	str_fini(&out);
}

/* Rows are read once more for an hour, and old figures never replace new ones. */
static void test_new_figures_of_budgets(void **state)
{
	struct fixture *f = *state;
	const struct export x = ask_for(f, EXPORT_STATEMENT);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 0, 201, 12, 9000000));
	pass(f, 100000);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 0, 202, 12, 8999999)); /* older */
	came_to(f, "'chem', ''", NOV, DEC, UNITS(701, 0, 1, 0, 5400000));
	came_to(f, "'bio', ''", NOV, DEC, UNITS(702, 0, 1, 0, 5399999)); /* read long ago */
	pass(f, 100001);
	write_it(f, &x, &out);
	assert_has(&out, "201.00", true);
	assert_has(&out, "701.00", true);
	assert_has(&out, "702.00", false);
	/* The end of a period is told later than the last figures in it. */
	exec(f->journal, "UPDATE budget_period SET spent_nano = 204000000000, ended_ms = 9000001"
			 " WHERE budget = 'physics'");
	pass(f, 100002);
	write_it(f, &x, &out);
	assert_has(&out, "204.00", true);
	/* An older burstd has no such figures. */
	exec(f->journal, "ALTER TABLE budget_period DROP COLUMN ended_ms");
	pass(f, 100003);
	write_it(f, &x, &out);
	assert_has(&out, "204.00", true);
	str_fini(&out);
}

static void test_pseudonyms_of_budgets(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_STATEMENT);
	struct secret *key = secret_new("0123456789abcdef", 16);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	came_to(f, "'each', 'anna'", NOV, DEC, UNITS(601, 0, 1, 0, 5));
	exec(f->journal, "UPDATE budget_period SET counted = 'users anna'");
	pass(f, 100000);
	x.site_key = key;
	write_it(f, &x, &out);
	assert_has(&out, "each/u-b7a04172e11eaea2", true);
	assert_has(&out, "601.00", true);
	assert_has(&out, "anna", false);
	secret_free(key);
	str_fini(&out);
}

/* The tables themselves hold to it. */
static void test_the_tables_keep_budgets(void **state)
{
	static const char *const tries[] = {"UPDATE budget_period SET spent_nano = 1",
					    "DELETE FROM budget_period"};
	struct fixture *f = *state;

	fill(f);
	came_to(f, "'physics', ''", NOV, DEC, UNITS(600, 0, 201, 12, 5));
	settle_until(f, DEC + 3600);
	close_month(f, NOVEMBER, DEC + 3600);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		sqlite3 *db;

		assert_int_equal(sqlite3_open(f->ledger, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, tries[i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
		sqlite3_close(db);
	}
}

/* What was added to budgets is in the statement of the month in which somebody did so. */
static void test_overrides(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_STATEMENT);
	struct err e = {0};
	size_t left_out;
	struct str out;
	const struct sink to = sink_str(&out);

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	override(f, 1, "", 100, DEC);
	override(f, 2, "anna", 200, DEC - 1);
	override(f, 3, "", DEC - 1, DEC + 500);
	override(f, 4, "", DEC, DEC + 500);
	override(f, 5, "", 300, DEC);
	override(f, 6, "", NOV, NOV + 1);
	override(f, 7, "", NOV - 1, NOV + 1);
	pass(f, 100000);
	write_it(f, &x, &out);
	assert_has(&out, ">team<", true);
	assert_has(&out, "team/anna", true);
	assert_has(&out, "minister", true);
	assert_has(&out, "a &lt;deadline&gt; of 1<", true);
	assert_has(&out, "101.00", true);
	assert_has(&out, "102.00", true);
	assert_has(&out, "103.00", true);
	assert_has(&out, "104.00", false);
	assert_has(&out, "105.00", true);
	assert_has(&out, "106.00", true);
	assert_has(&out, "107.00", false);
	assert_true(strstr(out.p, "105.00") < strstr(out.p, "103.00")); /* by time */
	assert_has(&out, "101.00</td><td class=\"t\">the end of the period, or later", true);
	assert_has(&out, "2026-11-30T23:59:59Z", true);
	assert_has(&out, "revoked", false);
	/* What was revoked in the month says so, ... */
	take_back(f, 5, 400);
	pass(f, 100001);
	write_it(f, &x, &out);
	assert_has(&out, "of 5 (revoked by auditor: too much)", true);
	/* ... and what is revoked later does not change what was printed. */
	take_back(f, 3, DEC + 100);
	pass(f, 100002);
	write_it(f, &x, &out);
	assert_has(&out, "of 3 (revoked", false);
	/* It is not in dollars. */
	x.currency = "USD";
	str_clear(&out);
	assert_int_equal(export_write(&x, f->l, &to, &left_out, &e), 0);
	assert_has(&out, "minister", false);
	str_fini(&out);
}

/* A journal that was restored gives an id again: both were made. */
static void test_overrides_of_a_restored_journal(void **state)
{
	struct fixture *f = *state;
	const struct export x = ask_for(f, EXPORT_STATEMENT);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	override(f, 1, "", 100, 5000);
	pass(f, 100000);
	exec(f->journal, "UPDATE budget_override SET nano = 777000000000, made_ms = made_ms + 1");
	pass(f, 100001);
	write_it(f, &x, &out);
	assert_has(&out, "101.00", true);
	assert_has(&out, "777.00", true);
	exec(f->journal, "DROP TABLE budget_override"); /* an older burstd's has none */
	pass(f, 100002);
	write_it(f, &x, &out);
	assert_has(&out, "777.00", true);
	str_fini(&out);
}

/* What was set is told from what was added; nothing may be set, too. */
static void test_what_was_set(void **state)
{
	struct fixture *f = *state;
	const struct export x = ask_for(f, EXPORT_STATEMENT);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	override(f, 1, "", 100, DEC);
	override(f, 2, "", 100, DEC);
	override(f, 3, "", 100, DEC);
	exec(f->journal, "UPDATE budget_override SET replaces = 1 WHERE id > 1;"
			 "UPDATE budget_override SET nano = 0, until_ms = 9223372036854775807"
			 " WHERE id = 3");
	pass(f, 100000);
	write_it(f, &x, &out);
	assert_has(&out, "raised by</td><td>101.00<", true);
	assert_has(&out, "set to</td><td>102.00<", true);
	assert_has(&out, "set to</td><td>0.00</td><td class=\"t\">the end of the period, or later",
		   true);
	/* Of an older burstd nothing was. */
	exec(f->journal, "ALTER TABLE budget_period DROP COLUMN ended_ms;"
			 "ALTER TABLE budget_override DROP COLUMN replaces;"
			 "UPDATE budget_override SET nano = 777000000000, made_ms = made_ms + 1"
			 " WHERE id = 2");
	pass(f, 100001);
	write_it(f, &x, &out);
	assert_has(&out, "raised by</td><td>777.00<", true);
	str_fini(&out);
}

static void test_pseudonyms_in_overrides(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_STATEMENT);
	struct secret *key = secret_new("0123456789abcdef", 16);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	set_currency(f);
	override(f, 1, "anna", 100, DEC);
	override(f, 2, "", 100, DEC);
	take_back(f, 2, 500);
	pass(f, 100000);
	x.site_key = key;
	write_it(f, &x, &out);
	assert_has(&out, "101.00", true);
	assert_has(&out, "team/u-b7a04172e11eaea2", true);
	assert_has(&out, "(revoked)", true);
	assert_has(&out, "anna", false);
	assert_has(&out, "minister", false);
	assert_has(&out, "auditor", false);
	assert_has(&out, "deadline", false);
	secret_free(key);
	str_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_budgets),
		TEST(test_a_closed_month_keeps_its_budgets),
		TEST(test_a_longer_period_after_a_close),
		TEST(test_new_figures_of_budgets),
		TEST(test_pseudonyms_of_budgets),
		TEST(test_the_tables_keep_budgets),
		TEST(test_overrides),
		TEST(test_overrides_of_a_restored_journal),
		TEST(test_what_was_set),
		TEST(test_pseudonyms_in_overrides),
	};

	return cmocka_run_group_tests_name("ledger, budgets in statements", tests, NULL, NULL);
}
