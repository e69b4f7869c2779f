/* test_limit_view.c - what an admin sees of the limiter: what a kind may, who says so, and since
 * when it waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/limit.h"

#define CREATE PROVIDER_CREATE
#define DELETE PROVIDER_DELETE
#define LIST   PROVIDER_LIST

static struct limit l;

static const struct provider_limit own[PROVIDER_NOPS] = {
	[PROVIDER_CREATE] = {{5, 2, 1000}, {1000, 20, 1000}},
	[PROVIDER_DELETE] = {{10, 1, 4000}, {0}},
	[PROVIDER_QUOTES] = {.window = {3, 2000}},
};

static void is_allowed(enum provider_op_kind k, int64_t now, const char *by, int64_t allowed)
{
	const struct limit_view v = limit_view(&l, k, now);

	assert_string_equal(limit_by_str(v.by), by);
	assert_int_equal(v.allowed, allowed);
}

static void throttle(enum provider_op_kind k, int64_t sent_ms, int64_t retry_ms, int64_t now)
{
	limit_take(&l, k, 1, sent_ms);
	limit_give(&l, k);
	limit_throttled(&l, k, sent_ms, retry_ms, now);
}

/* --- what it may ------------------------------------------------------------------------------ */

static void test_the_tightest_limit_is_shown_and_whose_it_is(void **state)
{
	static const struct provider_bucket together = {3, 3, 2000};

	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	is_allowed(CREATE, 0, "", 0);
	assert_int_equal(limit_view(&l, CREATE, 0).instances, 0);
	limit_init(&l, 16, 0, own, 0);
	is_allowed(CREATE, 0, "kind", 2000000);
	is_allowed(DELETE, 0, "kind", 250000);
	is_allowed(LIST, 0, "", 0);
	is_allowed(PROVIDER_QUOTES, 0, "kind", 1500000);
	assert_int_equal(limit_view(&l, CREATE, 0).instances, 20000000);
	limit_together(&l, &together, 0);
	is_allowed(CREATE, 0, "all", 1500000);
	is_allowed(DELETE, 0, "kind", 250000);
	is_allowed(LIST, 0, "all", 1500000);
	limit_init(&l, 16, 7, own, 0);
	is_allowed(CREATE, 0, "rate", 7000000);
	assert_int_equal(limit_view(&l, CREATE, 0).instances, 0);
}

/* What a provider gives may be less than it documents, and is never taken for more. */
static void test_what_answers_show_counts_where_it_is_less(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, own, 0);
	throttle(CREATE, 1000, 0, 1100);
	throttle(DELETE, 100000, 0, 100100);
	is_allowed(CREATE, 100200, "answers", PACE_FIRST);
	is_allowed(DELETE, 100200, "kind", 250000);
	throttle(CREATE, 200000, 0, 200100);
	is_allowed(CREATE, 200200, "answers", PACE_FIRST / 2);
}

/* Each of the two is shown what both have together. */
static void test_a_limit_that_kinds_share_is_shown_as_one(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, NULL, 100000);
	throttle(CREATE, 100000, 0, 100100);
	is_allowed(CREATE, 100200, "answers", PACE_FIRST);
	throttle(DELETE, 100200, 0, 100300);
	is_allowed(CREATE, 100400, "shared", PACE_FIRST);
	is_allowed(DELETE, 100400, "shared", PACE_FIRST);
	is_allowed(LIST, 100400, "", 0);
	is_allowed(CREATE, 100300 + LIMIT_SHARED_MS, "answers", PACE_FIRST);
}

static void test_a_pause_is_shown_until_it_ends(void **state)
{
	struct limit_view v;

	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	v = limit_view(&l, CREATE, 5);
	assert_int_equal(v.until_ms, 0);
	assert_int_equal(v.throttled_ms, 0);
	throttle(CREATE, 1000, 5000, 1100);
	assert_int_equal(limit_view(&l, CREATE, 6099).until_ms, 6100);
	v = limit_view(&l, CREATE, 6100);
	assert_int_equal(v.until_ms, 0);
	assert_int_equal(v.throttled_ms, 1100);
	assert_int_equal(limit_view(&l, DELETE, 2000).until_ms, 0);
}

/* --- since when it waits ---------------------------------------------------------------------- */

static void since(enum provider_op_kind k, int64_t now, int64_t want)
{
	const struct limit_view v = limit_view(&l, k, now);

	assert_int_equal(v.since_ms, want);
	assert_int_equal(v.waits, want != 0);
}

static void asks_in_vain(enum provider_op_kind k, int64_t now)
{
	limit_turn(&l);
	assert_false(limit_may(&l, k, now));
}

static void goes(enum provider_op_kind k, int64_t now)
{
	limit_turn(&l);
	assert_true(limit_may(&l, k, now));
	limit_take(&l, k, 1, now);
}

