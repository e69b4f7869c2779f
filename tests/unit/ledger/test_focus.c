/* test_focus.c - the FOCUS data set adds up, has null where the format wants it, and holds whatever
 * people call things. */
#include "ledger/focus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/unit/ledger/focus_file.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum { OUT_MAX = 1 << 26, COUNT = 2000 };

/* Each row: readers multiply, and compare bit by bit. */
static void check_products(const struct table *t)
{
	for (size_t i = 0; i < t->nrows; i++) {
		const char *price = table_get(t, i, "ListUnitPrice");
		const char *quantity = table_get(t, i, "PricingQuantity");
		const char *list = table_get(t, i, "ListCost");

		if (strcmp(table_get(t, i, "ChargeCategory"), "Usage") != 0) {
			assert_string_equal(price, "");
			assert_string_equal(list, table_get(t, i, "BilledCost"));
			continue;
		}
		assert_true(strtod(price, NULL) * strtod(quantity, NULL) == strtod(list, NULL));
		assert_string_equal(list, table_get(t, i, "ContractedCost"));
	}
}

/* Numbers apart, no cell of the format's own is a formula, or anything but ASCII. */
static void check_cells(const struct table *t)
{
	for (size_t i = t->ncols; i < (t->nrows + 1) * t->ncols; i++) {
		const char *p = t->cells[i];
		const size_t digits = strspn(p, "-.0123456789");

		assert_true(p[digits] == '\0' || strchr("=+-@\t\r", *p) == NULL);
		for (; *p != '\0'; p++)
			assert_true(*p >= ' ' && *p <= '~');
	}
}

static void test_any_charges_add_up(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		struct focus_options o = charges_options(i & 1 ? FOCUS_1_4 : FOCUS_1_2,
							 i & 2 ? FOCUS_INTERNAL : FOCUS_PROVIDER);
		struct charges c;
		struct table t;
		char *text;

		o.grain = (enum focus_grain)(i / 4);
		charges_make(&c, i + 1, COUNT);
		focus_sort(&o, c.all, c.n);
		text = focus_file(&o, c.all, c.n);
		table_read(&t, text);
		assert_true(t.nrows > 100);
		assert_true(table_sum(&t, "BilledCost") == charges_sum(&c));
		assert_true(table_sum(&t, "EffectiveCost") == charges_sum(&c));
		check_products(&t);
		check_cells(&t);
		table_fini(&t);
		free(text);
		charges_fini(&c);
	}
}

static void test_order_changes_no_byte(void **state)
{
	struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
	struct charges c;
	char *one, *other;

	(void)state;
	charges_make(&c, 77, COUNT);
	focus_sort(&o, c.all, c.n);
	one = focus_file(&o, c.all, c.n);
	for (size_t i = c.n - 1; i > 0; i--) {
		const size_t k = (size_t)random() % (i + 1);
		const struct charge *x = c.all[i];

		c.all[i] = c.all[k];
		c.all[k] = x;
	}
	focus_sort(&o, c.all, c.n);
	other = focus_file(&o, c.all, c.n);
	assert_string_equal(one, other);
	free(one);
	free(other);
	charges_fini(&c);
}

/* What is null, or else, where a charge is not plain usage by a job. */
static const struct {
	const char *what, *columns, *want; /* columns: comma-separated, all of them `want` */
} others[] = {
	{"credit",
	 "ListUnitPrice,PricingCategory,PricingQuantity,PricingUnit,ConsumedQuantity,"
	 "ConsumedUnit,SkuId,SkuPriceId,SkuMeter,SkuPriceDetails,x_ListCostExact,"
	 "ChargeClass",
	 ""},
	{"credit", "ListCost,ContractedCost,BilledCost,EffectiveCost", "-12.0"},
	{"credit", "ChargeCategory", "Credit"},
	{"credit", "ChargeFrequency", "One-Time"},
	{"credit", "ChargeDescription", "run (given back) of job 401 on gpu-1"},
	{"adjust", "ListUnitPrice,PricingCategory,SkuId,ConsumedQuantity,ChargeClass", ""},
	{"adjust", "ChargeCategory", "Adjustment"},
	{"edge", "ChargeClass", ""},
	{"edge", "ChargeCategory", "Adjustment"},
	{"correct", "ChargeClass", "Correction"},
	{"correct", "ChargeCategory", "Adjustment"},
	{"bare", "ResourceId,ResourceName,ResourceType,SkuId,Tags", ""},
	{"bare", "ChargeCategory", "Adjustment"},
	{"pool", "x_JobId,x_JobAttempt,x_JobName,x_UserName,x_AllocatedResourceId", ""},
	{"pool", "SubAccountId,SubAccountName", "overhead"},
	{"pool", "ChargeDescription", "idle of pool h100 on gpu-1"},
	{"unlisted", "ListUnitPrice,ListCost", "12.0"},
	{"unlisted", "x_ListCostExact", ""},
	{"cpus", "ConsumedUnit", "CPU-Hours"},
	{"cpus", "ConsumedQuantity", "96.0"},
	{"cpus", "ResourceType", "Instance"},
	{"half", "PricingQuantity", "0.5"},
	{"half", "ListCost", "15.0"},
	{"nowhere", "ServiceName", "Burst GPU Nodes"},
	{"nowhere", "ResourceId", "burst:hpc1/cloud:moon/Base%201/i-0abc"},
	{"nowhere", "RegionId,RegionName,AvailabilityZone", ""},
	{"nowhere", "SkuId", "cloud:machine"},
	{"seen", "x_Estimated", "true"},
	{"blink", "ChargePeriodEnd", "2026-11-01T00:00:01Z"},
	{"reserved", "PricingCategory", "Other"},
};

