/* test_fmt.c - numbers to text and back. */
#include "base/fmt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define DAY_MS INT64_C(86400000)

static void test_time(void **state)
{
	static const struct {
		int64_t ms;
		const char *want;
	} rows[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{1, "1970-01-01T00:00:00.001Z"},
		{-1, "1969-12-31T23:59:59.999Z"},
		{-DAY_MS, "1969-12-31T00:00:00.000Z"},
		{INT64_C(951782400000), "2000-02-29T00:00:00.000Z"},
		{INT64_C(1709164800123), "2024-02-29T00:00:00.123Z"},
		{INT64_C(1767323045678), "2026-01-02T03:04:05.678Z"},
		{INT64_C(4107542400000), "2100-03-01T00:00:00.000Z"},
		{INT64_C(253402300799999), "9999-12-31T23:59:59.999Z"},
		{INT64_C(253402300800000), "10000-01-01T00:00:00.000Z"},
		{INT64_MAX, "292278994-08-17T07:12:55.807Z"},
		{INT64_MIN, "-292275055-05-16T16:47:04.192Z"},
	};
	char text[FMT_TIME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(fmt_time(text, rows[i].ms), rows[i].want);
}

/* Every day for 400 years against the C library. */
static void test_time_like_gmtime(void **state)
{
	(void)state;
	for (int64_t day = -80000; day < 70000; day++) {
		const time_t t = (time_t)(day * 86400);
		char want[FMT_TIME_SIZE], text[FMT_TIME_SIZE];
		struct tm tm;

		assert_non_null(gmtime_r(&t, &tm));
		assert_true(strftime(want, sizeof(want), "%Y-%m-%dT00:00:00.000Z", &tm) > 0);
		if (strcmp(fmt_time(text, day * DAY_MS), want) != 0)
			fail_msg("%s, want %s", text, want);
	}
}

/* An hour ahead of UTC, and two between the last Sundays of March and October of 2026. */
static int64_t berlin(int64_t wall_ms)
{
	const int64_t spring = INT64_C(1774746000000), autumn = INT64_C(1792890000000);

	return wall_ms >= spring && wall_ms < autumn ? 7200000 : 3600000;
}

static void test_local(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"2026-01-02T03:04:05Z", "2026-01-02T04:04:05"},
		{"until 2026-01-02T23:05:06Z (in 27s)", "until 2026-01-03T00:05:06 (in 27s)"},
		{"2026-12-31T23:30:00Z, 2026-07-01T12:00:00Z.",
		 "2027-01-01T00:30:00, 2026-07-01T14:00:00."},
		/* There is no 02:30 when summer time begins, and there are two when it ends. */
		{"2026-03-29T00:59:59Z 2026-03-29T01:00:00Z",
		 "2026-03-29T01:59:59 2026-03-29T03:00:00"},
		{"2026-10-25T00:30:00Z 2026-10-25T01:30:00Z",
		 "2026-10-25T02:30:00 2026-10-25T02:30:00"},
		/* Nothing else that looks like one. */
		{"", ""},
		{"T", "T"},
		{"2026-13-02T23:05:06Z", "2026-13-02T23:05:06Z"},
		{"2026-01-02T23:05:06", "2026-01-02T23:05:06"},
		{"2026-01-02T23:05:06.000Z", "2026-01-02T23:05:06.000Z"},
		{"T23:05:06Z 2026-01-02T23:05Z", "T23:05:06Z 2026-01-02T23:05Z"},
		{"9999-12-31T23:30:00Z", "9999-12-31T23:30:00Z"}, /* it would not fit */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64], same[64];

		(void)snprintf(text, sizeof(text), "%s", rows[i].text);
		(void)snprintf(same, sizeof(same), "%s", rows[i].text);
		fmt_local(text, berlin);
		assert_string_equal(text, rows[i].want);
		fmt_local(same, NULL);
		assert_string_equal(same, rows[i].text);
	}
}

