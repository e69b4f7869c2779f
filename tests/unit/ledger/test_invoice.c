/* test_invoice.c - an invoice and what was counted become one: the month adds up to the invoice, to
 * the last nano-unit, and nothing of it is hidden. */
#include "invoicing.h"

static void test_the_month_is_the_invoice(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 1800 * UNIT);
	assert_int_equal(ask(f->ledger, "SELECT flags FROM lifetime WHERE node = 'c2'"),
			 LEDGER_ESTIMATED);
	r = import(f, WHOLE, NULL, DEC + 4000);
	assert_true(r.nano == 1902 * UNIT + UNIT / 2);
	assert_true(r.counted == 1800 * UNIT && r.missing == 0 && r.shared == 10 * UNIT);
	assert_int_equal(r.instances, 2);
	assert_int_equal(r.rows, 4);
	assert_false(r.late);
	assert_true(of_month(f, NOVEMBER, "1") == r.nano);
	assert_true(of_month(f, NOVEMBER, "kind & 128 = 0 AND (kind & 15) < 9") == 1800 * UNIT);
	assert_true(money(f, "lifetime = (SELECT id FROM lifetime WHERE node = 'c1')") ==
		    1000 * UNIT + UNIT / 2);
	/* What the job had of c1 was a ninth. */
	assert_true(of_month(f, NOVEMBER,
			     "kind & 128 AND attempt IN (SELECT id FROM attempt WHERE job = 7)") ==
		    11166666667);
	assert_int_equal(of_month(f, NOVEMBER, "(kind & 15) = 9"), 10 * UNIT);
	assert_true(of_month(f, NOVEMBER, "(kind & 15) = 10") == UNIT + 3 * UNIT / 4);
	/* The provider's word on its end is in what it wants. */
	assert_int_equal(ask(f->ledger, "SELECT flags FROM lifetime WHERE node = 'c2'"), 0);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* What comes late is met with the invoice again: who pays changes, and not how much. */
static void test_news_after_the_invoice(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;
	int64_t total;

	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	total = r.nano;
	invoice_result_fini(&r);
	job(f, &(struct job){9, 8, 600, 900, "COMPLETED", "c1"});
	life(f, "c1", "ended", 1001, 1300);
	settle_until(f, DEC + 5000);
	assert_true(of_month(f, NOVEMBER, "1") == total);
	assert_true(of_month(f, NOVEMBER, "kind & 128 = 0 AND (kind & 15) < 9") == 2100 * UNIT);
	assert_good(f, DEC + 5000);
	/* An instance that nobody knew of is not on it. */
	machine(f, "c3");
	life(f, "c3", "wanted", 0, 0);
	life(f, "c3", "created", 100, 100);
	life(f, "c3", "ended", 300, 300);
	settle_until(f, DEC + 6000);
	assert_true(of_month(f, NOVEMBER, "1") == total);
	close_month(f, NOVEMBER, DEC + 6000);
	life(f, "c1", "ended", 1002, 1200);
	settle_until(f, DEC + 7000);
	assert_true(of_month(f, NOVEMBER, "1") == total);
	assert_int_equal(of_month(f, DECEMBER, "1"), 0);
	assert_int_equal(of_month(f, DECEMBER, "kind & 128"), 100 * UNIT);
	assert_good(f, DEC + 7000);
}

static void test_instances_that_are_not_on_it(void **state)
{
	struct fixture *f = *state;
	const struct invoice_import partial = {.partial = true, .number = "b"};
	const struct invoice_import other = {.number = "c"};
	struct invoice_result r;

	fill(f);
	r = import(f, HEAD "i-c1,7,EUR,,\n", &partial, DEC + 4000);
	assert_true(r.counted == 900 * UNIT && r.missing == 0);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 907 * UNIT);
	invoice_result_fini(&r);
	r = import(f, HEAD "i-c1,2,EUR,,\n", &other, DEC + 4000); /* more of it */
	assert_true(r.missing == 900 * UNIT);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 9 * UNIT);
	assert_int_equal(money(f, "lifetime = (SELECT id FROM lifetime WHERE node = 'c2')"), 0);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

