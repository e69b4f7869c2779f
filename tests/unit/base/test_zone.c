/* test_zone.c - time zones, against the C library's clock and against what their history is known
 * to have. */
#include "base/zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/date.h"

enum { STEP_S = 10007, DAY_S = 86400 }; /* a prime: probes drift over the hours of a day */

static const int64_t from_s = 0, to_s = INT64_C(4102444800); /* 1970 to 2099 */

static const char *const zones[] = {
	"UTC",
	"Europe/Berlin",
	"America/New_York",
	"Australia/Lord_Howe", /* summer time is half an hour */
	"Asia/Kathmandu",      /* 5:45 h ahead */
	"Africa/Casablanca",   /* moves with Ramadan, until 2087 */
	"America/Sao_Paulo",   /* was set forward at midnight */
	"America/St_Johns",    /* was set back over midnight, at 0:01 */
	"Pacific/Apia",        /* had no 30th of December 2011 */
};

static void use(const char *name)
{
	assert_int_equal(setenv("TZ", name, 1), 0);
	tzset();
}

/* Compare at one instant; *begun: the latest date that the clock has shown before. */
static void compare_at(const struct zone *z, int64_t t_s, int64_t *begun)
{
	time_t t = (time_t)t_s;
	struct tm tm;
	int64_t day;

	assert_non_null(localtime_r(&t, &tm));
	day = date_day(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
	*begun = day > *begun ? day : *begun;
	if (zone_offset(z, t_s) != tm.tm_gmtoff || zone_day(z, t_s) != *begun)
		print_message("# at %lld: offset %lld, not %ld; day %lld, not %lld\n",
			      (long long)t_s, (long long)zone_offset(z, t_s), tm.tm_gmtoff,
			      (long long)zone_day(z, t_s), (long long)*begun);
	assert_int_equal(zone_offset(z, t_s), tm.tm_gmtoff);
	assert_int_equal(zone_day(z, t_s), *begun);
	assert_int_equal(zone_month(z, t_s), date_month(*begun));
}

/* The last second before the offset changes, between the two. */
static int64_t before_change(int64_t low, int64_t high)
{
	time_t t = (time_t)low;
	struct tm was, tm;

	(void)localtime_r(&t, &was);
	while (high - low > 1) {
		t = (time_t)(low + (high - low) / 2);
		(void)localtime_r(&t, &tm);
		if (tm.tm_gmtoff == was.tm_gmtoff)
			low = t;
		else
			high = t;
	}
	return low;
}

static void compare_all(const struct zone *z)
{
	int64_t begun = INT64_MIN;

	for (int64_t t = from_s; t + STEP_S < to_s; t += STEP_S) {
		compare_at(z, t, &begun);
		if (zone_offset(z, t) != zone_offset(z, t + STEP_S)) {
			int64_t last = before_change(t, t + STEP_S);

			compare_at(z, last, &begun);
			compare_at(z, last + 1, &begun);
		}
	}
}

static void test_each_offset_is_that_of_the_c_library(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct zone *z = zone_new(zones[i], NULL);

		print_message("# %s\n", zones[i]);
		assert_non_null(z);
		assert_string_equal(zone_name(z), zones[i]);
		use(zones[i]);
		compare_all(z);
		zone_free(z);
	}
}

/* A day begins at the first instant at which it, or a later one, has begun. */
static void test_each_day_begins_where_zone_day_changes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct zone *z = zone_new(zones[i], NULL);

		for (int64_t day = -400; day < to_s / DAY_S + 400; day++) {
			int64_t begin = zone_day_begin(z, day);

			assert_true(zone_day(z, begin) >= day);
			assert_true(zone_day(z, begin - 1) < day);
		}
		for (int64_t month = INT64_C(12) * 1969; month < INT64_C(12) * 2101; month++) {
			int64_t begin = zone_month_begin(z, month);

			assert_int_equal(zone_month(z, begin), month);
			assert_int_equal(zone_month(z, begin - 1), month - 1);
		}
		zone_free(z);
	}
}

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
	char text[DATE_STR_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t month = 12 * rows[i].year + rows[i].number;
		struct zone *z = zone_new(rows[i].zone, NULL);

		print_message("# %s %s\n", rows[i].zone, rows[i].month);
		assert_non_null(z);
		assert_int_equal(zone_month_begin(z, month), rows[i].begins_s);
		assert_string_equal(date_month_str(text, month), rows[i].month);
		zone_free(z);
	}
}

