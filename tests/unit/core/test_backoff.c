/* test_backoff.c - how long a refused job waits, and a pool whose machines come up wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/breaker.h"
#include "core/refusal.h"

static const struct refusal_hint none;

static void test_refusals(void **state)
{
	static const int64_t wait[] = {30, 60, 120, 240, 480, 900, 900, 900};
	struct refusal r = {0};
	int64_t now = 1000000;

	(void)state;
	assert_int_equal(refusal_wait_ms(&r), 0);
	for (size_t i = 0; i < sizeof(wait) / sizeof(wait[0]); i++) {
		assert_int_equal(refusal_add(&r, none, now), wait[i] * 1000);
		assert_false(refusal_over(&r, now));
		now += wait[i] * 1000 + 5000;
	}
	assert_int_equal(r.count, 8);
	for (int i = 0; i < 100; i++) /* and so for ever */
		assert_int_equal(refusal_add(&r, none, now), 900000);
}

static void test_refusals_end(void **state)
{
	struct refusal r = {0};

	(void)state;
	(void)refusal_add(&r, none, 0);
	assert_int_equal(refusal_add(&r, none, 30000), 60000);
	assert_false(refusal_over(&r, 30000 + 2 * 60000 + REFUSAL_SLACK_MS));
	assert_true(refusal_over(&r, 30001 + 2 * 60000 + REFUSAL_SLACK_MS));
	assert_int_equal(refusal_add(&r, none, 30001 + 2 * 60000 + REFUSAL_SLACK_MS), 30000);
}

static void test_a_refusal_waits_for_what_is_known(void **state)
{
	struct refusal r = {0};

	(void)state;
	/* not before the place may be tried again */
	assert_int_equal(refusal_add(&r, (struct refusal_hint){.not_before_ms = 61000}, 1000),
			 60000);
	assert_int_equal(refusal_wait_ms(&r), 60000);
	assert_int_equal(r.first_ms, 1000);
	/* what is over already makes nothing longer */
	assert_int_equal(refusal_add(&r, (struct refusal_hint){.not_before_ms = 62000}, 63000),
			 60000);
	assert_int_equal(r.first_ms, 1000);
	/* then it may have on-demand, whatever it waited for */
	assert_int_equal(
		refusal_add(&r, (struct refusal_hint){.not_before_ms = 900000, .surely_ms = 130000},
			    125000),
		5000);
	assert_int_equal(refusal_wait_ms(&r), 5000);
	/* that time has passed: it says nothing */
	assert_int_equal(refusal_add(&r, (struct refusal_hint){.surely_ms = 130000}, 130000),
			 240000);
	/* an hour at most */
	assert_int_equal(refusal_add(&r, (struct refusal_hint){.not_before_ms = 99000000}, 130000),
			 REFUSAL_HOLD_MS);
	/* one of an older burstd */
	r = (struct refusal){.count = 2, .last_ms = 1};
	assert_int_equal(refusal_wait_ms(&r), 60000);
	/* the clock has gone back (F57) */
	r = (struct refusal){.count = 1, .last_ms = 500, .first_ms = 500};
	(void)refusal_add(&r, none, 400);
	assert_int_equal(r.first_ms, 400);
}

