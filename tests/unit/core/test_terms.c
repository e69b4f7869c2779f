/* test_terms.c - what user-data an offer takes, what makes its machines nodes, and its terms for
 * people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/terms.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	struct provider_terms t;
	const char *text;
	const char *says; /* NULL: it is taken */
} rows[] = {
	{"nothing is said", {.data_max = 0}, "any text, however long", NULL},
	{"none where there is none", {.data = PROVIDER_DATA_NONE}, NULL, NULL},
	{"an empty one", {.data = PROVIDER_DATA_NONE}, "", NULL},
	{"some where there is none",
	 {.data = PROVIDER_DATA_NONE, .own_image = true},
	 "x",
	 "its machines get no user-data"},
	{"just short enough", {.data = PROVIDER_DATA_ANY, .data_max = 5}, "#!abc", NULL},
	{"too long",
	 {.data = PROVIDER_DATA_ANY, .data_max = 5},
	 "#!abcd",
	 "the user-data has 6 bytes, and the provider takes at most 5"},
	{"a limit alone", {.data_max = 1}, "ab", "has 2 bytes"},
	{"a script", {.data = PROVIDER_DATA_SCRIPT}, "#!/bin/sh\n", NULL},
	{"no script", {.data = PROVIDER_DATA_SCRIPT}, "#cloud-config\n", "begins with \"#!\""},
	{"no script, but cloud-init", {.data = PROVIDER_DATA_ANY}, "#cloud-config\n", NULL},
};

static void test_user_data_is_taken_or_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};

		print_message("# %s\n", rows[i].name);
		assert_int_equal(terms_take_data(&rows[i].t, rows[i].text, &e),
				 rows[i].says != NULL ? -1 : 0);
		assert_non_null(strstr(e.msg, rows[i].says != NULL ? rows[i].says : ""));
	}
}

static void test_something_must_make_it_a_node(void **state)
{
	const struct provider_terms none = {.data = PROVIDER_DATA_NONE}, unsaid = {.data_max = 0},
				    own = {.data = PROVIDER_DATA_NONE, .own_image = true},
				    data = {.data = PROVIDER_DATA_SCRIPT};
	struct err e = {0};

	(void)state;
	assert_int_equal(terms_boot(&none, &e), -1);
	assert_int_equal(terms_boot(&unsaid, &e), 0);
	assert_int_equal(terms_boot(&own, &e), 0);
	assert_int_equal(terms_boot(&data, &e), 0);
}

static void assert_print(struct provider_terms t, const char *want)
{
	struct str s;

	str_init(&s, 400);
	terms_print(&t, &s);
	assert_string_equal(s.p != NULL ? s.p : "", want);
	str_fini(&s);
}

static void test_what_nobody_says_is_not_said(void **state)
{
	(void)state;
	assert_print((struct provider_terms){.own_image = true}, "");
	assert_print((struct provider_terms){.quantum_ms = 1000, .minimum_ms = 60000},
		     "; billed in steps of 1s; at least 1m00s are billed");
	assert_print((struct provider_terms){.minimum_ms = PROVIDER_NO_MINIMUM},
		     "; no minimum rental");
	assert_print((struct provider_terms){.data = PROVIDER_DATA_NONE}, "; no user-data");
	assert_print((struct provider_terms){.data = PROVIDER_DATA_SCRIPT}, "; user-data: script");
	assert_print((struct provider_terms){.data_max = 9}, "; user-data of at most 9 bytes");
	assert_print((struct provider_terms){.data = PROVIDER_DATA_ANY,
					     .data_max = 9,
					     .interconnect = "efa"},
		     "; user-data: cloud-init of at most 9 bytes; interconnect: efa");
	assert_string_equal(terms_stock_str(PROVIDER_STOCK_UNSAID), "");
	assert_string_equal(terms_stock_str(PROVIDER_STOCK_NONE), "none");
	assert_string_equal(terms_stock_str(PROVIDER_STOCK_SOME), "some");
	assert_string_equal(terms_data_str(PROVIDER_DATA_UNSAID), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_data_is_taken_or_not),
		cmocka_unit_test(test_something_must_make_it_a_node),
		cmocka_unit_test(test_what_nobody_says_is_not_said),
	};

	return cmocka_run_group_tests_name("terms", tests, NULL, NULL);
}
