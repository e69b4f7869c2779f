/* test_limit_shared.c - one limit for all kinds of requests, that nobody has configured (F7, P1,
 * P2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/limit.h"

#define CREATE PROVIDER_CREATE
#define DELETE PROVIDER_DELETE
#define LIST   PROVIDER_LIST

static struct limit l;

/* What each kind gets through, where the provider takes one request of any kind in GAP_MS. */
enum { GAP_MS = 850, FAST_MS = 60 };

static int64_t free_at;
static unsigned through[PROVIDER_NOPS], sent[PROVIDER_NOPS];

static void arrives(enum provider_op_kind k, int64_t sent_ms, int64_t now)
{
	int64_t wait = free_at > now ? free_at - now : 0;

	limit_give(&l, k);
	if (wait > 0) {
		limit_throttled(&l, k, sent_ms, (wait + 999) / 1000 * 1000, now);
		return;
	}
	free_at = now + GAP_MS;
	through[k]++;
	limit_answered(&l, k);
}

static void play(const enum provider_op_kind *kinds, size_t n, int64_t ms)
{
	struct {
		enum provider_op_kind kind;
		int64_t sent_ms;
	} wire[64];
	size_t nwire = 0;

	free_at = 0;
	memset(through, 0, sizeof(through));
	memset(sent, 0, sizeof(sent));
	limit_init(&l, 16, 0, NULL, 0);
	for (int64_t now = 1; now < ms; now++) {
		size_t left = 0;

		limit_turn(&l);
		for (size_t i = 0; i < nwire; i++)
			if (now - wire[i].sent_ms < FAST_MS)
				wire[left++] = wire[i];
			else
				arrives(wire[i].kind, wire[i].sent_ms, now);
		nwire = left;
		for (size_t i = 0; i < n; i++)
			while (limit_may(&l, kinds[i], now)) {
				limit_take(&l, kinds[i], 1, now);
				sent[kinds[i]]++;
				wire[nwire].kind = kinds[i];
				wire[nwire++].sent_ms = now;
			}
	}
}

static void test_kinds_with_one_limit_have_turns(void **state)
{
	static const enum provider_op_kind orders[][3] = {{DELETE, LIST, CREATE},
							  {CREATE, LIST, DELETE},
							  {DELETE, CREATE, LIST},
							  {LIST, DELETE, CREATE}};

	(void)state;
	for (size_t n = 2; n <= 3; n++)
		for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
			unsigned all = 0, asked = 0;

			play(orders[i], n, 120000);
			for (size_t k = 0; k < n; k++) {
				all += through[orders[i][k]];
				asked += sent[orders[i][k]];
			}
			assert_in_range(all, 100, 142); /* a pause of a second, and the search */
			assert_in_range(asked, all, 6 * all / 5); /* I30 */
			for (size_t k = 0; k < n; k++)
				if (orders[i][k] == DELETE) /* every other turn */
					assert_in_range(through[DELETE], all / 2 - 8, all / 2 + 8);
				else
					assert_in_range(through[orders[i][k]],
							all / 2 / (n - 1) - 8,
							all / 2 / (n - 1) + 8);
		}
}

/* Two that were throttled in the same moment, a while ago. */
static void throttle_both(enum provider_op_kind a, enum provider_op_kind b)
{
	limit_init(&l, 16, 0, NULL, 0);
	limit_throttled(&l, a, 0, 0, 1);
	limit_throttled(&l, b, 0, 0, 1);
	l.joint.rate = PACE_MAX; /* nobody waits for that here */
}

static void test_of_two_that_may_share_a_limit_one_at_a_time_is_on_the_wire(void **state)
{
	(void)state;
	throttle_both(CREATE, DELETE);
	limit_take(&l, CREATE, 1, 5000);
	assert_true(limit_may(&l, LIST, 5000)); /* it was not throttled */
	assert_false(limit_may(&l, DELETE, 5000));
	assert_int_equal(limit_next_ms(&l, 5000), 5000 + LIMIT_SHARED_WIRE_MS);
	assert_false(limit_may(&l, DELETE, 5000 + LIMIT_SHARED_WIRE_MS - 1));
	assert_true(limit_may(&l, DELETE, 5000 + LIMIT_SHARED_WIRE_MS)); /* not for ever */
	limit_take(&l, LIST, 0, 5000);
	limit_give(&l, LIST);
	assert_false(limit_may(&l, DELETE, 5000)); /* another's answer says nothing */
	limit_give(&l, CREATE);
	assert_true(limit_may(&l, DELETE, 5001));
}

