/* test_window.c - in no window are there more than it allows, and no fewer are allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/window.h"

enum { MANY = 1000 };

static struct window w;
static int64_t went[MANY];
static size_t nwent;

static void init(uint32_t most, uint32_t every_ms, int64_t now)
{
	window_init(&w, most, every_ms, now);
	nwent = 0;
}

/* As many as may go at this moment. */
static void drain(int64_t now)
{
	while (window_next_ms(&w, now) <= now && nwent < MANY) {
		window_take(&w, now);
		went[nwent++] = now;
	}
}

static size_t most_in(int64_t every_ms)
{
	size_t most = 0;

	for (size_t i = 0, from = 0; i < nwent; i++) {
		while (went[from] + every_ms <= went[i])
			from++;
		most = i - from + 1 > most ? i - from + 1 : most;
	}
	return most;
}

static void test_all_at_once_and_the_next_when_the_first_is_so_old(void **state)
{
	(void)state;
	init(10, 900000, 5);
	drain(5);
	assert_int_equal(nwent, 10);
	assert_int_equal(window_next_ms(&w, 5), 900005);
	drain(900004);
	assert_int_equal(nwent, 10);
	drain(900005);
	assert_int_equal(nwent, 20);
}

/* Not from a fixed moment on: ten at the end of one window and ten at the begin of the next are
 * twenty. */
static void test_no_window_has_more(void **state)
{
	(void)state;
	init(10, 900000, 0);
	for (int64_t now = 0; now < 9000000; now += 70001)
		for (int64_t i = 0; i < 1 + now % 3; i++)
			if (window_next_ms(&w, now) <= now) {
				window_take(&w, now);
				went[nwent++] = now;
			}
	assert_int_equal(most_in(900000), 10);
	assert_in_range(nwent, 95, 110); /* ten windows, nearly all used */
}

static void test_each_comes_back_in_its_turn(void **state)
{
	(void)state;
	init(2, 1000, 0);
	window_take(&w, 0);
	assert_int_equal(window_next_ms(&w, 300), 300);
	window_take(&w, 300);
	assert_int_equal(window_next_ms(&w, 300), 1000);
	window_take(&w, 1000);
	assert_int_equal(window_next_ms(&w, 1000), 1300);
	window_take(&w, 1200); /* not allowed: it counts all the same */
	assert_int_equal(window_next_ms(&w, 1200), 2000);
}

static void test_no_limit(void **state)
{
	struct window none = {0};

	(void)state;
	init(0, 1000, 0);
	for (int i = 0; i < 100; i++)
		window_take(&w, 7);
	assert_int_equal(window_next_ms(&w, 7), 7);
	window_take(&none, 7);
	assert_int_equal(window_next_ms(&none, 7), 7);
}

/* A clock that goes back gives nothing away (F57). */
static void test_clock_back(void **state)
{
	(void)state;
	init(3, 1000, 5000);
	window_take(&w, 5000);
	window_take(&w, 100);
	window_take(&w, 200);
	assert_int_equal(window_next_ms(&w, 200), 6000);
	window_take(&w, 6000);
	assert_int_equal(window_next_ms(&w, 5500), 6000);
}

static void test_the_largest(void **state)
{
	(void)state;
	init(WINDOW_MAX, 1000, 0);
	drain(0);
	assert_int_equal(nwent, WINDOW_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_at_once_and_the_next_when_the_first_is_so_old),
		cmocka_unit_test(test_no_window_has_more),
		cmocka_unit_test(test_each_comes_back_in_its_turn),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_clock_back),
		cmocka_unit_test(test_the_largest),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
