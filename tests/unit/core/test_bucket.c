/* test_bucket.c - never more than the rate, and what it says about the next token is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/bucket.h"

static void test_rate(void **state)
{
	struct bucket b;
	unsigned taken = 0;

	(void)state;
	bucket_init(&b, 10, 0);
	for (int64_t now = 0; now < 10000; now++)
		while (bucket_take(&b, now))
			taken++;
	assert_in_range(taken, 109, 110); /* the first ten are there, then ten a second */
}

static void test_next(void **state)
{
	struct bucket b;
	int64_t now = 5000, next;

	(void)state;
	bucket_init(&b, 3, now);
	for (int i = 0; i < 100; i++) {
		while (bucket_take(&b, now))
			;
		next = bucket_next_ms(&b, now);
		assert_true(next > now);
		assert_false(bucket_take(&b, next - 1));
		assert_true(bucket_take(&b, next));
		now = next;
	}
}

static void test_no_limit(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 0, 0);
	for (int i = 0; i < 1000; i++)
		assert_true(bucket_take(&b, 0));
	assert_int_equal(bucket_next_ms(&b, 7), 7);
}

/* A clock that stands still or goes back gives nothing away (F57). */
static void test_clock_back(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init(&b, 1, 1000);
	assert_true(bucket_take(&b, 1000));
	assert_false(bucket_take(&b, 500));
	assert_false(bucket_take(&b, 1999));
	assert_int_equal(bucket_next_ms(&b, 1999), 2000);
	assert_true(bucket_take(&b, 2000));
}

/* However long nobody took anything. */
static void test_a_full_bucket_stays_full(void **state)
{
	struct bucket b;
	unsigned taken = 0;

	(void)state;
	bucket_init(&b, 1000000, 0);
	while (bucket_take(&b, INT64_C(10000000000000)))
		taken++;
	assert_int_equal(taken, 1000000);
}

/* As EC2 has them: many at once, and few a second. */
static void test_a_bucket_may_hold_more_than_a_second_brings(void **state)
{
	struct bucket b;
	int64_t now = 777;

	(void)state;
	bucket_init_with(&b, 100, 5, 0, now);
	assert_int_equal(bucket_has(&b, now), 100);
	bucket_take_some(&b, 97, now);
	assert_int_equal(bucket_has(&b, now), 3);
	assert_int_equal(bucket_full_ms(&b, 3, now), now);
	assert_int_equal(bucket_full_ms(&b, 4, now), now + 200);
	assert_int_equal(bucket_full_ms(&b, 100, now), now + 19400);
	assert_int_equal(bucket_full_ms(&b, 5000, now), now + 19400); /* more it never holds */
	bucket_take_some(&b, 50, now);                                /* more than there are */
	assert_int_equal(bucket_next_ms(&b, now), now + 200);
	assert_int_equal(bucket_has(&b, now + 19999), 99);
	assert_int_equal(bucket_has(&b, now + 20000), 100);
	assert_int_equal(bucket_has(&b, now + 86400000), 100);
}

static void test_no_limit_has_room_for_all(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init_with(&b, 0, 0, 0, 5);
	bucket_take_some(&b, 1000, 5);
	bucket_take_some(&b, 1000, 7);
	assert_int_equal(bucket_has(&b, 7), UINT32_MAX);
	assert_int_equal(bucket_full_ms(&b, 1000, 7), 7);
}

/* As Lambda launches: one in twelve seconds, however often one asks in between. */
static void test_a_token_may_take_longer_than_a_second(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init_with(&b, 1, 1, 12000, 5);
	assert_true(bucket_take(&b, 5));
	assert_int_equal(bucket_next_ms(&b, 5), 12005);
	for (int64_t now = 6; now < 12005; now += 7)
		assert_false(bucket_take(&b, now));
	assert_true(bucket_take(&b, 12005));
}

/* A size and its gain add up: a bucket is no window (window.h). */
static void test_a_bucket_gains_while_it_is_emptied(void **state)
{
	struct bucket b;
	unsigned taken = 0;

	(void)state;
	bucket_init_with(&b, 10, 10, 900000, 0);
	for (int64_t now = 0; now < 900000; now += 11)
		taken += bucket_take(&b, now);
	assert_int_equal(taken, 19);
	for (int64_t now = 900000; now < 9000000; now += 11)
		taken += bucket_take(&b, now);
	assert_in_range(taken, 109, 110);
}

/* No part of a token is lost where tokens and milliseconds do not divide. */
static void test_thirds_of_a_token_add_up(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init_with(&b, 1, 3, 7000, 0);
	assert_true(bucket_take(&b, 0));
	for (int64_t now = 1; now < 2333; now++) {
		bucket_take_some(&b, 0, now); /* it is brought up to date each time */
		assert_int_equal(bucket_has(&b, now), 0);
	}
	assert_int_equal(bucket_next_ms(&b, 2333), 2334);
	assert_true(bucket_take(&b, 2334));
}

/* It is full when the last part of its last token has come, and not in the millisecond before. */
static void test_a_bucket_is_not_full_before_its_time(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init_with(&b, 1, 3, 7000, 0);
	assert_true(bucket_take(&b, 0));
	assert_int_equal(bucket_has(&b, 2333), 0);
	assert_int_equal(bucket_has(&b, 2334), 1);
}

static void test_a_token_may_come_with_every_millisecond(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init_with(&b, 2, 1, 1, 50);
	bucket_take_some(&b, 2, 50);
	assert_false(bucket_take(&b, 50));
	assert_int_equal(bucket_next_ms(&b, 50), 51);
	assert_int_equal(bucket_has(&b, 51), 1);
}

/* What of it has come stays, be it one part of a thousand. */
static void test_a_token_is_not_late_for_one_that_was_taken_late(void **state)
{
	struct bucket b;

	(void)state;
	bucket_init_with(&b, 2, 1, 0, 0);
	bucket_take_some(&b, 2, 0);
	assert_true(bucket_take(&b, 1001));
	assert_int_equal(bucket_next_ms(&b, 1001), 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_clock_back),
		cmocka_unit_test(test_a_full_bucket_stays_full),
		cmocka_unit_test(test_a_bucket_may_hold_more_than_a_second_brings),
		cmocka_unit_test(test_a_token_may_take_longer_than_a_second),
		cmocka_unit_test(test_a_bucket_gains_while_it_is_emptied),
		cmocka_unit_test(test_thirds_of_a_token_add_up),
		cmocka_unit_test(test_no_limit_has_room_for_all),
		cmocka_unit_test(test_a_bucket_is_not_full_before_its_time),
		cmocka_unit_test(test_a_token_may_come_with_every_millisecond),
		cmocka_unit_test(test_a_token_is_not_late_for_one_that_was_taken_late),
	};

	return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
