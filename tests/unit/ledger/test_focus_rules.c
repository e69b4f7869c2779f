/* test_focus_rules.c - each column of a FOCUS data set, its metadata, and all of it by the rules of
 * the format, where there is the project's checker of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/unit/ledger/focus_file.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define CHECKER   "../shared/finops/focus/focus_check.py"
/* What our providers can do, in the words of the rules. */
#define CRITERIA                                                                                   \
	"ACCOUNT_NAMING_SUPPORTED,AVAILABILITY_ZONE_SUPPORTED,"                                    \
	"MULTIPLE_PRICING_CATEGORIES_SUPPORTED,PUBLIC_PRICE_LIST_SUPPORTED,"                       \
	"USAGE_MEASUREMENT_SUPPORTED,UNIT_PRICING_SUPPORTED,SUB_ACCOUNT_SUPPORTED,"                \
	"BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED,RESOURCE_TYPE_ASSIGNMENT_SUPPORTED,"     \
	"REGION_SUPPORTED,TAGGING_SUPPORTED"

enum { OUT_MAX = 1 << 26, COUNT = 2000 };

struct said {
	const char *column, *provider, *internal;
};

static const struct said by_hand[] = {
	{"BillingAccountId", "aws:123456789012", "burst:hpc1"},
	{"BillingAccountName", "Research AWS", "hpc1"},
	{"BillingCurrency", "EUR", "EUR"},
	{"BillingPeriodStart", "2026-10-31T23:00:00Z", "2026-10-31T23:00:00Z"},
	{"BillingPeriodEnd", "2026-11-30T23:00:00Z", "2026-11-30T23:00:00Z"},
	{"ChargePeriodStart", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"},
	{"ChargePeriodEnd", "2026-11-01T01:00:00Z", "2026-11-01T01:00:00Z"},
	{"ChargeCategory", "Usage", "Usage"},
	{"ChargeClass", "", ""},
	{"ChargeDescription", "run of job 401 on gpu-1", "run of job 401 on gpu-1"},
	{"ChargeFrequency", "Usage-Based", "Usage-Based"},
	{"BilledCost", "12.0", "12.0"},
	{"EffectiveCost", "12.0", "12.0"},
	{"ListCost", "30.0", "30.0"},
	{"ContractedCost", "30.0", "30.0"},
	{"ListUnitPrice", "30.0", "30.0"},
	{"PricingCategory", "Dynamic", "Dynamic"},
	{"PricingQuantity", "1.0", "1.0"},
	{"PricingUnit", "Hours", "Hours"},
	{"ConsumedQuantity", "8.0", "8.0"},
	{"ConsumedUnit", "GPU-Hours", "GPU-Hours"},
	{"InvoiceIssuerName", "AWS", "hpc1 burst"},
	{"InvoiceId", "", ""},
	{"RegionId", "eu-central-1", "eu-central-1"},
	{"RegionName", "eu-central-1", "eu-central-1"},
	{"AvailabilityZone", "eu-central-1a", "eu-central-1a"},
	{"ResourceId", "arn:aws:ec2:eu-central-1:123456789012:instance/i-0abc",
	 "burst:hpc1/arn:aws:ec2:eu-central-1:123456789012:instance/i-0abc"},
	{"ResourceName", "gpu-1", "gpu-1"},
	{"ResourceType", "GPU Instance", "GPU Instance"},
	{"ServiceCategory", "Compute", "Compute"},
	{"ServiceSubcategory", "Virtual Machines", "Virtual Machines"},
	{"ServiceName", "Amazon Elastic Compute Cloud", "Burst GPU Nodes"},
	{"SkuId", "aws:p5.48xlarge", "aws:p5.48xlarge"},
	{"SkuPriceId", "aws:p5.48xlarge/eu-central-1/spot", "aws:p5.48xlarge/eu-central-1/spot"},
	{"SkuMeter", "Instance Hours", "Instance Hours"},
	{"SkuPriceDetails",
	 "{\"CoreCount\":96,\"GpuCount\":8,\"InstanceType\":\"p5.48xlarge\",\"MemorySize\":2048.0,"
	 "\"OperatingSystem\":\"Linux\"}",
	 "{\"CoreCount\":96,\"GpuCount\":8,\"InstanceType\":\"p5.48xlarge\",\"MemorySize\":2048.0,"
	 "\"OperatingSystem\":\"Linux\"}"},
	{"SubAccountId", "aws:123456789012", "account:physics"},
	{"SubAccountName", "Research AWS", "physics"},
	{"Tags", "{\"burst/cluster\":\"hpc1\",\"burst/node\":\"gpu-1\",\"burst/pool\":\"h100\"}",
	 "{\"burst/cluster\":\"hpc1\",\"burst/node\":\"gpu-1\",\"burst/pool\":\"h100\"}"},
	{"x_CostClass", "run", "run"},
	{"x_OwnerType", "job", "job"},
	{"x_JobId", "401", "401"},
	{"x_JobAttempt", "1", "1"},
	{"x_JobName", "train", "train"},
	{"x_UserName", "alice", "alice"},
	{"x_SlurmAccount", "physics", "physics"},
	{"x_Partition", "gpu", "gpu"},
	{"x_QosName", "normal", "normal"},
	{"x_WckeyName", "", ""},
	{"x_ClusterName", "hpc1", "hpc1"},
	{"x_Market", "spot", "spot"},
	{"x_ListCostExact", "30.0", "30.0"},
	{"x_GpuSeconds", "28800", "28800"},
	{"x_Estimated", "false", "false"},
};

#define ALLOCATED                                                                                  \
	"{\"burst/class\":\"run\",\"burst/account\":\"physics\",\"burst/user\":\"alice\","         \
	"\"burst/partition\":\"gpu\",\"burst/qos\":\"normal\",\"burst/job\":\"401\"}"

#define DETAILS                                                                                    \
	"{\"Elements\":[{\"AllocatedRatio\":1.0,\"UsageUnit\":\"GPU-Seconds\",\"UsageQuantity\":"  \
	"28800}]}"

static const struct said old_only[] = {
	{"ProviderName", "AWS", "hpc1 burst"},
	{"PublisherName", "AWS", "hpc1 burst"},
	{"x_AllocatedMethodId", "burst/dominant-share/1", "burst/dominant-share/1"},
	{"x_AllocatedMethodDetails", DETAILS, DETAILS},
	{"x_AllocatedResourceId", "hpc1/401.1", "hpc1/401.1"},
	{"x_AllocatedTags", ALLOCATED, ALLOCATED},
};

static const struct said new_only[] = {
	{"ServiceProviderName", "AWS", "hpc1 burst"},
	{"HostProviderName", "AWS", "AWS"},
	{"AllocatedMethodId", "burst/dominant-share/1", "burst/dominant-share/1"},
	{"AllocatedMethodDetails", DETAILS, DETAILS},
	{"AllocatedResourceId", "hpc1/401.1", "hpc1/401.1"},
	{"AllocatedResourceName", "train", "train"},
	{"AllocatedTags", ALLOCATED, ALLOCATED},
};

static void check_said(const struct table *t, enum focus_view view, const struct said *rows,
		       size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(table_get(t, 0, rows[i].column),
				    view == FOCUS_INTERNAL ? rows[i].internal : rows[i].provider);
}

static void test_every_column(void **state)
{
	const struct charge c = charges_one();

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct focus_options o = charges_options(i & 1 ? FOCUS_1_4 : FOCUS_1_2,
							 i & 2 ? FOCUS_INTERNAL : FOCUS_PROVIDER);
		struct table t;

		focus_file_table(&t, &o, &c);
		assert_int_equal(t.nrows, 1);
		check_said(&t, o.view, by_hand, LENGTH(by_hand));
		check_said(&t, o.view, o.version == FOCUS_1_2 ? old_only : new_only,
			   o.version == FOCUS_1_2 ? LENGTH(old_only) : LENGTH(new_only));
		assert_int_equal(t.ncols,
				 LENGTH(by_hand) + (o.version == FOCUS_1_2 ? LENGTH(old_only)
									   : LENGTH(new_only)));
		table_fini(&t);
	}
}