static void test_days_whose_midnight_is_odd(void **state)
{
	static const struct {
		const char *zone;
		int64_t year, month, day, begins_s, seconds;
	} rows[] = {
		{"Europe/Berlin", 2026, 3, 29, 1774738800, 23 * 3600},
		{"Europe/Berlin", 2026, 10, 25, 1792879200, 25 * 3600},
		{"Australia/Lord_Howe", 2026, 4, 5, 1775307600, 48 * 1800 + 1800},
		/* at midnight the clock was set forward: it began at one o'clock */
		{"America/Sao_Paulo", 2018, 11, 4, 1541300400, 23 * 3600},
		/* at midnight it was set back: the 17th had another hour, the 18th did not */
		{"America/Sao_Paulo", 2018, 2, 17, 1518832800, 25 * 3600},
		{"America/Sao_Paulo", 2018, 2, 18, 1518922800, 24 * 3600},
		/* at 0:01 it was set back to 23:01: November had begun, and went on */
		{"America/St_Johns", 2009, 10, 31, 1256956200, 24 * 3600},
		{"America/St_Johns", 2009, 11, 1, 1257042600, 25 * 3600},
		{"Pacific/Apia", 2011, 12, 29, 1325152800, 24 * 3600},
		{"Pacific/Apia", 2011, 12, 30, 1325239200, 0}, /* never was */
		{"Pacific/Apia", 2011, 12, 31, 1325239200, 24 * 3600},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t day = date_day(rows[i].year, rows[i].month, rows[i].day), begin;
		struct zone *z = zone_new(rows[i].zone, NULL);

		print_message("# %s %lld-%02lld-%02lld\n", rows[i].zone, (long long)rows[i].year,
			      (long long)rows[i].month, (long long)rows[i].day);
		assert_non_null(z);
		begin = zone_day_begin(z, day);
		assert_int_equal(begin, rows[i].begins_s);
		assert_int_equal(zone_day_begin(z, day + 1) - begin, rows[i].seconds);
		zone_free(z);
	}
}

/* Beyond the years that are read the nearest offset holds. */
static void test_before_and_after_the_table(void **state)
{
	struct zone *z = zone_new("Europe/Berlin", NULL);

	(void)state;
	assert_int_equal(zone_offset(z, INT64_MIN / 4), 3600);
	assert_int_equal(zone_offset(z, INT64_MAX / 4), 3600);
	assert_int_equal(zone_day_begin(z, date_day(1900, 7, 1)),
			 date_day(1900, 7, 1) * DAY_S - 3600);
	assert_int_equal(zone_day_begin(z, date_day(9999, 7, 1)),
			 date_day(9999, 7, 1) * DAY_S - 3600);
	assert_int_equal(zone_day(z, INT64_MAX / 4 - 3600), INT64_MAX / 4 / DAY_S);
	zone_free(z);
	zone_free(NULL);
}

static void test_no_zone_is_utc(void **state)
{
	(void)state;
	for (int64_t day = -3; day < 4; day++) {
		assert_int_equal(zone_day_begin(NULL, day), day * 86400);
		assert_int_equal(zone_day(NULL, day * 86400), day);
		assert_int_equal(zone_day(NULL, day * 86400 - 1), day - 1);
	}
}

static void test_a_name_that_nobody_knows_is_no_utc(void **state)
{
	static const char *const bad[] = {
		"",
		"Europe/Bonn",
		"/etc/localtime",
		"../zoneinfo/UTC",
		"Europe/Berlin ",
		"CET-1CEST",
		"Europe",
		"right/UTC",
		"tzdata.zi",
		"leapseconds",
		"UTC\n",
		"Europe/",
		"Europe//../UTC",
		"Europe/Berlin/"
		"////////////////////////////////////////////////////////////////////////"};

	(void)state;
	use("Asia/Tokyo");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {0};

		assert_int_equal(zone_check(bad[i], &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		assert_null(zone_new(bad[i], NULL));
	}
	assert_int_equal(zone_check("Europe/Berlin", NULL), 0);
	assert_string_equal(getenv("TZ"), "Asia/Tokyo");
}

/* The process keeps its own zone: burstctl and logs print local times. */
static void test_the_zone_of_the_process_stays(void **state)
{
	time_t t = 0;
	struct tm tm;

	(void)state;
	use("Asia/Tokyo");
	assert_int_equal(setenv("TZDIR", "/usr/share/zoneinfo", 1), 0);
	zone_free(zone_new("Europe/Berlin", NULL));
	assert_string_equal(getenv("TZ"), "Asia/Tokyo");
	assert_string_equal(getenv("TZDIR"), "/usr/share/zoneinfo");
	assert_non_null(localtime_r(&t, &tm));
	assert_int_equal(tm.tm_gmtoff, 9 * 3600);
	assert_int_equal(unsetenv("TZ"), 0);
	assert_int_equal(setenv("TZDIR", "/nowhere", 1), 0);
	{
		struct zone *z = zone_new("Europe/Berlin", NULL);

		assert_int_equal(zone_offset(z, INT64_C(1774994400)), 7200);
		zone_free(z);
	}
	assert_null(getenv("TZ"));
	assert_int_equal(unsetenv("TZDIR"), 0);
	zone_free(zone_new("Europe/Berlin", NULL));
	assert_null(getenv("TZDIR"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_offset_is_that_of_the_c_library),
		cmocka_unit_test(test_each_day_begins_where_zone_day_changes),
		cmocka_unit_test(test_when_a_month_begins),
		cmocka_unit_test(test_days_whose_midnight_is_odd),
		cmocka_unit_test(test_before_and_after_the_table),
		cmocka_unit_test(test_no_zone_is_utc),
		cmocka_unit_test(test_a_name_that_nobody_knows_is_no_utc),
		cmocka_unit_test(test_the_zone_of_the_process_stays),
	};

	return cmocka_run_group_tests_name("zones", tests, NULL, NULL);
}
