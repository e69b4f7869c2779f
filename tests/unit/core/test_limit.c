/* test_limit.c - who of those that want to send something may, in a world of thousands that do. */
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

/* --- a queue of each kind, and a wire that takes so long ---------------------------------------
 */

enum { STEP_MS = 10, WIRE_MAX = 2048 };

static struct queues {
	unsigned left[PROVIDER_NOPS], sent[PROVIDER_NOPS];
	int64_t first[PROVIDER_NOPS], last[PROVIDER_NOPS]; /* when */
	int64_t takes;
	struct {
		int64_t back;
		enum provider_op_kind kind;
	} wire[WIRE_MAX];
	size_t nwire;
} Q;

static void send(enum provider_op_kind k, int64_t now)
{
	limit_take(&l, k, 1, now);
	Q.wire[Q.nwire].kind = k;
	Q.wire[Q.nwire++].back = now + Q.takes;
	Q.first[k] = Q.sent[k] == 0 ? now : Q.first[k];
	Q.last[k] = now;
	Q.sent[k]++;
	Q.left[k]--;
}

static void turn(int64_t now)
{
	static const enum provider_op_kind order[] = {CREATE, PROVIDER_QUOTES, DELETE, LIST};

	limit_turn(&l);
	for (size_t i = 0; i < Q.nwire;)
		if (Q.wire[i].back <= now) {
			limit_give(&l, Q.wire[i].kind);
			Q.wire[i] = Q.wire[--Q.nwire];
		} else {
			i++;
		}
	/* Creates ask first: that must not matter. */
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		while (Q.left[order[i]] > 0 && limit_may(&l, order[i], now))
			send(order[i], now);
}

static void run(int64_t from, int64_t to)
{
	for (int64_t now = from; now < to; now += STEP_MS)
		turn(now);
}

static int setup(void **state)
{
	(void)state;
	Q = (struct queues){.takes = 1};
	return 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

/* P1, P2: the 50 deletes were 105 s late, and there was no list for 125 s. */
static void test_a_thousand_creates_keep_no_delete_and_no_list_waiting(void **state)
{
	static const struct {
		uint32_t slots, rate;
		int64_t takes, late, list_late; /* at most so much */
	} rows[] = {
		{16, 0, 5000, 0, 0},       {4, 0, 30000, 0, 0},       {3, 0, 5000, 5000, 5000},
		{2, 0, 5000, 5000, 10000}, {1, 0, 1000, 1000, 3000},  {16, 10, 1000, 100, 500},
		{16, 1, 100, 1000, 4000},  {2, 1, 5000, 1000, 15000}, {1024, 1, 100, 1000, 4000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)setup(state);
		limit_init(&l, rows[i].slots, rows[i].rate, NULL, 0);
		Q.takes = rows[i].takes;
		Q.left[CREATE] = 1000;
		run(0, 20000);
		Q.left[DELETE] = Q.left[LIST] = Q.left[PROVIDER_QUOTES] = 1;
		run(20000, 60000);
		assert_int_equal(Q.sent[DELETE], 1);
		assert_int_equal(Q.sent[LIST], 1);
		assert_in_range(Q.last[DELETE], 20000, 20000 + rows[i].late);
		assert_in_range(Q.last[LIST], 20000, 20000 + rows[i].list_late);
		assert_int_equal(Q.sent[PROVIDER_QUOTES], 1);
	}
}

/* With one request a second, whatever else waits and though one went a moment ago, and again. */
static void test_a_delete_waits_for_one_other_request_at_most(void **state)
{
	for (int64_t at = 20000; at < 60000; at += 1700) {
		(void)setup(state);
		limit_init(&l, 16, 1, NULL, 0);
		Q.takes = 100;
		for (int k = 0; k < PROVIDER_NOPS; k++)
			Q.left[k] = k == PROVIDER_DELETE ? 4 : 1000;
		run(0, at);
		assert_int_equal(Q.left[DELETE], 0);
		Q.left[DELETE] = 2;
		run(at, at + 2000 + STEP_MS);
		assert_true(Q.left[DELETE] <= 1);
		run(at + 2000 + STEP_MS, at + 4000 + STEP_MS);
		assert_int_equal(Q.left[DELETE], 0);
		assert_in_range(Q.sent[CREATE], at / 8000, at / 1000);
	}
}

/* Nor the other way round. */
static void test_a_thousand_deletes_let_creates_go_on(void **state)
{
	static const struct {
		uint32_t slots, rate;
		int64_t takes;
		unsigned creates, lists; /* in a minute, at least */
	} rows[] = {{16, 0, 5000, 11, 11}, {4, 0, 5000, 11, 11}, {3, 0, 5000, 11, 2},
		    {2, 0, 5000, 11, 2},   {1, 0, 5000, 2, 2},   {16, 10, 10, 99, 99},
		    {1, 1, 10, 9, 9}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)setup(state);
		limit_init(&l, rows[i].slots, rows[i].rate, NULL, 0);
		Q.takes = rows[i].takes;
		Q.left[DELETE] = 100000;
		run(0, 20000);
		Q.left[CREATE] = Q.left[LIST] = Q.left[PROVIDER_QUOTES] = 10000;
		run(20000, 80000);
		assert_true(Q.sent[CREATE] >= rows[i].creates);
		assert_true(Q.sent[LIST] >= rows[i].lists);
	}
}

