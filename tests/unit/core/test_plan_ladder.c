/* test_plan_ladder.c - which rung a job's nodes come from, and what happens when there is none. */
#include "plan_ladder_round.h"

static void test_the_first_rung_that_may_be_had_at_its_price(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-2],b1");
	add_job(&t, "a[1-2],b1");
	expect(&t, "ssB");
	assert_int_equal(t.p.nodes[0].price, 2 * FMT_NANO);
	assert_int_equal(t.p.nodes[2].price, 10 * FMT_NANO);
	assert_int_equal(t.p.nodes[0].group, t.p.nodes[2].group);
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	expect(&t, "ffB");
	cool(&t, FAR, COOLDOWN_QUOTA, 15);
	expect(&t, "ooB");
	assert_int_equal(t.p.nodes[0].price, 5 * FMT_NANO);
	done(&t);
}

static void test_no_rung_refuses_the_job_and_says_of_each_why(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a1,b1");
	add_job(&t, "a1,b1");
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	cool(&t, FAR, COOLDOWN_DENIED, 0);
	t.c->pools[0].max_price_nano_h = 4 * FMT_NANO;
	expect(&t, "RR");
	why_is(&t, 1,
	       "pool a: spot (t in spot): no capacity: cools down until 2026-01-02T14:01:00Z; far: "
	       "access denied: not tried until a call to two succeeds; od: 5.00 "
	       "above max_price 4.00");
	assert_int_equal(t.p.nno_rungs, 1);
	assert_int_equal(t.p.no_rungs[0].worst, LADDER_DENIED);
	assert_int_equal(t.p.no_rungs[0].hint.not_before_ms, now + 60000);
	t.ask.ahead_ms = 3600000; /* the wall clock was set back: people read that one (F57) */
	expect(&t, "RR");
	assert_memory_equal(t.p.no_rungs[0].why,
			    "spot (t in spot): no capacity: cools down until 2026-01-02T13:01:00Z",
			    67);
	t.ask.ahead_ms = 0;
	assert_int_equal(t.p.no_rungs[0].hint.surely_ms, 0);
	cool(&t, FAR, COOLDOWN_READY, 0);
	t.known[0][FAR].price = -1;
	expect(&t, "RR");
	assert_int_equal(t.p.no_rungs[0].worst, LADDER_CAPACITY);
	cool(&t, SPOT, COOLDOWN_READY, 0);
	t.known[0][SPOT].price = -1;
	expect(&t, "RR");
	assert_int_equal(t.p.no_rungs[0].worst, LADDER_DEAR);
	done(&t);
}

/* A dearer rung that is preferred does not keep a job from a cheaper one that fits max_rate. */
static void test_a_rung_that_fits_the_rate_is_taken_before_none(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-4]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a[3-4]");
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	t.c->pools[0].max_rate_nano_h = 10 * FMT_NANO;
	t.known[0][FAR].price = 6 * FMT_NANO; /* two are too dear */
	expect(&t, "ooRR");
	why_is(&t, 2, "pool a: max_rate 10.00 EUR/h reached");
	t.c->pools[0].max_rate_nano_h = 9 * FMT_NANO;
	expect(&t, "RRRR");
	/* What leaves makes room: the job waits for that. */
	t.f.pools[0].rate_nano_h = t.f.pools[0].leaving_nano_h = 5 * FMT_NANO;
	t.c->pools[0].max_rate_nano_h = 10 * FMT_NANO;
	expect(&t, "WWWW");
	/* So does what will leave, most likely. */
	t.f.pools[0].leaving_nano_h = 0;
	expect(&t, "RRRR");
	t.pools[0].ends_nano_h = 5 * FMT_NANO;
	expect(&t, "WWWW");
	t.c->pools[0].max_rate_nano_h = 1000 * FMT_NANO;
	t.c->pools[0].max_nodes = 2;
	t.f.pools[0].nodes = 2;
	expect(&t, "RRRR");
	t.pools[0].ends = 1;
	expect(&t, "RRRR");
	t.pools[0].ends = 2;
	expect(&t, "WWWW");
	done(&t);
}

