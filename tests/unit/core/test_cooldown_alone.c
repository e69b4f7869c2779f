/* test_cooldown_alone.c - a purchase that goes alone is waited for, wherever it goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/cooldown.h"

static const struct cooldown_place here = {.place = {"aws", "p5", "r", "a", PROVIDER_SPOT, NULL}},
				   beside = {.place = {"aws", "p5", "r", "b", PROVIDER_SPOT, NULL}};

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

static enum cooldown_state at(struct cooldown *c, int64_t now_ms)
{
	return cooldown_look(c, &here, now_ms).state;
}

static void test_others_wait_for_half_a_minute(void **state)
{
	struct cooldown *c = *state;

	cooldown_alone(c, &here, 1000);
	assert_int_equal(at(c, 1001), COOLDOWN_PROBING);
	assert_int_equal(cooldown_look(c, &here, 1001).until_ms, 1000 + COOLDOWN_WAIT_MS);
	assert_false(cooldown_buy(c, &here, 1000 + COOLDOWN_WAIT_MS - 1));
	assert_true(cooldown_buy(c, &beside, 1001));
	assert_int_equal(at(c, 1000 + COOLDOWN_WAIT_MS), COOLDOWN_READY);
	assert_true(cooldown_buy(c, &here, 1000 + COOLDOWN_WAIT_MS));
	cooldown_alone(c, &here, 90000); /* and the next time as long */
	assert_int_equal(cooldown_look(c, &here, 90001).until_ms, 90000 + COOLDOWN_WAIT_MS);
}

static void count(void *ctx, const struct cooldown_row *row)
{
	(void)row;
	(*(unsigned *)ctx)++;
}

static void test_others_wait_for_its_answer_and_no_other(void **state)
{
	struct cooldown *c = *state;
	unsigned rows = 0;

	cooldown_alone(c, &here, 1000);
	cooldown_each(c, 1001, count, &rows);
	assert_int_equal(rows, 0); /* the place does not cool down */
	assert_int_equal(cooldown_bought(c, &here, PROVIDER_OK, 999, 1002), COOLDOWN_SAME);
	assert_int_equal(at(c, 1002), COOLDOWN_PROBING);
	assert_int_equal(cooldown_bought(c, &here, PROVIDER_OK, 1000, 1003), COOLDOWN_SAME);
	assert_int_equal(at(c, 1003), COOLDOWN_READY);
	cooldown_alone(c, &here, 2000);
	cooldown_back(c, "aws"); /* as after a list */
	assert_int_equal(at(c, 2000), COOLDOWN_PROBING);
	assert_int_equal(cooldown_bought(c, &here, PROVIDER_AMBIGUOUS, 2000, 2001), COOLDOWN_SAME);
	assert_int_equal(at(c, 2002), COOLDOWN_READY); /* it has an answer, if a lost one */
}

/* ... and what it is to others does not depend on how it came to be tried. */
static void test_a_place_that_refuses_it_cools_down(void **state)
{
	struct cooldown *c = *state;

	cooldown_alone(c, &here, 1000);
	assert_int_equal(cooldown_bought(c, &here, PROVIDER_CAPACITY, 1000, 2000), COOLDOWN_COOLS);
	assert_int_equal(at(c, 2001), COOLDOWN_CAPACITY);
	assert_int_equal(at(c, 2000 + COOLDOWN_CAPACITY_MS), COOLDOWN_HALF);
	assert_true(cooldown_buy(c, &here, 100000)); /* it is the probe as well */
	cooldown_alone(c, &here, 100000);
	assert_int_equal(at(c, 100001), COOLDOWN_PROBING);
	assert_int_equal(cooldown_bought(c, &here, PROVIDER_OK, 100000, 100010), COOLDOWN_AGAIN);
	assert_int_equal(at(c, 100011), COOLDOWN_READY);
}

/* F57 */
static void test_the_wait_is_as_long_if_the_clock_goes_back(void **state)
{
	struct cooldown *c = *state;

	cooldown_alone(c, &here, 1000000);
	assert_int_equal(at(c, 500000), COOLDOWN_PROBING);
	assert_int_equal(at(c, 500000 + COOLDOWN_WAIT_MS - 1), COOLDOWN_PROBING);
	assert_int_equal(at(c, 500000 + COOLDOWN_WAIT_MS), COOLDOWN_READY);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_others_wait_for_half_a_minute),
		T(test_others_wait_for_its_answer_and_no_other),
		T(test_a_place_that_refuses_it_cools_down),
		T(test_the_wait_is_as_long_if_the_clock_goes_back),
	};
#undef T

	return cmocka_run_group_tests_name("cooldown_alone", tests, NULL, NULL);
}