static void test_the_answer_to_either_lets_the_other_go(void **state)
{
	(void)state;
	throttle_both(CREATE, DELETE);
	limit_take(&l, DELETE, 1, 5000);
	assert_false(limit_may(&l, CREATE, 5001));
	limit_give(&l, DELETE);
	assert_true(limit_may(&l, CREATE, 5001));
}

static void test_after_a_minute_they_share_nothing(void **state)
{
	(void)state;
	throttle_both(CREATE, DELETE);
	limit_take(&l, CREATE, 1, LIMIT_SHARED_MS);
	assert_false(limit_may(&l, DELETE, LIMIT_SHARED_MS));
	assert_true(limit_may(&l, DELETE, LIMIT_SHARED_MS + 1));
	throttle_both(CREATE, DELETE);
	limit_take(&l, CREATE, 1, LIMIT_SHARED_MS + 1);
	assert_true(limit_may(&l, DELETE, LIMIT_SHARED_MS));
}

/* It may be answered by another service than the rest. */
static void test_a_request_that_is_held_shares_no_limit(void **state)
{
	(void)state;
	throttle_both(PROVIDER_NOTICES, DELETE);
	limit_take(&l, PROVIDER_NOTICES, 0, 5000);
	assert_true(limit_may(&l, DELETE, 5000));
}

static void test_a_short_pause_is_for_all_that_may_share_a_limit(void **state)
{
	static const struct {
		int64_t pause_ms, until_ms;
	} rows[] = {
		{LIMIT_SHARED_PAUSE_MS, 1000 + LIMIT_SHARED_PAUSE_MS},
		{LIMIT_SHARED_PAUSE_MS + 1, 1500}, /* its own */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		limit_init(&l, 16, 0, NULL, 0);
		limit_throttled(&l, DELETE, 0, 0, 500);
		limit_throttled(&l, CREATE, 0, rows[i].pause_ms, 1000);
		assert_true(limit_may(&l, LIST, 1000));
		assert_false(limit_may(&l, DELETE, rows[i].until_ms - 1));
		assert_true(limit_may(&l, DELETE, rows[i].until_ms));
	}
	(void)state;
}

/* A kind that is throttled for ever, by a limit of its own, keeps no other. */
static void test_who_is_throttled_for_ever_shares_nothing_for_long(void **state)
{
	int64_t last = 0, longest = 0;

	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	limit_throttled(&l, DELETE, 1, 1000, 1);
	for (int64_t now = 2; now < 60000; now++) {
		limit_turn(&l);
		if (limit_may(&l, CREATE, now)) {
			limit_take(&l, CREATE, 1, now);
			limit_give(&l, CREATE);
			limit_throttled(&l, CREATE, now, 1000, now);
		}
		if (limit_may(&l, DELETE, now)) {
			limit_take(&l, DELETE, 1, now);
			limit_give(&l, DELETE);
			limit_answered(&l, DELETE);
			longest = last != 0 && now - last > longest ? now - last : longest;
			last = now;
		}
	}
	assert_in_range(longest, 0, 3000);
	assert_in_range(last, 57000, 60000);
	/* One that says "in a quarter of an hour" says it of itself alone. */
	limit_throttled(&l, CREATE, 60001, LIMIT_PAUSE_MAX_MS, 60001);
	limit_turn(&l);
	assert_true(limit_may(&l, DELETE, 60001 + 1000));
}

/* In a larger struct something else lies there. */
static void test_what_lies_behind_it_is_no_kind(void **state)
{
	static struct {
		struct limit l;
		struct limit_kind behind;
	} both;
	const struct limit_kind behind = {.waits = 1,
					  .again = UINT64_MAX,
					  .throttled = 1,
					  .paused_ms = 1000,
					  .until_ms = 3000};

	(void)state;
	both.behind = behind;
	limit_init(&both.l, 16, 0, NULL, 0);
	limit_take(&both.l, DELETE, 1, 0);
	limit_give(&both.l, DELETE);
	limit_throttled(&both.l, DELETE, 0, 0, 500);
	assert_true(limit_may(&both.l, DELETE, 1500));
	assert_true(limit_may(&both.l, DELETE, 4000));
	assert_memory_equal(&both.behind, &behind, sizeof(behind));
}

/* --- whose turn it is after a pause, where one request goes in a second --- */

