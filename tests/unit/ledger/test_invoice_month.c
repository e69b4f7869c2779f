/* test_invoice_month.c - what an invoice's month has of machines that ended before it, and what of
 * it turned out when it was closed. */
#include "invoicing.h"

/* It ended in November, and its last hour is billed until December. */
static void test_time_beyond_the_end(void **state)
{
	static const struct {
		int64_t minimum_ms, begin, end, beyond; /* from the begin of December on */
	} rows[] = {{60000, -3000, -1000, 600}, {7200000, -7000, -6500, 200}, {0, -3600, -1, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct invoice_import december = {.month = DECEMBER};
		struct invoice_result r;
		struct fixture *f;
		void *own = NULL;

		print_message("# row %zu\n", i);
		assert_int_equal(setup(&own), 0);
		f = own;
		exec(f->journal,
		     "INSERT INTO machine VALUES ('c1', 1, 0, 'h100', 'aws', 'spot-a', 'p5', 'eu',"
		     " 'eu-a', 'spot', 'EUR', 3600000, %lld, 96, 960000, 8)",
		     (long long)rows[i].minimum_ms);
		life(f, "c1", "wanted", DEC + rows[i].begin, 0);
		life(f, "c1", "created", DEC + rows[i].begin, DEC + rows[i].begin);
		life(f, "c1", "ended", DEC + rows[i].end, DEC + rows[i].end);
		settle_until(f, JAN + 3600);
		assert_int_equal(of_month(f, DECEMBER, "1"), rows[i].beyond * UNIT);
		r = import(f, HEAD ",5,EUR,Disks,\n", &december, JAN + 4000);
		assert_int_equal(r.missing, rows[i].beyond * UNIT);
		invoice_result_fini(&r);
		assert_int_equal(of_month(f, DECEMBER, "1"), 5 * UNIT);
		assert_good(f, JAN + 4000);
		/* A ledger from before has it computed again. */
		ledger_close(f->l);
		exec(f->ledger, NO_BUDGETS_IN_RECORDS "PRAGMA user_version = 7");
		open_ledger(f);
		assert_int_equal(ask(f->ledger, "SELECT SUM(dirty) FROM lifetime"), 1);
		settle_until(f, JAN + 4000);
		close_month(f, NOVEMBER, JAN + 4000);
		close_month(f, DECEMBER, JAN + 4000);
		assert_int_equal(teardown(&own), 0);
	}
}

/* 300 s more of c1, told when November was closed: they are on no day of it, and were counted. */
static void test_counted_late(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	close_month(f, NOVEMBER, DEC + 6000);
	life(f, "c1", "ended", 1001, 1300);
	settle_until(f, DEC + 7000);
	assert_int_equal(of_month(f, DECEMBER, "1"), 300 * UNIT);
	r = import(f, HEAD "i-c1,1300,EUR,,\n,7,EUR,Disks,\n", NULL, DEC + 8000);
	assert_int_equal(r.counted, 2100 * UNIT);
	assert_int_equal(r.missing, 900 * UNIT); /* of c2 */
	assert_true(r.late);
	invoice_result_fini(&r);
	/* Of what shall be of December all is met, and not what is of November. */
	r = import(f, HEAD ",9,EUR,Disks,\n", &(struct invoice_import){.month = DECEMBER},
		   JAN + 8000);
	assert_int_equal(r.counted, 0);
	assert_int_equal(r.missing, 0);
	invoice_result_fini(&r);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 1800 * UNIT);
	assert_int_equal(of_month(f, DECEMBER, "1"), (1307 - 1800 + 9) * UNIT);
	assert_good(f, JAN + 9000);
	/* Neither what an invoice made of them, nor what is of no machine, was counted; nor is what
	 * another provider has. */
	exec(f->journal,
	     "INSERT INTO machine SELECT 'g1', 1, at_ms, pool, 'gcp', offer, type, region, zone,"
	     " market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'; INSERT INTO machine SELECT 'u1', 1, at_ms, pool, 'aws', offer, type,"
	     " region, zone, market, 'USD', quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM"
	     " machine WHERE node = 'c1'");
	for (int i = 0; i < 2; i++) {
		life(f, i == 0 ? "g1" : "u1", "created", 100, 100);
		life(f, i == 0 ? "g1" : "u1", "ended", 500, 500);
	}
	settle_until(f, JAN + 9100);
	r = import(f, HEAD ",7,EUR,More disks,\n", &(struct invoice_import){.number = "b"},
		   JAN + 9200);
	assert_int_equal(r.counted, 2100 * UNIT);
	assert_int_equal(r.missing, 2100 * UNIT);
	invoice_result_fini(&r);
}

/* What is of no machine was bought in no market: it is not on demand, in a report, a statement, a
 * workbook or FOCUS. */
static void test_bought_in_no_market(void **state)
{
	struct report_want w = {.from_day = date_month_day(NOVEMBER),
				.to_day = date_month_day(DECEMBER)};
	struct fixture *f = *state;
	struct invoice_result r;
	struct report report;
	struct err e = {0};
	struct str out;

	str_init(&out, CLOSING_OUT);
	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	invoice_result_fini(&r);
	assert_int_equal(report_parse(&w, "market", &e), 0);
	assert_int_equal(report_make(&report, f->l, &w, &e), 0);
	report_csv(&report, &out);
	report_fini(&report);
	assert_non_null(strstr(out.p, "\n,EUR,11.75,"));
	assert_non_null(strstr(out.p, "\nspot,EUR,1890.75,"));
	assert_null(strstr(out.p, "on-demand"));
	str_clear(&out);
	export_one(f, NOVEMBER, EXPORT_STATEMENT, 0, &out);
	assert_non_null(strstr(out.p, "<td>1890.75</td><td>0.00</td><td>0.00</td><td>11.75</td>"
				      "<td>1902.50</td>"));
	assert_non_null(strstr(out.p, ", no machine: "));
	assert_null(strstr(out.p, ", on demand: "));
	str_clear(&out);
	export_one(f, NOVEMBER, EXPORT_FOCUS, 0, &out);
	assert_null(strstr(out.p, "on-demand"));
	str_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_beyond_the_end),
		TEST(test_counted_late),
		TEST(test_bought_in_no_market),
	};

	return cmocka_run_group_tests_name("ledger, months of invoices", tests, NULL, NULL);
}
