/* test_rotation.c - a key is replaced by another; first told as stories, then every story there is,
 * then what becomes of the bundle. */
#include "rotation_steps.h"

static bool plain(struct rotation *r, enum rotation_event_type type, int64_t now_ms)
{
	return rotation_step(r, &(struct rotation_event){.type = type, .now_ms = now_ms});
}

static bool wrote(struct rotation *r, int64_t version, int64_t now_ms)
{
	return rotation_step(r, &(struct rotation_event){.type = ROTATION_EV_WROTE,
							 .now_ms = now_ms,
							 .version = version});
}

static bool order(struct rotation *r, int64_t at_ms, int64_t now_ms)
{
	return rotation_step(r, &(struct rotation_event){.type = ROTATION_EV_SWITCH,
							 .now_ms = now_ms,
							 .at_ms = at_ms});
}

static struct rotation staged(enum rotation_kind kind)
{
	struct rotation r = begun(kind);

	assert_true(wrote(&r, 8, 2000));
	assert_true(plain(&r, ROTATION_EV_HAVE, 3000));
	assert_int_equal(r.phase, ROTATION_STAGED);
	return r;
}

static void munge_is_switched_at_one_time(void **state)
{
	struct rotation r = begun(ROTATION_MUNGE);

	(void)state;
	assert_int_equal(rotation_want(&r), ROTATION_WANT_WRITE);
	assert_false(order(&r, 99, 1500));
	assert_true(wrote(&r, 8, 2000));
	assert_true(rotation_takes(&r, 7) && rotation_takes(&r, 8) && !rotation_takes(&r, 6));
	assert_false(order(&r, 99, 2500)); /* not all have it */
	assert_true(plain(&r, ROTATION_EV_HAVE, 3000));
	assert_true(order(&r, 90000, 4000));
	assert_int_equal(rotation_wake_ms(&r), 90000);
	assert_false(plain(&r, ROTATION_EV_TIMER, 89999));
	assert_false(rotation_holds(&r, 8));
	assert_true(plain(&r, ROTATION_EV_TIMER, 90000));
	/* Now nobody is given what is in the store: it is the old key. */
	assert_true(rotation_holds(&r, 8));
	assert_false(rotation_takes(&r, 7) || rotation_takes(&r, 8));
	assert_true(rotation_switches(&r));
	assert_true(plain(&r, ROTATION_EV_TOLD, 90100));
	assert_int_equal(r.phase, ROTATION_SWITCHING);
	assert_false(rotation_switches(&r) || plain(&r, ROTATION_EV_TOLD, 90200));
	assert_true(wrote(&r, 9, 91000));
	assert_true(rotation_holds(&r, 8)); /* the store's poll is behind */
	assert_false(rotation_holds(&r, 9));
	assert_true(rotation_takes(&r, 9) && !rotation_takes(&r, 8));
	assert_false(rotation_switches(&r)); /* once */
	assert_true(plain(&r, ROTATION_EV_HAVE, 95000));
	assert_int_equal(r.phase, ROTATION_DONE);
	assert_int_equal(rotation_want(&r), ROTATION_WANT_NOTHING);
	assert_false(rotation_takes(&r, 8));
}

static void jwks_rolls_and_nothing_stands_still(void **state)
{
	struct rotation r = staged(ROTATION_JWKS);
	const int64_t later = 8000 + 60 * MINUTE;

	(void)state;
	assert_true(order(&r, 0, 4000));
	assert_int_equal(rotation_want(&r), ROTATION_WANT_TELL);
	assert_true(plain(&r, ROTATION_EV_TOLD, 5000));
	assert_int_equal(rotation_want(&r), ROTATION_WANT_WRITE);
	assert_true(wrote(&r, 9, 6000));
	assert_true(rotation_takes(&r, 8) && rotation_takes(&r, 9));
	assert_false(rotation_holds(&r, 8));
	assert_true(plain(&r, ROTATION_EV_HAVE, 7000));
	assert_int_equal(r.phase, ROTATION_AGING);
	assert_int_equal(rotation_want(&r), ROTATION_WANT_TELL);
	/* Tokens of the old key age only from when slurmctld signs with the new one. */
	assert_int_equal(rotation_wake_ms(&r), INT64_MAX);
	assert_true(plain(&r, ROTATION_EV_TOLD, later)); /* it was away, or the command failed */
	assert_int_equal(rotation_wake_ms(&r), later + 2 * MINUTE);
	assert_false(plain(&r, ROTATION_EV_TIMER, later + 2 * MINUTE - 1));
	assert_true(plain(&r, ROTATION_EV_TIMER, later + 2 * MINUTE));
	assert_int_equal(rotation_want(&r), ROTATION_WANT_WRITE);
	assert_true(wrote(&r, 10, later + 200000));
	assert_int_equal(r.phase, ROTATION_DONE);
	assert_int_equal(rotation_want(&r), ROTATION_WANT_TELL);
	assert_true(plain(&r, ROTATION_EV_TOLD, later + 200100));
	assert_int_equal(rotation_want(&r), ROTATION_WANT_NOTHING);
}

