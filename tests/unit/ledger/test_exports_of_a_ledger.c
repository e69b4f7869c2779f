/* test_exports_of_a_ledger.c - what finance takes away has the ledger's money in it, in each form.
 */
#include "ledger/export.h"

#include <jansson.h>

#include "base/date.h"
#include "tests/unit/ledger/fixture.h"

enum { OUT = 1 << 22 };

static struct export ask_for(const struct fixture *f, enum export_form form)
{
	return (struct export){.form = form,
			       .zone = f->calendar.zone,
			       .from_day = date_day(2026, 11, 1),
			       .to_day = date_day(2026, 12, 1),
			       .period = "2026-11",
			       .currency = "EUR",
			       .now_s = T0,
			       .cost_component = "cost",
			       .gpu_component = "gpu_hours"};
}

/* A job of 100 s that was lost, one of 200 s, and 600 s of nobody; 1 EUR a second. */
static void fill(const struct fixture *f)
{
	struct err e = {0};

	machine(f, "c0");
	buyer(f, "c0", 1);
	life(f, "c0", "wanted", 0, 0);
	life(f, "c0", "created", 100, 0);
	life(f, "c0", "ready", 200, 0);
	life(f, "c0", "ended", 1000, 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_DRIVER "aws", "aws", &e), 0);
	assert_int_equal(ledger_put_note(f->l, LEDGER_CLUSTER, "hpc1", &e), 0);
	pass(f, 1);
	job(f, &(struct job){1, 8, 300, 400, "NODE_FAIL", "c0"});
	job(f, &(struct job){2, 8, 500, 700, "COMPLETED", "c0"});
	job(f, &(struct job){3, 8, 800, 800, "FAILED", "c0"}); /* it has no time at all */
	pass(f, 100000);
}

static void write_it(const struct fixture *f, const struct export *x, struct str *out)
{
	const struct sink to = sink_str(out);
	struct err e = {0};
	size_t left_out = 99;

	str_clear(out);
	if (export_write(x, f->l, &to, &left_out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(left_out, 0);
}

/* The sum of a column of CSV in which no field has a comma. */
static int64_t column(const char *text, const char *name)
{
	int64_t sum = 0;
	int at = -1;

	for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
		const char *field = line;
		int n = 0;

		for (; at < 0 && strncmp(field, name, strlen(name)) != 0; n++)
			field = strchr(field, ',') + 1;
		if (at < 0) {
			at = n;
			continue;
		}
		for (n = 0; n < at; n++)
			field = strchr(field, ',') + 1;
		sum += strtoll(field, NULL, 10);
	}
	return sum;
}

static void test_focus_has_all_of_it(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_FOCUS);
	struct str out;
	json_t *meta;

	str_init(&out, OUT);
	fill(f);
	for (int view = 0; view < 2; view++) {
		x.view = (enum focus_view)view;
		write_it(f, &x, &out);
		assert_int_equal(column(out.p, "BilledCost,"), 900);
		assert_true(view != FOCUS_PROVIDER ||
			    strstr(out.p, ",AWS,") != NULL); /* by the driver */
	}
	assert_non_null(strstr(out.p, "\nburst:hpc1,"));
	assert_memory_not_equal(out.p, "\xEF\xBB\xBF", 3);
	x.spreadsheet = true;
	write_it(f, &x, &out);
	assert_memory_equal(out.p, "\xEF\xBB\xBF", 3);
	x.spreadsheet = false;
	x.version = FOCUS_1_4;
	write_it(f, &x, &out);
	assert_int_equal(column(out.p, "BilledCost,"), 900);
	x.form = EXPORT_FOCUS_METADATA;
	write_it(f, &x, &out);
	meta = json_loads(out.p, 0, NULL);
	assert_non_null(meta);
	json_decref(meta);
	assert_non_null(strstr(out.p, "1.4"));
	str_fini(&out);
}

static void test_pages(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_STATEMENT);
	char path[128];
	struct str out;
	FILE *in;

	str_init(&out, OUT);
	fill(f);
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, "900.00"));
	assert_non_null(strstr(out.p, "2026-11-01 to 2026-11-30, both included"));
	assert_non_null(strstr(out.p, "hpc1"));
	assert_non_null(strstr(out.p, "physics"));
	assert_null(strstr(out.p, "Period before"));
	x.from_day = date_day(2026, 12, 1);
	x.to_day = date_day(2027, 1, 1);
	x.period = "2026-12";
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, "900.00")); /* of the month before */
	x.currency = "USD";
	write_it(f, &x, &out);
	assert_null(strstr(out.p, "900.00"));
	x.currency = "EUR";
	x.from_day++; /* no month */
	write_it(f, &x, &out);
	assert_null(strstr(out.p, "900.00"));
	x = ask_for(f, EXPORT_XLSX);
	(void)snprintf(path, sizeof(path), "%s/book.xlsx", f->dir);
	x.path = path;
	x.tmp_dir = f->dir;
	write_it(f, &x, &out);
	in = fopen(path, "re");
	assert_non_null(in);
	assert_int_equal(fgetc(in), 'P');
	assert_int_equal(fgetc(in), 'K');
	assert_int_equal(fclose(in), 0);
	str_fini(&out);
}

static void test_portals(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_WALDUR);
	const char *account, *text;
	struct str out;
	json_t *j;

	str_init(&out, OUT);
	fill(f);
	write_it(f, &x, &out);
	j = json_loads(out.p, 0, NULL);
	assert_int_equal(json_unpack(j, "{s:[{s:s,s:[{s:s}]}]}", "resources", "account", &account,
				     "usages", "amount", &text),
			 0);
	assert_string_equal(account, "physics");
	assert_string_equal(text, "400.00"); /* its boot, what was lost, what it had */
	json_decref(j);
	x.form = EXPORT_COLDFRONT;
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, "\"Cloud Budget (EUR)\""));
	assert_non_null(strstr(out.p, "400.00"));
	x.distribute = true;
	x.attribute = "Money";
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, "\"Money\""));
	assert_non_null(strstr(out.p, "900.00"));
	x.form = EXPORT_XDMOD;
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, "\"resource\""));
	assert_non_null(strstr(out.p, "hpc1"));
	assert_non_null(strstr(out.p, "\"end_date\":\"2026-11-10\"")); /* now_s */
	assert_null(strstr(out.p, "\"2026-11-11\""));
	str_fini(&out);
}

static void test_one_currency(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_FOCUS);
	struct str out;
	const struct sink to = sink_str(&out);
	struct err e = {0};
	size_t left_out;

	str_init(&out, OUT);
	fill(f);
	x.currency = "USD";
	assert_int_equal(export_write(&x, f->l, &to, &left_out, &e), 0);
	assert_int_equal(column(out.p, "BilledCost,"), 0);
	assert_true(left_out > 0);
	str_fini(&out);
}

static void test_forms(void **state)
{
	enum export_form form;
	struct err e = {0};

	(void)state;
	assert_int_equal(export_parse_form(&form, "xlsx", &e), 0);
	assert_int_equal(form, EXPORT_XLSX);
	assert_int_equal(export_parse_form(&form, "pdf", &e), -1);
	assert_string_equal(e.msg, "no such form: \"pdf\"; want one of focus, focus-metadata, "
				   "focus-billing-period, focus-invoice-detail, "
				   "statement, xlsx, waldur, coldfront, xdmod");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_focus_has_all_of_it),

		TEST(test_pages),
		TEST(test_portals),
		TEST(test_one_currency),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests_name("ledger, exports", tests, NULL, NULL);
}
