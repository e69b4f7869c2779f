/* test_limit_learn.c - whatever the bucket of a provider, burstd finds out what it gives (F7, I30).
 *
 * At least nine tenths of what the bucket gains are used, or of what another tenant leaves, and at
 * most one request of twenty is throttled: after a minute, or after 20 tokens where those take
 * longer.  Of some small buckets less: ADR 39 has what is asserted here. */
#include "limit_world.h"

enum {
	SPAN_MS = 20 * MINUTE,
	USED_LEAST = 900, /* of 1000 */
	THROTTLED_MOST = 50,
};

struct row {
	uint32_t size, gains; /* the bucket; tokens in a million seconds */
	int64_t wire_ms;      /* there and back; up to a quarter more by chance */
	enum tenant tenant;
	uint32_t documented; /* percent of what it gains; 0: not at all */
	bool tells;
};

struct tally {
	uint64_t sent, taken, throttled;
	int64_t gone;
};

static struct provider_limit own[PROVIDER_NOPS];

static const struct provider_limit *documented(const struct row *r)
{
	uint64_t gains = (uint64_t)r->gains * r->documented / 100;

	memset(own, 0, sizeof(own));
	own[CREATE].requests = (struct provider_bucket){r->size, (uint32_t)(gains / 1000), 1000000};
	return r->documented != 0 ? own : NULL;
}

static struct tally tally(enum provider_op_kind k)
{
	tenant_until(W.of[k], W.now);
	supply_fill(W.of[k], W.now);
	return (struct tally){W.sent[k], W.taken[k], W.throttled[k], (int64_t)W.of[k]->gone};
}

/* What is used of 1000 tokens for burstd, and what is throttled of 1000 requests, until to_ms. */
struct share {
	int64_t used, throttled;
};

static struct share until(enum provider_op_kind k, int64_t to_ms)
{
	const struct tally from = tally(k);
	int64_t begun = W.now, tokens = W.of[k]->level / ((int64_t)TOKEN * 1000);
	struct tally to;

	world_run(to_ms);
	to = tally(k);
	tokens +=
		(to_ms - begun) * W.of[k]->gains / ((int64_t)TOKEN * 1000) - (to.gone - from.gone);
	return (struct share){
		(int64_t)(to.taken - from.taken) * 1000 / tokens,
		(int64_t)((to.throttled - from.throttled) * 1000 / (to.sent - from.sent))};
}

static int64_t learnt_by(const struct row *r)
{
	int64_t tokens = 20 * (int64_t)TOKEN * 1000 / r->gains;

	return tokens > MINUTE ? tokens : MINUTE;
}

static void check(const struct row *r, const struct share *want, uint64_t seed)
{
	struct supply s = supply_of(r->size, r->gains);
	int64_t span = 600 * (int64_t)TOKEN * 1000 / r->gains;
	struct share got;

	s.tenant = r->tenant;
	s.tells = r->tells;
	W = (struct world){.wire_ms = r->wire_ms, .jitter_ms = r->wire_ms / 4, .rng = seed};
	limit_init(&W.l, 16, 0, documented(r), 0);
	limit_seed(&W.l, seed);
	W.of[CREATE] = &s;
	world_run(learnt_by(r));
	got = until(CREATE, W.now + (span > SPAN_MS ? span : SPAN_MS));
	if (got.used < want->used || got.throttled > want->throttled)
		fail_msg("a bucket of %u that gains %u in a million seconds, tenant %d, "
			 "documented %u %%, %lld ms, seed %llu: %lld of 1000 used, %lld throttled",
			 r->size, r->gains, (int)r->tenant, r->documented, (long long)r->wire_ms,
			 (unsigned long long)seed, (long long)got.used, (long long)got.throttled);
}

/* Can anybody do it?  The wire must have room for so many; and where one token is all that there
 * ever is, chance on the wire or a tenant decides who finds it. */