static void test_integers(void **state)
{
	char text[FMT_U64_SIZE];

	(void)state;
	assert_string_equal(fmt_u64(text, 0), "0");
	assert_string_equal(fmt_u64(text, UINT64_MAX), "18446744073709551615");
	assert_string_equal(fmt_i64(text, INT64_MIN), "-9223372036854775808");
}

static void test_duration(void **state)
{
	static const struct {
		int64_t ms;
		const char *want;
	} rows[] = {
		{0, "0ms"},
		{999, "999ms"},
		{1000, "1s"},
		{59999, "59s"},
		{60000, "1m00s"},
		{3599999, "59m59s"},
		{3600000, "1h00m"},
		{11520000, "3h12m"},
		{DAY_MS, "1d00h"},
		{366 * DAY_MS, "366d00h"},
		{-1500, "-1s"},
		{INT64_MAX, "106751991167d07h"},
		{INT64_MIN, "-106751991167d07h"},
	};
	char text[FMT_DUR_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(fmt_duration(text, rows[i].ms), rows[i].want);
}

static void test_duration_parse(void **state)
{
	static const struct {
		const char *text;
		int64_t want; /* -1: refused */
	} rows[] = {
		{"0s", 0},
		{"500ms", 500},
		{"30s", 30000},
		{"15m", 900000},
		{"2h", 7200000},
		{"7d", 7 * DAY_MS},
		{"366d", 366 * DAY_MS},
		{"007s", 7000},
		{"367d", -1},
		{"31622401s", -1},
		{"31622400s", 366 * DAY_MS},
		{"999999999999d", -1},
		{"9999999999999s", -1},
		{"99999999999999999999999999999ms", -1},
		{"30", -1},
		{"0", -1},
		{"", -1},
		{"s", -1},
		{"-1s", -1},
		{"+1s", -1},
		{" 1s", -1},
		{"1s ", -1},
		{"1 s", -1},
		{"1.5s", -1},
		{"1S", -1},
		{"1h30m", -1},
		{"1msx", -1},
		{"0x1s", -1},
		{"\xd9\xa1s", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = {0};
		int64_t ms = 12345;
		int rc = fmt_duration_parse(rows[i].text, &ms, &e);

		if (rc != (rows[i].want < 0 ? -1 : 0) ||
		    ms != (rows[i].want < 0 ? 0 : rows[i].want))
			fail_msg("\"%s\": %d, %lld", rows[i].text, rc, (long long)ms);
		assert_int_equal(e.code, rc == 0 ? ERR_NONE : ERR_INVALID);
	}
	assert_int_equal(fmt_duration_parse("x", &(int64_t){0}, NULL), -1);
}

static void test_money(void **state)
{
	static const struct {
		int64_t nano;
		const char *want;
	} rows[] = {
		{0, "0.00"},
		{FMT_NANO, "1.00"},
		{INT64_C(29520000000), "29.52"},
		{INT64_C(29500000000), "29.50"},
		{1, "0.000000001"},
		{-1, "-0.000000001"},
		{INT64_C(1230000000), "1.23"},
		{INT64_C(1234000000), "1.234"},
		{INT64_C(-10000000000), "-10.00"},
		{INT64_MAX, "9223372036.854775807"},
		{INT64_MIN, "-9223372036.854775808"},
	};
	char text[FMT_MONEY_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(fmt_money(text, rows[i].nano), rows[i].want);
}

static void test_money_parse(void **state)
{
	static const struct {
		const char *text;
		int64_t want; /* -1: refused */
	} rows[] = {
		{"0", 0},
		{"29.52", INT64_C(29520000000)},
		{"29.520000000", INT64_C(29520000000)},
		{"0.000000001", 1},
		{"1.1", INT64_C(1100000000)},
		{"0001", FMT_NANO},
		{"8999999999.999999999", INT64_C(8999999999999999999)},
		{"9000000000", -1},
		{"99999999999999999999999999", -1},
		{"0.0000000001", -1},
		{"", -1},
		{".", -1},
		{".5", -1},
		{"5.", -1},
		{"1.2.3", -1},
		{"-1", -1},
		{"+1", -1},
		{"1e3", -1},
		{"1,5", -1},
		{" 1", -1},
		{"1 ", -1},
		{"$1", -1},
		{"nan", -1},
		{"0x10", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = {0};
		int64_t nano = 12345;
		int rc = fmt_money_parse(rows[i].text, &nano, &e);

		if (rc != (rows[i].want < 0 ? -1 : 0) ||
		    nano != (rows[i].want < 0 ? 0 : rows[i].want))
			fail_msg("\"%s\": %d, %lld", rows[i].text, rc, (long long)nano);
		assert_int_equal(e.code, rc == 0 ? ERR_NONE : ERR_INVALID);
	}
}

static void test_money_round_trip(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		char text[FMT_MONEY_SIZE];
		int64_t nano, back;

		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		nano = (int64_t)(seed >> (2 + i % 60)) % INT64_C(9000000000000000000);
		assert_int_equal(fmt_money_parse(fmt_money(text, nano), &back, NULL), 0);
		assert_true(back == nano);
	}
}

static void test_cost(void **state)
{
	static const struct {
		int64_t ms, rate, want;
	} rows[] = {
		{0, INT64_C(30000000000), 0},
		{1000, 0, 0},
		{3600000, INT64_C(29520000000), INT64_C(29520000000)},
		{1800000, 3, 2}, /* 1.5 */
		{1799999, 3, 1},
		{1, 1800000, 1}, /* 0.5 */
		{1, 1799999, 0},
		{INT64_MAX, INT64_MAX, INT64_MAX},
		{INT64_MAX, 3600000, INT64_MAX},
		{INT64_MAX, 3600001, INT64_MAX},
		{366 * DAY_MS, INT64_C(98320000000), INT64_C(863642880000000)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(fmt_cost(rows[i].ms, rows[i].rate) == rows[i].want);
}

static void test_time_parse(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2026-01-02T03:04:05Z", INT64_C(1767323045000)},
		{"2026-01-02T03:04:05.678Z", INT64_C(1767323045678)},
		{"2024-02-29T23:59:59Z", INT64_C(1709251199000)},
		{"2100-12-31T23:59:59.999Z", INT64_C(4133980799999)},
		{"1969-12-31T23:59:59.000Z", -1000},
	};
	static const char *const bad[] = {
		"",
		"now",
		"2026-01-02",
		"2026-01-02T03:04:05",
		"2026-01-02T03:04:05+01:00",
		"2026-01-02 03:04:05Z",
		"2026-1-02T03:04:05Z",
		"2026-02-29T00:00:00Z",
		"2026-00-10T00:00:00Z",
		"2026-13-10T00:00:00Z",
		"2026-01-00T00:00:00Z",
		"2026-01-02T24:00:00Z",
		"2026-01-02T23:60:00Z",
		"2026-01-02T23:59:60Z",
		"2026-01-02T03:04:05.6Z",
		"2026-01-02T03:04:05Zx",
		"12026-01-02T03:04:05Z",
	};
	char again[FMT_TIME_SIZE];
	struct err e = {0};
	int64_t ms;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(fmt_time_parse(good[i].text, &ms, &e), 0);
		assert_true(ms == good[i].ms);
		assert_int_equal(fmt_time_parse(fmt_time(again, ms), &ms, &e), 0);
		assert_true(ms == good[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (fmt_time_parse(bad[i], &ms, &e) == 0)
			fail_msg("%s is taken for %lld", bad[i], (long long)ms);
	assert_non_null(strstr(e.msg, "want a time such as 2026-01-02T03:04:05Z"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_parse),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_time_like_gmtime),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_duration_parse),
		cmocka_unit_test(test_money),
		cmocka_unit_test(test_money_parse),
		cmocka_unit_test(test_money_round_trip),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests_name("fmt", tests, NULL, NULL);
}