/* A charge of that kind. */
static struct charge other_charge(const char *what)
{
	struct charge c = charges_one();

#define IS(word) (strcmp(what, word) == 0)
	c.credit = IS("credit");
	c.nano = IS("credit") ? -c.nano : c.nano;
	c.adjust = IS("adjust") || IS("correct") || IS("edge");
	c.start_s = IS("edge") ? CHARGES_START : c.start_s; /* the period's first second */
	c.start_s -= IS("correct") ? 40 * 86400 : 0;
	c.instance = IS("bare") ? "" : c.instance;
	c.list_rate_nano_h = IS("unlisted") ? -1 : c.list_rate_nano_h;
	c.list_nano = IS("unlisted") ? -1 : c.list_nano;
	c.gpus = IS("cpus") ? 0 : c.gpus;
	c.share_whole = IS("half") ? 2 : 1;
	c.estimated = IS("seen");
	c.end_s = IS("blink") ? c.start_s : c.end_s;
	c.market = IS("reserved") ? PROVIDER_RESERVED : c.market;
	if (IS("nowhere")) {
		c.provider = "moon/Base 1";
		c.type = c.region = c.zone = "";
	}
	if (IS("pool")) {
		c.owner = ALLOCATE_POOL;
		c.class = ALLOCATE_IDLE;
		c.account = c.user = "";
	}
#undef IS
	return c;
}

static void test_other_charges(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(others); i++) {
		struct focus_options o = charges_options(FOCUS_1_2, FOCUS_INTERNAL);
		const struct charge c = other_charge(others[i].what);
		char columns[200], *save = NULL;
		struct table t;

		focus_file_table(&t, &o, &c);
		(void)snprintf(columns, sizeof(columns), "%s", others[i].columns);
		for (char *p = strtok_r(columns, ",", &save); p != NULL;
		     p = strtok_r(NULL, ",", &save)) {
			print_message("# %s: %s\n", others[i].what, p);
			assert_string_equal(table_get(&t, 0, p), others[i].want);
		}
		table_fini(&t);
	}
}

/* Which of two charges are one row. */
static void test_merging(void **state)
{
	static const struct {
		enum focus_grain grain;
		int64_t later_s;
		const char *user;
		size_t rows;
		bool utc;
	} cases[] = {
		{FOCUS_SLICE, 3600, "alice", 2, false}, {FOCUS_DAY, 3600, "alice", 1, false},
		{FOCUS_DAY, 3600, "bob", 2, false},     {FOCUS_DAY, 86400, "alice", 2, false},
		{FOCUS_DAY, 82800, "alice", 1, false}, /* 23:00 in Berlin */
		{FOCUS_DAY, 3600, "alice", 2, true},   /* midnight in UTC */
		{FOCUS_MONTH, 86400, "alice", 1, true},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
		struct charge a = charges_one(), b = a;
		const struct charge *v[] = {&b, &a};
		struct table t;
		char *text;

		o.grain = cases[i].grain;
		o.zone = cases[i].utc ? NULL : o.zone;
		a.start_s = b.start_s = CHARGES_START;
		a.end_s = CHARGES_START + 60;
		b.start_s += cases[i].later_s;
		b.end_s = b.start_s + 60;
		b.user = cases[i].user;
		b.nano = 1;
		a.estimated = true;
		a.list_nano = i % 2 == 0 ? -1 : a.list_nano;
		b.list_nano = i % 2 == 0 ? b.list_nano : -1;
		focus_sort(&o, v, 2);
		text = focus_file(&o, v, 2);
		table_read(&t, text);
		assert_int_equal(t.nrows, cases[i].rows);
		if (t.nrows == 1) {
			assert_string_equal(table_get(&t, 0, "BilledCost"), "12.000000001");
			assert_string_equal(table_get(&t, 0, "PricingQuantity"), "2.0");
			assert_string_equal(table_get(&t, 0, "x_GpuSeconds"), "57600");
			assert_string_equal(table_get(&t, 0, "x_Estimated"), "true");
			assert_string_equal(table_get(&t, 0, "x_ListCostExact"), "");
			assert_string_equal(table_get(&t, 0, "ChargePeriodStart"),
					    "2026-10-31T23:00:00Z");
		}
		table_fini(&t);
		free(text);
	}
}