static bool is_feasible(const struct row *r)
{
	int64_t out = (int64_t)r->gains * r->wire_ms / 1000, moves = out / 4;

	if (out > 10 * (int64_t)TOKEN)
		return false;
	if (r->tenant == RANDOM)
		return r->size >= 100 && r->gains >= 2 * TOKEN;
	if (r->tenant == REGULAR)
		return r->size >= 5;
	return moves <= (r->size == 1 ? TOKEN / 50 : r->size * (int64_t)TOKEN / 2);
}

static const struct share whole = {USED_LEAST, THROTTLED_MOST};

/* What is found out of this bucket; NULL: next to nothing, for others find its few tokens first. */
static const struct share *found_of(const struct row *r)
{
	static const struct share uneven = {350, 30}, regular = {700, 50}, chance = {650, 80};

	if (is_feasible(r))
		return &whole;
	if (r->tenant == NOBODY)
		return &uneven;
	if (r->tenant == REGULAR)
		return r->size >= 2 ? &regular : NULL;
	return r->size >= 5 ? &chance : NULL;
}

static void test_any_bucket_is_found_out(void **state)
{
	static const uint32_t sizes[] = {1, 2, 5, 20, 100, 1000};
	static const uint32_t gains[] = {50000, 200000, 1000000, 2000000, 5000000, 20000000};
	static const int64_t wires[] = {50, 400};
	static const uint32_t said[] = {0, 100, 200};
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 6 * 6 * 2 * 3 * 3; i++) {
		const struct row r = {.size = sizes[i % 6],
				      .gains = gains[i / 6 % 6],
				      .wire_ms = wires[i / 36 % 2],
				      .documented = said[i / 72 % 3],
				      .tenant = (enum tenant)(i / 216)};

		const struct share *want = found_of(&r);

		n += want == &whole;
		if (want != NULL)
			check(&r, want, 7920 + i);
	}
	assert_in_range(n, 300, 648);
}

/* It may say when to come again, in whole seconds. */
static void test_a_provider_that_says_when_is_used_as_well(void **state)
{
	static const uint32_t gains[] = {50000, 300000, 1000000, 2000000};

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		const struct row r = {.size = i < 4   ? 5
					      : i < 8 ? 30
						      : 500,
				      .gains = gains[i % 4],
				      .wire_ms = 200,
				      .tells = true};

		check(&r, &whole, 31 + i);
	}
}

/* Each of two kinds that has a limit of its own, and is throttled now and then, gets all of it. */
static void test_two_kinds_with_a_limit_each_do_not_hold_each_other_up(void **state)
{
	static const uint32_t gains[][2] = {{2000000, 2000000}, {200000, 20000000}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct supply a = supply_of(20, gains[i][0]), b = supply_of(20, gains[i][1]);
		struct share got;
		struct tally from;

		W = (struct world){.wire_ms = 100, .jitter_ms = 20, .rng = 5};
		limit_init(&W.l, 16, 0, NULL, 0);
		W.of[CREATE] = &a;
		W.of[DELETE] = &b;
		world_run(2 * MINUTE);
		from = tally(DELETE);
		got = until(CREATE, W.now + SPAN_MS);
		assert_in_range(got.used, USED_LEAST, 1010);
		assert_in_range(got.throttled, 0, THROTTLED_MOST);
		assert_in_range(tally(DELETE).taken - from.taken,
				(uint64_t)SPAN_MS / 1000 * gains[i][1] / TOKEN * 9 / 10,
				(uint64_t)SPAN_MS / 1000 * gains[i][1] / TOKEN + 20);
	}
}

