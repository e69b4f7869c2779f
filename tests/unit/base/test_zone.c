/* test_zone.c - months of a time zone, as its clocks have them. */
#include "base/zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_when_a_month_begins(void **state)
{
	static const struct {
		const char *zone, *month;
		int64_t year, number, begins_s;
	} rows[] = {
		{"UTC", "2026-03", 2026, 2, 1772323200},
		{"Europe/Berlin", "2026-03", 2026, 2, 1772319600}, /* winter */
		{"Europe/Berlin", "2026-04", 2026, 3, 1774994400}, /* summer */
		{"America/Los_Angeles", "2026-11", 2026, 10, 1793516400},
		{"America/Los_Angeles", "2026-12", 2026, 11, 1796112000},
		/* its midnight comes twice: at one o'clock the clock is set back by an hour */
		{"America/Havana", "2026-11", 2026, 10, 1793505600},
		{"Asia/Kathmandu", "2000-01", 2000, 0, 946664100}, /* 5:45 h ahead */
		{"UTC", "1969-12", 1969, 11, -2678400},
	};
	char text[ZONE_MONTH_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t month = 12 * rows[i].year + rows[i].number, begin;

		print_message("# %s %s\n", rows[i].zone, rows[i].month);
		assert_int_equal(zone_use(rows[i].zone, NULL), 0);
		begin = zone_begin(month);
		assert_true(begin == rows[i].begins_s);
		assert_true(zone_month(begin) == month);
		assert_true(zone_month(begin - 1) == month - 1);
		assert_string_equal(zone_month_str(text, month), rows[i].month);
	}
}

static void test_a_name_that_nobody_knows_is_no_utc(void **state)
{
	static const char *const bad[] = {
		"",          "Europe/Bonn", "/etc/localtime", "../zoneinfo/UTC", "Europe/Berlin ",
		"CET-1CEST", "Europe",      "right/UTC",      "tzdata.zi",       "leapseconds"};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(zone_use(bad[i], &e), -1);
	assert_int_equal(zone_use("Europe/Berlin", NULL), 0);
	assert_true(zone_begin(12 * 2026 + 3) - zone_begin(12 * 2026 + 2) == 743 * 3600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when_a_month_begins),
		cmocka_unit_test(test_a_name_that_nobody_knows_is_no_utc),
	};

	return cmocka_run_group_tests_name("zones", tests, NULL, NULL);
}
