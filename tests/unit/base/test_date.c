/* test_date.c - dates as numbers, against the C library's calendar. */
#include "base/date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

static void test_each_day_is_as_the_c_library_has_it(void **state)
{
	(void)state;
	for (int64_t day = -200000; day < 200000; day++) { /* years 1422 to 2517 */
		time_t t = (time_t)day * 86400;
		struct tm tm;
		int64_t year;
		int month, mday;

		assert_non_null(gmtime_r(&t, &tm));
		date_of(day, &year, &month, &mday);
		assert_int_equal(year, tm.tm_year + 1900);
		assert_int_equal(month, tm.tm_mon + 1);
		assert_int_equal(mday, tm.tm_mday);
		assert_int_equal(date_day(year, month, mday), day);
		assert_int_equal(date_month(day), 12 * year + month - 1);
		assert_int_equal(date_month_day(date_month(day)), day - mday + 1);
	}
}

static void test_texts(void **state)
{
	static const struct {
		int64_t year, month, day;
		const char *date, *of_month;
	} rows[] = {
		{1970, 1, 1, "1970-01-01", "1970-01"},      {2026, 3, 29, "2026-03-29", "2026-03"},
		{2024, 2, 29, "2024-02-29", "2024-02"},     {1969, 12, 31, "1969-12-31", "1969-12"},
		{9999, 12, 31, "9999-12-31", "9999-12"},    {0, 1, 1, "0000-01-01", "0000-01"},
		{-9999, 12, 31, "-9999-12-31", "-9999-12"}, {2025, 2, 29, "2025-03-01", "2025-03"},
	};
	char text[DATE_STR_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t day = date_day(rows[i].year, rows[i].month, rows[i].day);

		assert_string_equal(date_str(text, day), rows[i].date);
		assert_string_equal(date_month_str(text, date_month(day)), rows[i].of_month);
	}
}

static void test_what_is_a_date(void **state)
{
	static const struct {
		const char *text;
		int64_t day; /* -1: none */
	} rows[] = {
		{"1970-01-01", 0},     {"2026-11-29", 20786},
		{"2024-02-29", 19782}, {"2199-12-31", 84005},
		{"1969-12-31", -1},    {"2200-01-01", -1},
		{"2025-02-29", -1},    {"2100-02-29", -1},
		{"2026-13-01", -1},    {"2026-00-01", -1},
		{"2026-01-00", -1},    {"2026-01-32", -1},
		{"2026-04-31", -1},    {"2026-1-01", -1},
		{"2026-01-1", -1},     {"2026-01-011", -1},
		{"2026-01-01 ", -1},   {" 2026-01-01", -1},
		{"2026/01/01", -1},    {"", -1},
		{"2026", -1},          {"2026-01", -1},
		{"+026-01-01", -1},    {"20a6-01-01", -1},
		{"2026-01-0\xb2", -1}, {"dddd-dd-dd", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t day = -77;

		print_message("# \"%s\"\n", rows[i].text);
		assert_int_equal(date_parse(rows[i].text, &day), rows[i].day != -1);
		assert_int_equal(day, rows[i].day != -1 ? rows[i].day : -77);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_day_is_as_the_c_library_has_it),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_what_is_a_date),
	};

	return cmocka_run_group_tests_name("dates", tests, NULL, NULL);
}