static void test_what_nobody_else_wants_is_for_one(void **state)
{
	(void)state;
	limit_init(&l, 16, 10, NULL, 0);
	Q.left[CREATE] = 1000;
	run(0, 60000);
	assert_in_range(Q.sent[CREATE], 608, 610);
	limit_init(&l, 16, 0, NULL, 0);
	Q = (struct queues){.takes = 1000000, .left[CREATE] = 1000};
	run(0, 1000);
	assert_int_equal(Q.sent[CREATE], 14); /* one is kept for deletes, and one for lists */
}

static void test_of_slots_no_more_are_taken_than_there_are(void **state)
{
	for (uint32_t slots = 1; slots < 20; slots++) {
		(void)setup(state);
		limit_init(&l, slots, 0, NULL, 0);
		Q.takes = 50;
		for (int k = 0; k < PROVIDER_NOPS; k++)
			Q.left[k] = 1000;
		for (int64_t now = 0; now < 5000; now += STEP_MS) {
			turn(now);
			assert_true(Q.nwire <= slots);
			assert_int_equal(l.out, Q.nwire);
		}
		assert_true(Q.sent[CREATE] > 0 && Q.sent[DELETE] > 0 && Q.sent[LIST] > 0);
		assert_true(Q.sent[PROVIDER_QUOTES] > 0);
	}
}

/* Of two that are held one goes, and the other is not forgotten. */
static void test_who_does_not_want_it_any_more_keeps_nobody_waiting(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	limit_take(&l, CREATE, 1, 0); /* the token */
	assert_false(limit_may(&l, DELETE, 0));
	assert_false(limit_may(&l, CREATE, 0));
	assert_int_equal(limit_next_ms(&l, 0), 1000);
	limit_turn(&l);
	assert_false(limit_may(&l, CREATE, 1000));       /* the delete goes first */
	assert_int_equal(limit_next_ms(&l, 1000), 1000); /* ... but did not come again */
	limit_turn(&l);
	assert_true(limit_may(&l, CREATE, 1000));
	assert_int_equal(limit_next_ms(&l, 1000), INT64_MAX); /* nobody waits */
}

/* Where nobody went before, machines that bill go first, then what shows them. */
static void test_at_the_start_creates_do_not_go_first(void **state)
{
	static const enum provider_op_kind asked[] = {PROVIDER_NOTICES, PROVIDER_REPORT, CREATE,
						      LIST, DELETE},
					   want[] = {DELETE, LIST, CREATE, PROVIDER_REPORT,
						     PROVIDER_NOTICES};
	bool gone[PROVIDER_NOPS] = {false};

	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	limit_take(&l, PROVIDER_QUOTES, 1, 0); /* the token */
	limit_give(&l, PROVIDER_QUOTES);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		assert_false(limit_may(&l, asked[i], 0));
	for (size_t n = 0; n < sizeof(want) / sizeof(want[0]); n++) {
		int64_t now = 1000 * (int64_t)(n + 1);

		limit_turn(&l);
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			if (gone[asked[i]] || !limit_may(&l, asked[i], now))
				continue;
			assert_int_equal(asked[i], want[n]);
			limit_take(&l, asked[i], 1, now);
			gone[asked[i]] = true;
		}
		assert_true(gone[want[n]]);
	}
}