/* A tenant comes or goes, or the provider changes its mind. */
static void test_a_limit_that_changes_is_followed(void **state)
{
	static const uint32_t gains[][2] = {
		{1000000, 8000000}, {8000000, 1000000}, {200000, 2000000}, {10000000, 500000}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct supply s = supply_of(50, gains[i][0]);
		struct share got;

		W = (struct world){.wire_ms = 100, .jitter_ms = 20, .rng = 9};
		limit_init(&W.l, 16, 0, NULL, 0);
		W.of[CREATE] = &s;
		world_run(SPAN_MS);
		supply_fill(&s, W.now);
		s.gains = gains[i][1];
		world_run(W.now + 12 * MINUTE);
		got = until(CREATE, W.now + 2 * SPAN_MS);
		assert_in_range(got.used, USED_LEAST, 1010);
		assert_in_range(got.throttled, 0, THROTTLED_MOST);
	}
}

/* Who has had nothing to send has learnt nothing meanwhile, and forgotten nothing. */
static void test_a_rest_teaches_nothing(void **state)
{
	struct supply s = supply_of(10, 2000000), *of = &s;
	uint32_t known;

	(void)state;
	W = (struct world){.wire_ms = 100, .rng = 3};
	limit_init(&W.l, 16, 0, NULL, 0);
	W.of[CREATE] = of;
	world_run(SPAN_MS);
	known = W.l.kinds[CREATE].pace.known;
	assert_in_range(known, 1800000, 2200000);
	W.of[CREATE] = NULL;
	W.nwire = 0;
	W.now += 60 * (int64_t)MINUTE;
	W.of[CREATE] = of;
	assert_int_equal(W.l.kinds[CREATE].pace.known, known);
	world_run(W.now + MINUTE);
	assert_in_range(W.l.kinds[CREATE].pace.known, 1700000, 2400000);
}

/* Which of two kinds has its turn. */
static enum provider_op_kind turn_of(enum provider_op_kind a, enum provider_op_kind b)
{
	limit_turn(&W.l);
	if (limit_may(&W.l, a, W.now))
		return a;
	assert_true(limit_may(&W.l, b, W.now));
	return b;
}

static void one_goes(enum provider_op_kind k, bool throttled)
{
	limit_take(&W.l, k, 1, W.now);
	limit_give(&W.l, k);
	if (throttled)
		limit_throttled(&W.l, k, W.now, 0, W.now + 50);
	else
		limit_answered(&W.l, k);
}

/* F7: what went when there was little to send is not what the provider gives. */
static void test_little_to_send_is_no_limit(void **state)
{
	struct supply s = supply_of(10, 2000000);

	(void)state;
	W = (struct world){.wire_ms = 100, .rng = 3};
	limit_init(&W.l, 16, 0, NULL, 0);
	W.of[CREATE] = &s;
	world_run(SPAN_MS);
	for (int i = 0; i < 100; i++) {
		W.now += 5000;
		one_goes(turn_of(CREATE, CREATE), i % 25 == 24);
	}
	assert_in_range(W.l.kinds[CREATE].pace.known, 1500000, 2200000);
}

/* F7: nor is what went since a rest, even if nothing did. */
static void test_a_throttle_after_a_rest_measures_nothing(void **state)
{
	struct supply s = supply_of(10, 2000000);

	(void)state;
	W = (struct world){.wire_ms = 100, .rng = 3};
	limit_init(&W.l, 16, 0, NULL, 0);
	W.of[CREATE] = &s;
	for (int went = 0; went < 10; went++) {
		world_run(W.now + 2 * (int64_t)MINUTE);
		for (; W.nwire > 0; W.nwire--) /* their answers are lost */
			limit_give(&W.l, CREATE);
		limit_turn(&W.l); /* in which it does not ask */
		for (int i = 0; i <= went; i++) {
			W.now += i == 0 ? 60 * MINUTE : 5000;
			one_goes(turn_of(CREATE, CREATE), i == went);
		}
		assert_in_range(W.l.kinds[CREATE].pace.known, 1700000, 2400000);
		assert_in_range(W.l.kinds[CREATE].pace.rate, 1300000, 2400000);
	}
}

/* F7, P1: a provider that throttles by chance gains nothing by a slower pace, and lists and deletes
 * would take minutes. */
