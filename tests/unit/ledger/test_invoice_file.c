/* test_invoice_file.c - invoices as providers write them, and as nobody should: one clear error,
 * and nothing is changed. */
#include "invoicing.h"

static const struct {
	const char *text, *why;
	struct invoice_import in;
} bad_files[] = {
	{"", ": it is empty", {.rule = 0}},
	{"instance,cost\n", ":1: no column currency, which format plain has", {.rule = 0}},
	{HEAD "i-c1,1,EUR,,\n\ni-c2,x,EUR,,\n",
	 ":4: want an amount such as -12.5, not \"x\"",
	 {.rule = 0}},
	{HEAD "i-c1,1,EUR,,\ni-c2,1,USD,,\n", ":3: in USD, and lines before in EUR", {.rule = 0}},
	{HEAD "i-c1,1,USD,,\n", ": it is in USD, and instances of aws are in EUR", {.rule = 0}},
	{HEAD "i-c1,1,,,\n", ":2: want a currency such as EUR, not \"\"", {.rule = 0}},
	{HEAD "i-c1,1,eur,,\n", ":2: want a currency such as EUR, not \"eur\"", {.rule = 0}},
	{HEAD "i-c1,1,EUR,\"a\nb,,\n", ":2: a quote that does not end", {.rule = 0}},
	{HEAD, ": no line is of an invoice", {.rule = 0}},
	{"instance,amount,currency,start\ni-c1,1,EUR,yesterday\n",
	 ":2: want a time such as 2026-11-03T04:05:06Z, not \"yesterday\"",
	 {.rule = 0}},
	{"instance,amount,currency,start,end\ni-c1,1,EUR,2026-11-03,2026-11-02\n",
	 ":2: it ends before it begins: \"2026-11-02\"",
	 {.rule = 0}},
	{"instance,amount,currency,invoice\ni-c1,1,EUR,A\ni-c2,1,EUR,B\n",
	 ":3: of invoice \"B\", and line 2 is of \"A\": choose one by --invoice",
	 {.rule = 0}},
	{"instance,amount,currency,invoice\ni-c1,1,EUR,A\n",
	 ": no line is of invoice C",
	 {.number = "C"}},
	{HEAD "i-c1,1,EUR,,\n", ": its lines come to 1.00, and --total is 2", {.total = "2"}},
	{HEAD "i-c1,-8999999999,EUR,,\n",
	 ": its lines come to -8999999999.00, and --total is 8999999999",
	 {.total = "8999999999"}},
	{HEAD "i-c1,-8999999999,EUR,,\ni-c1,-223372037.8547758074,EUR,,\n"
	      ",0.0000000009,EUR,Disks,\n",
	 NULL,
	 {.rule = 0}},
	{HEAD "i-c1,9000000000,EUR,,\n",
	 ":2: an amount of nine billion or more: \"9000000000\"",
	 {.rule = 0}},
	{"ResourceId,BilledCost,BillingCurrency,ChargeCategory,BillingPeriodStart\n"
	 "i-c1,1,EUR,Usage,2026-10-01T00:00:00Z\n",
	 ":2: it is of another month, which begins \"2026-10-01T00:00:00Z\"",
	 {.format = INVOICE_FOCUS}},
	{"instance,amount,currency,invoice\ni-c1,1,EUR,A\x1b[1m\n",
	 ":2: want a number of an invoice, not \"A?[1m\"",
	 {.rule = 0}},
	{"instance,currency,amount\ni-c1,EUR,1,234.56\n",
	 ":2: more fields than there are columns: \"234.56\"",
	 {.rule = 0}},
	{"instance,amount,currency,Amount\ni-c1,1,EUR,2\n",
	 ":1: two columns \"amount\"",
	 {.rule = 0}},
	{"\x1f\x8b\x08", ": it is compressed: gunzip it first", {.rule = 0}},
};

