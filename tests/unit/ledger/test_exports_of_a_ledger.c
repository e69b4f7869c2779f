/* test_exports_of_a_ledger.c - what finance takes away has the ledger's money in it, in each form.
 */
#include "ledger/export.h"

#include <jansson.h>

#include <sys/stat.h>

#include "base/date.h"
#include "core/conf.h"
#include "io/conf_file.h"
#include "ledger/pseudonym.h"
#include "ledger/settings.h"
#include "providers/options.h"
#include "tests/unit/ledger/exported.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

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
	struct err e = {0};
	size_t left_out;
	struct str out;
	const struct sink to = sink_str(&out);
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
	/* A month that has not begun has no days, which is what is wrong with it. */
	x.from_day = date_day(2026, 12, 1);
	x.to_day = date_day(2027, 1, 1);
	assert_int_equal(export_write(&x, f->l, &to, &left_out, &e), -1);
	assert_string_equal(e.msg, "the period has not begun: no machine was up in it");
	str_fini(&out);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

/* One that has ended, one that runs, and one of the month before. */
static void test_events(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_XDMOD_EVENTS);
	struct str out;
	json_t *j;

	str_init(&out, OUT);
	fill(f);
	machine(f, "c1");
	life(f, "c1", "wanted", 50, 0);
	life(f, "c1", "created", 3500, 0);
	life(f, "c2", "created", -20 * 86400, 0); /* nothing is known of it */
	life(f, "c2", "ended", -20 * 86400 + 60, 0);
	life(f, "c3", "ended", 500, 0); /* it never was */
	pass(f, 5400);                  /* c1 runs on after the last pass */
	x.now_s = T0 + 7200;
	write_it(f, &x, &out);
	j = json_loads(out.p, JSON_DISABLE_EOF_CHECK, NULL);
	assert_string_equal(json_string_value(json_object_get(j, "instance_id")), "i-c0");
	assert_string_equal(json_string_value(json_object_get(j, "event_type")), "START");
	assert_string_equal(json_string_value(json_object_get(j, "event_time")),
			    "2026-11-10T00:01:40Z");
	assert_string_equal(json_string_value(json_object_get(j, "account")), "h100");
	json_decref(j);
	assert_non_null(strstr(out.p, "\"name\":\"p5\",\"cpu\":96,\"memory\":960000,"));
	assert_int_equal(count(out.p, "\n"), 5);
	assert_int_equal(count(out.p, "\"START\""), 2);
	assert_int_equal(count(out.p, "\"TERMINATE\""), 1);
	assert_int_equal(count(out.p, "\"STATE_REPORT\""), 2); /* at 1:00 and 2:00, which is now */
	assert_null(strstr(out.p, "i-c2"));
	x.from_day = date_day(2026, 10, 1);
	x.to_day = date_day(2026, 11, 1);
	write_it(f, &x, &out);
	assert_int_equal(count(out.p, "\n"), 2);
	assert_non_null(strstr(out.p, "\"account\":\"unknown\""));
	str_fini(&out);
}

static void test_pseudonyms(void **state)
{
	static const enum export_form forms[] = {EXPORT_FOCUS, EXPORT_STATEMENT, EXPORT_WALDUR};
	struct fixture *f = *state;
	struct secret *key = secret_new("0123456789abcdef", 16);
	char user[PSEUDONYM_SIZE];
	struct str out;

	str_init(&out, OUT);
	fill(f);
	/* printf anna | openssl dgst -sha256 -hmac 0123456789abcdef */
	assert_string_equal(pseudonym_of(user, key, "anna"), "u-b7a04172e11eaea2");
	for (size_t i = 0; i < COUNT(forms); i++) {
		struct export x = ask_for(f, forms[i]);

		write_it(f, &x, &out);
		assert_non_null(strstr(out.p, "anna"));
		x.site_key = key;
		write_it(f, &x, &out);
		assert_null(strstr(out.p, "anna"));
		assert_non_null(strstr(out.p, user));
		assert_non_null(strstr(out.p, "physics"));
	}
	assert_string_equal(pseudonym_of(user, key, ""), "");
	secret_free(key);
	str_fini(&out);
}

