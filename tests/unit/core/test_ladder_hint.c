/* test_ladder_hint.c - what a job may hope for that gets no offer: a time, a fallback, or nothing.
 */
#include "ladder_ask.h"

struct round {
	struct conf *c;
	struct ladder_known known[NRUNGS];
	struct ladder_wish wish;
	struct ladder_ask a;
	struct ladder l;
};

static void setup(struct round *t)
{
	*t = (struct round){.c = five()};
	finish(t->c);
	for (size_t i = 0; i < NRUNGS; i++)
		t->known[i].price = 4;
	t->a = (struct ladder_ask){.conf = t->c,
				   .pool = t->c->pools,
				   .known = t->known,
				   .nodes = 10,
				   .job = {.wishes = &t->wish, .nwishes = 1, .since_ms = now},
				   .now_ms = now};
}

static void cool(struct round *t, int rung, enum cooldown_state state, int minutes)
{
	t->known[rung].cool = (struct cooldown_view){state, now + minutes * MINUTE};
}

static void cool_all(struct round *t, int minutes)
{
	for (int i = 0; i < NRUNGS; i++)
		cool(t, i, COOLDOWN_CAPACITY, minutes);
}

static bool is_lasting(struct round *t)
{
	ladder_make(&t->l, &t->a);
	return t->l.lasting;
}

/* Each rung for a reason of its own. */
static void rule_all_out(struct round *t)
{
	struct conf_pool *p = t->c->pools;

	set("pool", "jurisdictions", p, "EU"); /* not FAR */
	p->spot_share = 0;                     /* not SPOT */
	p->offers[OD].max_price_nano_h = 3;
	set("offer", "jurisdiction", &p->offers[US], "IE");
	t->known[US].price = -1;
	t->wish.constraint = "spot|ondemand"; /* not RES */
}

/* It is told to ask for something else, at once. */
static void test_a_job_that_no_wait_can_help_is_told_so(void **state)
{
	static const enum ladder_cause causes[NRUNGS] = {LADDER_CONSTRAINT, LADDER_SHARE,
							 LADDER_JURISDICTION, LADDER_DEAR,
							 LADDER_NOT_OFFERED};
	struct round t;

	(void)state;
	setup(&t);
	rule_all_out(&t);
	assert_true(is_lasting(&t));
	assert_memory_equal(t.l.cause, causes, sizeof(causes));
	assert_int_equal(t.l.next_ms, 0);
	assert_int_equal(t.l.fallback_ms, 0);
	assert_false(t.l.waits);
	conf_free(t.c);
}

/* ... and one that a wait can help is not, whichever the rung. */
static void test_one_rung_that_may_open_is_worth_a_wait(void **state)
{
	struct round t;

	(void)state;
	setup(&t);
	rule_all_out(&t);
	cool_all(&t, 5);
	assert_true(is_lasting(&t));
	t.wish.constraint = NULL; /* RES, the first, cools down alone */
	assert_false(is_lasting(&t));
	assert_int_equal(t.l.next_ms, now + 5 * MINUTE);
	t.wish.constraint = "spot|ondemand";
	t.known[US].price = 4; /* the last */
	assert_false(is_lasting(&t));
	t.known[US].price = -1;
	t.known[SPOT].cool.state = COOLDOWN_READY;
	t.c->pools->spot_share = 1; /* more nodes that are not spot would make room */
	assert_false(is_lasting(&t));
	assert_int_equal(t.l.cause[SPOT], LADDER_SHARE);
	conf_free(t.c);
}

/* A reason that passes makes nobody ask for something else. */
static void test_only_wishes_the_file_and_prices_are_for_good(void **state)
{
	static const bool for_good[LADDER_NCAUSES] = {[LADDER_JURISDICTION] = true,
						      [LADDER_CONSTRAINT] = true,
						      [LADDER_NOT_OFFERED] = true,
						      [LADDER_DEAR] = true};
	struct round t;

	(void)state;
	setup(&t);
	ladder_make(&t.l, &t.a);
	for (int c = LADDER_TRY; c < LADDER_NCAUSES; c++) {
		t.l.cause[FAR] = (enum ladder_cause)c;
		assert_int_equal(ladder_is_for_good(&t.l, &t.a, FAR), for_good[c]);
	}
	conf_free(t.c);
}

/* When more offers are surely tried: only the time of a fallback says so. */
static void test_a_job_is_told_when_it_may_have_on_demand(void **state)
{
	struct round t;

	(void)state;
	setup(&t);
	cool_all(&t, 3);
	t.known[OD].cool = t.known[US].cool = (struct cooldown_view){0};
	t.c->pools->fallback_ms = 10 * MINUTE;
	t.a.job.since_ms = now - 4 * MINUTE;
	ladder_make(&t.l, &t.a);
	assert_int_equal(t.l.n, 0);
	assert_int_equal(t.l.fallback_ms, now + 6 * MINUTE);
	assert_int_equal(t.l.next_ms, now + 3 * MINUTE);
	cool_all(&t, 3); /* be it that on-demand is away, too */
	ladder_make(&t.l, &t.a);
	assert_int_equal(t.l.fallback_ms, 0);
	t.known[OD].cool = t.known[US].cool = (struct cooldown_view){0};
	t.c->pools->fallback_ms = 0;
	t.c->pools->fallback_refusals = 1; /* when it is refused nobody knows */
	ladder_make(&t.l, &t.a);
	assert_int_equal(t.l.n, 0);
	assert_int_equal(t.l.cause[OD], LADDER_SPOT_FIRST);
	assert_int_equal(t.l.fallback_ms, 0);
	conf_free(t.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_that_no_wait_can_help_is_told_so),
		cmocka_unit_test(test_one_rung_that_may_open_is_worth_a_wait),
		cmocka_unit_test(test_only_wishes_the_file_and_prices_are_for_good),
		cmocka_unit_test(test_a_job_is_told_when_it_may_have_on_demand),
	};

	return cmocka_run_group_tests_name("ladder/hint", tests, NULL, NULL);
}