static void test_who_may_and_does_not_keeps_nobody_waiting(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	limit_take(&l, CREATE, 1, 0);
	assert_false(limit_may(&l, DELETE, 0));
	assert_false(limit_may(&l, LIST, 0));
	limit_turn(&l);
	assert_true(limit_may(&l, DELETE, 1000));
	assert_true(limit_may(&l, LIST, 1000));
}

static void test_notices_take_a_token_and_no_slot(void **state)
{
	(void)state;
	limit_init(&l, 1, 2, NULL, 0);
	assert_true(limit_may(&l, PROVIDER_NOTICES, 0));
	limit_take(&l, PROVIDER_NOTICES, 0, 0);
	assert_true(limit_may(&l, LIST, 0));
	limit_take(&l, LIST, 0, 0);
	assert_false(limit_may(&l, DELETE, 0));
	assert_int_equal(limit_next_ms(&l, 0), INT64_MAX); /* for the slot, not for the token */
	limit_give(&l, PROVIDER_NOTICES);
	assert_false(limit_may(&l, DELETE, 10000));
	limit_give(&l, LIST);
	assert_true(limit_may(&l, DELETE, 10000));
}

/* ... even if all slots are taken, and it is no request for which one would be kept. */
static void test_notices_neither_need_a_slot_nor_count_as_one(void **state)
{
	(void)state;
	limit_init(&l, 2, 0, NULL, 0);
	limit_take(&l, PROVIDER_NOTICES, 0, 0);
	assert_true(limit_may(&l, CREATE, 0));
	limit_take(&l, CREATE, 1, 0);
	assert_false(limit_may(&l, CREATE, 0)); /* the other slot is kept for deletes */
	assert_true(limit_may(&l, DELETE, 0));
	limit_take(&l, DELETE, 1, 0);
	assert_true(limit_may(&l, PROVIDER_NOTICES, 0));
}

static void test_a_fabric_is_made_where_a_create_may_go(void **state)
{
	(void)state;
	limit_init(&l, 4, 0, NULL, 0);
	assert_true(limit_may(&l, PROVIDER_QUOTES, 0));
	limit_take(&l, PROVIDER_QUOTES, 0, 0);
	assert_false(limit_may(&l, PROVIDER_QUOTES, 0)); /* the others are kept */
	assert_true(limit_may(&l, PROVIDER_FABRIC_MAKE, 0));
	/* It does not wait for creates that wait. */
	limit_init(&l, 16, 1, NULL, 0);
	limit_take(&l, PROVIDER_QUOTES, 0, 0); /* the token */
	assert_false(limit_may(&l, CREATE, 0));
	assert_false(limit_may(&l, LIST, 0));
	limit_turn(&l);
	assert_false(limit_may(&l, PROVIDER_FABRIC_MAKE, 1000)); /* but for a list */
	limit_init(&l, 16, 1, NULL, 0);
	limit_take(&l, PROVIDER_QUOTES, 0, 0);
	assert_false(limit_may(&l, CREATE, 0));
	limit_turn(&l);
	assert_true(limit_may(&l, PROVIDER_FABRIC_MAKE, 1000));
}

static void test_who_asked_in_vain_in_this_turn_waits(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, NULL, 0);
	assert_false(limit_waits(&l, CREATE));
	assert_true(limit_may(&l, CREATE, 0));
	assert_false(limit_waits(&l, CREATE));
	limit_take(&l, CREATE, 1, 0);
	assert_false(limit_may(&l, CREATE, 0));
	assert_true(limit_waits(&l, CREATE));
	assert_false(limit_waits(&l, DELETE));
	limit_turn(&l);
	assert_false(limit_waits(&l, CREATE)); /* it may need nothing any more */
}

/* --- what the provider documents --- */

static const struct provider_limit own[PROVIDER_NOPS] = {
	[PROVIDER_CREATE] = {{5, 2}, {1000, 2}},
	[PROVIDER_DELETE] = {{100, 5}, {1000, 20}},
};

static void test_each_kind_has_the_providers_own_limit(void **state)
{
	(void)state;
	limit_init(&l, 1024, 0, own, 0);
	Q.left[CREATE] = Q.left[LIST] = 60;
	run(0, 10000);
	assert_in_range(Q.sent[CREATE], 24, 25);
	assert_int_equal(Q.sent[LIST], 60);
	limit_init(&l, 1024, 3, own, 0); /* who says a rate knows better */
	Q = (struct queues){.takes = 1, .left[CREATE] = 60};
	run(0, 10000);
	assert_in_range(Q.sent[CREATE], 32, 33);
	assert_int_equal(limit_room(&l, CREATE, 0), UINT32_MAX);
}

