/* test_period.c - periods of budgets: their text, and where they begin and end. */
#include "core/period.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmt.h"

static int64_t at(const char *text)
{
	int64_t ms;

	assert_int_equal(fmt_time_parse(text, &ms, NULL), 0);
	return ms;
}

static struct period_rule rule_of(const char *text)
{
	struct period_rule r;

	assert_int_equal(period_parse(&r, text, NULL), 0);
	return r;
}

static void test_a_rule_is_printed_as_it_is_read(void **state)
{
	static const char *const rows[] = {
		"month",
		"quarter",
		"year",
		"year from 04-01",
		"year from 01-02",
		"year from 02-01",
		"year from 12-31",
		"2026-01-01..2026-06-30",
		"2026-01-01..2026-01-01",
		"1970-01-01..2199-12-31",
		"rolling 1d",
		"rolling 30d",
		"rolling 366d",
	};
	char text[PERIOD_STR_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct period_rule r = rule_of(rows[i]), again;

		assert_string_equal(period_str(text, &r), rows[i]);
		again = rule_of(text);
		assert_true(period_same(&r, &again));
		for (size_t k = 0; k < i; k++) {
			struct period_rule other = rule_of(rows[k]);

			assert_false(period_same(&r, &other));
		}
	}
	{
		struct period_rule r = rule_of("year from 01-01"), year = rule_of("year");

		assert_true(period_same(&r, &year));
		assert_string_equal(period_str(text, &r), "year");
	}
}