/* Nodes that have the new key are lost to a slurmctld that has not. */
static void munge_is_not_done_before_slurmctlds_own_has_switched(void **state)
{
	struct rotation r = staged(ROTATION_MUNGE);

	(void)state;
	assert_true(order(&r, 90000, 4000) && plain(&r, ROTATION_EV_TIMER, 90000));
	assert_true(wrote(&r, 9, 91000));
	assert_true(rotation_switches(&r)); /* still, and for as long as it takes */
	assert_false(plain(&r, ROTATION_EV_HAVE, 92000));
	assert_int_equal(rotation_wake_ms(&r), INT64_MAX);
	assert_false(plain(&r, ROTATION_EV_TIMER, 91000 + 2 * ROTATION_SETTLE_MS));
	assert_int_equal(r.phase, ROTATION_SETTLING);
	assert_true(plain(&r, ROTATION_EV_TOLD, 93000));
	assert_int_equal(r.phase, ROTATION_SETTLING); /* nodes: the next look */
	assert_true(plain(&r, ROTATION_EV_HAVE, 94000));
	assert_int_equal(r.phase, ROTATION_DONE);
}

static void who_does_not_follow_is_not_waited_for(void **state)
{
	struct rotation r = begun(ROTATION_MUNGE);

	(void)state;
	assert_true(wrote(&r, 8, 2000));
	assert_int_equal(rotation_wake_ms(&r), 2000 + ROTATION_SPREAD_MS);
	assert_true(plain(&r, ROTATION_EV_TIMER, 2000 + ROTATION_SPREAD_MS));
	assert_int_equal(r.phase, ROTATION_STAGED);
	assert_true(order(&r, 700000, 640000) && plain(&r, ROTATION_EV_TIMER, 700000));
	assert_true(wrote(&r, 9, 701000) && plain(&r, ROTATION_EV_TOLD, 701500));
	assert_int_equal(rotation_wake_ms(&r), 701000 + ROTATION_SETTLE_MS);
	assert_true(plain(&r, ROTATION_EV_TIMER, 701000 + ROTATION_SETTLE_MS));
	assert_int_equal(r.phase, ROTATION_DONE);
}

static void abort_takes_the_new_key_out_while_nobody_uses_it(void **state)
{
	struct rotation r = staged(ROTATION_MUNGE);

	(void)state;
	assert_true(order(&r, 90000, 4000));
	assert_true(plain(&r, ROTATION_EV_ABORT, 5000));
	assert_int_equal(rotation_want(&r), ROTATION_WANT_WRITE);
	assert_true(wrote(&r, 9, 6000));
	assert_int_equal(r.phase, ROTATION_ABORTED);
	assert_false(rotation_runs(&r));
	/* The old key is in all three versions. */
	assert_true(rotation_takes(&r, 8) && rotation_takes(&r, 9));
	r = staged(ROTATION_MUNGE);
	assert_true(order(&r, 90000, 4000) && plain(&r, ROTATION_EV_TIMER, 90000));
	assert_false(plain(&r, ROTATION_EV_ABORT, 90001));
}

/* Nodes have a timer by then, and hear of it by a heartbeat, or switch back. */
static void a_switch_is_called_off_while_nodes_may_hear_of_it(void **state)
{
	const int64_t at = 90000, last = at - ROTATION_HEAR_MS;
	struct rotation r = staged(ROTATION_MUNGE);

	(void)state;
	assert_true(order(&r, at, 4000));
	assert_false(rotation_called_off(&r, 5000));
	assert_false(plain(&r, ROTATION_EV_ABORT, last + 1));
	assert_true(plain(&r, ROTATION_EV_ABORT, last));
	assert_true(rotation_called_off(&r, INT64_MAX)); /* the write takes as long as it takes */
	assert_true(rotation_in_use(&r));                /* munge's old key is in both versions */
	assert_true(wrote(&r, 9, last + 100));
	assert_true(rotation_in_use(&r));
	assert_true(rotation_called_off(&r, at + ROTATION_SPREAD_MS - 1));
	assert_false(rotation_called_off(&r, at + ROTATION_SPREAD_MS));
	/* Nobody was told of one. */
	r = staged(ROTATION_MUNGE);
	assert_true(plain(&r, ROTATION_EV_ABORT, 5000));
	assert_false(rotation_called_off(&r, 5000));
}