/* As Spheron creates: ten in a quarter of an hour, however they are spread. */
static void test_a_window_has_no_more_than_it_may(void **state)
{
	static const struct provider_limit windows[PROVIDER_NOPS] = {
		[PROVIDER_CREATE] = {.window = {10, 900000}},
	};

	(void)state;
	limit_init(&l, 1024, 0, windows, 0);
	Q.left[CREATE] = Q.left[LIST] = 60;
	run(0, 899990);
	assert_int_equal(Q.sent[CREATE], 10);
	assert_int_equal(Q.sent[LIST], 60);
	assert_int_equal(limit_next_ms(&l, 899990), 900000);
	run(899990, 1799990);
	assert_int_equal(Q.sent[CREATE], 20);
	limit_change(&l, 1024, 50, windows, 1799990); /* who says a rate knows better */
	run(1799990, 1809990);
	assert_int_equal(Q.sent[CREATE], 60);
	Q.left[CREATE] = 60;
	limit_change(&l, 1024, 0, windows, 1809990);
	run(1809990, 1819990);
	assert_int_equal(Q.sent[CREATE], 70);
	limit_change(&l, 512, 0, windows, 1819990); /* it has not changed */
	run(1819990, 1829990);
	assert_int_equal(Q.sent[CREATE], 70);
}

static void test_instances_have_a_limit_of_their_own(void **state)
{
	(void)state;
	limit_init(&l, 1024, 0, own, 0);
	assert_int_equal(limit_room(&l, CREATE, 0), 1000);
	assert_true(limit_is_full(&l, CREATE, 0));
	limit_take(&l, CREATE, 900, 0);
	assert_int_equal(limit_room(&l, CREATE, 0), 100);
	assert_false(limit_is_full(&l, CREATE, 0));
	assert_true(limit_may(&l, CREATE, 0));
	limit_wait(&l, CREATE, 300, 0);
	assert_int_equal(limit_next_ms(&l, 0), 100000);
	limit_take(&l, CREATE, 100, 0);
	assert_false(limit_may(&l, CREATE, 499));
	assert_int_equal(limit_next_ms(&l, 499), 500);
	assert_int_equal(limit_room(&l, LIST, 0), UINT32_MAX);
	limit_init(&l, 1024, 0, own, 0);
	limit_take(&l, CREATE, 999, 0);
	assert_true(limit_may(&l, CREATE, 0)); /* about the last one */
}

/* One that waits for room is nobody ahead of it. */
static void test_who_could_not_go_anyway_is_passed(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, own, 0);
	limit_take(&l, LIST, 0, 0); /* the creates have gone without for longer */
	limit_take(&l, CREATE, 1000, 0);
	limit_wait(&l, CREATE, 300, 0);
	limit_turn(&l);
	assert_true(limit_may(&l, LIST, 500));
}

/* --- throttled (F7, I30) --- */

static void test_what_is_throttled_waits_longer_each_time(void **state)
{
	static const int64_t waits[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
	int64_t now = 50;

	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		limit_throttled(&l, LIST, now, 0, now + 5);
		limit_throttled(&l, LIST, now, 0, now + 5);  /* of the same moment: once */
		assert_true(limit_may(&l, DELETE, now + 5)); /* of other kinds it says nothing */
		assert_false(limit_may(&l, LIST, now + 5 + waits[i] - 1));
		assert_int_equal(limit_next_ms(&l, now + 5), now + 5 + waits[i]);
		now += 5 + waits[i];
		assert_true(limit_may(&l, LIST, now));
	}
	assert_int_equal(l.kinds[LIST].throttled, 14);
	assert_int_equal(l.kinds[LIST].troubled_ms, 55);
	limit_take(&l, LIST, 0, now);
	limit_give(&l, LIST);
	limit_answered(&l, LIST);
	assert_int_equal(l.kinds[LIST].troubled_ms, 0);
	limit_throttled(&l, LIST, now, 0, now + 1);
	assert_true(limit_may(&l, LIST, now + waits[4]));
}

