/* test_str.c - what does not fit is left out whole, and said. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_empty(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 0);
	assert_string_equal(s.p, "");
	assert_int_equal(s.len, 0);
	str_add(&s, NULL, 0);
	str_adds(&s, "");
	str_addf(&s, "%s", "");
	assert_false(s.full);
	str_adds(&s, "a");
	assert_true(s.full);
	assert_string_equal(s.p, "");
	str_fini(&s);
	str_fini(&s); /* twice is fine */
}

static void test_cap(void **state)
{
	static const struct {
		const char *name, *first, *second, *want;
		bool full;
	} rows[] = {
		{"fits", "abc", "defg", "abcdefg", false},
		{"fits to the byte", "abcd", "efgh", "abcdefgh", false},
		{"one too many", "abcd", "efghi", "abcd", true},
		{"first too long", "abcdefghi", "x", "x", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int how = 0; how < 3; how++) {
			struct str s;

			str_init(&s, 8);
			str_adds(&s, rows[i].first);
			if (how == 0)
				str_adds(&s, rows[i].second);
			else if (how == 1)
				str_add(&s, rows[i].second, strlen(rows[i].second));
			else
				str_addf(&s, "%s", rows[i].second);
			assert_string_equal(s.p, rows[i].want);
			assert_int_equal(s.len, strlen(rows[i].want));
			assert_int_equal(s.full, rows[i].full);
			assert_true(s.cap <= s.max + 1);
			str_fini(&s);
		}
}

static void test_full_stays_until_clear(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 4);
	str_adds(&s, "abcde");
	str_adds(&s, "ab");
	assert_true(s.full);
	assert_string_equal(s.p, "ab");
	str_clear(&s);
	assert_false(s.full);
	assert_string_equal(s.p, "");
	str_adds(&s, "abcd");
	assert_string_equal(s.p, "abcd");
	assert_false(s.full);
	str_fini(&s);
}

static void test_grows(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 1 << 20);
	for (int i = 0; i < 1 << 16; i++)
		str_add(&s, "0123456789abcdef", 16);
	assert_false(s.full);
	assert_int_equal(s.len, 1 << 20);
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] != "0123456789abcdef"[i % 16])
			fail_msg("byte %zu", i);
	str_add(&s, "x", 1);
	assert_true(s.full);
	str_fini(&s);
}

static void test_bytes(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 16);
	str_add(&s, "a\0b", 3);
	assert_int_equal(s.len, 3);
	assert_memory_equal(s.p, "a\0b", 4);
	str_fini(&s);
}

/* Around the 256 bytes that are formatted without allocating. */
static void test_long_format(void **state)
{
	char text[600];

	(void)state;
	memset(text, 'x', sizeof(text));
	for (int n = 250; n < 520; n++) {
		struct str s;

		str_init(&s, 512);
		str_addf(&s, "%.*s", n, text);
		assert_int_equal(s.full, n > 512);
		assert_int_equal(s.len, n > 512 ? 0 : n);
		assert_int_equal(strlen(s.p), s.len);
		str_fini(&s);
	}
}

/* A huge argument costs nothing when it cannot fit. */
static void test_huge_width(void **state)
{
	struct str s;

	(void)state;
	str_init(&s, 16);
	str_addf(&s, "%*d", 2000000000, 1);
	assert_true(s.full);
	assert_string_equal(s.p, "");
	str_fini(&s);
}

static void test_take(void **state)
{
	struct str s;
	char *p;

	(void)state;
	str_init(&s, 16);
	str_adds(&s, "mine");
	p = str_take(&s);
	assert_string_equal(p, "mine");
	assert_null(s.p);
	str_fini(&s);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_cap),
		cmocka_unit_test(test_full_stays_until_clear),
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_long_format),
		cmocka_unit_test(test_huge_width),
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
