/* test_invoice_kept.c - an invoice that was met, and what is closed with it, stay as they were. */
#include "ledger/explain.h"

#include "invoicing.h"

/* Postings of a month that come to nothing, so that no report shows it: it is closed like any
 * other, else verify would find postings of a closed month that are in no record. */
static void test_a_month_that_comes_to_nothing(void **state)
{
	const struct invoice_import in = {.partial = true};
	struct fixture *f = *state;
	struct invoice_result r;
	char *has;

	machine(f, "c1");
	life(f, "c1", "created", DEC + 100, DEC + 100);
	life(f, "c1", "ended", DEC + 300, DEC + 300);
	settle_until(f, JAN + 3600);
	r = import(f, HEAD ",5,EUR,Disks,\n,-5,EUR,Credit,\n", &in, JAN + 4000);
	invoice_result_fini(&r);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 0);
	has = obstacles(f, DECEMBER, JAN + 4000);
	assert_string_equal(has, "earlier 1");
	free(has);
	close_month(f, NOVEMBER, JAN + 4000);
	close_month(f, DECEMBER, JAN + 4000);
	assert_good(f, JAN + 4000);
}

static void try_sql(const struct fixture *f, const char *sql)
{
	char *why = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(f->ledger, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_CONSTRAINT)
		fail_msg("it was done: %s", sql);
	assert_string_equal(why, "invoices are append-only");
	sqlite3_free(why);
	sqlite3_close(db);
}

/* The table itself sees to it that an invoice is removed, once, and changes in no other way. */
static void test_the_table_refuses(void **state)
{
	static const char *const columns[] = {
		"id",       "rowid", "provider", "month", "number", "format", "rule",  "partial",
		"currency", "nano",  "counted",  "why",   "file",   "digest", "at_ms", "who"};
	struct fixture *f = *state;
	struct invoice_result r;
	char sql[100];

	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		(void)snprintf(sql, sizeof(sql), "UPDATE invoice SET %s = 77", columns[i]);
		try_sql(f, sql);
		(void)snprintf(sql, sizeof(sql), "UPDATE invoice SET %s = 77, removed_ms = 1",
			       columns[i]);
		try_sql(f, sql);
	}
	try_sql(f, "UPDATE invoice SET removed_by = 'x'");
	try_sql(f, "DELETE FROM invoice");
	exec(f->ledger, "UPDATE invoice SET removed_ms = 1, removed_by = 'x'");
	try_sql(f, "UPDATE invoice SET removed_ms = 2");
	try_sql(f, "UPDATE invoice SET removed_ms = 0");
	try_sql(f, "UPDATE invoice SET removed_by = 'y'");
}

/* Invoices of a closed month are in its record as they were: not those that came later, and whether
 * one was removed when it was open again is not. */