/* Three at once would be throttled all, each time. */
static void test_after_that_they_go_one_by_one(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	limit_take(&l, DELETE, 1, 0);
	limit_give(&l, DELETE);
	limit_throttled(&l, DELETE, 0, 0, 5);
	assert_true(limit_may(&l, DELETE, 1005));
	limit_take(&l, DELETE, 1, 1005);
	assert_false(limit_may(&l, DELETE, 1005));
	assert_int_equal(limit_next_ms(&l, 9000), INT64_MAX); /* its answer wakes us */
	limit_give(&l, DELETE);
	assert_true(limit_may(&l, DELETE, 2005)); /* that was lost, say */
	limit_take(&l, DELETE, 1, 2005);
	limit_give(&l, DELETE);
	limit_answered(&l, DELETE);
	assert_false(limit_may(&l, DELETE, 2005)); /* it has a pace now */
	for (int i = 0; i < 5; i++) {
		assert_true(limit_may(&l, DELETE, 3005 + 1000 * i));
		limit_take(&l, DELETE, 1, 3005 + 1000 * i);
	}
}

static void test_what_the_provider_says_of_how_long_is_believed_to_a_limit(void **state)
{
	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	limit_throttled(&l, DELETE, 0, 11000, 100);
	assert_false(limit_may(&l, DELETE, 11099));
	assert_true(limit_may(&l, DELETE, 11100));
	limit_throttled(&l, DELETE, 99, 20000, 11100); /* sent before: no longer pause of ours */
	assert_int_equal(l.kinds[DELETE].vain, 1);
	limit_throttled(&l, DELETE, 100, 0, 11100); /* sent when it began: likewise */
	assert_int_equal(l.kinds[DELETE].vain, 1);
	assert_false(limit_may(&l, DELETE, 31099));
	assert_true(limit_may(&l, DELETE, 31100));
	limit_throttled(&l, DELETE, 31100, 86400000, 31100);
	assert_false(limit_may(&l, DELETE, 31100 + LIMIT_PAUSE_MAX_MS - 1));
	assert_true(limit_may(&l, DELETE, 31100 + LIMIT_PAUSE_MAX_MS));
}

/* P1: however often it was throttled before; and I30: one a second is enough. */
static void test_what_the_provider_says_counts_for_more_than_our_own_pause(void **state)
{
	static const struct {
		int64_t said_ms, wait_ms;
	} rows[] = {{0, 1000},    {0, 2000},  {0, 4000},      {3000, 3000}, {1, 1000},
		    {3000, 3000}, {0, 30000}, {20000, 20000}, {0, 30000}};
	int64_t now = 0;

	(void)state;
	limit_init(&l, 16, 0, NULL, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		limit_throttled(&l, DELETE, now + 1, rows[i].said_ms, now + 2);
		assert_false(limit_may(&l, DELETE, now + 2 + rows[i].wait_ms - 1));
		now += 2 + rows[i].wait_ms;
		assert_true(limit_may(&l, DELETE, now));
	}
	/* Of two that were on the wire together the longer pause counts, whichever comes first. */
	limit_throttled(&l, DELETE, now + 1, 0, now + 2);
	limit_throttled(&l, DELETE, now + 1, 3000, now + 2);
	assert_false(limit_may(&l, DELETE, now + 2 + 29999));
	now += 2 + 30000;
	limit_throttled(&l, DELETE, now + 1, 3000, now + 2);
	limit_throttled(&l, DELETE, now + 1, 0, now + 2);
	assert_false(limit_may(&l, DELETE, now + 2 + 2999));
	assert_true(limit_may(&l, DELETE, now + 2 + 3000));
}

/* --- a reload --- */

static void test_a_reload_gives_no_token_twice(void **state)
{
	(void)state;
	limit_init(&l, 16, 1, own, 0);
	limit_take(&l, LIST, 0, 0);
	limit_throttled(&l, DELETE, 0, 5000, 0);
	limit_change(&l, 8, 1, own, 0);
	assert_int_equal(l.slots, 8);
	assert_int_equal(l.out, 1);
	assert_false(limit_may(&l, LIST, 0));
	limit_change(&l, 8, 2, own, 0);
	assert_true(limit_may(&l, LIST, 0));
	assert_false(limit_may(&l, DELETE, 0));
	limit_change(&l, 8, 0, own, 0);
	assert_int_equal(limit_room(&l, CREATE, 0), 1000);
	limit_give(&l, LIST);
	assert_int_equal(l.out, 0);
}