/* Who has not heard of it by then has the timer still, and a new key beside the old one. */
static void a_switch_that_is_off_stays_so_when_the_next_rotation_begins(void **state)
{
	static const enum rotation_kind kinds[] = {ROTATION_MUNGE, ROTATION_JWKS};
	const int64_t at = 900000;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct rotation r = staged(ROTATION_MUNGE);
		const struct rotation_event again = {.type = ROTATION_EV_START,
						     .now_ms = 7000,
						     .kind = kinds[i],
						     .id = 2,
						     .version = 9};

		assert_true(order(&r, at, 4000) && plain(&r, ROTATION_EV_ABORT, 5000));
		assert_true(wrote(&r, 9, 6000) && rotation_step(&r, &again));
		assert_true(rotation_called_off(&r, 8000));
		assert_true(wrote(&r, 10, 9000) && rotation_called_off(&r, 9000));
		assert_true(plain(&r, ROTATION_EV_HAVE, 10000) && rotation_called_off(&r, 10000));
		assert_false(rotation_called_off(&r, at + ROTATION_SPREAD_MS));
		assert_true(order(&r, 2 * at, 11000));
		assert_int_equal(rotation_called_off(&r, 12000), kinds[i] == ROTATION_JWKS);
		assert_int_equal(r.switch_ms, kinds[i] == ROTATION_JWKS ? at : 2 * at);
		if (kinds[i] == ROTATION_JWKS) {
			assert_true(plain(&r, ROTATION_EV_TOLD, 13000));
			assert_true(plain(&r, ROTATION_EV_ALIEN, 14000));
			assert_true(rotation_called_off(&r, 15000));
		}
	}
	/* One that nobody has in mind any more is forgotten. */
	struct rotation r = staged(ROTATION_MUNGE);

	assert_true(order(&r, at, 4000) && plain(&r, ROTATION_EV_ABORT, 5000) &&
		    wrote(&r, 9, 6000));
	assert_true(rotation_step(&r, &(struct rotation_event){.type = ROTATION_EV_START,
							       .now_ms = at + ROTATION_SPREAD_MS,
							       .kind = ROTATION_MUNGE,
							       .id = 2,
							       .version = 9}));
	assert_int_equal(r.switch_ms, 0);
}

static void while_the_store_has_another_key_than_munge_it_is_not_the_one_in_use(void **state)
{
	struct rotation r = staged(ROTATION_MUNGE);

	(void)state;
	assert_true(rotation_in_use(&r));
	assert_true(order(&r, 90000, 4000) && plain(&r, ROTATION_EV_TIMER, 90000));
	assert_false(rotation_in_use(&r));
	assert_false(rotation_called_off(&r, 90001));
	assert_true(plain(&r, ROTATION_EV_ALIEN, 91000));
	assert_false(rotation_in_use(&r));
	assert_false(rotation_called_off(&r, 91001)); /* they did as they were told */
	r = staged(ROTATION_JWKS);
	assert_false(rotation_in_use(&r));
}

static void what_somebody_else_writes_ends_it(void **state)
{
	struct rotation r = begun(ROTATION_JWKS);

	(void)state;
	assert_true(plain(&r, ROTATION_EV_ALIEN, 2000));
	assert_int_equal(r.phase, ROTATION_ABORTED);
	assert_true(r.alien);
	assert_false(rotation_takes(&r, 7));
	r = staged(ROTATION_MUNGE);
	assert_true(rotation_takes(&r, 7) && rotation_takes(&r, 8));
	assert_true(plain(&r, ROTATION_EV_ALIEN, 5000));
	assert_false(rotation_takes(&r, 7) ||
		     rotation_takes(&r, 8)); /* none of these is any more */
	r = staged(ROTATION_MUNGE);
	assert_true(order(&r, 90000, 4000) && plain(&r, ROTATION_EV_ALIEN, 5000));
	assert_int_equal(r.phase, ROTATION_ABORTED);
	assert_true(rotation_called_off(&r, 6000));
	r = staged(ROTATION_MUNGE);
	assert_true(order(&r, 90000, 4000));
	/* Who did not hear it would switch, without slurmctld. */
	assert_false(plain(&r, ROTATION_EV_ALIEN, 90000 - ROTATION_HEAR_MS + 1));
	assert_true(plain(&r, ROTATION_EV_TIMER, 90000) && plain(&r, ROTATION_EV_ALIEN, 90001));
	assert_false(rotation_called_off(&r, 90002));
	r = staged(ROTATION_JWKS);
	assert_true(order(&r, 0, 4000) && plain(&r, ROTATION_EV_ALIEN, 5000));
	r = staged(ROTATION_JWKS);
	assert_true(order(&r, 0, 4000) && plain(&r, ROTATION_EV_TOLD, 5000) && wrote(&r, 9, 6000));
	assert_false(plain(&r, ROTATION_EV_ALIEN, 7000)); /* it is in use */
	/* Tokens may be good for a day, and all that while nodes would be drained. */
	assert_true(plain(&r, ROTATION_EV_HAVE, 7000));
	assert_int_equal(r.phase, ROTATION_AGING);
	assert_true(rotation_is_overwritten(&r, 10, 7000 + ROTATION_BEHIND_MS));
	assert_false(rotation_is_overwritten(&r, 9, 7000 + ROTATION_BEHIND_MS) ||
		     rotation_is_overwritten(&r, 8, 7000 + ROTATION_BEHIND_MS));
	/* That of before it began is there still, where both writes are not known yet. */
	assert_false(rotation_is_overwritten(&r, 7, 7000 + ROTATION_BEHIND_MS - 1));
	assert_false(rotation_is_overwritten(&r, 0, 7000 + ROTATION_BEHIND_MS));
	assert_true(plain(&r, ROTATION_EV_ALIEN, 8000));
	assert_int_equal(r.phase, ROTATION_ABORTED);
}