static void test_one_purchase_probes_a_place_and_the_others_go_on(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-6]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a3");
	add_job(&t, "a[4-5]");
	cool(&t, SPOT, COOLDOWN_HALF, 0);
	expect(&t, "ssffff"); /* a6 is of no job */
	assert_int_equal(t.known[0][SPOT].cool.state, COOLDOWN_PROBING);
	cool(&t, SPOT, COOLDOWN_HALF, 0);
	cool(&t, FAR, COOLDOWN_CAPACITY, 1);
	cool(&t, OD, COOLDOWN_CAPACITY, 2);
	expect(&t, "ssWWWW");                 /* for its answer */
	t.known[0][SPOT].cool.until_ms = now; /* which does not come */
	expect(&t, "RRRRRR");
	why_is(&t, 2,
	       "pool a: spot: one purchase is tried first; far (t in far): no "
	       "capacity: cools down until 2026-01-02T14:01:00Z; od (t in od): no capacity: cools "
	       "down until 2026-01-0...");
	done(&t);
}

/* ADR 48 */
static void test_a_job_that_was_passed_over_goes_first_and_alone(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-5]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a[3-5]");
	t.c->pools[0].max_nodes = 3;
	expect(&t, "ssRRR");
	t.jobs[1].goes_first = true;
	expect(&t, "RRsss");
	assert_true(t.p.nodes[2].goes_first);
	cool(&t, SPOT, COOLDOWN_READY, 0);
	t.c->pools[0].max_nodes = 8;
	expect(&t, "ffsss"); /* what another rung has is left to others */
	assert_true(t.p.nodes[4].goes_first);
	assert_false(t.p.nodes[0].goes_first);
	assert_int_equal(t.known[0][SPOT].cool.state, COOLDOWN_PROBING);
	assert_int_equal(t.known[0][SPOT].cool.until_ms, now + COOLDOWN_WAIT_MS);
	cool(&t, SPOT, COOLDOWN_READY, 0);
	cool(&t, FAR, COOLDOWN_CAPACITY, 1);
	cool(&t, OD, COOLDOWN_CAPACITY, 1);
	expect(&t, "WWsss");
	t.jobs[0].goes_first = true; /* so does the other: one after the other */
	cool(&t, SPOT, COOLDOWN_READY, 0);
	expect(&t, "ssWWW");
	done(&t);
}

static void test_spot_share_counts_what_was_decided(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-4]");
	t.c->pools[0].spot_share = 50;
	for (int i = 1; i <= 4; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "a%d", i);
		add_job(&t, name);
		(void)snprintf(name, sizeof(name), "a%d", 4 + i);
		if (i > 2)
			continue;
		node_init(&n, name, 1, 0);
		n.state = NODE_READY;
		n.market = i == 1 ? PROVIDER_SPOT : PROVIDER_ON_DEMAND;
		(void)fleet_add(&t.f, &n);
	}
	assert_int_equal(t.f.pools[0].spot, 1);
	expect(&t, "osos"); /* 1 of 2; 2 would be of 3, then 2 of 4 */
	done(&t);
}

static void test_what_the_job_was_told_and_for_how_long(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a1");
	add_job(&t, "a1");
	t.c->pools[0].fallback_ms = 600000;
	cool(&t, SPOT, COOLDOWN_CAPACITY, 5);
	cool(&t, FAR, COOLDOWN_CAPACITY, 7);
	t.jobs[0] = (struct plan_job){.refusals = 3, .since_ms = now - 420000};
	expect(&t, "R");
	assert_int_equal(t.p.no_rungs[0].hint.surely_ms, now + 180000);
	assert_int_equal(t.p.no_rungs[0].hint.not_before_ms, now + 180000);
	t.jobs[0].since_ms = now - 600000;
	expect(&t, "o");
	t.jobs[0].since_ms = 0; /* it begins to wait now */
	expect(&t, "R");
	assert_int_equal(t.p.no_rungs[0].hint.surely_ms, now + 600000);
	t.c->pools[0].fallback_ms = 0;
	t.c->pools[0].fallback_refusals = 3;
	t.jobs[0].refusals = 2;
	expect(&t, "R");
	t.jobs[0].refusals = 3;
	expect(&t, "o");
	t.ask.jobs = NULL; /* nothing is known of it */
	expect(&t, "R");
	done(&t);
}