static void test_remove(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;
	struct err e = {0};
	struct book b;

	fill(f);
	r = import(f, WHOLE, NULL, DEC + 4000);
	b = book_at(f, DEC + 4100);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(invoice_remove(&b, r.id, "bert", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 1800 * UNIT);
	assert_int_equal(of_month(f, NOVEMBER, "kind & 128"), 0);
	assert_int_equal(ask(f->ledger, "SELECT flags FROM lifetime WHERE node = 'c2'"),
			 LEDGER_ESTIMATED);
	assert_good(f, DEC + 4100);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(invoice_remove(&b, r.id, "bert", &e), -1);
	ledger_rollback(f->l);
	invoice_result_fini(&r);
	/* The same one may come again. */
	r = import(f, WHOLE, NULL, DEC + 4200);
	close_month(f, NOVEMBER, DEC + 4200);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(invoice_remove(&b, r.id, "bert", &e), -1);
	assert_string_equal(e.msg, "it is of 2026-11, which is closed");
	ledger_rollback(f->l);
	invoice_result_fini(&r);
}

/* What is of no machine, and who has it. */
static void test_shared_by_rule(void **state)
{
	static const struct {
		enum invoice_rule rule;
		int64_t physics, biology, nobody;
	} rows[] = {{INVOICE_NONE, 0, 0, 1001},
		    {INVOICE_EVEN, 500, 501, 0},
		    {INVOICE_PROPORTIONAL, 890, 111, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct invoice_import in = {.rule = rows[i].rule, .partial = true};
		struct fixture *f;
		void *own = NULL;
		struct invoice_result r;
		char *all;

		assert_int_equal(setup(&own), 0);
		f = own;
		fill(f);
		exec(f->ledger, "INSERT OR IGNORE INTO word (text) VALUES ('biology')");
		job(f, &(struct job){7, 4, 300, 500, "COMPLETED", "c1"});
		exec(f->ledger, "UPDATE attempt SET account = (SELECT id FROM word WHERE text ="
				" 'biology') WHERE job = 7; UPDATE lifetime SET dirty = 1");
		settle_until(f, DEC + 3700);
		r = import(f, HEAD ",0.000001001,EUR,NAT gateway,\ni-77,3,EUR,,\n", &in,
			   DEC + 4000);
		assert_int_equal(r.unknown, 1);
		assert_true(r.shared == 1001);
#define ACCOUNT(a)                                                                                 \
	"(kind & 15) = 9 AND dims IN (SELECT d.id FROM dims AS d JOIN word AS w ON w.id ="         \
	" d.account JOIN word AS t ON t.id = d.type WHERE t.text LIKE 'NAT%' AND w.text = '" a     \
	"')"
		assert_true(money(f, ACCOUNT("physics")) == rows[i].physics);
		assert_true(money(f, ACCOUNT("biology")) == rows[i].biology);
		assert_true(money(f, ACCOUNT("")) == rows[i].nobody);
		assert_true(of_month(f, NOVEMBER, "(kind & 15) = 9") == 3 * UNIT + 1001);
		assert_good(f, DEC + 4000);
		all = all_of(f, NOVEMBER);
		assert_non_null(strstr(all, "shared: NAT gateway"));
		assert_non_null(strstr(all, "unknown instance i-77"));
		free(all);
		invoice_result_fini(&r);
		assert_int_equal(teardown(&own), 0);
	}
}

/* Into a month that is closed: all of it is in the open one. */
static void test_an_invoice_that_is_late(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;
	char *before, *after;

	fill(f);
	close_month(f, NOVEMBER, DEC + 3600);
	before = all_of(f, NOVEMBER);
	r = import(f, WHOLE, NULL, DEC + 4000);
	assert_true(r.late);
	after = all_of(f, NOVEMBER);
	assert_same_text(before, after);
	free(before);
	free(after);
	assert_true(of_month(f, NOVEMBER, "1") == 1800 * UNIT);
	assert_true(of_month(f, DECEMBER, "1") == r.nano - 1800 * UNIT);
	assert_int_equal(of_month(f, DECEMBER, "kind & 256 = 0"), 0);
	assert_good(f, DEC + 4000);
	after = all_of(f, DECEMBER);
	assert_non_null(strstr(after, ",Correction,"));
	assert_non_null(strstr(after, "s invoice, met after the month was closed"));
	assert_non_null(strstr(after, "<bdi>aws, 2026-11</bdi>"));
	free(after);
	invoice_result_fini(&r);
	/* A credit note for it, likewise. */
	{
		const struct invoice_import note = {.partial = true, .number = "credit-1"};

		r = import(f, HEAD "i-c1,-100,EUR,,\n,-5,EUR,Disks,\n", &note, DEC + 5000);
		assert_true(of_month(f, DECEMBER, "1") ==
			    1902 * UNIT + UNIT / 2 - 1800 * UNIT - 105 * UNIT);
		invoice_result_fini(&r);
	}
	settle_until(f, JAN + 3600);
	close_month(f, DECEMBER, JAN + 3600);
	assert_good(f, JAN + 3600);
}

/* No price: the invoice has one. */
static void test_an_instance_without_a_price(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;
	char *has;

	exec(f->journal,
	     "INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) VALUES"
	     " ('c1', 1, 'created', 'i-c1', %lld, %lld, 0), ('c1', 1, 'ended', 'i-c1', %lld, %lld,"
	     " 0)",
	     (long long)(T0 + 100) * 1000, (long long)(T0 + 100) * 1000,
	     (long long)(T0 + 500) * 1000, (long long)(T0 + 500) * 1000);
	machine(f, "c1");
	settle_until(f, DEC + 3600);
	has = obstacles(f, NOVEMBER, DEC + 3600);
	assert_string_equal(has, "unpriced 1");
	free(has);
	r = import(f, HEAD "i-c1,42,EUR,,\n", NULL, DEC + 4000);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 42 * UNIT);
	has = obstacles(f, NOVEMBER, DEC + 4000);
	assert_string_equal(has, "");
	free(has);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* A line's time is what of it is in the month. */
static void test_times_of_lines(void **state)
{
	static const struct {
		const char *times;
		int64_t from_day, to_day; /* of November */
	} rows[] = {{"2026-10-15,2026-11-05", 1, 5},
		    {"2026-11-03T12:00:00Z,2026-12-24", 3, 31},
		    {"2026-11-03,", 3, 31},
		    {",", 1, 31},
		    {"2026-10-15,2026-10-20", 1, 31}}; /* of another month, on this invoice */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct invoice_import in = {.partial = true};
		struct fixture *f;
		void *own = NULL;
		struct invoice_result r;
		char text[200], sql[200];

		assert_int_equal(setup(&own), 0);
		f = own;
		fill(f);
		(void)snprintf(text, sizeof(text),
			       "instance,amount,currency,description,start,end\n,3,EUR,NAT,%s\n",
			       rows[i].times);
		r = import(f, text, &in, DEC + 4000);
		(void)snprintf(sql, sizeof(sql),
			       "SELECT COUNT(*) FROM posting WHERE (kind & 15) = 9 AND day = %lld"
			       " AND to_s = %lld",
			       (long long)date_day(2026, 11, rows[i].from_day),
			       (long long)date_day(2026, 11, rows[i].to_day) * DAY_S);
		assert_int_equal(ask(f->ledger, sql), 1);
		invoice_result_fini(&r);
		assert_int_equal(teardown(&own), 0);
	}
}

/* The golden case 13: parts by what each has, a negative one as a positive. */
static void test_parts_of_the_difference(void **state)
{
	static const struct {
		const char *text;
		int64_t job, pool;
	} rows[] = {{HEAD "i-c1,499.714285714,EUR,,\n", -171428572, -114285714},
		    {HEAD "i-c1,499.5,EUR,,\n", -300000000, -200000000},
		    {HEAD "i-c1,500.000000001,EUR,,\n", 1, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		void *own = NULL;
		struct invoice_result r;

		assert_int_equal(setup(&own), 0);
		f = own;
		machine(f, "c1");
		life(f, "c1", "wanted", 0, 0);
		life(f, "c1", "created", 100, 100);
		life(f, "c1", "ready", 100, 0);
		life(f, "c1", "delete_asked", 590, 0); /* so it did something else, too */
		life(f, "c1", "ended", 600, 600);
		job(f, &(struct job){1301, 8, 100, 400, "COMPLETED", "c1"});
		settle_until(f, DEC + 3600);
		assert_int_equal(money(f, "1"), 500 * UNIT);
		r = import(f, rows[i].text, NULL, DEC + 4000);
		assert_true(money(f, "kind & 128 AND attempt <> 0") == rows[i].job);
		assert_true(money(f, "kind & 128 AND attempt = 0") == rows[i].pool);
		assert_true(money(f, "kind & 128 AND (kind & 15) = 4") == rows[i].pool);
		invoice_result_fini(&r);
		assert_int_equal(teardown(&own), 0);
	}
}

/* Who comes first gets what is left over: jobs by their numbers, whenever they became known. */
static void test_ties_go_by_the_number_of_the_job(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 100);
	life(f, "c1", "ready", 100, 0);
	life(f, "c1", "ended", 600, 600);
	pass(f, 1);
	job(f, &(struct job){9, 4, 100, 600, "COMPLETED", "c1"});
	job(f, &(struct job){8, 4, 100, 600, "COMPLETED", "c1"});
	settle_until(f, DEC + 3600);
	r = import(f, HEAD "i-c1,500.000000001,EUR,,\n", NULL, DEC + 4000);
	assert_int_equal(
		money(f, "kind & 128 AND attempt = (SELECT id FROM attempt WHERE job = 8)"), 1);
	invoice_result_fini(&r);
}

/* What is given back and is on the invoice all the same is of those who had it. */
static void test_an_invoice_for_what_was_given_back(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;
	struct err e = {0};

	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	machine(f, "c1");
	life(f, "c1", "wanted", 0, 0);
	life(f, "c1", "created", 100, 100);
	life(f, "c1", "ready", 100, 0);
	life(f, "c1", "taken", 600, 0);
	life(f, "c1", "ended", 600, 600);
	job(f, &(struct job){8, 8, 100, 475, "COMPLETED", "c1"});
	settle_until(f, DEC + 3600);
	r = import(f, HEAD "i-c1,4,EUR,,\n", NULL, DEC + 4000);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 4 * UNIT);
	assert_int_equal(money(f, "kind & 128 AND attempt <> 0"), 3 * UNIT);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* By the provider's clock it ran the month before: its owners are those of the day after. */
static void test_another_month_by_the_providers_clock(void **state)
{
	const struct invoice_import in = {.month = NOVEMBER - 1, .partial = true};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(f, HEAD "i-c1,9,EUR,,\n", &in, DEC + 4000);
	assert_int_equal(of_month(f, NOVEMBER - 1, "1"), 9 * UNIT);
	assert_int_equal(of_month(f, NOVEMBER - 1, "attempt <> 0"), UNIT);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 1800 * UNIT);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
	{ /* or of the day before */
		const struct invoice_import next = {.month = DECEMBER, .partial = true};

		r = import(f, HEAD "i-c1,18,EUR,,\n,0,EUR,\x1b[31mred\x1b,\n", &next, DEC + 5000);
		assert_int_equal(of_month(f, DECEMBER, "1"), 18 * UNIT);
		assert_int_equal(of_month(f, DECEMBER, "attempt <> 0"), 2 * UNIT);
		assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM invoice_line WHERE name ="
						" '?[31mred?'"),
				 1);
		invoice_result_fini(&r);
	}
}