static void goes(enum provider_op_kind k)
{
	limit_take(&l, k, 1, 0);
	limit_give(&l, k);
}

/* Its pause is over in a second, and another asks before it does. */
static bool may_after_the_pause_of(enum provider_op_kind throttled, enum provider_op_kind other)
{
	limit_throttled(&l, throttled, 0, 0, 0);
	limit_turn(&l);
	assert_false(limit_may(&l, other, 500));
	limit_turn(&l);
	limit_turn(&l); /* who asked then is no longer in line for that */
	return limit_may(&l, other, 1000);
}

static void test_a_kind_is_in_line_when_its_pause_ends(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		enum provider_op_kind first = i == 0 ? CREATE : DELETE;

		limit_init(&l, 16, 1, NULL, 0);
		goes(first);
		goes(i == 0 ? DELETE : CREATE);
		assert_false(may_after_the_pause_of(first, i == 0 ? DELETE : CREATE));
		assert_true(limit_may(&l, first, 1000));
	}
}

static void test_who_is_throttled_while_others_get_through_keeps_its_turn(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	goes(CREATE);
	limit_answered(&l, CREATE);
	goes(DELETE);
	assert_false(may_after_the_pause_of(DELETE, CREATE));
	assert_true(limit_may(&l, DELETE, 1000));
	/* ... that which it had, and no earlier one */
	limit_init(&l, 16, 1, NULL, 0);
	goes(LIST);
	goes(DELETE);
	limit_answered(&l, DELETE);
	goes(DELETE);
	assert_true(may_after_the_pause_of(DELETE, LIST));
}

static void test_who_is_throttled_while_nobody_gets_through_has_had_its_turn(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	goes(DELETE);
	assert_true(may_after_the_pause_of(DELETE, CREATE));
}

static bool went(enum provider_op_kind k, int64_t now, int64_t retry_ms)
{
	if (!limit_may(&l, k, now))
		return false;
	limit_take(&l, k, 1, now);
	limit_give(&l, k);
	if (retry_ms > 0)
		limit_throttled(&l, k, now, retry_ms, now);
	else
		limit_answered(&l, k);
	return true;
}

/* A create that many deletes have passed, a list that has waited longer, and a delete: one of them
 * is first. */
static void test_three_kinds_never_wait_for_each_other(void **state)
{
	static const enum provider_op_kind all[] = {CREATE, LIST, DELETE};
	unsigned n[3] = {0};
	int64_t now = 1000;

	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	limit_turn(&l);
	assert_true(went(LIST, now, 0));
	limit_turn(&l);
	assert_true(went(CREATE, now += 1100, 0));
	limit_turn(&l);
	assert_true(went(CREATE, now += 1100, 7000));
	for (int i = 0; i < LIMIT_PASSED + 1; i++) {
		limit_turn(&l);
		(void)limit_may(&l, CREATE, now += 1100);
		(void)went(DELETE, now, 0);
	}
	limit_turn(&l);
	(void)went(PROVIDER_QUOTES, now += 1100, 0);
	for (int i = 0; i < 100; i++) {
		limit_turn(&l);
		now += 1100;
		for (size_t k = 0; k < 3; k++)
			n[k] += went(all[k], now, 0);
	}
	assert_int_equal(n[0] + n[1] + n[2], 100);
	for (size_t k = 0; k < 3; k++)
		assert_in_range(n[k], 15, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds_with_one_limit_have_turns),
		cmocka_unit_test(test_three_kinds_never_wait_for_each_other),
		cmocka_unit_test(test_of_two_that_may_share_a_limit_one_at_a_time_is_on_the_wire),
		cmocka_unit_test(test_the_answer_to_either_lets_the_other_go),
		cmocka_unit_test(test_after_a_minute_they_share_nothing),
		cmocka_unit_test(test_a_request_that_is_held_shares_no_limit),
		cmocka_unit_test(test_a_short_pause_is_for_all_that_may_share_a_limit),
		cmocka_unit_test(test_who_is_throttled_for_ever_shares_nothing_for_long),
		cmocka_unit_test(test_what_lies_behind_it_is_no_kind),
		cmocka_unit_test(test_a_kind_is_in_line_when_its_pause_ends),
		cmocka_unit_test(test_who_is_throttled_while_others_get_through_keeps_its_turn),
		cmocka_unit_test(test_who_is_throttled_while_nobody_gets_through_has_had_its_turn),
	};

	return cmocka_run_group_tests_name("limit, shared", tests, NULL, NULL);
}