/* The parts of an instance's day: each its ratio, all of them 1; credits and adjustments have none.
 */
static void test_ratios(void **state)
{
	struct focus_options o = charges_options(FOCUS_1_4, FOCUS_PROVIDER);
	struct charge c[6];
	const struct charge *v[6];
	struct table t;
	double sum[2] = {0};
	char *text;
	size_t none = 0;

	(void)state;
	for (int i = 0; i < 6; i++) {
		c[i] = charges_one();
		c[i].job = (uint64_t)i;
		c[i].share_part = i + 1;
		c[i].share_whole = 15;
		c[i].credit = i == 3;
		c[i].instance = i == 5 ? "i-2" : c[i].instance;
		c[i].gpus = i == 5 ? 0 : 8;
		v[i] = &c[i];
	}
	focus_sort(&o, v, 6);
	text = focus_file(&o, v, 6);
	table_read(&t, text);
	assert_int_equal(t.nrows, 6);
	for (size_t i = 0; i < t.nrows; i++) {
		json_t *j = json_loads(table_get(&t, i, "AllocatedMethodDetails"), 0, NULL);
		const bool second = strstr(table_get(&t, i, "ResourceId"), "i-2") != NULL;
		double ratio = 0;

		none += j == NULL;
		if (j != NULL)
			assert_int_equal(
				json_unpack(j, "{s:[{s:f}]}", "Elements", "AllocatedRatio", &ratio),
				0);
		sum[second] += ratio;
		assert_true(!second || strstr(table_get(&t, i, "AllocatedMethodDetails"),
					      "\"CPU-Seconds\",\"UsageQuantity\":345600") != NULL);
		json_decref(j);
	}
	assert_int_equal(none, 1);
	assert_true(sum[0] > 0.999999999999 && sum[0] < 1.000000000001);
	assert_true(sum[1] == 1);
	table_fini(&t);
	free(text);
}

/* Another life of the node, and another day, are wholes of their own. */
static void test_ratios_of_other_wholes(void **state)
{
	struct focus_options o = charges_options(FOCUS_1_4, FOCUS_PROVIDER);
	struct charge a = charges_one(), b = a, c = a;
	const struct charge *v[] = {&a, &b, &c};
	struct table t;
	char *text;

	(void)state;
	a.start_s += 86400;
	a.end_s += 86400;
	b = a;
	b.gen = 2;
	focus_sort(&o, v, 3);
	text = focus_file(&o, v, 3);
	table_read(&t, text);
	assert_int_equal(t.nrows, 3);
	for (size_t i = 0; i < t.nrows; i++)
		assert_non_null(strstr(table_get(&t, i, "AllocatedMethodDetails"),
				       "\"AllocatedRatio\":1.0,"));
	table_fini(&t);
	free(text);
}

/* What differs in nothing but its end, or its amount, has an order, too. */
static void test_twins_have_an_order(void **state)
{
	struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);

	(void)state;
	o.grain = FOCUS_SLICE;
	for (int i = 0; i < 2; i++) {
		struct charge a = charges_one(), b = a;
		const struct charge *v[] = {&a, &b}, *w[] = {&b, &a};
		char *one, *other;

		b.nano -= i == 0;
		b.end_s -= i == 1;
		focus_sort(&o, v, 2);
		focus_sort(&o, w, 2);
		one = focus_file(&o, v, 2);
		other = focus_file(&o, w, 2);
		assert_string_equal(one, other);
		free(one);
		free(other);
	}
}

