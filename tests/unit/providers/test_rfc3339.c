/* test_rfc3339.c - times as vendors write them. */
#include "providers/common/rfc3339.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/fmt.h"

static void test_times_that_vendors_write(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:00.001Z", 1},
		{"1969-12-31T23:59:59.999Z", -1},
		{"2026-01-02T03:04:05Z", 1767323045000},
		{"2026-01-02t03:04:05z", 1767323045000},
		{"2026-01-02T03:04:05.6Z", 1767323045600},
		{"2026-01-02T03:04:05.67Z", 1767323045670},
		{"2026-01-02T03:04:05.6789999Z", 1767323045678},
		{"2026-01-02T03:04:05.000000000Z", 1767323045000},
		{"2026-01-02T03:04:05.123456789012345678Z", 1767323045123},
		{"2026-01-02T03:04:05+00:00", 1767323045000},
		{"2026-01-02T03:04:05-00:00", 1767323045000},
		{"2026-01-02T05:34:05+02:30", 1767323045000},
		{"2026-01-01T22:04:05.5-05:00", 1767323045500},
		{"2026-01-03T03:03:05+23:59", 1767323045000},
		{"2024-02-29T00:00:00Z", 1709164800000},
		{"2000-02-29T12:00:00Z", 951825600000},
		{"0001-01-01T00:00:00Z", -62135596800000},
		{"9999-12-31T23:59:59.999Z", 253402300799999},
		/* leap seconds, one of them in a zone (RFC 3339, 5.8) */
		{"1990-12-31T23:59:60Z", 662688000000},
		{"1990-12-31T15:59:60-08:00", 662688000000},
		{"2016-12-31T23:59:60.5Z", 1483228800500},
		{"2015-06-30T23:59:60Z", 1435708800000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = 7;

		if (rfc3339_parse(rows[i].text, &ms) != 0 || ms != rows[i].ms)
			fail_msg("%s: %lld", rows[i].text, (long long)ms);
	}
}

static void test_what_is_no_time_is_refused(void **state)
{
	static const char *const rows[] = {
		"",
		"Z",
		"2026",
		"2026-01-02",
		"2026-01-02T03:04Z",
		"2026-01-02T03:04:05",
		"2026-01-02 03:04:05Z",
		"2026-01-02T03:04:05 Z",
		" 2026-01-02T03:04:05Z",
		"2026-01-02T03:04:05Z ",
		"2026-01-02T03:04:05ZZ",
		"2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05,5Z",
		"2026-01-02T03:04:05.5",
		"2026-01-02T03:04:05.1234567890123456789Z",
		"2026-01-02T03:04:05+0200",
		"2026-01-02T03:04:05+02",
		"2026-01-02T03:04:05+02:0",
		"2026-01-02T03:04:05+02:000",
		"2026-01-02T03:04:05+24:00",
		"2026-01-02T03:04:05+02:60",
		"2026-01-02T03:04:05+-2:00",
		"2026-01-02T03:04:05+1/:00",
		"2026-01-02T03:04:05+0::00",
		"2026-01-02T03:04:05+02:1/",
		"2026-01-02T03:04:05*02:00",
		"2026-00-02T03:04:05Z",
		"2026-13-02T03:04:05Z",
		"2026-01-00T03:04:05Z",
		"2026-01-32T03:04:05Z",
		"2026-02-29T03:04:05Z",
		"1900-02-29T03:04:05Z",
		"2026-04-31T03:04:05Z",
		"2026-01-02T24:00:00Z",
		"2026-01-02T03:60:05Z",
		"2026-01-02T03:04:61Z",
		"2026-1-2T3:4:5Z",
		"+026-01-02T03:04:05Z",
		"12026-01-02T03:04:05Z",
		"2026/01/02T03:04:05Z",
		"20260102T030405Z",
		"1767323045",
		/* no leap second: not the last of a month, or not in UTC */
		"2026-01-02T23:59:60Z",
		"2026-01-31T22:59:60Z",
		"2026-01-31T23:58:60Z",
		"2026-02-01T00:29:60Z",
		"2016-12-31T23:59:61Z",
		"2026-01-31T23:59:60+01:00",
		"Fri, 02 Jan 2026 03:04:05 GMT",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t ms = 7;

		if (rfc3339_parse(rows[i], &ms) != -1 || ms != 0)
			fail_msg("%s: %lld", rows[i], (long long)ms);
	}
}

static void test_our_own_times_are_read_back(void **state)
{
	(void)state;
	for (int64_t ms = -62135596800000; ms < 253402300800000; ms += INT64_C(86399999) * 31) {
		char text[FMT_TIME_SIZE];
		int64_t again;

		assert_int_equal(rfc3339_parse(fmt_time(text, ms), &again), 0);
		assert_int_equal(again, ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_that_vendors_write),
		cmocka_unit_test(test_what_is_no_time_is_refused),
		cmocka_unit_test(test_our_own_times_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