static void test_bad_files(void **state)
{
	struct fixture *f = *state;
	int64_t before;

	fill(f);
	before = ask(f->ledger, "SELECT COUNT(*) FROM posting");
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		struct invoice_import in;
		struct invoice_result r;
		char path[80], want[300];
		struct err e = {0};

		write_file(f, bad_files[i].text, path);
		in = bad_files[i].in;
		in.path = path;
		in.provider = "aws";
		in.month = NOVEMBER;
		in.who = "anna";
		assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
		if (bad_files[i].why != NULL)
			(void)snprintf(want, sizeof(want), "%s%s", path, bad_files[i].why);
		else
			(void)snprintf(want, sizeof(want), "the sum of all amounts is too large");
		assert_string_equal(e.msg, want);
		invoice_result_fini(&r);
	}
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM invoice"), 0);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM posting"), before);
	{
		struct invoice_import in = ask_for("/no/such");
		struct invoice_result r;
		struct err e = {0};

		assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
		assert_string_equal(e.msg, "/no/such: No such file or directory");
		in.month = JANUARY;
		assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
		assert_string_equal(e.msg, "2027-01 has not begun");
		in.month = NOVEMBER;
		in.provider = "azure";
		assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
		assert_string_equal(e.msg, "--provider: there is no \"azure\"; want one of: aws");
	}
}

static void test_twice_is_refused(void **state)
{
	const struct invoice_import first = {.number = "A"}, second = {.number = "B"};
	struct fixture *f = *state;
	struct invoice_import in;
	struct invoice_result r;
	struct err e = {0};
	char path[80];

	fill(f);
	r = import(f, WHOLE, &first, DEC + 4000);
	invoice_result_fini(&r);
	write_file(f, HEAD "i-c1,5,EUR,,\n", path);
	in = ask_for(path);
	in.number = "A";
	assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
	assert_non_null(strstr(e.msg, "invoice A of aws is there since 2026-12-01T01:06:40"));
	invoice_result_fini(&r);
	/* The same lines under another name, and with other ends of lines. */
	write_file(f,
		   "\xef\xbb\xbfinstance,amount,currency,description,kind\r\n"
		   "i-c1,1000.5,EUR,,\r\n\"i-c2\",890.25,EUR,,\r\n,10,EUR,Disks,\r\n"
		   ",1.75,EUR,VAT,Tax\r\n",
		   path);
	in = second;
	in.path = path;
	in.provider = "aws";
	in.month = NOVEMBER;
	in.who = "x";
	assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
	assert_non_null(strstr(e.msg, "its lines are there since"));
	invoice_result_fini(&r);
	assert_int_equal(ask(f->ledger, "SELECT COUNT(*) FROM invoice"), 1);
}