/* Texts that grow from row to row are kept whole: sanitizers would see where they are not. */
static void test_texts_grow(void **state)
{
	enum { N = 40 };

	struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
	struct charge c[N];
	const struct charge *v[N];
	static char names[N][8 * N];
	struct table t;
	char *text;

	(void)state;
	for (int i = 0; i < N; i++) {
		memset(names[i], 'x', (size_t)(1 + 7 * i));
		c[i] = charges_one();
		c[i].job_name = names[i];
		v[i] = &c[i];
	}
	text = focus_file(&o, v, N);
	table_read(&t, text);
	assert_int_equal(t.nrows, N);
	for (size_t i = 0; i < N; i++)
		assert_string_equal(table_get(&t, i, "x_JobName"), names[i]);
	table_fini(&t);
	free(text);
}

/* The cloud's own names of an account and an instance, as far as they are known. */
static void test_accounts_and_resources(void **state)
{
	static const struct {
		const char *provider, *region, *account, *resource;
	} rows[] = {
		{"aws-eu", "us-gov-west-1", "aws:123456789012",
		 "arn:aws-us-gov:ec2:us-gov-west-1:123456789012:instance/i-0abc"},
		{"aws-eu", "cn-north-1", "aws:123456789012",
		 "arn:aws-cn:ec2:cn-north-1:123456789012:instance/i-0abc"},
		{"aws-eu", "", "aws:123456789012", "aws:aws-eu/i-0abc"},
		{"lambda", "us-west-1", "lambda:lambda", "lambda:lambda/i-0abc"},
		{"own", "", "static:own", "static:own/i-0abc"},
		{"nowhere", "", "cloud:nowhere", "cloud:nowhere/i-0abc"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
		struct charge c = charges_one();
		struct table t;

		c.provider = rows[i].provider;
		c.region = rows[i].region;
		focus_file_table(&t, &o, &c);
		assert_string_equal(table_get(&t, 0, "BillingAccountId"), rows[i].account);
		assert_string_equal(table_get(&t, 0, "ResourceId"), rows[i].resource);
		table_fini(&t);
	}
}

/* Another attempt, class, price, market, correction: other rows. */
static void test_what_is_kept_apart(void **state)
{
	(void)state;
	for (int i = 0; i < 14; i++) {
		struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
		struct charge a = charges_one(), b = a;
		const struct charge *v[] = {&a, &b};
		struct table t;
		char *text;

		b.attempt += i == 0;
		b.class = i == 1 ? ALLOCATE_LOST : b.class;
		b.list_rate_nano_h += i == 2;
		b.market = i == 3 ? PROVIDER_ON_DEMAND : b.market;
		b.credit = i == 4;
		b.instance = i == 5 ? "i-2" : b.instance;
		b.gen += i == 6;
		b.job += i == 7;
		b.account = i == 8 ? "chem" : b.account;
		b.partition = i == 9 ? "cpu" : b.partition;
		b.qos = i == 10 ? "high" : b.qos;
		b.wckey = i == 11 ? "w" : b.wckey;
		b.provider = i == 12 ? "own" : b.provider;
		text = focus_file(&o, v, 2);
		table_read(&t, text);
		assert_int_equal(t.nrows, i < 13 ? 2 : 1);
		table_fini(&t);
		free(text);
	}
}

static void test_zero_rows_are_no_charges(void **state)
{
	struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
	struct charge c = charges_one();
	struct table t;

	(void)state;
	c.end_s = c.start_s;
	c.nano = 0;
	focus_file_table(&t, &o, &c);
	assert_int_equal(t.nrows, 0);
	table_fini(&t);
	c.end_s++; /* free, and yet it was used */
	focus_file_table(&t, &o, &c);
	assert_int_equal(t.nrows, 1);
	table_fini(&t);
}

static void test_refusals(void **state)
{
	(void)state;
	for (int i = 0; i < 9; i++) {
		struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
		struct charge a = charges_one(), b = a;
		const struct charge *v[] = {&a, &b};
		struct focus_sum sum;
		struct err e = {0};
		struct str s;

		str_init(&s, i == 8 ? 100 : OUT_MAX);
		b.currency = i == 0 ? "USD" : b.currency;
		b.start_s = i == 1 ? o.start_s - 1 : b.start_s;
		b.end_s = i == 2 ? o.end_s + 1 : b.end_s;
		b.share_whole = i == 3 ? 0 : b.share_whole;
		b.share_part = i == 4 ? -1 : b.share_part;
		b.billed_s = i == 5 ? -1 : b.billed_s;
		b.nano = i == 6 || i == 7 ? INT64_MAX : b.nano;
		b.user = i == 7 ? "bob" : b.user; /* in rows of their own */
		assert_int_equal(focus_file_write(&s, &o, v, 2, &sum, &e), -1);
		assert_int_not_equal(e.msg[0], '\0');
		str_fini(&s);
	}
}

static void test_pseudonyms(void **state)
{
	struct secret *keys[] = {secret_new("a key", 5), secret_new("another", 7)};
	char user[3][64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct focus_options o = charges_options(FOCUS_1_4, FOCUS_PROVIDER);
		const struct charge c = charges_one(), *p = &c;
		struct table t;
		char *text;

		o.site_key = keys[i / 2];
		text = focus_file(&o, &p, 1);
		assert_null(strstr(text, "alice"));
		assert_null(strstr(text, "train"));
		assert_non_null(strstr(text, "physics"));
		table_read(&t, text);
		(void)snprintf(user[i], sizeof(user[i]), "%s", table_get(&t, 0, "x_UserName"));
		assert_int_equal(strlen(user[i]), 18);
		assert_non_null(strstr(table_get(&t, 0, "AllocatedTags"), user[i]));
		table_fini(&t);
		free(text);
	}
	assert_string_equal(user[0], user[1]);
	assert_string_not_equal(user[1], user[2]);
	/* printf alice | openssl dgst -sha256 -hmac 'a key' */
	assert_string_equal(user[0], "u-d8423a72610ac53b");
	secret_free(keys[0]);
	secret_free(keys[1]);
}

/* A site that numbers everything has texts all the same, and no two things become one. */
static void test_numbers_as_names(void **state)
{
	static const struct focus_provider cloud = {"7", "azure", "42", "1e5", ""};
	static const char *const columns[] = {
		"SubAccountId", "SubAccountName",     "RegionId", "RegionName", "AvailabilityZone",
		"ResourceName", "BillingAccountName", "SkuId",    "InvoiceId",  "ResourceId"};

	(void)state;
	for (int view = 0; view < 2; view++) {
		struct focus_options o = charges_options(FOCUS_1_2, (enum focus_view)view);
		struct charge c = charges_one();
		struct table t;

		c.provider = "7";
		c.account = "4711";
		c.region = "NULL";
		c.zone = "1";
		c.node = "2026-11-01";
		c.type = c.instance = "12";
		o.cluster = "true";
		o.invoice = "2026001";
		o.providers = &cloud;
		o.nproviders = 1;
		focus_file_table(&t, &o, &c);
		for (size_t i = 0; i < LENGTH(columns); i++) {
			const char *cell = table_get(&t, 0, columns[i]);

			assert_true(cell[strspn(cell, "-.e0123456789")] != '\0');
			assert_string_not_equal(cell, "true");
			assert_string_not_equal(cell, "NULL");
		}
		assert_string_equal(table_get(&t, 0, "AvailabilityZone"), "zone 1");
		assert_string_equal(table_get(&t, 0, "InvoiceId"), "invoice:2026001");
		table_fini(&t);
	}
}

/* Which ids two accounts get that differ in one letter beyond ASCII. */
static void test_ids_stay_different(void **state)
{
	struct focus_options o = charges_options(FOCUS_1_2, FOCUS_INTERNAL);
	struct charge c = charges_one();
	struct table a, b;

	(void)state;
	c.account = "M\xc3\xbc";
	focus_file_table(&a, &o, &c);
	c.account = "M\xc3\xb6";
	focus_file_table(&b, &o, &c);
	assert_string_equal(table_get(&a, 0, "SubAccountId"), "account:M%C3%BC");
	assert_string_equal(table_get(&b, 0, "SubAccountId"), "account:M%C3%B6");
	assert_string_equal(table_get(&a, 0, "SubAccountName"), "M?");
	assert_string_equal(table_get(&a, 0, "x_SlurmAccount"), "M\\u00fc");
	table_fini(&a);
	table_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_charges_add_up),
		cmocka_unit_test(test_order_changes_no_byte),
		cmocka_unit_test(test_other_charges),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_ratios_of_other_wholes),
		cmocka_unit_test(test_twins_have_an_order),
		cmocka_unit_test(test_texts_grow),
		cmocka_unit_test(test_accounts_and_resources),
		cmocka_unit_test(test_what_is_kept_apart),
		cmocka_unit_test(test_zero_rows_are_no_charges),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_pseudonyms),
		cmocka_unit_test(test_numbers_as_names),
		cmocka_unit_test(test_ids_stay_different),
	};

	return cmocka_run_group_tests_name("ledger, FOCUS", tests, NULL, NULL);
}
