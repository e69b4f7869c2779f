/* test_attest.c - is an identity document of what is expected? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/attest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	struct attest_expect want;
	const char *why; /* NULL: it is that */
} rows[] = {
	{"anything", {0}, NULL},
	{"all of it", {"12345", "eu-1", "i-1", "burst:b-1"}, NULL},
	{"another account", {.account = "12346"}, "account '12345', not '12346'"},
	{"an account that begins like it", {.account = "123456"}, "account '12345', not '123456'"},
	{"one that it begins like", {.account = "1234"}, "account '12345', not '1234'"},
	{"another region", {.region = "eu-1a"}, "region 'eu-1', not 'eu-1a'"},
	{"another instance", {.instance = "i-12"}, "instance 'i-1', not 'i-12'"},
	{"another claim's nonce", {.nonce = "burst:b-12"}, "nonce 'burst:b-1', not 'burst:b-12'"},
};

static void test_all_of_a_word_must_be_as_expected(void **state)
{
	const struct attest_identity id = {
		.account = "12345", .region = "eu-1", .instance = "i-1", .nonce = "burst:b-1"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};

		print_message("# %s\n", rows[i].name);
		assert_int_equal(attest_match(&id, &rows[i].want, &e),
				 rows[i].why == NULL ? 0 : -1);
		if (rows[i].why != NULL &&
		    (e.code != ERR_AUTH || strstr(e.msg, rows[i].why) == NULL))
			fail_msg("%s", e.msg);
	}
}

static void test_a_word_that_it_does_not_have_differs(void **state)
{
	const struct attest_identity id = {.instance = "i-1"};
	const struct attest_expect want[] = {
		{.account = "12345"}, {.region = "eu-1"}, {.nonce = "burst:b-1"}};

	(void)state;
	for (size_t i = 0; i < COUNT(want); i++)
		assert_int_equal(attest_match(&id, &want[i], NULL), -1);
}

static void test_kinds_have_names(void **state)
{
	(void)state;
	for (int k = 0; k < ATTEST_NKINDS; k++)
		assert_int_equal(attest_kind_parse(attest_kind_str((enum attest_kind)k)), k);
	assert_int_equal(attest_kind_parse("aws"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_a_word_must_be_as_expected),
		cmocka_unit_test(test_a_word_that_it_does_not_have_differs),
		cmocka_unit_test(test_kinds_have_names),
	};

	return cmocka_run_group_tests_name("attest", tests, NULL, NULL);
}