static bool alien(struct rotation *r, int64_t version, int64_t now_ms)
{
	return rotation_step(r, &(struct rotation_event){.type = ROTATION_EV_ALIEN,
							 .now_ms = now_ms,
							 .version = version});
}

static void what_was_written_before_it_began_is_what_it_begins_with(void **state)
{
	struct rotation r = begun(ROTATION_MUNGE);

	(void)state;
	assert_true(alien(&r, 9, 2000));
	assert_int_equal(r.phase, ROTATION_STAGING);
	assert_false(r.alien);
	assert_true(wrote(&r, 10, 3000));
	assert_int_equal(r.prev, 9);
	assert_false(rotation_is_overwritten(&r, 9, 4000));
	assert_true(alien(&r, 11, 5000)); /* now it has begun */
	assert_int_equal(r.phase, ROTATION_ABORTED);
}

/* All use the new key, or are about to: there is nothing to go back to. */
static void nodes_that_settle_follow_to_what_somebody_else_writes(void **state)
{
	struct rotation r = staged(ROTATION_MUNGE);

	(void)state;
	assert_true(order(&r, 90000, 4000) && plain(&r, ROTATION_EV_TIMER, 90000));
	assert_true(wrote(&r, 9, 91000));
	assert_false(rotation_is_overwritten(&r, 7, 91000 + ROTATION_BEHIND_MS - 1));
	assert_true(rotation_is_overwritten(&r, 10, 91000 + ROTATION_BEHIND_MS));
	assert_true(rotation_holds(&r, 10));
	assert_true(alien(&r, 10, 151000));
	assert_int_equal(r.phase, ROTATION_SETTLING);
	assert_true(rotation_switches(&r)); /* slurmctld's munged has to follow all the same */
	assert_false(rotation_holds(&r, 10));
	assert_true(rotation_holds(&r, 9)); /* a server that is behind */
	assert_true(rotation_takes(&r, 10));
	assert_true(plain(&r, ROTATION_EV_TOLD, 151000));
	assert_int_equal(rotation_wake_ms(&r), 151000 + ROTATION_SETTLE_MS);
}

/* F57: a burstd that starts with a clock that is behind does not wait a year for its switch. */
static void a_clock_that_was_set_back_moves_no_switch_away(void **state)
{
	static const struct {
		int64_t now, since, wake;
	} rows[] = {{4000, 4000, 90000}, {5000, 4000, 90000}, {3999, 3999, 89999}, {1, 1, 86001}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rotation r = staged(ROTATION_MUNGE);

		assert_true(order(&r, 90000, 4000));
		rotation_set_back(&r, rows[i].now);
		assert_int_equal(r.since_ms, rows[i].since);
		assert_int_equal(rotation_wake_ms(&r), rows[i].wake);
		assert_int_equal(r.since_ms - r.begun_ms, 3000);
	}
	struct rotation r = staged(ROTATION_MUNGE); /* it has no switch yet */

	rotation_set_back(&r, 1);
	assert_int_equal(r.switch_ms, 0);
}