static void test_the_time_of_another_chance_makes_a_wait_shorter_never_longer(void **state)
{
	static const int64_t now = 1000000;
	static const struct {
		int64_t not_before, surely, want; /* from now; 0: not known */
	} rows[] = {
		{0, 10000, 10000},         {0, 1, 1},
		{0, 3600000, REFUSAL_MS},  {600000, 10000, 10000},
		{600000, 3600000, 600000}, {600000, -10000, 600000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct refusal_hint hint = {.not_before_ms = now + rows[i].not_before,
					    .surely_ms = now + rows[i].surely};
		struct refusal r = {0};

		assert_int_equal(refusal_add(&r, hint, now), rows[i].want);
		assert_int_equal(refusal_wait_ms(&r), rows[i].want);
		assert_false(refusal_lasts(&r));
	}
}

static void test_what_no_wait_can_mend_waits_a_day(void **state)
{
	struct refusal r = {0};

	(void)state;
	assert_false(refusal_lasts(&r));
	for (int i = 0; i < 2; i++) {
		struct refusal_hint hint = {.lasting = true, .surely_ms = 5000};

		assert_int_equal(refusal_add(&r, hint, 1000), REFUSAL_DAY_MS);
		assert_true(refusal_lasts(&r));
	}
	/* The longest wait for a place is not for ever. */
	(void)refusal_add(&r, (struct refusal_hint){.not_before_ms = 99000000}, 2000);
	assert_false(refusal_lasts(&r));
}

/* The row of a job that is kept for another reason. */
static void test_without_a_refusal_there_is_no_wait(void **state)
{
	const struct refusal r = {.wait_ms = REFUSAL_DAY_MS};

	(void)state;
	assert_int_equal(refusal_wait_ms(&r), 0);
	assert_false(refusal_lasts(&r));
}

static void test_first_failure_is_bad_luck(void **state)
{
	struct breaker b = {0};

	(void)state;
	assert_true(breaker_fail(&b, 10, 100));
	assert_false(breaker_is_open(&b, 100));
	/* the rest of the gang: bought before that was known */
	assert_false(breaker_fail(&b, 10, 101));
	assert_false(breaker_fail(&b, 100, 102));
	assert_false(breaker_is_open(&b, 102));
}

static void test_breaker_closes_and_doubles(void **state)
{
	static const int64_t minutes[] = {5, 10, 20, 40, 60, 60};
	struct breaker b = {0};
	int64_t now = 100;

	(void)state;
	assert_true(breaker_fail(&b, 10, now));
	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		assert_true(breaker_fail(&b, now + 1, now + 2));
		now += 2;
		assert_true(breaker_is_open(&b, now + minutes[i] * 60000 - 1));
		assert_false(breaker_is_open(&b, now + minutes[i] * 60000));
		now += minutes[i] * 60000;
	}
}

static void test_success_forgets(void **state)
{
	struct breaker b = {0};

	(void)state;
	assert_false(breaker_ok(&b));
	(void)breaker_fail(&b, 1, 2);
	(void)breaker_fail(&b, 3, 4);
	assert_true(breaker_is_open(&b, 5));
	assert_true(breaker_ok(&b));
	assert_false(breaker_is_open(&b, 5));
	(void)breaker_fail(&b, 6, 7);
	assert_false(breaker_is_open(&b, 8)); /* bad luck again */
}

static void test_one_failure_is_one_to_forget(void **state)
{
	struct breaker b = {0};

	(void)state;
	assert_true(breaker_fail(&b, 0, 1)); /* no wave has been seen: it is the first */
	assert_true(breaker_ok(&b));
	assert_false(breaker_ok(&b));
}

/* One purchase at a time, from when it opens until a node comes up. */
static void test_probes(void **state)
{
	struct breaker b = {0};

	(void)state;
	assert_false(breaker_probes(&b, 0));
	(void)breaker_fail(&b, 1, 2);
	assert_false(breaker_probes(&b, 3)); /* bad luck */
	(void)breaker_fail(&b, 3, 4);
	assert_false(breaker_probes(&b, 4 + BREAKER_MS - 1)); /* closed: none at all */
	assert_true(breaker_probes(&b, 4 + BREAKER_MS));
	(void)breaker_ok(&b);
	assert_false(breaker_probes(&b, 4 + BREAKER_MS));
}

static void test_rest(void **state)
{
	static const int64_t seconds[] = {60, 300, 600, 1200, 2400, 3600, 3600};

	(void)state;
	for (uint32_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
		assert_int_equal(breaker_rest_ms(i + 1), seconds[i] * 1000);
	assert_int_equal(breaker_rest_ms(100), BREAKER_MAX_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_refusals_end),
		cmocka_unit_test(test_a_refusal_waits_for_what_is_known),
		cmocka_unit_test(test_the_time_of_another_chance_makes_a_wait_shorter_never_longer),
		cmocka_unit_test(test_what_no_wait_can_mend_waits_a_day),
		cmocka_unit_test(test_without_a_refusal_there_is_no_wait),
		cmocka_unit_test(test_first_failure_is_bad_luck),
		cmocka_unit_test(test_breaker_closes_and_doubles),
		cmocka_unit_test(test_success_forgets),
		cmocka_unit_test(test_one_failure_is_one_to_forget),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