static void test_throttles_by_chance_leave_a_pace(void **state)
{
	static const struct {
		enum provider_op_kind kind;
		struct provider_bucket of, all; /* of the kind; of all together */
		uint32_t least;
		uint32_t rate; /* as an admin sets it: no limit of creates */
	} rows[] = {{LIST, {0}, {0}, LIMIT_LEAST, 0},
		    {DELETE, {0}, {0}, LIMIT_LEAST, 0},
		    {CREATE, {0}, {0}, LIMIT_LEAST_CREATE, 0},
		    {PROVIDER_FABRIC_MAKE, {0}, {0}, LIMIT_LEAST_CREATE, 0},
		    {CREATE, {1, 1, 1000}, {0}, 250000, 0},
		    {CREATE, {1, 100, 1000}, {0}, LIMIT_LEAST, 0},
		    {CREATE, {1, 1, 900000}, {0}, LIMIT_LEAST_CREATE, 0},
		    {LIST, {1, 1, 1000}, {0}, 500000, 0},
		    {LIST, {0}, {1, 1, 2000}, 250000, 0},
		    {CREATE, {1, 1, 1000}, {9, 100, 1000}, 250000, 0},
		    {CREATE, {0}, {9, 10, 1000}, LIMIT_LEAST_CREATE, 0},
		    {CREATE, {0}, {0}, LIMIT_LEAST_CREATE, 10},
		    {PROVIDER_STEP, {0}, {0}, LIMIT_LEAST_CREATE, 10},
		    {LIST, {0}, {0}, LIMIT_LEAST, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct pace *pace = &W.l.kinds[rows[i].kind].pace;
		uint32_t lowest = UINT32_MAX;

		W = (struct world){.rng = 7 + i};
		memset(own, 0, sizeof(own));
		own[rows[i].kind].requests = rows[i].of;
		limit_init(&W.l, 16, rows[i].rate, own, 0);
		limit_together(&W.l, &rows[i].all, 0);
		for (int n = 0; n < 400; n++) {
			bool throttled = world_dice(3) == 0;

			W.now += 900 * 1000;
			one_goes(turn_of(rows[i].kind, rows[i].kind), throttled);
			if (!throttled && pace->rate != 0 && pace->rate < lowest)
				lowest = pace->rate;
		}
		assert_int_equal(lowest, rows[i].least);
	}
}

static void test_the_slowest_pace_of_a_window_is_half_of_it(void **state)
{
	(void)state;
	memset(own, 0, sizeof(own));
	own[LIST].window = (struct provider_window){6, 60000};
	W = (struct world){.rng = 5};
	limit_init(&W.l, 16, 0, own, 0);
	for (int n = 0; n < 100; n++) {
		W.now += 900 * 1000;
		one_goes(turn_of(LIST, LIST), n % 3 != 0);
	}
	assert_int_equal(W.l.kinds[LIST].pace.least, 50000);
}

/* A few throttles in a row before any ceiling was found are none: the pace is searched. */
static void test_an_outage_is_no_ceiling(void **state)
{
	struct supply s = supply_of(1000, 20000000);

	(void)state;
	W = (struct world){.wire_ms = 50, .rng = 5};
	limit_init(&W.l, 16, 0, NULL, 0);
	W.of[LIST] = &s;
	world_run(2000);
	for (; W.nwire > 0; W.nwire--)
		limit_give(&W.l, LIST);
	for (int i = 0; i < 3; i++) {
		W.now += 60000;
		one_goes(turn_of(LIST, LIST), true);
	}
	assert_int_equal(W.l.kinds[LIST].pace.known, 0);
}

/* Nor may the slowest pace make a storm where a provider gives less than that. */
static void test_a_limit_below_the_slowest_pace_is_found_out(void **state)
{
	static const struct {
		uint32_t size, gains;
		enum provider_op_kind kinds[2];
	} rows[] = {{5, 100000, {LIST, LIST}},
		    {5, 200000, {DELETE, DELETE}},
		    {5, 100000, {CREATE, LIST}},
		    {5, 200000, {CREATE, DELETE}}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct supply s = supply_of(rows[i].size, rows[i].gains);
		enum provider_op_kind a = rows[i].kinds[0], b = rows[i].kinds[1];
		unsigned taken, throttled, first;

		W = (struct world){.wire_ms = 100, .jitter_ms = 20, .rng = 40 + i};
		limit_init(&W.l, 16, 0, NULL, 0);
		limit_seed(&W.l, 40 + i);
		W.of[a] = W.of[b] = &s;
		world_run(4 * SPAN_MS);
		taken = W.taken[a] + (a != b ? W.taken[b] : 0);
		throttled = W.throttled[a] + (a != b ? W.throttled[b] : 0);
		first = W.taken[a];
		print_message("# row %zu: %u taken, %u of the first, %u throttled\n", i, taken,
			      first, throttled);
		assert_in_range(taken, 4 * SPAN_MS / 1000 * rows[i].gains / TOKEN * 6 / 10,
				UINT32_MAX);
		assert_in_range(throttled, 0, taken + 10);
		assert_in_range(first, taken / 3, taken);
	}
}

/* P1: kinds that share a limit go at the pace of the one that must not wait. */
static void test_deletes_that_share_a_limit_keep_their_pace(void **state)
{
	(void)state;
	W = (struct world){.rng = 11};
	limit_init(&W.l, 16, 0, NULL, 0);
	for (int n = 0; n < 400; n++) {
		W.now += 16 * 1000; /* each is throttled within a minute of the other */
		one_goes(n % 2 == 0 ? turn_of(CREATE, DELETE) : turn_of(DELETE, CREATE),
			 n % 3 == 0);
	}
	assert_true(W.l.kinds[DELETE].joint);
	assert_int_equal(W.l.joint.rate, LIMIT_LEAST);
}

/* Without dice two that were throttled together come again together. */
static void test_dice_move_pauses_apart(void **state)
{
	int64_t until_ms[2];

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		limit_init(&W.l, 16, 0, NULL, 0);
		limit_seed(&W.l, 1000003 * (i + 1));
		limit_throttled(&W.l, CREATE, 1, 0, 10);
		until_ms[i] = W.l.kinds[CREATE].until_ms;
		assert_in_range(until_ms[i], 1010, 1010 + 250);
	}
	assert_int_not_equal(until_ms[0], until_ms[1]);
	limit_init(&W.l, 16, 0, NULL, 0);
	limit_seed(&W.l, 77);
	limit_throttled(&W.l, CREATE, 1, 5000, 10);
	assert_int_equal(W.l.kinds[CREATE].until_ms, 5010); /* as the provider says */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_bucket_is_found_out),
		cmocka_unit_test(test_a_provider_that_says_when_is_used_as_well),
		cmocka_unit_test(test_two_kinds_with_a_limit_each_do_not_hold_each_other_up),
		cmocka_unit_test(test_a_limit_that_changes_is_followed),
		cmocka_unit_test(test_a_rest_teaches_nothing),
		cmocka_unit_test(test_little_to_send_is_no_limit),
		cmocka_unit_test(test_a_throttle_after_a_rest_measures_nothing),
		cmocka_unit_test(test_throttles_by_chance_leave_a_pace),
		cmocka_unit_test(test_an_outage_is_no_ceiling),
		cmocka_unit_test(test_a_limit_below_the_slowest_pace_is_found_out),
		cmocka_unit_test(test_the_slowest_pace_of_a_window_is_half_of_it),
		cmocka_unit_test(test_deletes_that_share_a_limit_keep_their_pace),
		cmocka_unit_test(test_dice_move_pauses_apart),
	};

	return cmocka_run_group_tests_name("limit, learns", tests, NULL, NULL);
}
