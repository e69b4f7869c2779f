/* test_notice.c - simcloud's notices: read on from a number, or as a queue that hides and forgets.
 */
#include "providers/simcloud/notice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct notices T;

static int setup(void **state)
{
	(void)state;
	notices_init(&T);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	notices_fini(&T);
	return 0;
}

static void add(uint32_t row, int64_t now)
{
	notices_add(&T, &(struct notice){.row = row, .told_ms = now});
}

static void test_numbers_rise_and_begin_at_the_clock(void **state)
{
	const struct notice *n;

	(void)state;
	assert_null(notices_after(&T, 0));
	add(1, 5000);
	add(2, 5000);
	add(3, 9000);
	n = notices_after(&T, 0);
	assert_int_equal(n->row, 1);
	assert_int_equal(n->seq, 5000);
	n = notices_after(&T, n->seq);
	assert_int_equal(n->seq, 5001);
	n = notices_after(&T, 6000);
	assert_int_equal(n->row, 3);
	assert_null(notices_after(&T, n->seq));
}

static void test_a_message_is_hidden_comes_again_and_goes(void **state)
{
	struct notice *n;

	(void)state;
	add(1, 1000);
	add(2, 1000);
	n = notices_visible(&T, 1000);
	assert_int_equal(n->row, 1);
	n->hidden_until = 31000;
	n = notices_visible(&T, 1000);
	assert_int_equal(n->row, 2);
	assert_true(notices_delete(&T, n->seq));
	assert_null(notices_visible(&T, 30999));
	n = notices_visible(&T, 31000);
	assert_int_equal(n->row, 1);
	assert_true(notices_delete(&T, n->seq));
	assert_true(notices_delete(&T, n->seq)); /* as SQS has it */
	assert_null(notices_visible(&T, 99000));
	assert_false(notices_delete(&T, 77));
	assert_int_equal(notices_after(&T, 0)->row, 1); /* the other face has it still */
}

static void test_the_oldest_are_forgotten_when_there_are_too_many(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NOTICES_MAX + 10; i++)
		add(i, 1000);
	assert_int_equal(notices_after(&T, 0)->row, 10);
	assert_int_equal(notices_visible(&T, 1000)->row, 10);
	assert_int_equal(notices_after(&T, 1000 + NOTICES_MAX + 8)->row, NOTICES_MAX + 9);
}

int main(void)
{
#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_numbers_rise_and_begin_at_the_clock),
		CASE(test_a_message_is_hidden_comes_again_and_goes),
		CASE(test_the_oldest_are_forgotten_when_there_are_too_many),
	};

	return cmocka_run_group_tests_name("simcloud's notices", tests, NULL, NULL);
}