/* A job's name may be its user's. */
static void test_names_of_jobs(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_STATEMENT);
	struct secret *key = secret_new("0123456789abcdef", 16);
	struct str out;

	str_init(&out, OUT);
	fill(f);
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, ">name<"));
	x.site_key = key;
	write_it(f, &x, &out);
	assert_null(strstr(out.p, ">name<"));
	secret_free(key);
	str_fini(&out);
}

static void test_keys(void **state)
{
	struct fixture *f = *state;
	char path[80];
	struct secret *key;
	struct err e = {0};
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s/key", f->dir);
	assert_int_equal(pseudonym_load(&key, path, &e), -1);
	assert_null(key);
	for (int n = 15; n <= 16; n++) {
		out = fopen(path, "we");
		assert_non_null(out);
		(void)fprintf(out, "%.*s\n", n, "0123456789abcdef");
		assert_int_equal(fclose(out), 0);
		assert_int_equal(chmod(path, 0600), 0);
		if (pseudonym_load(&key, path, &e) == 0)
			assert_int_equal(n, 16);
		else
			assert_int_equal(n, 15);
		assert_int_equal(key == NULL, n == 15);
		secret_free(key);
	}
	assert_non_null(strstr(e.msg, "/key: a key has 16 bytes or more"));
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(pseudonym_load(&key, path, &e), -1);
}

/* The account at the cloud, where the configuration has one. */
static void test_accounts(void **state)
{
	struct fixture *f = *state;
	struct export x = ask_for(f, EXPORT_FOCUS);
	struct err e = {0};
	struct str out;

	str_init(&out, OUT);
	fill(f);
	write_it(f, &x, &out);
	assert_non_null(strstr(out.p, ",aws:aws,"));
	assert_int_equal(ledger_put_note(f->l, LEDGER_ACCOUNT "aws", "123456789012", &e), 0);
	write_it(f, &x, &out);
	assert_null(strstr(out.p, ",aws:aws,"));
	assert_non_null(strstr(out.p, ",aws:123456789012,"));
	assert_non_null(strstr(out.p, ",arn:aws:ec2:eu:123456789012:instance/i-c0,"));
	str_fini(&out);
}

/* What burstd.conf says of it. */
static void test_account_of_a_section(void **state)
{
	static const struct {
		const char *options, *account;
	} rows[] = {
		{"driver = \"sim\" url = \"http://127.0.0.1:1\"", ""},
		{"driver = \"openstack\" url = \"https://k/v3\" credential_file = \"/x\" user ="
		 " \"u\" project = \"our project\" image = \"5f1c\"",
		 "our project"},
	};
	struct fixture *f = *state;
	char path[80];

	(void)snprintf(path, sizeof(path), "%s/burstd.conf", f->dir);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *c;
		struct err e = {0};
		char *account;
		FILE *out = fopen(path, "we");

		assert_non_null(out);
		(void)fprintf(out,
			      "cluster = \"c\"\ncurrency = \"EUR\"\nprovider \"p\" {\n%s\n}\n"
			      "pool \"q\" {\nnodes = \"c1\"\nprovider = \"p\"\ntype = "
			      "\"t\"\nregion = \"r\"\n"
			      "max_nodes = 1\nmax_rate = \"1\"\nprice = \"1\"\n}\n",
			      rows[i].options);
		assert_int_equal(fclose(out), 0);
		if (conf_file_load(&c, path, provider_options, &e) < 0)
			fail_msg("%s", e.msg);
		account = site_account(&c->providers[0]);
		assert_string_equal(account, rows[i].account);
		free(account);
		conf_free(c);
	}
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
				   "statement, xlsx, waldur, coldfront, xdmod, xdmod-events");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_focus_has_all_of_it),

		TEST(test_pages),
		TEST(test_portals),
		TEST(test_events),
		TEST(test_pseudonyms),
		TEST(test_names_of_jobs),
		TEST(test_keys),
		TEST(test_accounts),
		TEST(test_account_of_a_section),
		TEST(test_one_currency),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests_name("ledger, exports", tests, NULL, NULL);
}
