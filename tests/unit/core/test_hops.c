/* test_hops.c - how far machines are from each other, by their paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hops.h"

static void test_hops_of_paths(void **state)
{
	static const struct {
		const char *paths[4];
		int hops;
		unsigned known, unknown;
	} rows[] = {
		{{NULL}, HOPS_UNKNOWN, 0, 0},
		{{"", ""}, HOPS_UNKNOWN, 0, 2},
		{{"a/b/c"}, 0, 1, 0},
		{{"a/b/c", "a/b/c"}, 0, 2, 0},
		{{"a/b/c", "a/b/d"}, 1, 2, 0},
		{{"a/b/c", "a/b/c", "a/b/d"}, 1, 3, 0},
		{{"a/b/c", "a/x/c"}, 2, 2, 0},
		{{"a/b/c", "a/b/d", "a/x/d"}, 2, 3, 0},
		{{"a/b/c", "x/b/c"}, HOPS_APART, 2, 0},
		{{"a/b/c", "x/b/c", "a/b/c"}, HOPS_APART, 3, 0},
		{{"a/b/c", "", "a/b/c"}, 0, 2, 1},
		/* names count whole */
		{{"a/b/c", "a/b/cd"}, 1, 2, 0},
		{{"a/b/cd", "a/b/c"}, 1, 2, 0},
		{{"a/bc", "a/b/c"}, 2, 2, 0},
		{{"ab", "a"}, HOPS_APART, 2, 0},
		/* types with another depth */
		{{"a/b/c", "a/b/c/d"}, 1, 2, 0},
		{{"a/b/c/d", "a/b/c"}, 1, 2, 0},
		{{"a/b/c/d", "a/x/y"}, 3, 2, 0},
		{{"a", "a"}, 0, 2, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hops h = {.first = NULL};

		for (size_t k = 0; k < 4 && rows[i].paths[k] != NULL; k++)
			hops_add(&h, rows[i].paths[k]);
		assert_int_equal(hops_of(&h), rows[i].hops);
		assert_int_equal(h.known, rows[i].known);
		assert_int_equal(h.unknown, rows[i].unknown);
	}
}

static void test_nobody_was_asked(void **state)
{
	struct hops h = {.first = NULL};

	(void)state;
	hops_add(&h, NULL);
	assert_int_equal(hops_of(&h), HOPS_UNKNOWN);
	assert_int_equal(h.unknown, 1);
}

static void test_hops_in_words(void **state)
{
	char text[HOPS_TEXT_SIZE];

	(void)state;
	assert_string_equal(hops_text(text, 0), "below one switch");
	assert_string_equal(hops_text(text, 1), "1 hop from each other");
	assert_string_equal(hops_text(text, 2), "2 hops from each other");
	assert_string_equal(hops_text(text, HOPS_APART), "below no common switch");
	assert_string_equal(hops_text(text, HOPS_UNKNOWN), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hops_of_paths),
		cmocka_unit_test(test_nobody_was_asked),
		cmocka_unit_test(test_hops_in_words),
	};

	return cmocka_run_group_tests_name("hops", tests, NULL, NULL);
}
