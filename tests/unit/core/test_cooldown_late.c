/* test_cooldown_late.c - a purchase is accepted, and fails later for want of capacity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cooldown.h"

static const struct cooldown_place here = {
	.place = {"nova", "h100", "r", "", PROVIDER_ON_DEMAND, NULL}};

static int setup(void **state)
{
	static struct cooldown c;

	cooldown_init(&c);
	*state = &c;
	return 0;
}

static int teardown(void **state)
{
	cooldown_fini(*state);
	return 0;
}

static enum cooldown_news told(struct cooldown *c, enum provider_code code, int64_t sent_ms,
			       int64_t now_ms)
{
	return cooldown_bought(c, &here, code, sent_ms, now_ms);
}

static int64_t until(struct cooldown *c, int64_t now_ms)
{
	return cooldown_look(c, &here, now_ms).until_ms - now_ms;
}

static enum cooldown_news fails(struct cooldown *c, int64_t sent_ms, int64_t now_ms)
{
	return cooldown_failed_later(c, &here, PROVIDER_CAPACITY, sent_ms, now_ms);
}

static void count(void *ctx, const struct cooldown_row *row)
{
	(void)row;
	(*(unsigned *)ctx)++;
}

/* F10: else the next offer is never tried, where a job waits longer than that minute. */
static void test_a_place_that_was_never_open_pauses_longer_each_time(void **state)
{
	struct cooldown *c = *state;
	int64_t now = 0, pause = COOLDOWN_CAPACITY_MS;
	unsigned rows = 0;

	for (int i = 0; i < 5; i++) {
		int64_t sent = now + 1;

		assert_int_equal(told(c, PROVIDER_OK, sent, now + 2),
				 i == 0 ? COOLDOWN_SAME : COOLDOWN_AGAIN);
		assert_int_equal(cooldown_look(c, &here, now + 2).state, COOLDOWN_READY);
		assert_true(cooldown_buy(c, &here, now + 2));
		assert_int_equal(cooldown_look(c, &here, now + 2).state, COOLDOWN_READY);
		rows = 0;
		cooldown_each(c, now + 2, count, &rows);
		assert_int_equal(rows, 0);
		now += 100000; /* a list shows that it has failed */
		assert_int_equal(fails(c, sent, now), COOLDOWN_COOLS);
		assert_int_equal(fails(c, sent, now), COOLDOWN_SAME);
		assert_int_equal(until(c, now), pause);
		now += pause;
		assert_int_equal(cooldown_look(c, &here, now).state, COOLDOWN_HALF);
		pause = 2 * pause < COOLDOWN_CAPACITY_MAX_MS ? 2 * pause : COOLDOWN_CAPACITY_MAX_MS;
	}
}

static void test_a_place_that_sold_something_since_begins_anew(void **state)
{
	struct cooldown *c = *state;

	assert_int_equal(told(c, PROVIDER_CAPACITY, 1, 10), COOLDOWN_COOLS);
	assert_int_equal(told(c, PROVIDER_CAPACITY, 60020, 60030), COOLDOWN_COOLS);
	assert_int_equal(told(c, PROVIDER_OK, 200000, 200010), COOLDOWN_AGAIN);
	assert_int_equal(told(c, PROVIDER_OK, 200005, 200020), COOLDOWN_SAME);
	assert_int_equal(told(c, PROVIDER_CAPACITY, 200030, 200040), COOLDOWN_COOLS);
	assert_int_equal(until(c, 200040), COOLDOWN_CAPACITY_MS);
	/* Of several that were accepted any may be the one that fails. */
	assert_int_equal(told(c, PROVIDER_OK, 300000, 300010), COOLDOWN_AGAIN);
	assert_int_equal(told(c, PROVIDER_OK, 300005, 300020), COOLDOWN_SAME);
	assert_int_equal(fails(c, 300005, 400000), COOLDOWN_COOLS);
	assert_int_equal(until(c, 400000), 2 * COOLDOWN_CAPACITY_MS);
}

/* One failure among many purchases says no more than the first one did. */
static void test_a_place_that_has_sold_for_long_begins_anew(void **state)
{
	struct cooldown *c = *state;
	int64_t now = 0;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(told(c, PROVIDER_CAPACITY, now + 1, now + 2), COOLDOWN_COOLS);
		now += COOLDOWN_CAPACITY_MAX_MS;
	}
	for (int i = 0; i < 50; i++)
		(void)told(c, PROVIDER_OK, now + i * 60000, now + i * 60000 + 1);
	now += 49 * 60000;
	assert_int_equal(fails(c, now, now + 90000), COOLDOWN_COOLS);
	assert_int_equal(until(c, now + 90000), COOLDOWN_CAPACITY_MS);
}

/* An hour after its pause nothing is remembered of it. */
static void test_a_failure_that_comes_very_late_is_the_first(void **state)
{
	struct cooldown *c = *state;

	assert_int_equal(told(c, PROVIDER_CAPACITY, 1, 10), COOLDOWN_COOLS);
	assert_int_equal(told(c, PROVIDER_OK, 60020, 60030), COOLDOWN_AGAIN);
	assert_int_equal(fails(c, 60020, 60030 + COOLDOWN_FORGET_MS), COOLDOWN_COOLS);
	assert_int_equal(until(c, 60030 + COOLDOWN_FORGET_MS), COOLDOWN_CAPACITY_MS);
}

/* F26: purchases that are not answered stay unanswered, whatever became of an earlier one. */
static void test_it_is_no_answer_to_the_others(void **state)
{
	static const struct cooldown_place patient = {
		.place = {"nova", "h100", "r", "", PROVIDER_ON_DEMAND, NULL},
		.patience_ms = 60000,
		.heard_ms = 30000};
	struct cooldown *c = *state;

	assert_int_equal(cooldown_bought(c, &patient, PROVIDER_OK, 1, 10), COOLDOWN_SAME);
	assert_int_equal(cooldown_bought(c, &patient, PROVIDER_AMBIGUOUS, 11, 1000), COOLDOWN_SAME);
	assert_int_equal(cooldown_failed_later(c, &patient, PROVIDER_QUOTA, 1, 50000),
			 COOLDOWN_NO_QUOTA);
	assert_int_equal(cooldown_bought(c, &patient, PROVIDER_AMBIGUOUS, 12, 61000),
			 COOLDOWN_FAILS);
	assert_int_equal(cooldown_failed_later(c, &patient, PROVIDER_TRANSIENT, 1, 61001),
			 COOLDOWN_SAME);
	assert_int_equal(cooldown_failed_later(c, &patient, PROVIDER_DENIED, 1, 61002),
			 COOLDOWN_OFF);
	assert_int_equal(cooldown_look(c, &patient, 61003).state, COOLDOWN_DENIED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_place_that_was_never_open_pauses_longer_each_time),
		T(test_a_place_that_sold_something_since_begins_anew),
		T(test_a_place_that_has_sold_for_long_begins_anew),
		T(test_it_is_no_answer_to_the_others),
		T(test_a_failure_that_comes_very_late_is_the_first),
	};
#undef T

	return cmocka_run_group_tests_name("cooldown_late", tests, NULL, NULL);
}
