/* test_pages.c - what comes after each page of a list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/pages.h"

static struct pages p;

static enum pages_next answered(enum provider_code code, const char *cursor, int64_t now)
{
	struct provider_result r = {.code = code};

	(void)snprintf(r.cursor, sizeof(r.cursor), "%s", cursor);
	p.due = false; /* it was sent */
	return pages_answered(&p, &r, now);
}

/* F7: not the list. */
static void test_a_page_that_is_throttled_is_due_again(void **state)
{
	(void)state;
	pages_begin(&p, 0);
	assert_true(p.busy && p.due);
	assert_string_equal(p.cursor, "");
	assert_int_equal(answered(PROVIDER_RATE, "", 1), PAGES_AGAIN);
	assert_true(p.busy && p.due);
	assert_string_equal(p.cursor, "");
	assert_int_equal(answered(PROVIDER_MORE, "two", 2), PAGES_MORE);
	assert_string_equal(p.cursor, "two");
	assert_int_equal(answered(PROVIDER_RATE, "", 3), PAGES_AGAIN);
	assert_true(p.due);
	assert_string_equal(p.cursor, "two");
	assert_int_equal(answered(PROVIDER_OK, "", 4), PAGES_DONE);
	assert_false(p.busy || p.due);
}

static void test_any_other_failure_ends_the_list(void **state)
{
	(void)state;
	for (int c = PROVIDER_CAPACITY; c < PROVIDER_NCODES; c++) {
		if (c == PROVIDER_RATE || c == PROVIDER_MORE)
			continue;
		pages_begin(&p, 0);
		assert_int_equal(answered(PROVIDER_MORE, "two", 1), PAGES_MORE);
		assert_int_equal(answered((enum provider_code)c, "x", 2), PAGES_FAILED);
		assert_false(p.busy || p.due);
	}
}

/* F16 */
static void test_a_list_without_end_is_none(void **state)
{
	char cursor[16];
	int n;

	(void)state;
	pages_begin(&p, 0);
	assert_int_equal(answered(PROVIDER_MORE, "a", 1), PAGES_MORE);
	assert_int_equal(answered(PROVIDER_MORE, "a", 1), PAGES_ENDLESS);
	assert_false(p.busy || p.due);
	pages_begin(&p, 0);
	assert_int_equal(answered(PROVIDER_MORE, "a", 1), PAGES_MORE);
	assert_int_equal(answered(PROVIDER_MORE, "", 1), PAGES_ENDLESS); /* not the first page */
	assert_false(p.busy || p.due);
	pages_begin(&p, 0);
	for (n = 1; n < PAGES_MAX; n++) {
		(void)snprintf(cursor, sizeof(cursor), "c%d", n);
		assert_int_equal(answered(PROVIDER_MORE, cursor, 1), PAGES_MORE);
	}
	assert_int_equal(answered(PROVIDER_MORE, "last", 1), PAGES_ENDLESS);
	assert_false(p.busy || p.due);
}

/* What its first page said is no longer true then. */
static void test_a_list_that_takes_too_long_is_none(void **state)
{
	(void)state;
	pages_begin(&p, 50);
	assert_int_equal(answered(PROVIDER_RATE, "", 50 + PAGES_MS - 1), PAGES_AGAIN);
	assert_int_equal(answered(PROVIDER_RATE, "", 50 + PAGES_MS), PAGES_ENDLESS);
	assert_false(p.busy || p.due);
	pages_begin(&p, 50);
	assert_int_equal(answered(PROVIDER_MORE, "a", 50 + PAGES_MS), PAGES_ENDLESS);
	pages_begin(&p, 50);
	assert_int_equal(answered(PROVIDER_OK, "", 50 + PAGES_MS), PAGES_DONE); /* it is whole */
	pages_begin(&p, 50);
	pages_end(&p);
	assert_false(p.busy || p.due);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_page_that_is_throttled_is_due_again),
		cmocka_unit_test(test_any_other_failure_ends_the_list),
		cmocka_unit_test(test_a_list_without_end_is_none),
		cmocka_unit_test(test_a_list_that_takes_too_long_is_none),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