/* Types are those that examples of the format have. */
static void check_types(const json_t *columns)
{
	static const char *const known[] = {"STRING", "DATETIME", "DECIMAL",
					    "JSON",   "INTEGER",  "BOOLEAN"};
	size_t exact = 0;

	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *c = json_array_get(columns, i);
		const char *type = json_string_value(json_object_get(c, "DataType"));
		size_t k = 0;

		while (k < LENGTH(known) && strcmp(known[k], type) != 0)
			k++;
		assert_true(k < LENGTH(known));
		assert_true((json_object_get(c, "StringEncoding") != NULL) == (k == 0));
		exact += json_integer_value(json_object_get(c, "NumberScale")) == 9;
	}
	assert_int_equal(exact, 3);
}

static void test_metadata(void **state)
{
	(void)state;
	for (int v = 0; v < 2; v++) {
		struct focus_options o = charges_options((enum focus_version)v, FOCUS_INTERNAL);
		const struct charge c = charges_one();
		char *text = focus_metadata(&o, CHARGES_START);
		json_t *j = json_loads(text, 0, NULL);
		const json_t *columns = json_object_get(j, "ColumnDefinition");
		struct table t;

		assert_non_null(j);
		focus_file_table(&t, &o, &c);
		assert_int_equal(json_array_size(columns), t.ncols);
		for (size_t i = 0; i < t.ncols; i++)
			assert_string_equal(json_string_value(json_object_get(
						    json_array_get(columns, i), "ColumnName")),
					    t.cells[i]);
		check_types(columns);
		assert_string_equal(json_string_value(json_object_get(j, "FocusVersion")),
				    v == 0 ? "1.2" : "1.4");
		assert_string_equal(json_string_value(json_object_get(j, "CreationDate")),
				    "2026-10-31T23:00:00Z");
		assert_string_equal(json_string_value(json_object_get(j, "DataGenerator")),
				    "burstd");
		json_decref(j);
		free(text);
		table_fini(&t);
	}
}

