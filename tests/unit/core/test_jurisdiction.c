/* test_jurisdiction.c - a region is where the table says, or nowhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/jurisdiction.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_a_region_is_in_its_country_whatever_its_name_suggests(void **state)
{
	static const struct {
		const char *driver, *region, *want;
	} rows[] = {
		{"aws", "eu-north-1", "SE"},    {"aws", "eu-west-2", "GB"},
		{"aws", "eu-central-2", "CH"},  {"aws", "eusc-de-east-1", "DE"},
		{"aws", "af-south-1", "ZA"},    {"aws", "us-west-2", "US"},
		{"aws", "us-gov-west-1", "US"}, {"sim", "eu-north-1", "SE"},
		{"sim", "eu-west-1", "IE"},     {"aws", "eu-north-2", NULL},
		{"aws", "eu-north", NULL},      {"aws", "", NULL},
		{"static", "eu-north-1", NULL}, {"lambda", "us-west-2", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = jurisdiction_of(rows[i].driver, rows[i].region);

		print_message("# %s %s\n", rows[i].driver, rows[i].region);
		assert_int_equal(got == NULL, rows[i].want == NULL);
		if (got != NULL)
			assert_string_equal(got, rows[i].want);
	}
}

static void test_a_country_is_within_itself_and_its_union(void **state)
{
	static const struct {
		const char *place, *allowed;
		bool want;
	} rows[] = {
		{"DE", "DE", true},     {"DE", "EU", true},  {"DE", "EEA", true},
		{"AT", "EU", true},     {"SK", "EU", true},  {"SE", "EU", true},
		{"GB", "EU", false},    {"CH", "EU", false}, {"CH", "EEA", false},
		{"NO", "EU", false},    {"NO", "EEA", true}, {"IS", "EEA", true},
		{"US", "EU", false},    {"US", "US", true},  {"DE", "US", false},
		{"EU", "EU", true},     {"EU", "EEA", true}, {"EU", "DE", false},
		{"EEA", "EU", false},   {"D", "EU", false},  {"E", "DE", false},
		{"AT BE", "EU", false}, {"", "EU", false},   {NULL, "EU", false},
		{"", "", false},        {"", "DE", false},   {"CA", "CA", true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("# %s in %s\n", rows[i].place != NULL ? rows[i].place : "(nowhere)",
			      rows[i].allowed);
		assert_int_equal(jurisdiction_within(rows[i].place, rows[i].allowed), rows[i].want);
	}
}

static void test_the_union_has_27_members_and_the_area_30(void **state)
{
	char code[3] = "";
	int eu = 0, eea = 0;

	(void)state;
	for (code[0] = 'A'; code[0] <= 'Z'; code[0]++)
		for (code[1] = 'A'; code[1] <= 'Z'; code[1]++) {
			if (code[0] == 'E' && code[1] == 'U')
				continue;
			eu += jurisdiction_within(code, "EU");
			eea += jurisdiction_within(code, "EEA");
		}
	assert_int_equal(eu, 27);
	assert_int_equal(eea, 30);
}

static void test_words_that_are_no_place(void **state)
{
	static const char *const good[] = {"AD", "DE", "ZW", "US", "EU", "EEA"};
	static const char *const bad[] = {"XX", "EUU", "E", "", "UK", "D", "DEU", "AD AE"};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(jurisdiction_is_known(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(jurisdiction_is_known(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_region_is_in_its_country_whatever_its_name_suggests),
		cmocka_unit_test(test_a_country_is_within_itself_and_its_union),
		cmocka_unit_test(test_words_that_are_no_place),
		cmocka_unit_test(test_the_union_has_27_members_and_the_area_30),
	};

	return cmocka_run_group_tests_name("jurisdiction", tests, NULL, NULL);
}
