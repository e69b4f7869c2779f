/* test_headers.c - the headers of a reply, looked up. */
#include "base/headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define MAX INT64_C(86400000)

static const struct header some[] = {
	{"Content-Type", "text/plain"}, {"X-Subject-Token", "gAAAA"}, {"x-subject-token", "second"},
	{"Opc-Next-Page", ""},          {"X-Folded", "one\r\n two"},  {"X-Bell", "\a"},
	{"X-Deleted", "a\177"},         {"X-Longer-Name", "yes"},
};

static void test_a_header_is_found_by_its_name_in_any_case(void **state)
{
	const struct headers h = {some, sizeof(some) / sizeof(some[0])}, none = {NULL, 0};

	(void)state;
	assert_string_equal(headers_get(&h, "content-type"), "text/plain");
	assert_string_equal(headers_get(&h, "X-SUBJECT-TOKEN"), "gAAAA"); /* the first of two */
	assert_string_equal(headers_get(&h, "X-Longer-Name"), "yes");
	assert_null(headers_get(&h, "X-Longer"));
	assert_null(headers_get(&h, "X-Longer-Name-Still"));
	assert_null(headers_get(&none, "Date"));
}

/* F31: what is passed on, to a log or into another request, has no line break in it. */
static void test_a_value_without_text_or_with_control_bytes_counts_as_absent(void **state)
{
	const struct headers h = {some, sizeof(some) / sizeof(some[0])};

	(void)state;
	assert_null(headers_get(&h, "opc-next-page"));
	assert_null(headers_get(&h, "X-Folded"));
	assert_null(headers_get(&h, "X-Bell"));
	assert_null(headers_get(&h, "X-Deleted"));
}

static void test_retry_after_is_seconds_up_to_a_maximum(void **state)
{
	static const struct {
		const char *value;
		int64_t ms;
	} rows[] = {
		{"", 0},        {"0", 0},
		{"7", 7000},    {"86400", MAX},
		{"86401", MAX}, {"99999999999999999999999999", MAX},
		{"-5", 0},      {"1.5", 0},
		{" 3", 0},      {"Fri, 31 Dec 1999 23:59:59 GMT", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct header one = {"retry-after", rows[i].value};

		assert_int_equal(headers_retry_after_ms(&(struct headers){&one, 1}, MAX),
				 rows[i].ms);
	}
	assert_int_equal(headers_retry_after_ms(&(struct headers){NULL, 0}, MAX), 0);
}

static void test_headers_are_copied_in_their_order(void **state)
{
	struct headers h = {0};
	char name[16], value[16];

	(void)state;
	for (int i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "X-%d", i);
		(void)snprintf(value, sizeof(value), "v%d", i);
		headers_add(&h, name, value);
	}
	assert_int_equal(h.n, 20);
	for (int i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "X-%d", i);
		(void)snprintf(value, sizeof(value), "v%d", i);
		assert_string_equal(h.v[i].name, name);
		assert_string_equal(headers_get(&h, name), value);
	}
	headers_free(&h);
	assert_int_equal(h.n, 0);
	assert_null(headers_get(&h, "X-0"));
	headers_free(&h); /* of none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_header_is_found_by_its_name_in_any_case),
		cmocka_unit_test(test_a_value_without_text_or_with_control_bytes_counts_as_absent),
		cmocka_unit_test(test_headers_are_copied_in_their_order),
		cmocka_unit_test(test_retry_after_is_seconds_up_to_a_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