/* An instance that was found again under another name is two lifetimes. */
static void test_an_instance_of_two_lifetimes(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	exec(f->journal,
	     "INSERT INTO machine SELECT 'c9', 1, at_ms, pool, provider, offer, type, region, zone,"
	     " market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'; INSERT INTO life (node, gen, kind, instance, at_ms, said_ms,"
	     " rate_nano_h) VALUES ('c9', 1, 'created', 'i-c1', %lld, 0, 3600000000000),"
	     " ('c9', 1, 'ended', 'i-c1', %lld, 0, 3600000000000)",
	     (long long)(T0 + 2000) * 1000, (long long)(T0 + 2300) * 1000);
	settle_until(f, DEC + 3700);
	r = import(f, HEAD "i-c1,12,EUR,,\ni-c2,1,EUR,,\n", NULL, DEC + 4000);
	assert_int_equal(money(f, "lifetime = (SELECT id FROM lifetime WHERE node = 'c1')"),
			 9 * UNIT);
	assert_int_equal(money(f, "lifetime = (SELECT id FROM lifetime WHERE node = 'c9')"),
			 3 * UNIT);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

static char *exported(struct fixture *f, enum export_form form, int way)
{
	struct str out;

	str_init(&out, CLOSING_OUT);
	export_one(f, NOVEMBER, form, way, &out);
	return str_take(&out);
}

static void assert_has(struct fixture *f, enum export_form form, int way, const char *text,
		       bool has)
{
	char *all = exported(f, form, way);

	if ((strstr(all, text) != NULL) != has)
		fail_msg("%s%s", has ? "no " : "", text);
	free(all);
}

/* What finance takes away has the invoice in it. */
static void test_exports(void **state)
{
	const struct invoice_import in = {.number = "E-1"};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	assert_has(f, EXPORT_BILLING_PERIOD, 0,
		   "\n2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,2026-11-01T00:00:00Z,"
		   "2026-11-01T00:00:00Z,Open,AWS\n",
		   true);
	assert_has(f, EXPORT_STATEMENT, 0, "No invoice was compared", true);
	r = import(f, WHOLE, &in, DEC + 4000);
	invoice_result_fini(&r);
	assert_has(f, EXPORT_FOCUS, 0, ",AWS,invoice:E-1,", true);
	assert_has(f, EXPORT_FOCUS, 1, "E-1", false); /* inside the house nobody wrote one */
	assert_has(f, EXPORT_FOCUS, 0, ",Tax,,\"tax: VAT\",", true);
	assert_has(f, EXPORT_FOCUS, 0, ",Adjustment,,\"shared: Disks\",", true);
	assert_has(f, EXPORT_FOCUS, 0, ",Other,\"Other (Other)\",\"Shared Costs\",", true);
	assert_has(f, EXPORT_FOCUS, 0, ",\"adjustment to the invoice of job 7 on c1\",", true);
	assert_has(f, EXPORT_STATEMENT, 0,
		   "<th scope=\"row\"><bdi>aws</bdi></th><td "
		   "class=\"t\"><bdi>E-1</bdi></td><td>1800.00"
		   "</td><td>1902.50</td><td>102.50</td>",
		   true);
	assert_has(f, EXPORT_STATEMENT, 0,
		   "instances on it: 90.75; of no machine: 10.00; tax: 1.75", true);
	assert_has(f, EXPORT_STATEMENT, 0, "for 1800.00", true);
	assert_has(f, EXPORT_INVOICE_DETAIL, 0,
		   "\n1000.5,aws:aws,EUR,2026-12-01T00:00:00Z,2026-11-01T00:00:00Z,Usage,"
		   "2026-12-01T01:06:40Z,\"instance i-c1\",\"{\"\"ResourceId\"\":\"\"i-c1\"\"}\","
		   "invoice:E-1/1,2026-12-01T01:06:40Z,invoice:E-1,,Issued,AWS,EUR,,,\n",
		   true);
	assert_has(f, EXPORT_INVOICE_DETAIL, 0,
		   "\n1.75,aws:aws,EUR,2026-12-01T00:00:00Z,"
		   "2026-11-01T00:00:00Z,Tax,",
		   true);
	close_month(f, NOVEMBER, DEC + 5000);
	assert_has(f, EXPORT_BILLING_PERIOD, 0,
		   ",2026-12-01T01:23:20Z,2026-11-01T00:00:00Z,Closed,", true);
	assert_has(f, EXPORT_BILLING_PERIOD, 1, ",Closed,\"hpc1 burst\"\n", true);
}

/* One file has the numbers in all rows or in none: here of another provider there is no invoice. */
static void test_one_of_two_providers(void **state)
{
	const struct invoice_import in = {.number = "E-1"};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	exec(f->journal,
	     "INSERT INTO machine SELECT 'z1', 1, at_ms, pool, 'zeta', offer, type, region, zone,"
	     " market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'");
	life(f, "z1", "created", 100, 100);
	life(f, "z1", "ended", 300, 300);
	settle_until(f, DEC + 3700);
	r = import(f, WHOLE, &in, DEC + 4000);
	assert_true(of_month(f, NOVEMBER, "1") == r.nano + 200 * UNIT);
	assert_has(f, EXPORT_FOCUS, 0, "E-1", false);
	assert_has(f, EXPORT_INVOICE_DETAIL, 0, "E-1", true);
	invoice_result_fini(&r);
}

/* A whole invoice speaks for the instances of its currency alone. */
static void test_instances_of_another_currency(void **state)
{
	const struct invoice_import usd = {.number = "U"};
	struct fixture *f = *state;
	struct invoice_result r;
	struct err e = {0};
	struct book b;

	fill(f);
	exec(f->journal,
	     "INSERT INTO machine SELECT 'd1', 1, at_ms, pool, provider, offer, type, region, zone,"
	     " market, 'USD', quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'; INSERT INTO machine SELECT 'd2', 1, at_ms, pool, provider, offer, type,"
	     " region, zone, market, '', quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine"
	     " WHERE node = 'c1'");
	for (int i = 1; i <= 2; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "d%d", i);
		life(f, name, "created", 100, 100);
		life(f, name, "ended", 300, 300);
	}
	settle_until(f, DEC + 3700);
#define OF(node) "lifetime = (SELECT id FROM lifetime WHERE node = '" node "')"
	assert_int_equal(money(f, OF("d1")), 200 * UNIT);
	assert_int_equal(money(f, OF("d2")), 200 * UNIT);
	r = import(f, WHOLE, NULL, DEC + 4000);
	assert_true(r.missing == 200 * UNIT); /* of d2: its facts name no currency */
	assert_int_equal(money(f, OF("d1")), 200 * UNIT);
	assert_int_equal(money(f, OF("d2")), 0);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
	r = import(f, HEAD ",3,USD,Disks,\n", &usd, DEC + 4000);
	assert_true(r.missing == 200 * UNIT);
	assert_int_equal(money(f, OF("d1")), 0);
	assert_true(money(f, OF("c1")) == 1000 * UNIT + UNIT / 2);
	assert_good(f, DEC + 4000);
	b = book_at(f, DEC + 4100);
	assert_int_equal(ledger_begin(f->l, &e), 0);
	assert_int_equal(invoice_remove(&b, r.id, "bert", &e), 0);
	assert_int_equal(ledger_commit(f->l, &e), 0);
	assert_int_equal(money(f, OF("d1")), 200 * UNIT);
	assert_int_equal(money(f, OF("d2")), 0);
	assert_good(f, DEC + 4100);
	invoice_result_fini(&r);
}

