/* test_deadman.c - when a node puts itself out, and above all when not. */
#include "agent/deadman.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { LIMIT = 600000, JOB = 3600000, TURN = 10000 };

static struct deadman d;
static int64_t now;

static void begin(int64_t limit, int64_t job)
{
	now = 1000000;
	deadman_init(&d, limit, job, now);
}

static enum deadman_order turn(int64_t ms, bool job)
{
	now += ms;
	return deadman_turn(&d, job, now);
}

static void fail_often(void)
{
	for (int i = 0; i < 10; i++)
		deadman_failed(&d);
}

/* Turns until an order comes; how many ms that took, -1: more than `most`. */
static int64_t until(enum deadman_order want, bool job, int64_t most)
{
	const int64_t begun = now;

	while (now - begun < most)
		if (turn(TURN, job) == want)
			return now - begun;
	return -1;
}

static void test_powers_off(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	fail_often();
	assert_int_equal(until(DEADMAN_POWEROFF, false, 2 * LIMIT), LIMIT + DEADMAN_IDLE_MS);
	/* The order is repeated as long as the machine is there. */
	assert_int_equal(until(DEADMAN_POWEROFF, false, LIMIT), DEADMAN_AGAIN_MS);
	assert_int_equal(until(DEADMAN_POWEROFF, true, LIMIT), DEADMAN_AGAIN_MS);
}

static void test_a_heartbeat_is_enough(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	for (int i = 0; i < 100; i++) {
		fail_often();
		assert_int_equal(until(DEADMAN_POWEROFF, false, LIMIT - TURN), -1);
		deadman_heard(&d, now);
	}
	assert_int_equal(d.state, DEADMAN_ALIVE);
	/* After the order, too: power-off has failed, and burstd is there again. */
	fail_often();
	assert_true(until(DEADMAN_POWEROFF, false, 2 * LIMIT) > 0);
	deadman_heard(&d, now);
	assert_int_equal(until(DEADMAN_POWEROFF, false, LIMIT - TURN), -1);
}

static void test_only_failures_count(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	deadman_failed(&d);
	deadman_failed(&d);
	assert_int_equal(until(DEADMAN_POWEROFF, false, 100 * LIMIT), -1);
	deadman_failed(&d);
	assert_true(until(DEADMAN_POWEROFF, false, LIMIT) > 0);
}

static void test_a_jump_counts_as_a_turn(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	fail_often();
	/* Suspended for a year, back in time, and a clock at its end. */
	assert_int_equal(turn(INT64_C(31536000000), false), DEADMAN_NOTHING);
	assert_int_equal(turn(-INT64_C(31536000000), false), DEADMAN_NOTHING);
	assert_int_equal(d.silent, DEADMAN_TURN_MS);
	for (int i = 2; i < LIMIT / DEADMAN_TURN_MS; i++)
		assert_int_equal(turn(INT64_C(86400000), false), DEADMAN_NOTHING);
	assert_int_equal(d.state, DEADMAN_ALIVE);
}

static void test_a_job_has_its_time(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	fail_often();
	assert_int_equal(until(DEADMAN_WARN, true, 2 * LIMIT), LIMIT);
	assert_int_equal(until(DEADMAN_WARN, true, JOB / 2), -1); /* once */
	assert_int_equal(d.state, DEADMAN_SILENT);
	assert_int_equal(until(DEADMAN_POWEROFF, true, JOB), JOB / 2);
	begin(LIMIT, JOB);
	fail_often();
	assert_int_equal(until(DEADMAN_WARN, true, 2 * LIMIT), LIMIT);
	assert_int_equal(until(DEADMAN_POWEROFF, false, JOB), TURN + DEADMAN_IDLE_MS);
}

/* One step ends, the next begins a moment later: that is a node with a job. */
static void test_between_two_steps(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	fail_often();
	(void)until(DEADMAN_WARN, true, 2 * LIMIT);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(turn(TURN / 2, false), DEADMAN_NOTHING);
		assert_int_equal(turn(TURN / 2, true), DEADMAN_NOTHING);
	}
}

/* Seen without a job for the first time, long after it was looked at with one: that is a moment. */
static void test_a_moment_without_a_job(void **state)
{
	(void)state;
	begin(LIMIT, JOB);
	fail_often();
	(void)until(DEADMAN_WARN, true, 2 * LIMIT);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(turn(DEADMAN_TURN_MS, false), DEADMAN_NOTHING);
		assert_int_equal(turn(DEADMAN_TURN_MS, true), DEADMAN_NOTHING);
	}
	assert_int_equal(turn(TURN, false), DEADMAN_NOTHING);
	assert_int_equal(turn(DEADMAN_IDLE_MS - 1, false), DEADMAN_NOTHING);
	assert_int_equal(turn(1, false), DEADMAN_POWEROFF);
}

static void test_switched_off(void **state)
{
	(void)state;
	begin(0, JOB);
	fail_often();
	assert_int_equal(until(DEADMAN_POWEROFF, false, 10 * LIMIT), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_powers_off),
		cmocka_unit_test(test_a_heartbeat_is_enough),
		cmocka_unit_test(test_only_failures_count),
		cmocka_unit_test(test_a_jump_counts_as_a_turn),
		cmocka_unit_test(test_a_job_has_its_time),
		cmocka_unit_test(test_between_two_steps),
		cmocka_unit_test(test_a_moment_without_a_job),
		cmocka_unit_test(test_switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
