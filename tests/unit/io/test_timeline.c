/* test_timeline.c - a process goes on with the time of the one before: loop, journal and
 * clocks are real (I26, F57). */
#include "io/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/loop.h"
#include "store/journal.h"
#include "store/journal_events.h"

#define HOUR INT64_C(3600000)

static struct fix {
	char dir[32], path[64];
	struct loop *l;
	struct journal *j;
} F;

static int setup(void **state)
{
	(void)state;
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/timeline-XXXXXX");
	assert_non_null(mkdtemp(F.dir));
	(void)snprintf(F.path, sizeof(F.path), "%s/journal.db", F.dir);
	F.l = NULL;
	F.j = NULL;
	return 0;
}

static void stop(void)
{
	loop_free(F.l);
	journal_close(F.j);
	F.l = NULL;
	F.j = NULL;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	stop();
	(void)snprintf(command, sizeof(command), "rm -r %s", F.dir);
	return system(command);
}

static void start(void)
{
	bool existed;

	stop();
	assert_int_equal(loop_new(&F.l, NULL), 0);
	assert_int_equal(journal_open(&F.j, F.path, &existed, NULL), 0);
	assert_int_equal(timeline_resume(F.l, F.j, NULL), 0);
}

static void put(const char *key, int64_t value)
{
	struct journal_tx *tx = journal_begin(F.j);

	journal_put_number(tx, key, value);
	assert_true(journal_commit(tx, NULL) >= 0);
}

static void put_event(int64_t at_ms)
{
	struct journal_tx *tx = journal_begin(F.j);

	journal_put_event(tx, at_ms, "c1", 1, "x", "");
	assert_true(journal_commit(tx, NULL) >= 0);
}

static void assert_ahead(int64_t want_ms)
{
	int64_t by = loop_now(F.l) - clock_wall_ms() - want_ms;

	assert_in_range(by + 1000, 0, 2000);
	assert_in_range(loop_ahead(F.l) - want_ms + 1000, 0, 2000);
	assert_in_range(loop_now(F.l) - loop_wall(F.l) - want_ms + 1000, 0, 2000);
}

static void test_a_new_journal_begins_at_the_wall_clock(void **state)
{
	int64_t n;

	(void)state;
	start();
	assert_ahead(0);
	assert_int_equal(journal_get_number(F.j, "clock_boot_id", &n, NULL), 0);
	assert_true(n == clock_boot_id());
}

/* As if the wall clock had been an hour ahead when burstd started, and was set back while it ran.
 */
static void test_the_same_boot_goes_on_by_the_boot_clock(void **state)
{
	(void)state;
	start();
	put("clock_offset", clock_wall_ms() - clock_boot_ms() + HOUR);
	for (int i = 0; i < 3; i++) {
		start();
		assert_ahead(HOUR);
	}
}

static void test_another_boot_goes_on_by_the_difference_that_was_known(void **state)
{
	(void)state;
	start();
	put("clock_boot_id", clock_boot_id() + 2);
	put("clock_offset", 12345);
	put(JOURNAL_AHEAD, -HOUR);
	start();
	assert_ahead(-HOUR);
	start(); /* and from now on by the boot clock */
	assert_ahead(-HOUR);
}

static void test_it_never_goes_back_behind_what_was_written(void **state)
{
	(void)state;
	start();
	put("clock_boot_id", clock_boot_id() + 2);
	put_event(clock_wall_ms() + 2 * HOUR);
	start();
	assert_ahead(2 * HOUR);
}

/* A damaged one must not make a time that nobody can write. */
static void test_an_event_of_no_time_is_none(void **state)
{
	(void)state;
	start();
	put("clock_boot_id", clock_boot_id() + 2);
	put_event(INT64_MAX - 5);
	start();
	assert_ahead(0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_new_journal_begins_at_the_wall_clock),
		T(test_the_same_boot_goes_on_by_the_boot_clock),
		T(test_another_boot_goes_on_by_the_difference_that_was_known),
		T(test_it_never_goes_back_behind_what_was_written),
		T(test_an_event_of_no_time_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
