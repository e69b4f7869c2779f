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
	known[SPOT].away_ms = now;
	known[FAR].cool = (struct cooldown_view){COOLDOWN_CAPACITY, now};
	ladder_make(&l, &a);
	ladder_explain(&l, &a, SPOT, why, sizeof(why));
	assert_non_null(strstr(why, " is unreachable since 2026-01-02T13:00:00Z"));
	ladder_explain(&l, &a, FAR, why, sizeof(why));
	assert_non_null(strstr(why, " until 2026-01-02T13:00:00Z"));
	conf_free(c);
}

static void test_a_text_that_is_too_long_is_cut(void **state)
{
	struct conf *c = five();
	struct ladder_known known[NRUNGS] = {{0}};
	struct ladder_ask a = {.conf = c, .pool = c->pools, .known = known, .now_ms = now};
	struct ladder l;
	char why[40];

	(void)state;
	finish(c);
	ladder_make(&l, &a);
	ladder_why(&l, &a, why, sizeof(why));
	assert_string_equal(why, "res, spot, far, od, us: price not kn...");
	conf_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_are_the_wall_clocks),
		cmocka_unit_test(test_a_text_that_is_too_long_is_cut),
	};

	return cmocka_run_group_tests_name("ladder_words", tests, NULL, NULL);
}