static void test_what_is_no_rule(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "want month, quarter"},
		{"months", "want month, quarter"},
		{"Month", "want month, quarter"},
		{"month ", "want month, quarter"},
		{"week", "want month, quarter"},
		{"year from", "want month, quarter"},
		{"year from ", "a day that each year has"},
		{"year from 02-29", "a day that each year has"},
		{"year from 02-30", "a day that each year has"},
		{"year from 4-1", "a day that each year has"},
		{"year from 04-011", "a day that each year has"},
		{"year from 13-01", "a day that each year has"},
		{"year from 00-01", "a day that each year has"},
		{"year from 04-01 Europe/Berlin", "a day that each year has"},
		{"year from 2026-04-01", "a day that each year has"},
		{"rolling", "want month, quarter"},
		{"rolling ", "1 to 366 days"},
		{"rolling 30", "1 to 366 days"},
		{"rolling d", "1 to 366 days"},
		{"rolling 0d", "1 to 366 days"},
		{"rolling 030d", "1 to 366 days"},
		{"rolling -1d", "1 to 366 days"},
		{"rolling 367d", "1 to 366 days"},
		{"rolling 99999999999999999999d", "1 to 366 days"},
		{"rolling 30days", "1 to 366 days"},
		{"rolling 24h", "1 to 366 days"},
		{"rolling 1.5d", "1 to 366 days"},
		{"2026-01-01", "want month, quarter"},
		{"2026-01-01..", "want month, quarter"},
		{"..2026-01-01", "want month, quarter"},
		{"2026-01-01...2026-06-30", "want month, quarter"},
		{"2026-01-01..2026-06-31", "want month, quarter"},
		{"2026-02-29..2026-06-30", "want month, quarter"},
		{"2026-01-01 .. 2026-06-30", "want month, quarter"},
		{"2026-01-01..2026-06-30..2026-07-01", "want month, quarter"},
		{"1969-12-31..2026-06-30", "want month, quarter"},
		{"2026-01-01..2200-01-01", "want month, quarter"},
		{"2026-06-30..2026-01-01", "last day is before its first"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct period_rule r = {.kind = PERIOD_ROLLING, .days = 77};
		const struct period_rule before = r;
		struct err e = {0};

		print_message("# \"%s\"\n", rows[i].text);
		assert_int_equal(period_parse(&r, rows[i].text, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
		if (strstr(e.msg, rows[i].says) == NULL)
			fail_msg("%s", e.msg);
		assert_true(period_same(&r, &before));
	}
}

static void test_which_period_is_now(void **state)
{
	static const struct {
		const char *rule, *zone, *now, *name, *begin, *end;
	} rows[] = {
		{"month", "UTC", "2026-11-01T00:00:00Z", "2026-11", "2026-11-01T00:00:00Z",
		 "2026-12-01T00:00:00Z"},
		{"month", "UTC", "2026-11-30T23:59:59.999Z", "2026-11", "2026-11-01T00:00:00Z",
		 "2026-12-01T00:00:00Z"},
		{"month", "UTC", "2026-12-31T12:00:00Z", "2026-12", "2026-12-01T00:00:00Z",
		 "2027-01-01T00:00:00Z"},
		{"month", "Europe/Berlin", "2026-10-31T23:30:00Z", "2026-11",
		 "2026-10-31T23:00:00Z", "2026-11-30T23:00:00Z"},
		/* summer time begins in March, so the month has an hour less */
		{"month", "Europe/Berlin", "2026-03-15T00:00:00Z", "2026-03",
		 "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"},
		{"month", "America/St_Johns", "2009-11-01T02:45:00Z", "2009-11",
		 "2009-11-01T02:30:00Z", "2009-12-01T03:30:00Z"},
		{"quarter", "UTC", "2026-11-29T12:00:00Z", "2026-Q4", "2026-10-01T00:00:00Z",
		 "2027-01-01T00:00:00Z"},
		{"quarter", "UTC", "2026-01-01T00:00:00Z", "2026-Q1", "2026-01-01T00:00:00Z",
		 "2026-04-01T00:00:00Z"},
		{"quarter", "UTC", "2026-06-30T23:59:59Z", "2026-Q2", "2026-04-01T00:00:00Z",
		 "2026-07-01T00:00:00Z"},
		{"quarter", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-Q3",
		 "2026-06-30T22:00:00Z", "2026-09-30T22:00:00Z"},
		{"year", "UTC", "2026-12-31T23:59:59Z", "2026", "2026-01-01T00:00:00Z",
		 "2027-01-01T00:00:00Z"},
		{"year", "Pacific/Apia", "2026-12-31T12:00:00Z", "2027", "2026-12-31T11:00:00Z",
		 "2027-12-31T11:00:00Z"},
		{"year from 04-01", "UTC", "2026-04-01T00:00:00Z", "2026/27",
		 "2026-04-01T00:00:00Z", "2027-04-01T00:00:00Z"},
		{"year from 04-01", "UTC", "2026-03-31T23:59:59.999Z", "2025/26",
		 "2025-04-01T00:00:00Z", "2026-04-01T00:00:00Z"},
		{"year from 04-01", "Asia/Kathmandu", "2026-03-31T18:15:00Z", "2026/27",
		 "2026-03-31T18:15:00Z", "2027-03-31T18:15:00Z"},
		{"year from 10-15", "UTC", "2099-10-15T00:00:00Z", "2099/00",
		 "2099-10-15T00:00:00Z", "2100-10-15T00:00:00Z"},
		{"year from 12-31", "UTC", "2026-11-29T00:00:00Z", "2025/26",
		 "2025-12-31T00:00:00Z", "2026-12-31T00:00:00Z"},
		{"rolling 1d", "UTC", "2026-11-29T12:00:00Z", "1 day", "2026-11-29T00:00:00Z",
		 "2026-11-30T00:00:00Z"},
		{"rolling 30d", "UTC", "2026-11-29T00:00:00Z", "30 days", "2026-10-31T00:00:00Z",
		 "2026-11-30T00:00:00Z"},
		{"rolling 2d", "Europe/Berlin", "2026-03-29T12:00:00Z", "2 days",
		 "2026-03-27T23:00:00Z", "2026-03-29T22:00:00Z"},
		/* the day before had no date */
		{"rolling 2d", "Pacific/Apia", "2011-12-30T10:00:00Z", "2 days",
		 "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"},
		{"2026-01-01..2026-06-30", "UTC", "2026-06-30T23:59:59.999Z",
		 "2026-01-01..2026-06-30", "2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z"},
		{"2026-01-01..2026-06-30", "Europe/Berlin", "2026-05-01T00:00:00Z",
		 "2026-01-01..2026-06-30", "2025-12-31T23:00:00Z", "2026-06-30T22:00:00Z"},
		{"month", "UTC", "1969-12-31T23:59:59.999Z", "1969-12", "1969-12-01T00:00:00Z",
		 "1970-01-01T00:00:00Z"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zone *z = zone_new(rows[i].zone, NULL);
		struct period_rule r = rule_of(rows[i].rule);
		struct period p;

		print_message("# %s, %s, %s\n", rows[i].rule, rows[i].zone, rows[i].now);
		assert_int_equal(period_find(&r, z, at(rows[i].now), &p), PERIOD_NOW);
		assert_string_equal(p.name, rows[i].name);
		assert_int_equal(p.begin_ms, at(rows[i].begin));
		assert_int_equal(p.end_ms, at(rows[i].end));
		zone_free(z);
	}
}

static void test_a_range_has_a_before_and_an_after(void **state)
{
	static const struct {
		const char *now;
		enum period_when when;
	} rows[] = {
		{"2025-12-31T22:59:59.999Z", PERIOD_NOT_YET}, {"2025-12-31T23:00:00Z", PERIOD_NOW},
		{"2026-06-30T21:59:59.999Z", PERIOD_NOW},     {"2026-06-30T22:00:00Z", PERIOD_OVER},
		{"1970-01-01T00:00:00Z", PERIOD_NOT_YET},     {"2099-01-01T00:00:00Z", PERIOD_OVER},
	};
	struct zone *z = zone_new("Europe/Berlin", NULL);
	struct period_rule r = rule_of("2026-01-01..2026-06-30");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct period p, next = {.name = "as it was"};

		assert_int_equal(period_find(&r, z, at(rows[i].now), &p), rows[i].when);
		assert_string_equal(p.name, "2026-01-01..2026-06-30");
		assert_int_equal(p.begin_ms, at("2025-12-31T23:00:00Z"));
		assert_false(period_next(&r, z, &p, &next));
		assert_string_equal(next.name, "as it was");
	}
	zone_free(z);
}

/* Over a century, in each zone: no gap, no overlap, and each is found from its first and its last
 * millisecond. */
static void test_periods_follow_each_other(void **state)
{
	static const char *const zones[] = {"UTC", "Europe/Berlin", "Pacific/Apia",
					    "America/St_Johns", "America/Sao_Paulo"};
	static const struct {
		const char *rule;
		int n;
	} rows[] = {{"month", 1200}, {"quarter", 400}, {"year", 100}, {"year from 11-01", 100}};

	(void)state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct zone *z = zone_new(zones[i], NULL);

		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			struct period_rule r = rule_of(rows[k].rule);
			struct period p, next, same;

			(void)period_find(&r, z, at("1980-06-15T00:00:00Z"), &p);
			for (int n = 0; n < rows[k].n; n++) {
				assert_true(period_next(&r, z, &p, &next));
				assert_int_equal(next.begin_ms, p.end_ms);
				assert_true(next.end_ms > next.begin_ms);
				assert_string_not_equal(next.name, p.name);
				(void)period_find(&r, z, next.begin_ms, &same);
				assert_memory_equal(same.name, next.name, strlen(next.name) + 1);
				(void)period_find(&r, z, next.end_ms - 1, &same);
				assert_string_equal(same.name, next.name);
				assert_int_equal(same.begin_ms, next.begin_ms);
				p = next;
			}
		}
		zone_free(z);
	}
}

static void test_a_rolling_window_moves_by_a_day(void **state)
{
	struct zone *z = zone_new("Europe/Berlin", NULL);
	struct period_rule r = rule_of("rolling 3d");
	struct period p, next;

	(void)state;
	(void)period_find(&r, z, at("2026-03-28T12:00:00Z"), &p);
	assert_true(period_next(&r, z, &p, &next));
	assert_int_equal(next.end_ms - p.end_ms, 23 * 3600000); /* summer time begins */
	assert_int_equal(next.begin_ms - p.begin_ms, 24 * 3600000);
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rule_is_printed_as_it_is_read),
		cmocka_unit_test(test_what_is_no_rule),
		cmocka_unit_test(test_which_period_is_now),
		cmocka_unit_test(test_a_range_has_a_before_and_an_after),
		cmocka_unit_test(test_periods_follow_each_other),
		cmocka_unit_test(test_a_rolling_window_moves_by_a_day),
	};

	return cmocka_run_group_tests_name("periods", tests, NULL, NULL);
}
