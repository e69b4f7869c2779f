/* test_ladder_words.c - what people read about the order of offers. */
#include "ladder_ask.h"

/* --- a ladder of five --------------------------------------------------------------------------
 */

/* F57: our time is not the wall clock's, by which people read. */
static void test_times_are_the_wall_clocks(void **state)
{
	struct conf *c = five();
	struct ladder_known known[NRUNGS] = {{0}};
	struct ladder_ask a = {.conf = c,
			       .pool = c->pools,
			       .known = known,
			       .now_ms = now,
			       .ahead_ms = 60 * MINUTE};
	char why[1000];
	struct ladder l;

	(void)state;
	finish(c);
	for (size_t i = 0; i < NRUNGS; i++)
		known[i].price = FMT_NANO;
	c->pools->fallback_ms = 10 * MINUTE;
	a.job.since_ms = now;
	known[SPOT].away_ms = now;
	known[FAR].cool = (struct cooldown_view){COOLDOWN_CAPACITY, now};
	ladder_make(&l, &a);
	ladder_explain(&l, &a, SPOT, why, sizeof(why));
	assert_non_null(strstr(why, " is unreachable since 2026-01-02T13:00:00Z"));
	ladder_explain(&l, &a, FAR, why, sizeof(why));
	assert_non_null(strstr(why, " until 2026-01-02T13:00:00Z"));
	ladder_explain(&l, &a, OD, why, sizeof(why));
	assert_string_equal(why, "spot only until 2026-01-02T13:10:00Z");
	conf_free(c);
}

/* ... and ends in dots, or somebody takes it for the whole; nothing is written behind it. */
static void test_a_text_that_is_too_long_is_cut(void **state)
{
	static const char whole[] = "res, spot, far, od, us: price not known yet";
	struct conf *c = five();
	struct ladder_known known[NRUNGS] = {{0}};
	struct ladder_ask a = {.conf = c, .pool = c->pools, .known = known, .now_ms = now};
	struct ladder l;
	char why[2 * sizeof(whole)];

	(void)state;
	finish(c);
	ladder_make(&l, &a);
	for (size_t size = sizeof("...") + 1; size <= sizeof(whole); size++) {
		memset(why, '#', sizeof(why));
		ladder_why(&l, &a, why, size);
		if (size == sizeof(whole)) {
			assert_string_equal(why, whole);
		} else {
			assert_int_equal(strlen(why), size - 1);
			assert_memory_equal(why, whole, size - sizeof("..."));
			assert_string_equal(why + size - sizeof("..."), "...");
		}
		for (size_t i = size; i < sizeof(why); i++)
			assert_int_equal(why[i], '#');
	}
	conf_free(c);
}

/* A place is told with or without a name, however short. */
static void test_where_there_is_no_capacity_is_told(void **state)
{
	struct conf *c = empty_conf();
	struct ladder_known known = {.price = 1, .cool = {COOLDOWN_CAPACITY, now}};
	struct ladder_ask a = {.conf = c, .pool = c->pools, .known = &known, .now_ms = now};
	struct ladder l;
	char why[200];

	(void)state;
	set("pool", "provider", c->pools, "aws");
	set("pool", "type", c->pools, "p5");
	set("pool", "region", c->pools, "eu-west-2");
	finish(c);
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "p5 in eu-west-2: no capacity: cools down until "
				 "2026-01-02T14:00:00Z");
	conf_free(c);
	a.conf = c = empty_conf();
	a.pool = c->pools;
	(void)add_offer(c->pools, "x", "aws", "eu-west-2", "spot"); /* in zone x */
	finish(c);
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "x (p5 in x): no capacity: cools down until 2026-01-02T14:00:00Z");
	conf_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_are_the_wall_clocks),
		cmocka_unit_test(test_a_text_that_is_too_long_is_cut),
		cmocka_unit_test(test_where_there_is_no_capacity_is_told),
	};

	return cmocka_run_group_tests_name("ladder_words", tests, NULL, NULL);
}
