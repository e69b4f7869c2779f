/* test_clock.c - the time line that goes on over a restart (I26, F57). */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOUR INT64_C(3600000)
#define T0   INT64_C(1800000000000)

static void test_boot_id_is_one_number_for_a_boot(void **state)
{
	(void)state;
	assert_true(clock_boot_id() > 0);
	assert_true(clock_boot_id() == clock_boot_id());
}

/* was: after 5 h of boot 7 the line stood at T0. */
static void test_a_line_goes_on(void **state)
{
	static const struct {
		const char *what;
		struct clock_line was;
		int64_t boot_id, boot_ms, wall_ms, now_ms;
	} rows[] = {
		{"nothing is known: the wall clock", {0, 0, 0, 0}, 7, HOUR, T0, T0},
		{"nothing but events", {0, 0, 0, T0 - 1}, 7, HOUR, T0, T0},
		{"the same boot", {7, T0 - 5 * HOUR, 0, T0}, 7, 6 * HOUR, T0 + HOUR, T0 + HOUR},
		{"... and the clock was set forward",
		 {7, T0 - 5 * HOUR, 0, T0},
		 7,
		 6 * HOUR,
		 T0 + 90 * HOUR,
		 T0 + HOUR},
		{"... or back", {7, T0 - 5 * HOUR, 0, T0}, 7, 6 * HOUR, T0 - 90 * HOUR, T0 + HOUR},
		{"another boot", {7, T0 - 5 * HOUR, 0, T0}, 8, 60000, T0 + HOUR, T0 + HOUR},
		{"... by a clock that was set before",
		 {7, T0 - 5 * HOUR, -HOUR, T0},
		 8,
		 60000,
		 T0 + 2 * HOUR,
		 T0 + HOUR},
		{"... with a clock that lost its battery",
		 {7, T0 - 5 * HOUR, 0, T0},
		 8,
		 60000,
		 60000,
		 T0},
		{"a boot that cannot be told",
		 {0, T0 - 5 * HOUR, 0, T0},
		 0,
		 60000,
		 T0 + HOUR,
		 T0 + HOUR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t offset = clock_line_offset(&rows[i].was, rows[i].boot_id, rows[i].boot_ms,
						   rows[i].wall_ms);

		if (offset + rows[i].boot_ms != rows[i].now_ms)
			fail_msg("%s: %lld", rows[i].what,
				 (long long)(offset + rows[i].boot_ms - T0));
	}
}

/* Summer time as it was, is and will be, and a zone that an admin changes while we run. */
static void test_the_zone_is_that_of_the_time(void **state)
{
	(void)state;
	(void)setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	assert_int_equal(clock_zone_ms(INT64_C(1767323045678)), HOUR); /* 2026-01-02 */
	assert_int_equal(clock_zone_ms(INT64_C(1774746000000) - 1), HOUR);
	assert_int_equal(clock_zone_ms(INT64_C(1774746000000)), 2 * HOUR);
	assert_int_equal(clock_zone_ms(INT64_C(1792890000000) - 1), 2 * HOUR);
	assert_int_equal(clock_zone_ms(INT64_C(1792890000000)), HOUR);
	(void)setenv("TZ", "NST3:30", 1);
	assert_int_equal(clock_zone_ms(T0), -7 * HOUR / 2);
	(void)setenv("TZ", "UTC0", 1);
	assert_int_equal(clock_zone_ms(T0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boot_id_is_one_number_for_a_boot),
		cmocka_unit_test(test_a_line_goes_on),
		cmocka_unit_test(test_the_zone_is_that_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
