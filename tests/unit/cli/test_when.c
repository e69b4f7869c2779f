/* Times as people type them. */
#include "cli/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { S = 1000, H = 3600 * S };

/* 2026-03-29T12:00:00 in Berlin: at two that night it was three at once. */
static const int64_t now = INT64_C(1774778400) * S;

static void test_times(void **state)
{
	static const struct {
		const char *text;
		int64_t want;
	} rows[] = {
		{"now", INT64_C(1774778400) * S},
		{"2h", INT64_C(1774778400) * S - 2 * H},
		{"90s", INT64_C(1774778400) * S - 90 * S},
		/* Its midnight is eleven hours ago, not twelve, and the day before has 24. */
		{"today", INT64_C(1774778400) * S - 11 * H},
		{"yesterday", INT64_C(1774778400) * S - 35 * H},
		{"11:30", INT64_C(1774778400) * S - H / 2},
		{"11:30:30", INT64_C(1774778400) * S - H / 2 + 30 * S},
		{"2026-03-28", INT64_C(1774778400) * S - 35 * H},
		{"2026-03-28T12:00", INT64_C(1774778400) * S - 23 * H},
		{"2026-03-28T12:00:05", INT64_C(1774778400) * S - 23 * H + 5 * S},
		{"2026-03-28T11:00:00Z", INT64_C(1774778400) * S - 23 * H},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ms = -1;

		print_message("# %s\n", rows[i].text);
		assert_int_equal(when_parse(rows[i].text, now, &ms, NULL), 0);
		assert_int_equal(ms, rows[i].want);
	}
}

static void test_no_times(void **state)
{
	static const char *const rows[] = {
		"",      "4711",         "-1",       "2026-02-30",
		"25:00", "2026-01-02 3", "tomorrow", "2026-01-02T03:04:05+01",
		"2h ago"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		int64_t ms;

		print_message("# %s\n", rows[i]);
		assert_int_equal(when_parse(rows[i], now, &ms, &e), -1);
		assert_non_null(strstr(e.msg, "is not a time: want yesterday"));
	}
}

/* What is to end ends later: a time ago, as --since takes it, is refused with what to write. */
static void test_until(void **state)
{
	static const struct {
		const char *text, *why; /* why: it is refused; NULL: it is not */
	} rows[] = {
		{"2026-03-30", NULL},
		{"12:01", NULL},
		{"2026-03-29T10:00:01Z", NULL},
		{"2h", "--until: \"2h\" is not a time: want 2026-12-24 (when that day begins), "},
		{"tomorrow", "--until: \"tomorrow\" is not a time: want 2026-12-24 "},
		{"now", "--until: \"now\" is not a time"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		int64_t ms = 0;

		print_message("# %s\n", rows[i].text);
		assert_int_equal(when_parse_until(rows[i].text, now, &ms, &e),
				 rows[i].why == NULL ? 0 : -1);
		if (rows[i].why == NULL)
			assert_true(ms > now);
		else
			assert_ptr_equal(strstr(e.msg, rows[i].why), e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_no_times),
		cmocka_unit_test(test_until),
	};

	(void)setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return cmocka_run_group_tests_name("when", tests, NULL, NULL);
}
