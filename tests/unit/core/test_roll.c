/* test_roll.c - how an offer goes over to a new image, and back: every stage, and what each of its
 * questions answers there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/roll.h"

static struct roll at(enum roll_stage stage)
{
	struct roll r;

	roll_init(&r, "a", 1);
	if (stage == ROLL_SETTLED)
		return r;
	assert_true(roll_want(&r, "b", 2));
	if (stage == ROLL_ROLLING)
		assert_true(roll_passed(&r, 1, 3));
	if (stage == ROLL_STOPPED)
		assert_true(roll_stop(&r, "c1 is down", "", 3));
	return r;
}

static void test_first(void **state)
{
	struct roll r = at(ROLL_SETTLED);

	(void)state;
	assert_int_equal(r.stage, ROLL_SETTLED);
	assert_string_equal(roll_usual(&r), "a");
	assert_int_equal(r.since_ms, 1);
	assert_false(roll_want(&r, "a", 5));
	assert_int_equal(r.since_ms, 1);
	assert_int_equal(roll_room(&r, 4, 0), 0);
	assert_false(roll_stop(&r, "", "root", 5));
	assert_false(roll_resume(&r, "root", 5));
	assert_false(roll_passed(&r, 1, 5));
	assert_false(roll_replaces(&r, "b")); /* found, of an image that nobody noted */
}

static void test_canaries(void **state)
{
	struct roll r = at(ROLL_CANARY);

	(void)state;
	assert_int_equal(r.stage, ROLL_CANARY);
	assert_string_equal(roll_usual(&r), "a"); /* all others */
	assert_string_equal(r.next, "b");
	assert_int_equal(roll_room(&r, 3, 0), 3);
	assert_int_equal(roll_room(&r, 3, 2), 1);
	assert_int_equal(roll_room(&r, 3, 4), 0); /* image_canaries was lowered */
	assert_false(roll_replaces(&r, "a"));
	assert_false(roll_replaces(&r, "b"));
	assert_false(roll_passed(&r, 3, 10));
	assert_int_equal(roll_room(&r, 3, 1), 1);
	assert_false(roll_passed(&r, 3, 11));
	assert_int_equal(r.stage, ROLL_CANARY);
	assert_true(roll_passed(&r, 3, 12));
	assert_int_equal(r.stage, ROLL_ROLLING);
	assert_int_equal(r.since_ms, 12);
}

static void test_rolling(void **state)
{
	struct roll r = at(ROLL_ROLLING);

	(void)state;
	assert_string_equal(roll_usual(&r), "b");
	assert_true(roll_replaces(&r, "a"));
	assert_true(roll_replaces(&r, "")); /* not known: from before images were noted */
	assert_false(roll_replaces(&r, "b"));
	assert_int_equal(roll_room(&r, 9, 0), 0);
	roll_end(&r, 20);
	assert_int_equal(r.stage, ROLL_SETTLED);
	assert_string_equal(r.old, "b");
	assert_string_equal(roll_usual(&r), "b");
	assert_false(roll_replaces(&r, "a"));
}

static void test_stopped(void **state)
{
	struct roll r = at(ROLL_STOPPED);

	(void)state;
	assert_string_equal(roll_usual(&r), "a");
	assert_string_equal(r.why, "c1 is down");
	assert_true(roll_replaces(&r, "b"));
	assert_false(roll_replaces(&r, "a"));
	assert_int_equal(roll_room(&r, 4, 0), 0);
	assert_false(roll_stop(&r, "again", "", 9));
	assert_false(roll_passed(&r, 1, 9));
	assert_true(roll_resume(&r, "uid 7", 10));
	assert_int_equal(r.stage, ROLL_CANARY);
	assert_string_equal(r.why, "");
	assert_string_equal(r.by, "uid 7");
	assert_int_equal(r.passed, 0);
	assert_int_equal(roll_room(&r, 1, 0), 1);
	assert_true(roll_passed(&r, 1, 11));
	assert_string_equal(r.by, "uid 7"); /* it is his decision still */
}