static void test_invoices_are_in_the_record(void **state)
{
	static const char *const harms[] = {
		"UPDATE invoice SET why = 'x' WHERE id = 1",
		"UPDATE invoice SET nano = nano + 1, counted = counted + 1 WHERE id = 1",
		"UPDATE invoice SET who = 'x' WHERE id = 1",
		"UPDATE invoice SET month = month + 1 WHERE id = 1",
		"DELETE FROM invoice WHERE id = 1",
	};
	const struct invoice_import late = {.partial = true, .number = "late"};
	struct fixture *f = *state;
	struct invoice_result r;
	struct err e = {0};
	struct book b;

	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	close_month(f, NOVEMBER, DEC + 4000);
	r = import(f, HEAD "i-c1,1,EUR,,\n", &late, DEC + 5000);
	invoice_result_fini(&r);
	assert_good(f, DEC + 5000);
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		struct ledger_period_check c;

		print_message("# %s\n", harms[i]);
		exec(f->ledger,
		     "CREATE TABLE kept AS SELECT * FROM invoice; DROP TRIGGER IF EXISTS"
		     " invoice_kept; DROP TRIGGER IF EXISTS invoice_stays; %s",
		     harms[i]);
		assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
		assert_int_equal(c.bad, 1);
		assert_string_equal(c.what, "has postings, or invoices, that differ");
		exec(f->ledger, "DELETE FROM invoice; INSERT INTO invoice SELECT * FROM kept;"
				" DROP TABLE kept");
		assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
		assert_int_equal(c.bad, 0);
	}
	assert_int_equal(try_reopen(f, NOVEMBER, DEC + 6000), 0);
	b = book_at(f, DEC + 6100);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(invoice_remove(&b, 1, "bert", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	assert_good(f, DEC + 6100);
	close_month(f, NOVEMBER, DEC + 6200);
	assert_good(f, DEC + 6200);
}

/* What an invoice's lines say is in the record, too: an export writes it. */
static void test_lines_are_in_the_record(void **state)
{
	static const char *const harms[] = {
		"UPDATE invoice_line SET name = 'x' WHERE n = 1",
		"UPDATE invoice_line SET instance = 'x' WHERE n = 2",
		"UPDATE invoice_line SET account = 'x' WHERE n = 3",
		"UPDATE invoice_line SET kind = 1 WHERE n = 1",
		"UPDATE invoice_line SET start_s = start_s + 1 WHERE n = 1",
		"UPDATE invoice_line SET end_s = end_s + 1 WHERE n = 4",
		"UPDATE invoice_line SET nano = nano + 1 WHERE n = 4",
		"UPDATE invoice_line SET n = 9 WHERE n = 4",
		"UPDATE invoice_line SET lifetime = 2 WHERE n = 1",
		"DELETE FROM invoice_line WHERE n = 4",
	};
	struct fixture *f = *state;
	struct ledger_period_check c;
	struct invoice_result r;
	struct err e = {0};

	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	close_month(f, NOVEMBER, DEC + 4000);
	for (size_t i = 0; i < sizeof(harms) / sizeof(harms[0]); i++) {
		print_message("# %s\n", harms[i]);
		exec(f->ledger,
		     "CREATE TABLE kept AS SELECT * FROM invoice_line; DROP TRIGGER IF EXISTS"
		     " invoice_line_kept; %s",
		     harms[i]);
		assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
		assert_int_equal(c.bad, 1);
		exec(f->ledger, "DELETE FROM invoice_line; INSERT INTO invoice_line SELECT * FROM"
				" kept; DROP TABLE kept");
		assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
		assert_int_equal(c.bad, 0);
	}
}

/* A record from before they were is good as it is. */
static void test_a_record_without_lines(void **state)
{
	const struct ledger_closing one = {.month = NOVEMBER,
					   .closed = true,
					   .at_ms = 1,
					   .who = "anna",
					   .reason = "",
					   .allowed = "",
					   .zone = "UTC",
					   .totals = ""};
	char hash[DIGEST_SIZE];
	struct fixture *f = *state;
	struct ledger_period_check c;
	struct invoice_result r;
	struct err e = {0};

	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	exec(f->ledger,
	     "CREATE TABLE kept AS SELECT * FROM invoice_line; DELETE FROM invoice_line");
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(ledger_put_closing(f->l, &one, hash, &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	exec(f->ledger, "INSERT INTO invoice_line SELECT * FROM kept; DROP TABLE kept");
	assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
	assert_int_equal(c.bad, 0);
}

/* A record from before invoices were in it is good as it is. */
static void test_a_record_without_its_invoices(void **state)
{
	const struct invoice_import in = {.month = DECEMBER, .partial = true};
	struct ledger_period_check c;
	struct fixture *f = *state;
	struct invoice_result r;
	struct err e = {0};

	fill(f);
	r = import(f, HEAD "i-c1,9,EUR,,\n", &in, DEC + 4000);
	invoice_result_fini(&r);
	close_month(f, NOVEMBER, DEC + 4000);
	exec(f->ledger, "DROP TRIGGER invoice_kept; UPDATE invoice SET month = month - 1");
	assert_int_equal(ledger_check_periods(f->l, &c, &e), 0);
	assert_int_equal(c.bad, 0);
	assert_int_equal(c.closings, 1);
}

/* A ledger in which an invoice in EUR has set a machine in USD to 0. */
static void test_a_ledger_from_before(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	exec(f->journal,
	     "INSERT INTO machine SELECT 'd1', 1, at_ms, pool, provider, offer, type, region, zone,"
	     " market, 'USD', quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'");
	life(f, "d1", "created", 100, 100);
	life(f, "d1", "ended", 300, 300);
	settle_until(f, DEC + 3700);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	ledger_close(f->l);
	assert_int_equal(ask(f->ledger, "SELECT SUM(dirty) FROM lifetime"), 0);
	exec(f->ledger, NO_BUDGETS_IN_RECORDS
	     "DROP TABLE stay; DROP TABLE spent_job; DROP TABLE job_agreement;"
	     " DROP TABLE budget_override; DROP TABLE budget_period;"
	     " DROP TRIGGER invoice_kept;"
	     " PRAGMA user_version = 4");
	open_ledger(f);
	assert_int_equal(ask(f->ledger, "SELECT SUM(dirty) FROM lifetime"), 1);
	assert_int_equal(ask(f->ledger, "SELECT dirty FROM lifetime WHERE node = 'd1'"), 1);
	settle_until(f, DEC + 5000);
	assert_good(f, DEC + 5000);
}

/* The pieces of a job's time do not add up to its cost any more: what does is named. */
static void test_what_a_job_is_told(void **state)
{
	const struct explain_want want = {.id = "7", .arithmetic = true};
	struct fixture *f = *state;
	const struct book b = {.ledger = f->l, .calendar = &f->calendar, .currency = "EUR"};
	struct invoice_result r;
	struct str out;
	struct err e = {0};

	fill(f);
	str_init(&out, 1 << 16);
	assert_int_equal(explain_job(&b, &want, &out, &e), 0);
	assert_null(strstr(out.p, "invoice"));
	str_clear(&out);
	/* c1 was counted with 900, of which the job has 100 of the 200 s that it is on half of it.
	 */
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	assert_int_equal(explain_job(&b, &want, &out, &e), 0);
	assert_non_null(strstr(out.p, "share 480000 of 960000: 100000000000 = 100000000000\n"
				      "    the job's part of the difference to the invoice: "
				      "11.166666667\n"));
	assert_non_null(strstr(out.p, "job 7: 111.166666667 EUR\n"));
	assert_null(strstr(out.p, "computed anew"));
	str_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_month_that_comes_to_nothing), TEST(test_the_table_refuses),
		TEST(test_lines_are_in_the_record),       TEST(test_a_record_without_lines),
		TEST(test_invoices_are_in_the_record),    TEST(test_a_record_without_its_invoices),
		TEST(test_a_ledger_from_before),          TEST(test_what_a_job_is_told),
	};

	return cmocka_run_group_tests_name("ledger, invoices that are kept", tests, NULL, NULL);
}