/* It may want none of these, and is asked about meanwhile. */
static void test_a_job_whose_wishes_are_not_known_waits(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-4]");
	add_job(&t, "a[1-2]");
	add_job(&t, "a[2-3]");
	add_job(&t, "a4");
	t.jobs[0].unknown = true;
	expect(&t, "WWWs");
	t.jobs[0].unknown = false;
	expect(&t, "ssss");
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	cool(&t, FAR, COOLDOWN_CAPACITY, 1);
	cool(&t, OD, COOLDOWN_CAPACITY, 1);
	t.jobs[0].unknown = true;
	expect(&t, "WWWR");
	done(&t);
}

/* A job is too dear for good if the cheapest that it may have some day is. */
static void test_what_a_job_can_never_have_makes_it_no_cheaper(void **state)
{
	struct ladder_wish not_spot = {.constraint = "ondemand"};
	struct round t;

	(void)state;
	setup(&t, "a1");
	add_job(&t, "a1");
	t.c->pools[0].max_rate_nano_h = 4 * FMT_NANO;
	t.jobs[0] = (struct plan_job){.wishes = &not_spot, .nwishes = 1};
	expect(&t, "R"); /* 5 an hour, whatever spot costs */
	assert_true(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	t.jobs[0].nwishes = 0;
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	cool(&t, FAR, COOLDOWN_CAPACITY, 1);
	expect(&t, "R"); /* spot may be had again in a minute */
	assert_int_equal(t.p.nodes[0].cause, PLAN_MAX_RATE);
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	t.c->pools[0].max_rate_nano_h = 1 * FMT_NANO;
	expect(&t, "R");
	assert_true(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	t.known[0][SPOT].price = -1; /* nor does one that is not offered */
	expect(&t, "R");
	assert_true(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	t.known[0][FAR].price = 0; /* not known yet: it may be cheap */
	expect(&t, "R");
	assert_int_equal(t.p.nodes[0].cause, PLAN_MAX_RATE);
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	done(&t);
}

/* What only an on-demand node can mend is not waited for: its share, and a rung that is not sold.
 */
static void test_nobody_waits_for_spot_that_he_cannot_have(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-3]");
	t.c->pools[0].spot_share = 50;
	t.c->pools[0].fallback_ms = 600000;
	add_job(&t, "a1");
	add_job(&t, "a2");
	expect(&t, "oso"); /* one of one would be too much, one of two is not; a3 is of no job */
	t.c->pools[0].spot_share = 100;
	t.known[0][SPOT].price = t.known[0][FAR].price = -1;
	expect(&t, "ooo");
	/* An admin's node, or one that is kept warm, is no job that could wait. */
	t.known[0][SPOT].price = t.known[0][FAR].price = FMT_NANO;
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	cool(&t, FAR, COOLDOWN_CAPACITY, 1);
	expect(&t, "RRo");
	done(&t);
}

static void test_what_was_tried_a_moment_ago_is_not_tried_again(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-3]");
	add_job(&t, "a[1-2]");
	fleet_name(&t.f, "a2", 0)->tried = 1U << SPOT;
	fleet_name(&t.f, "a3", 0)->tried = 1U << SPOT | 1U << FAR | 1U << OD;
	expect(&t, "ffR");
	why_is(&t, 2, "pool a: spot, far, od: was tried a moment ago");
	assert_int_equal(t.p.no_rungs[0].worst, LADDER_TRIED);
	fleet_name(&t.f, "a1", 0)->tried = 1U << FAR; /* a job's nodes are of one place */
	expect(&t, "ooR");
	done(&t);
}

/* slurmctld asks for the nodes once more: that is another try. */
static void test_who_asks_anew_is_not_held_to_what_refused_before(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-2]");
	add_job(&t, "a[1-2]");
	fleet_name(&t.f, "a2", 0)->tried = 1U << SPOT;
	expect(&t, "ff");
	t.ask.anew = true;
	expect(&t, "ss");
	done(&t);
}