static void test_one_waits_from_its_first_vain_question_until_it_goes(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 1000);
	goes(CREATE, 1000);
	since(CREATE, 1000, 0);
	assert_false(limit_may(&l, CREATE, 1100));
	since(CREATE, 1150, 1100);
	asks_in_vain(CREATE, 1400);
	asks_in_vain(CREATE, 1900);
	since(CREATE, 1900, 1100);
	since(DELETE, 1900, 0);
	goes(CREATE, 2000);
	since(CREATE, 2000, 0);
	assert_false(limit_may(&l, CREATE, 2001)); /* the next one */
	since(CREATE, 2300, 2001);
	goes(CREATE, 3000);
	asks_in_vain(CREATE, 3300);
	since(CREATE, 3300, 3300);
}

/* Who needed nothing for a while has not waited meanwhile. */
static void test_who_asks_anew_has_not_waited_before(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 1000);
	goes(CREATE, 1000);
	asks_in_vain(CREATE, 1200);
	limit_turn(&l);
	since(CREATE, 1250, 1200); /* in the next turn it is expected to ask */
	assert_false(limit_may(&l, CREATE, 1300));
	since(CREATE, 1300, 1200);
	limit_turn(&l);
	limit_turn(&l);
	since(CREATE, 1400, 0);
	asks_in_vain(CREATE, 1500);
	since(CREATE, 1500, 1500);
	limit_turn(&l); /* one turn is enough */
	asks_in_vain(CREATE, 1600);
	since(CREATE, 1600, 1600);
}

/* It did not get through: it waits since it was asked for, not since its last throttle. */
static void test_a_throttled_request_waits_since_it_was_asked_for(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 1000);
	goes(CREATE, 1000);
	limit_give(&l, CREATE);
	limit_answered(&l, CREATE);
	asks_in_vain(CREATE, 1500);
	for (int64_t at = 2000; at < 100000; at += 31000) {
		goes(CREATE, at);
		since(CREATE, at, 0);
		limit_turn(&l);
		limit_turn(&l);
		limit_give(&l, CREATE);
		limit_throttled(&l, CREATE, at, 0, at + 100);
		asks_in_vain(CREATE, at + 100);
		since(CREATE, at + 100, 1500);
	}
	goes(CREATE, 200000);
	limit_give(&l, CREATE);
	limit_answered(&l, CREATE);
	since(CREATE, 200000, 0);
	asks_in_vain(CREATE, 200001);
	since(CREATE, 200001, 200001);
}

/* One that had not to wait, and is throttled. */
static void test_a_throttled_request_waits_since_it_was_sent(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	goes(LIST, 7000);
	limit_give(&l, LIST);
	limit_throttled(&l, LIST, 7000, 0, 7400);
	since(LIST, 7400, 0); /* perhaps nobody wants it any more */
	asks_in_vain(LIST, 7500);
	since(LIST, 7500, 7000);
	/* Who did not ask during the pause comes when it is over. */
	limit_init(&l, 16, 1, NULL, 0);
	goes(LIST, 7000);
	limit_give(&l, LIST);
	limit_throttled(&l, LIST, 7000, 0, 7400);
	limit_turn(&l);
	limit_turn(&l);
	limit_turn(&l);
	limit_take(&l, CREATE, 1, 9000);
	assert_false(limit_may(&l, LIST, 9000));
	since(LIST, 9000, 7000);
}

/* A job larger than what the provider gives at once may go, but for its instances. */
static void test_who_waits_for_room_waits(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, own, 0);
	limit_take(&l, CREATE, 990, 0);
	for (int64_t now = 1000; now < 5000; now += 1000) {
		limit_turn(&l);
		assert_true(limit_may(&l, CREATE, now));
		limit_wait(&l, CREATE, 500, now);
		since(CREATE, now, 1000);
	}
	limit_take(&l, CREATE, 500, 30000);
	since(CREATE, 30000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_tightest_limit_is_shown_and_whose_it_is),
		cmocka_unit_test(test_what_answers_show_counts_where_it_is_less),
		cmocka_unit_test(test_a_limit_that_kinds_share_is_shown_as_one),
		cmocka_unit_test(test_a_pause_is_shown_until_it_ends),
		cmocka_unit_test(test_one_waits_from_its_first_vain_question_until_it_goes),
		cmocka_unit_test(test_who_asks_anew_has_not_waited_before),
		cmocka_unit_test(test_a_throttled_request_waits_since_it_was_asked_for),
		cmocka_unit_test(test_a_throttled_request_waits_since_it_was_sent),
		cmocka_unit_test(test_who_waits_for_room_waits),
	};

	return cmocka_run_group_tests_name("limit, shown", tests, NULL, NULL);
}