/* While all purchases have it, it is what the next one is compared with. */
static void test_another_while_rolling(void **state)
{
	struct roll r = at(ROLL_ROLLING);

	(void)state;
	assert_true(roll_want(&r, "c", 30));
	assert_int_equal(r.stage, ROLL_CANARY);
	assert_string_equal(roll_usual(&r), "b");
	assert_true(roll_stop(&r, "", "root", 31));
	assert_string_equal(roll_usual(&r), "b");
	r = at(ROLL_CANARY); /* one that is not known to work never becomes the usual one */
	assert_true(roll_want(&r, "c", 30));
	assert_string_equal(roll_usual(&r), "a");
	r = at(ROLL_STOPPED);
	assert_true(roll_want(&r, "c", 30));
	assert_int_equal(r.stage, ROLL_CANARY);
	assert_string_equal(roll_usual(&r), "a");
	assert_string_equal(r.why, "");
}

/* A reload that wants fewer canaries than have worked would wait for one that is never bought. */
static void test_fewer_canaries_are_wanted(void **state)
{
	struct roll r = at(ROLL_CANARY);

	(void)state;
	assert_false(roll_passed(&r, 3, 3));
	assert_false(roll_enough(&r, 2, 4));
	assert_int_equal(r.stage, ROLL_CANARY);
	assert_true(roll_enough(&r, 1, 5));
	assert_int_equal(r.stage, ROLL_ROLLING);
	assert_int_equal(r.since_ms, 5);
	assert_false(roll_enough(&r, 0, 6));
}

/* Neither the old image nor the new one: one that was given up would be a canary for ever. */
static void test_what_was_given_up_goes_in_each_stage(void **state)
{
	struct roll r = at(ROLL_CANARY);

	(void)state;
	assert_true(roll_want(&r, "c", 30));
	assert_true(roll_replaces(&r, "b"));
	assert_false(roll_replaces(&r, "a"));
	assert_false(roll_replaces(&r, "c"));
	assert_false(roll_replaces(&r, "")); /* the old one, as far as anybody knows */
	assert_true(roll_stop(&r, "", "root", 31));
	assert_true(roll_replaces(&r, "b"));
	assert_true(roll_replaces(&r, "c"));
	assert_false(roll_replaces(&r, "a"));
	assert_false(roll_replaces(&r, ""));
}

/* What is known to work needs no canaries. */
static void test_back(void **state)
{
	static const enum roll_stage from[] = {ROLL_CANARY, ROLL_ROLLING, ROLL_STOPPED};

	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		struct roll r = at(from[i]);

		assert_true(roll_want(&r, "a", 40));
		assert_int_equal(r.stage, ROLL_ROLLING);
		assert_string_equal(roll_usual(&r), "a");
		assert_true(roll_replaces(&r, "b"));
		assert_false(roll_replaces(&r, "a"));
		/* A circuit that opens now must not bring back what was given up. */
		assert_false(roll_stop(&r, "its machines come up wrong", "", 41));
		assert_true(roll_want(&r, "b", 42)); /* tried anew */
		assert_int_equal(r.stage, ROLL_CANARY);
		assert_string_equal(roll_usual(&r), "a");
	}
}

/* The same canary must not count for a roll that begins anew. */
static void test_count_begins_anew(void **state)
{
	struct roll r = at(ROLL_CANARY);

	(void)state;
	assert_false(roll_passed(&r, 2, 3));
	assert_true(roll_stop(&r, "", "root", 4));
	assert_true(roll_resume(&r, "root", 5));
	assert_false(roll_passed(&r, 2, 6));
	assert_true(roll_want(&r, "c", 7));
	assert_int_equal(r.passed, 0);
}

static void test_words(void **state)
{
	(void)state;
	for (int s = 0; s < ROLL_NSTAGES; s++)
		assert_int_equal(roll_stage_parse(roll_stage_str((enum roll_stage)s)), s);
	assert_int_equal(roll_stage_parse("done"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_canaries),
		cmocka_unit_test(test_rolling),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_another_while_rolling),
		cmocka_unit_test(test_fewer_canaries_are_wanted),
		cmocka_unit_test(test_what_was_given_up_goes_in_each_stage),
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_count_begins_anew),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