/* What nobody can mend is told by the last rung; what passes is not the job's alone. */
static void test_the_worst_of_what_lasts_is_that_of_the_last_rung(void **state)
{
	struct ladder_wish not_spot = {.constraint = "ondemand"};
	struct round t;

	(void)state;
	setup(&t, "a1,b1");
	add_job(&t, "a1");
	add_job(&t, "b1");
	t.jobs[0] = (struct plan_job){.wishes = &not_spot, .nwishes = 1};
	t.jobs[1] = (struct plan_job){.wishes = (struct ladder_wish[]){{.constraint = "spot"}},
				      .nwishes = 1};
	t.known[0][OD].price = -1;
	expect(&t, "RR");
	assert_int_equal(t.p.no_rungs[0].worst, LADDER_NOT_OFFERED);
	assert_true(t.p.no_rungs[0].hint.lasting);
	assert_int_equal(t.p.no_rungs[1].worst, LADDER_CONSTRAINT); /* of one rung, too */
	t.known[0][OD].price = 5 * FMT_NANO;
	cool(&t, OD, COOLDOWN_CAPACITY, 1);
	expect(&t, "RR");
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).lasting);
	assert_false(plan_hint(&t.p, &t.p.nodes[0]).clash);
	assert_int_equal(plan_hint(&t.p, &t.p.nodes[0]).job, 0);
	done(&t);
}

/* The second rung would be too dear even then. */
static void test_room_for_any_rung_is_waited_for(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-2]");
	add_job(&t, "a[1-2]");
	cool(&t, SPOT, COOLDOWN_CAPACITY, 1);
	t.known[0][FAR].price = 5 * FMT_NANO;
	t.known[0][OD].price = 6 * FMT_NANO;
	t.c->pools[0].max_rate_nano_h = 10 * FMT_NANO;
	t.f.pools[0].rate_nano_h = t.f.pools[0].leaving_nano_h = 5 * FMT_NANO;
	expect(&t, "WW");
	done(&t);
}

/* Of two reasons that an admin can mend the one is told that keeps all out. */
static void test_a_provider_that_is_off_is_told_before_all_else(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a1");
	add_job(&t, "a1");
	t.known[0][SPOT].off = t.known[0][OD].off = "no credentials";
	cool(&t, FAR, COOLDOWN_DENIED, 0);
	expect(&t, "R");
	assert_int_equal(t.p.no_rungs[0].worst, LADDER_OFF);
	done(&t);
}

/* The second of its nodes would be one too many: a job is not split. */
static void test_spot_share_counts_all_that_the_job_needs(void **state)
{
	struct round t;

	(void)state;
	setup(&t, "a[1-2]");
	t.c->pools[0].spot_share = 50;
	t.f.pools[0].nodes = 1;
	add_job(&t, "a[1-2]");
	expect(&t, "oo");
	done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_rung_that_may_be_had_at_its_price),
		cmocka_unit_test(test_no_rung_refuses_the_job_and_says_of_each_why),
		cmocka_unit_test(test_a_rung_that_fits_the_rate_is_taken_before_none),
		cmocka_unit_test(test_one_purchase_probes_a_place_and_the_others_go_on),
		cmocka_unit_test(test_a_job_that_was_passed_over_goes_first_and_alone),
		cmocka_unit_test(test_spot_share_counts_what_was_decided),
		cmocka_unit_test(test_what_the_job_was_told_and_for_how_long),
		cmocka_unit_test(test_a_job_whose_wishes_are_not_known_waits),
		cmocka_unit_test(test_what_a_job_can_never_have_makes_it_no_cheaper),
		cmocka_unit_test(test_nobody_waits_for_spot_that_he_cannot_have),
		cmocka_unit_test(test_what_was_tried_a_moment_ago_is_not_tried_again),
		cmocka_unit_test(test_who_asks_anew_is_not_held_to_what_refused_before),
		cmocka_unit_test(test_the_worst_of_what_lasts_is_that_of_the_last_rung),
		cmocka_unit_test(test_room_for_any_rung_is_waited_for),
		cmocka_unit_test(test_a_provider_that_is_off_is_told_before_all_else),
		cmocka_unit_test(test_spot_share_counts_all_that_the_job_needs),
	};

	return cmocka_run_group_tests_name("plan_ladder", tests, NULL, NULL);
}