static void test_a_reload_brings_the_providers_own_limits_and_takes_them_away(void **state)
{
	(void)state;
	limit_init(&l, 16, 100, own, 0);
	limit_change(&l, 16, 0, own, 0);
	for (int i = 0; i < 5; i++) {
		assert_true(limit_may(&l, CREATE, 0));
		limit_take(&l, CREATE, 1, 0);
	}
	assert_false(limit_may(&l, CREATE, 0));
	assert_int_equal(limit_next_ms(&l, 0), 500);
	assert_int_equal(limit_room(&l, CREATE, 0), 995);
	limit_change(&l, 16, 100, own, 0);
	assert_true(limit_may(&l, CREATE, 0));
	assert_int_equal(limit_room(&l, CREATE, 0), UINT32_MAX);
	limit_change(&l, 16, 0, NULL, 0); /* one whose limits are not known */
	assert_int_equal(limit_next_ms(&l, 0), INT64_MAX);
	assert_int_equal(limit_room(&l, CREATE, 0), UINT32_MAX);
}

/* Some providers count requests of all kinds together, besides those of each kind. */
static void test_a_limit_of_all_kinds_together(void **state)
{
	static const struct provider_bucket each_second = {1, 1, 1000}, none;

	(void)state;
	limit_init(&l, 16, 0, own, 0);
	limit_together(&l, &none, 0);
	limit_take(&l, CREATE, 1, 0);
	assert_true(limit_may(&l, DELETE, 0));
	limit_together(&l, &each_second, 0);
	limit_take(&l, CREATE, 1, 0);
	assert_false(limit_may(&l, DELETE, 999));
	assert_int_equal(limit_next_ms(&l, 999), 1000);
	assert_true(limit_may(&l, DELETE, 1000));
	limit_take(&l, DELETE, 1, 1000);
	/* A reload gives no token twice. */
	limit_change(&l, 8, 0, own, 1000);
	limit_together(&l, &each_second, 1000);
	limit_turn(&l);
	assert_false(limit_may(&l, LIST, 1000));
	/* A configured rate replaces it, also the same one. */
	limit_change(&l, 8, 1, own, 1000);
	limit_together(&l, &each_second, 1000);
	assert_int_equal(limit_room(&l, CREATE, 1000), UINT32_MAX);
	limit_change(&l, 8, 2, own, 1000);
	limit_together(&l, &each_second, 1000);
	limit_turn(&l);
	limit_take(&l, LIST, 0, 1000);
	assert_true(limit_may(&l, LIST, 1000));
	limit_change(&l, 8, 0, own, 1000);
	limit_together(&l, &each_second, 1000);
	limit_take(&l, LIST, 0, 1000);
	assert_false(limit_may(&l, LIST, 1000));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, setup)
	const struct CMUnitTest tests[] = {
		T(test_a_thousand_creates_keep_no_delete_and_no_list_waiting),
		T(test_a_delete_waits_for_one_other_request_at_most),
		T(test_a_thousand_deletes_let_creates_go_on),
		T(test_what_nobody_else_wants_is_for_one),
		T(test_of_slots_no_more_are_taken_than_there_are),
		T(test_who_does_not_want_it_any_more_keeps_nobody_waiting),
		T(test_at_the_start_creates_do_not_go_first),
		T(test_who_may_and_does_not_keeps_nobody_waiting),
		T(test_notices_take_a_token_and_no_slot),
		T(test_notices_neither_need_a_slot_nor_count_as_one),
		T(test_a_fabric_is_made_where_a_create_may_go),
		T(test_who_asked_in_vain_in_this_turn_waits),
		T(test_each_kind_has_the_providers_own_limit),
		T(test_a_window_has_no_more_than_it_may),
		T(test_instances_have_a_limit_of_their_own),
		T(test_who_could_not_go_anyway_is_passed),
		T(test_what_is_throttled_waits_longer_each_time),
		T(test_after_that_they_go_one_by_one),
		T(test_what_the_provider_says_of_how_long_is_believed_to_a_limit),
		T(test_what_the_provider_says_counts_for_more_than_our_own_pause),
		T(test_a_reload_gives_no_token_twice),
		T(test_a_reload_brings_the_providers_own_limits_and_takes_them_away),
		T(test_a_limit_of_all_kinds_together),
	};
#undef T

	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