/* What is on it counts at once; what comes until the month is over is not lost. */
static void test_a_month_that_is_not_over(void **state)
{
	const struct invoice_import partial = {.partial = true};
	struct fixture *f = *state;
	struct invoice_import in;
	struct invoice_result r;
	struct err e = {0};
	char path[80];

	fill(f);
	write_file(f, HEAD "i-c1,7,EUR,,\n", path);
	in = ask_for(path);
	assert_int_equal(try_import(f, &in, DEC - 1, &r, &e), -1);
	assert_string_equal(e.msg, "2026-11 is not over, so no invoice can be the whole one of it: "
				   "use --partial");
	invoice_result_fini(&r);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 1800 * UNIT);
	r = import(f, HEAD "i-c1,7,EUR,,\n", &partial, DEC - 1);
	invoice_result_fini(&r);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 907 * UNIT);
	machine(f, "c3");
	life(f, "c3", "created", 2000, 2000);
	life(f, "c3", "ended", 2100, 2100);
	settle_until(f, DEC + 3700);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 1007 * UNIT);
	assert_good(f, DEC + 3700);
	write_file(f, HEAD "i-c1,6,EUR,,\n", path);
	in.number = "rest";
	assert_int_equal(try_import(f, &in, DEC, &r, &e), 0);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 13 * UNIT);
	assert_good(f, DEC + 3700);
	invoice_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_month_is_the_invoice),
		TEST(test_news_after_the_invoice),
		TEST(test_instances_that_are_not_on_it),
		TEST(test_remove),
		cmocka_unit_test(test_shared_by_rule),
		TEST(test_an_invoice_that_is_late),
		TEST(test_an_instance_without_a_price),
		TEST(test_an_instance_of_two_lifetimes),
		TEST(test_exports),
		cmocka_unit_test(test_times_of_lines),
		TEST(test_one_of_two_providers),
		cmocka_unit_test(test_parts_of_the_difference),
		TEST(test_ties_go_by_the_number_of_the_job),
		TEST(test_an_invoice_for_what_was_given_back),
		TEST(test_another_month_by_the_providers_clock),
		TEST(test_instances_of_another_currency),
		TEST(test_a_month_that_is_not_over),
	};

	return cmocka_run_group_tests_name("ledger, invoices", tests, NULL, NULL);
}