static void test_formats(void **state)
{
	static const char cur1[] =
		"identity/LineItemId,bill/InvoiceId,bill/BillingPeriodStartDate,lineItem/"
		"UsageStartDate,"
		"lineItem/UsageEndDate,lineItem/LineItemType,lineItem/ProductCode,lineItem/"
		"ResourceId,"
		"lineItem/UnblendedCost,lineItem/CurrencyCode,lineItem/LineItemDescription\r\n"
		"1,E-1,2026-11-01T00:00:00Z,2026-11-10T00:00:00Z,2026-11-10T01:00:00Z,Usage,"
		"AmazonEC2,i-c1,1.5E2,EUR,hour\r\n"
		"2,E-1,2026-11-01T00:00:00Z,2026-11-10T01:00:00Z,2026-11-10T02:00:00Z,Usage,"
		"AmazonEC2,i-c1,0.0000000005,EUR,\"hour, or\nso\"\r\n"
		"3,E-1,2026-11-01T00:00:00Z,,,Usage,AmazonEC2,arn:aws:ec2:eu:1:instance/"
		"i-c2,50,EUR,\r\n"
		"4,E-1,2026-11-01T00:00:00Z,,,Usage,AmazonEC2,vol-1,2,EUR,GB-month\r\n"
		"5,E-1,2026-11-01T00:00:00Z,,,Usage,AmazonEC2,vol-2,3,EUR,GB-month\r\n"
		"6,E-1,2026-11-01T00:00:00Z,,,Tax,AmazonEC2,,0.0000000005,EUR,VAT\r\n"
		"7,E-2,2026-11-01T00:00:00Z,,,Usage,AmazonEC2,i-c1,77,EUR,other\r\n";
	static const char cur2[] =
		"bill_invoice_id,line_item_usage_start_date,line_item_line_item_type,"
		"line_item_resource_id,line_item_unblended_cost,line_item_currency_code\n"
		"E-1,2026-11-10 00:00:00.000,Usage,i-c1,150.000000001,EUR\n"
		"E-1,2026-11-10 00:00:00.000,Usage,i-c2,50,EUR\n"
		"E-1,2026-11-10 00:00:00.000,Usage,,5,EUR\n";
	static const char focus[] =
		"BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,"
		"InvoiceId,ResourceId,ResourceType,ServiceName\n"
		"150.000000001,EUR,Usage,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,E-1,"
		"aws:aws/i-c1,Instance,EC2\n"
		"50.0,EUR,Usage,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,E-1,i-c2,Instance,EC2\n"
		"5.0,EUR,Usage,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,E-1,nat-1,Gateway,NAT\n";
	static const struct {
		const char *text;
		struct invoice_import in;
		int64_t rows, left_out, names;
	} rows[] = {{cur1, {.format = INVOICE_CUR, .number = "E-1"}, 6, 1, 2},
		    {cur2, {.format = INVOICE_CUR}, 3, 0, 1},
		    {focus, {.format = INVOICE_FOCUS}, 3, 0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f;
		void *own = NULL;
		struct invoice_result r;

		print_message("# format %zu\n", i);
		assert_int_equal(setup(&own), 0);
		f = own;
		fill(f);
		r = import(f, rows[i].text, &rows[i].in, DEC + 4000);
		assert_string_equal(r.number, "E-1");
		assert_int_equal(r.rows, rows[i].rows);
		assert_int_equal(r.left_out, rows[i].left_out);
		assert_int_equal(r.names, rows[i].names);
		assert_int_equal(r.instances, 2);
		assert_true(r.nano == 205 * UNIT + 1);
		assert_true(of_month(f, NOVEMBER, "1") == r.nano);
		assert_int_equal(money(f, "lifetime = (SELECT id FROM lifetime WHERE node = 'c2')"),
				 50 * UNIT);
		assert_good(f, DEC + 4000);
		invoice_result_fini(&r);
		assert_int_equal(teardown(&own), 0);
	}
}

/* Two invoices in one file, and lines that are of neither: these are in no import. */
static void test_lines_without_a_number(void **state)
{
	static const char text[] = "instance,amount,currency,description,invoice\n"
				   "i-c1,7,EUR,,A\n"
				   "i-c2,5,EUR,,B\n"
				   ",10,EUR,Disks,\n"
				   ",1,EUR,VAT, \n";
	const struct invoice_import a = {.number = "A", .partial = true};
	const struct invoice_import b = {.number = "B", .partial = true};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(f, text, &a, DEC + 4000);
	assert_true(r.nano == 7 * UNIT && r.rows == 1 && r.left_out == 3);
	invoice_result_fini(&r);
	r = import(f, text, &b, DEC + 4000);
	assert_true(r.nano == 5 * UNIT && r.rows == 1 && r.left_out == 3);
	assert_int_equal(of_month(f, NOVEMBER, "1"), 12 * UNIT);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* Of one invoice they are where all that have a number have the same, and none was asked for. */
static void test_lines_without_a_number_of_one_invoice(void **state)
{
	const struct invoice_import in = {.partial = true};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(f,
		   "instance,amount,currency,description,invoice\ni-c1,7,EUR,,A\n,10,EUR,Disks,\n",
		   &in, DEC + 4000);
	assert_string_equal(r.number, "A");
	assert_true(r.nano == 17 * UNIT && r.left_out == 0);
	invoice_result_fini(&r);
}

/* Cents on paper. */
static void test_a_total(void **state)
{
	const struct invoice_import in = {.total = "1902.51"};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(f, HEAD "i-c1,1000.501,EUR,,\ni-c2,902,EUR,,\n", &in, DEC + 4000);
	assert_true(r.rounding == 9000000);
	assert_true(of_month(f, NOVEMBER, "1") == 1902 * UNIT + 510000000);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* Two providers of burstd.conf may be one cloud's, whose file has the machines of both. */
static void test_machines_of_another_provider(void **state)
{
	static const char *const files[] = {
		"instance,amount,currency\ni-c1,900,EUR\ni-g1,400,EUR\n",
		"instance,amount,currency\ni-c1,900,EUR\narn:aws:ec2:eu::instance/i-g1,4,EUR\n"};
	struct fixture *f = *state;

	fill(f);
	exec(f->journal,
	     "INSERT INTO machine SELECT 'g1', 1, at_ms, pool, 'aws-2', offer, type, region, zone,"
	     " market, currency, quantum_ms, minimum_ms, cpus, memory_mb, gpus FROM machine WHERE"
	     " node = 'c1'");
	life(f, "g1", "created", 100, 100);
	life(f, "g1", "ended", 500, 500);
	settle_until(f, DEC + 3700);
	for (size_t i = 0; i < 2; i++) {
		struct invoice_import in;
		struct invoice_result r;
		struct err e = {0};
		char path[80];

		write_file(f, files[i], path);
		in = ask_for(path);
		assert_int_equal(try_import(f, &in, DEC + 4000, &r, &e), -1);
		assert_non_null(strstr(e.msg, "i-g1 is an instance of aws-2, not of aws"));
		invoice_result_fini(&r);
	}
	assert_int_equal(of_month(f, NOVEMBER, "1"), 2200 * UNIT);
}

/* Empty fields at the end may be there or not, and a name that is not asked for twice. */
static void test_fields_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(f,
		   "instance,amount,currency,cost,id,id,kind\ni-c1,900,EUR,,,,,,\n"
		   "i-c2,900,EUR\n,1,EUR,,,,Tax,\n",
		   NULL, DEC + 4000);
	assert_int_equal(r.instances, 2);
	assert_int_equal(r.tax, UNIT);
	assert_int_equal(r.nano, 1801 * UNIT);
	invoice_result_fini(&r);
}

#define OF(instance) "lifetime IN (SELECT id FROM lifetime WHERE instance = '" instance "')"
#define AZURE                                                                                      \
	"/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/"                      \
	"rg-high-performance-computing-of-the-faculty-of-physics-and-astronomy-production-1/"      \
	"providers/Microsoft.Compute/virtualMachines/"

/* Azure's ids are paths, longer than a name that is shown: each of them is a machine of its own. */
static void test_ids_that_begin_alike(void **state)
{
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(f,
		   "instance,amount,currency\n" AZURE "i-c1,1000,EUR\n" AZURE "i-c2,1,EUR\n" AZURE
		   "i-x1,2,EUR\n" AZURE "i-x2,3,EUR\n",
		   NULL, DEC + 4000);
	assert_int_equal(r.instances, 2);
	assert_int_equal(r.unknown, 2);
	assert_int_equal(of_month(f, NOVEMBER, OF("i-c1")), 1000 * UNIT);
	assert_int_equal(of_month(f, NOVEMBER, OF("i-c2")), UNIT);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* A machine by its id in one line, and by a path in another, is one machine. */
static void test_one_machine_of_two_spellings(void **state)
{
	const struct invoice_import in = {.partial = true};
	struct fixture *f = *state;
	struct invoice_result r;

	fill(f);
	r = import(
		f,
		"instance,amount,currency\ni-c1,1000,EUR\narn:aws:ec2:eu:1:instance/i-c1,5,EUR\n",
		&in, DEC + 4000);
	assert_int_equal(r.instances, 1);
	assert_int_equal(r.counted, 900 * UNIT);
	assert_int_equal(of_month(f, NOVEMBER, OF("i-c1")), 1005 * UNIT);
	assert_good(f, DEC + 4000);
	invoice_result_fini(&r);
}

/* The name of the file is kept and shown, and whoever sent the invoice gave it. */
static void test_the_name_of_a_file(void **state)
{
	struct fixture *f = *state;
	struct invoice_import in;
	struct invoice_result r;
	struct err e = {0};
	char path[80];

	fill(f);
	(void)snprintf(path, sizeof(path), "%s/a\x1b]0;\n\xe2\x80\xae.csv", f->dir);
	write_named(path, WHOLE);
	in = ask_for(path);
	if (try_import(f, &in, DEC + 4000, &r, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(
		ask(f->ledger, "SELECT COUNT(*) FROM invoice WHERE file = 'a?]0;????.csv'"), 1);
	invoice_result_fini(&r);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_bad_files),
		TEST(test_fields_at_the_end),
		TEST(test_ids_that_begin_alike),
		TEST(test_the_name_of_a_file),
		TEST(test_one_machine_of_two_spellings),
		TEST(test_machines_of_another_provider),
		TEST(test_twice_is_refused),
		cmocka_unit_test(test_formats),
		TEST(test_lines_without_a_number),
		TEST(test_lines_without_a_number_of_one_invoice),
		TEST(test_a_total),
	};

	return cmocka_run_group_tests_name("ledger, files of invoices", tests, NULL, NULL);
}
