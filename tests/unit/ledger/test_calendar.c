/* test_calendar.c - days of zones whose clocks are set, also over midnight. */
#include "base/date.h"
#include "ledger/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_dates(void **state)
{
	static const struct {
		const char *text;
		int64_t day; /* -1: there is none */
	} rows[] = {{"1970-01-01", 0},     {"2000-02-29", 11016}, {"2026-11-29", 20786},
		    {"2100-02-28", 47540}, {"2100-02-29", -1},    {"2026-11-31", -1},
		    {"2026-13-01", -1},    {"2026-00-01", -1},    {"2026-1-01", -1},
		    {"2026-11-29x", -1},   {"1969-12-31", -1},    {"", -1},
		    {"2199-12-31", 84005}};
	char out[DATE_STR_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t day = -1;
		struct err e = {0};

		print_message("# %s\n", rows[i].text);
		assert_int_equal(calendar_parse_day(rows[i].text, &day, &e),
				 rows[i].day < 0 ? -1 : 0);
		if (rows[i].day < 0)
			continue;
		assert_int_equal(day, rows[i].day);
		assert_string_equal(date_str(out, day), rows[i].text);
	}
	for (int64_t day = -800000; day < 800000; day++) {
		int64_t month = date_month(day), first = date_month_day(month);

		assert_true(first <= day && date_month_day(month + 1) > day);
	}
}

static void test_months(void **state)
{
	char out[DATE_STR_SIZE];
	int64_t month;
	struct err e = {0};

	(void)state;
	assert_int_equal(calendar_parse_month("2026-03", &month, &e), 0);
	assert_int_equal(month, 2026 * 12 + 2);
	assert_string_equal(date_month_str(out, month), "2026-03");
	assert_string_equal(date_str(out, date_month_day(month)), "2026-03-01");
	assert_int_equal(calendar_parse_month("2026-13", &month, &e), -1);
	assert_int_equal(calendar_parse_month("2026-3", &month, &e), -1);
	assert_int_equal(calendar_parse_month("2026-03-01", &month, &e), -1);
}

/* Days follow each other without gap, and each begins when its date does first. */
static void test_days_of_zones(void **state)
{
	static const struct {
		const char *zone;
		const char *day;
		int64_t begin_s, seconds;
	} rows[] = {
		{"UTC", "2026-03-29", 1774742400, 86400},
		{"Europe/Berlin", "2026-03-29", 1774738800, 82800},       /* summer time begins */
		{"Europe/Berlin", "2026-10-25", 1792879200, 90000},       /* and ends */
		{"Australia/Lord_Howe", "2026-04-05", 1775307600, 88200}, /* by half an hour */
		{"America/Sao_Paulo", "2018-11-04", 1541300400, 82800},   /* no midnight */
		{"America/Havana", "2026-11-01", 1793505600, 90000},
		{"Asia/Beirut", "2022-03-27", 1648332000, 82800},       /* no midnight */
		{"America/Sao_Paulo", "2018-02-17", 1518832800, 90000}, /* midnight twice */
		/* from 00:01 back to 23:01: that hour is of the day that has begun */
		{"America/St_Johns", "2010-11-06", 1289010600, 86400},
		{"Pacific/Apia", "2011-12-30", 1325239200, 0}, /* there was none */
		{"Pacific/Apia", "2011-12-29", 1325152800, 86400},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct calendar c;
		struct err e = {0};
		int64_t day;

		print_message("# %s, %s\n", rows[i].zone, rows[i].day);
		assert_int_equal(calendar_init(&c, rows[i].zone, &e), 0);
		assert_int_equal(calendar_parse_day(rows[i].day, &day, &e), 0);
		assert_int_equal(calendar_day_begin(&c, day), rows[i].begin_s);
		assert_int_equal(calendar_day_begin(&c, day + 1) - rows[i].begin_s,
				 rows[i].seconds);
		for (int64_t t = rows[i].begin_s - 90000; t < rows[i].begin_s + 180000; t += 599) {
			int64_t d = calendar_day(&c, t);
			struct allocate_calendar a = calendar_of_days(&c);

			assert_true(calendar_day_begin(&c, d) <= t);
			assert_true(calendar_day_begin(&c, d + 1) > t);
			assert_true(a.month(a.ctx, t) == d);
			assert_true(a.next(a.ctx, t) == calendar_day_begin(&c, d + 1));
		}
		calendar_fini(&c);
	}
}

static void test_no_zone(void **state)
{
	struct calendar c;
	struct err e = {0};

	(void)state;
	assert_int_equal(calendar_init(&c, "Europe/Nowhere", &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_months),
		cmocka_unit_test(test_days_of_zones),
		cmocka_unit_test(test_no_zone),
	};

	return cmocka_run_group_tests_name("ledger, calendar", tests, NULL, NULL);
}