static void one_follows_another_and_two_never_run(void **state)
{
	struct rotation r = begun(ROTATION_JWKS);
	const struct rotation_event again = {.type = ROTATION_EV_START,
					     .now_ms = 9000,
					     .kind = ROTATION_MUNGE,
					     .id = 2,
					     .version = 9};

	(void)state;
	assert_false(rotation_step(&r, &again));
	assert_true(plain(&r, ROTATION_EV_ABORT, 2000) && wrote(&r, 7, 3000));
	assert_int_equal(r.prev, 0); /* nothing was written */
	assert_true(rotation_step(&r, &again));
	assert_int_equal(r.kind, ROTATION_MUNGE);
	assert_int_equal(r.now, 9);
	assert_int_equal(r.life_ms, ROTATION_LIFE_MS);
}

/* --- every story ------------------------------------------------------------------------------ */

enum { DEEP = 9 };

static unsigned long stories;

static void must_hold(const struct rotation *r, const struct rotation *was)
{
	static const unsigned writes = 1u << ROTATION_STAGING | 1u << ROTATION_SWITCHING |
				       1u << ROTATION_DROPPING | 1u << ROTATION_ABORTING;

	assert_true(rotation_good(r));
	assert_int_equal(rotation_want(r) == ROTATION_WANT_WRITE, (writes >> r->phase & 1) != 0);
	/* No key that is used by nobody may be given out, and none that was taken out. */
	if (r->kind == ROTATION_MUNGE && r->phase == ROTATION_SWITCHING)
		assert_true(rotation_holds(r, r->now));
	if (r->phase == ROTATION_DROPPING || r->phase == ROTATION_AGING)
		assert_int_equal(r->kind, ROTATION_JWKS);
	if (r->kind == ROTATION_MUNGE && r->phase == ROTATION_DONE && was->phase != r->phase)
		assert_true(was->told);
	/* Once the new key is in use there is no way back. */
	if (was->phase >= ROTATION_SWITCHING && was->phase <= ROTATION_DROPPING)
		assert_true(r->phase != ROTATION_ABORTING);
	if (r->phase == ROTATION_ABORTED && was->phase != ROTATION_ABORTED)
		assert_true(r->alien || was->phase == ROTATION_ABORTING);
}

static void tell(struct rotation r, int64_t now_ms, unsigned deep)
{
	stories++;
	if (deep == DEEP)
		return;
	for (int t = 0; t < ROTATION_EV_NTYPES; t++) {
		struct rotation next = r;
		const struct rotation_event ev = {
			.type = (enum rotation_event_type)t,
			.now_ms = t == ROTATION_EV_TIMER && rotation_wake_ms(&r) != INT64_MAX
					  ? rotation_wake_ms(&r)
					  : now_ms + 1,
			.kind = deep % 2 == 0 ? ROTATION_MUNGE : ROTATION_JWKS,
			.id = 1 + deep,
			.version = FIRST + deep,
			.at_ms = now_ms + MINUTE};

		if (!rotation_step(&next, &ev)) {
			assert_memory_equal(&next, &r, sizeof(r)); /* it has not happened */
			continue;
		}
		must_hold(&next, &r);
		tell(next, ev.now_ms, deep + 1);
	}
}

static void every_sequence_of_events_keeps_the_rules(void **state)
{
	struct rotation r;

	(void)state;
	memset(&r, 0, sizeof(r));
	tell(r, BEGIN, 0);
	tell(begun(ROTATION_MUNGE), BEGIN, 0);
	tell(begun(ROTATION_JWKS), BEGIN, 0);
	assert_true(stories > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(munge_is_switched_at_one_time),
		cmocka_unit_test(jwks_rolls_and_nothing_stands_still),
		cmocka_unit_test(munge_is_not_done_before_slurmctlds_own_has_switched),
		cmocka_unit_test(who_does_not_follow_is_not_waited_for),
		cmocka_unit_test(abort_takes_the_new_key_out_while_nobody_uses_it),
		cmocka_unit_test(a_switch_is_called_off_while_nodes_may_hear_of_it),
		cmocka_unit_test(a_switch_that_is_off_stays_so_when_the_next_rotation_begins),
		cmocka_unit_test(
			while_the_store_has_another_key_than_munge_it_is_not_the_one_in_use),
		cmocka_unit_test(what_was_written_before_it_began_is_what_it_begins_with),
		cmocka_unit_test(nodes_that_settle_follow_to_what_somebody_else_writes),
		cmocka_unit_test(what_somebody_else_writes_ends_it),
		cmocka_unit_test(a_clock_that_was_set_back_moves_no_switch_away),
		cmocka_unit_test(one_follows_another_and_two_never_run),
		cmocka_unit_test(every_sequence_of_events_keeps_the_rules),
	};

	roll();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
