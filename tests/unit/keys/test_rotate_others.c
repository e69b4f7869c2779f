/* test_rotate_others.c - somebody else writes to the store while a key is replaced. */
#include "rotation_world.h"

static void what_somebody_else_writes_ends_it(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	switches(0);
	put_bundle(BUNDLE, "99");
	its_time_comes();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_true(rt()->r.alien);
	assert_non_null(strstr(rt()->error, "somebody else"));
	assert_int_equal(writes, 1);
	assert_string_equal(bundle(), BUNDLE);
}

/* What was staged is in no store any more: who fetched what is there now would be drained for it,
 * and all others would switch to a key that no node to come can have. */
static void what_somebody_else_writes_while_nodes_fetch_ends_it_at_once(void **state)
{
	(void)state;
	begins(ROTATION_MUNGE);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	put_bundle(BUNDLE, "99");
	believe_in("6");
	F.e->keys->secrets->version_next = 0; /* it was away, and that is of long ago */
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_SPREADING);
	F.e->keys->secrets->phase = SECRETS_PROBE;
	F.e->keys->secrets->version_next = INT64_MAX;
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_SPREADING);
	F.e->keys->secrets->phase = SECRETS_READY;
	poll_the_store();
	assert_int_equal(now_version(), 99);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(events("rotation-alarm"), 1);
	(void)beats(2, 99);
	look_at_nodes();
	assert_int_equal(claim(2)->keys_old_ms, 0);
}

static void what_somebody_else_writes_calls_the_switch_off(void **state)
{
	int64_t version;

	(void)state;
	stage(ROTATION_MUNGE);
	version = now_version();
	believe_in("7");
	go(); /* a server that is behind: what was there before is nobody else's */
	assert_int_equal(phase(), ROTATION_STAGED);
	poll_the_store();
	assert_int_equal(now_version(), version);
	switches(0);
	put_bundle(BUNDLE, "99");
	rt()->r.switch_ms = engine_now(F.e) + ROTATION_HEAR_MS - 1;
	poll_the_store(); /* not all would hear it, and some would switch alone */
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_int_equal(events("rotation-alarm"), 0);
	rt()->r.switch_ms += ROTATION_WINDOW_MS;
	poll_the_store();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_non_null(strstr(beats(1, version), "{\"version\":\"99\",\"switch_ms\":0}"));
	assert_string_equal(bundle(), BUNDLE);
}

/* F54: burstd found that at its next poll, when all had switched. */
static void what_somebody_else_wrote_just_before_calls_the_switch_off(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	put_bundle(BUNDLE, "99");
	switches(0);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(now_version(), 99);
	assert_int_equal(events("rotation-alarm"), 1);
	assert_true(rotation_called_off(&rt()->r, engine_now(F.e)));
}

/* burstd knows the version of its last look, minutes ago: what was written since is no reason to
 * give up what an admin has just ordered. */
static void what_an_admin_wrote_just_before_is_what_it_begins_with(void **state)
{
	(void)state;
	put_bundle(BUNDLE, "99");
	assert_int_equal(now_version(), 7);
	begins(ROTATION_MUNGE);
	assert_int_equal(phase(), ROTATION_STAGING);
	assert_int_equal(rt()->r.now, 99);
	assert_int_equal(writes, 0); /* not before that is durable */
	write_again();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	assert_non_null(strstr(bundle(), "munge_key_next"));
	assert_int_equal(rt()->r.prev, 99);
	assert_int_equal(events("rotation-alarm"), 0);
}

/* Nodes were told of a version that is in no store, and keys were given to nobody. */
static void nodes_that_settle_are_given_what_an_admin_writes(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	switches(0);
	its_time_comes();
	(void)beats(1, now_version());
	assert_int_equal(phase(), ROTATION_SETTLING);
	put_bundle(BUNDLE, "99");
	poll_the_store();
	assert_true(F.e->keys->secrets->held); /* a server may be behind by two */
	claim(2)->keys_ms = 0;
	assert_string_equal(node_asks(2, "GET", "/v1/node/keys", ""), "(waits)");
	rt()->r.since_ms -= ROTATION_BEHIND_MS;
	poll_the_store();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(rt()->r.now, 99);
	assert_false(F.e->keys->secrets->held);
	assert_non_null(strstr(F.answers[F.tickets].body, "\nswitch=yes\n"));
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_false(rt()->r.alien);
}

/* With a shorter poll it seemed as if the last look were yet to come. */
static void when_the_store_was_looked_at_is_no_matter_of_the_next_poll(void **state)
{
	(void)state;
	F.e->conf->secrets.poll_ms = 10 * MINUTE;
	stage(ROTATION_JWKS);
	switches(0);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING);
	/* A server that knows of neither write was asked a moment ago. */
	believe_in("7");
	F.e->conf->secrets.poll_ms = MINUTE;
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_AGING);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_somebody_else_writes_ends_it),
		T(what_somebody_else_writes_while_nodes_fetch_ends_it_at_once),
		T(what_somebody_else_writes_calls_the_switch_off),
		T(what_somebody_else_wrote_just_before_calls_the_switch_off),
		T(what_an_admin_wrote_just_before_is_what_it_begins_with),
		T(nodes_that_settle_are_given_what_an_admin_writes),
		T(when_the_store_was_looked_at_is_no_matter_of_the_next_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