static void test_providers(void **state)
{
	(void)state;
	assert_string_equal(focus_provider_name("aws"), "AWS");
	assert_string_equal(focus_provider_name("gcp"), "Google Cloud");
	assert_string_equal(focus_provider_name(""), "Unknown");
}

/* How many rules a file breaks by the checker: 0, or another number. */
static int broken(const char *text)
{
	char path[] = "/tmp/focus-XXXXXX", command[2000];
	const int fd = mkstemp(path);
	FILE *f;
	int rc;

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(command, sizeof(command),
		       "python3 " CHECKER " --criteria " CRITERIA " %s >%s.out; "
		       "sed 's/^/# /' %s.out; grep -q \"'fail': 0, 'warn': 0\" %s.out; rc=$?; "
		       "rm -f %s.out; exit $rc",
		       path, path, path, path, path);
	rc = system(command);
	(void)unlink(path);
	return rc;
}

static bool has_checker(void)
{
	if (access(CHECKER, R_OK) == 0 && system("python3 -c '' 2>/dev/null") == 0)
		return true;
	print_message("# skipped: no %s, or no python3\n", CHECKER);
	return false;
}

/* The rules of the format, where there is the project's checker of them. */
static void test_rules_of_the_format(void **state)
{
	(void)state;
	if (!has_checker())
		skip();
	for (unsigned i = 0; i < 4; i++) {
		struct focus_options o =
			charges_options(FOCUS_1_2, i & 1 ? FOCUS_INTERNAL : FOCUS_PROVIDER);
		struct charges c;
		char *text;

		o.invoice = i & 2 ? "2026-0001" : "";
		charges_make(&c, 100 + i, i & 2 ? 1 + i : COUNT);
		focus_sort(&o, c.all, c.n);
		text = focus_file(&o, c.all, c.n);
		assert_int_equal(broken(text), 0);
		free(text);
		charges_fini(&c);
	}
}

/* The file with every cell of one column replaced, those that are empty apart. */
static char *spoilt(const struct table *t, const char *column, const char *by)
{
	struct str s;

	str_init(&s, OUT_MAX);
	for (size_t i = 0; i < (t->nrows + 1) * t->ncols; i++) {
		const char *name = t->cells[i % t->ncols], *cell = t->cells[i];
		const bool change = i >= t->ncols && *cell != '\0' && strcmp(name, column) == 0;

		cell = change ? by : cell;
		if (*cell != '\0')
			str_adds(&s, "\"");
		for (const char *p = cell; *p != '\0'; p++)
			str_addf(&s, *p == '"' ? "%c\"" : "%c", *p);
		str_adds(&s, *cell != '\0' ? "\"" : "");
		str_adds(&s, (i + 1) % t->ncols == 0 ? "\n" : ",");
	}
	return str_take(&s);
}

/* Would the checker notice? */
static void test_what_the_rules_notice(void **state)
{
	static const char *const ways[][2] = {
		{"BilledCost", "3"},
		{"PricingQuantity", "0.333"}, /* its product with the price is another */
		{"SkuId", ""},
		{"BillingAccountId", "123456789012"},
		{"ChargePeriodStart", "2026-11-01T00:00:00+00:00"},
		{"PricingCategory", "Spot"},
		{"ResourceName", "J\xc3\xbc"},
		{"InvoiceIssuerName", "Somebody"},
		{"Tags", "{\"a\":[1]}"},
	};
	struct focus_options o = charges_options(FOCUS_1_2, FOCUS_PROVIDER);
	struct charges c;
	struct table t;
	char *text;

	(void)state;
	if (!has_checker())
		skip();
	charges_make(&c, 9, 60);
	text = focus_file(&o, c.all, c.n);
	table_read(&t, text);
	free(text);
	text = spoilt(&t, "", "");
	assert_int_equal(broken(text), 0);
	free(text);
	for (size_t i = 0; i < LENGTH(ways); i++) {
		text = spoilt(&t, ways[i][0], ways[i][1]);
		assert_int_not_equal(broken(text), 0);
		free(text);
	}
	table_fini(&t);
	charges_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_column),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_providers),
		cmocka_unit_test(test_rules_of_the_format),
		cmocka_unit_test(test_what_the_rules_notice),
	};

	return cmocka_run_group_tests_name("ledger, FOCUS by its rules", tests, NULL, NULL);
}
