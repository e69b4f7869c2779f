/* test_rotate.c - a key is replaced by another: what is written to the store, what nodes are told,
 * and that a restart goes on where it was. */
#include "bare_rotate.h"
#include "buy/buy.h"
#include "keys/keys.h"

/* --- stories -----------------------------------------------------------------------------------
 */

static void munges_key_is_staged_then_switched_at_one_time(void **state)
{
	const char *said;
	char want[80];

	(void)state;
	assert_null(strstr(beats(1, 7), "keys"));
	F.e->keys->breaches = (struct engine_breaches){.n = 1, .last_ms = engine_now(F.e)};
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	assert_non_null(strstr(bundle(), "\"munge_key_next\":\""));
	(void)snprintf(want, sizeof(want), "\"keys\":{\"version\":\"%lld\"}",
		       (long long)now_version());
	assert_non_null(strstr(beats(1, 7), want));
	said = node_asks(1, "GET", "/v1/node/keys", "");
	assert_non_null(strstr(said, "\nmunge_key_next="));
	assert_non_null(strstr(said, "\nswitch=yes\nend=1\n")); /* munge_key is what all use */
	assert_int_equal(events("keys-released"), 1);
	assert_int_equal(audits("release-keys"), 1);
	assert_null(strstr(beats(1, now_version()), "keys"));
	assert_int_equal(phase(), ROTATION_SPREADING); /* the other one has not */
	all_follow();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, MINUTE - 1), -1);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 2 * MINUTE), 0);
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_non_null(strstr(beats(1, now_version()), "\"switch_ms\":"));
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(engine_breaches(F.e).n, 1); /* some have the old one */
	assert_int_equal(writes, 2);
	assert_null(strstr(bundle(), "munge_key_next"));
	assert_null(strstr(bundle(), "kZ3qVh0v8mJ5"));
	/* It was away: it is told to switch at once. */
	assert_non_null(strstr(beats(2, 7), "\"keys\":{\"version\""));
	assert_non_null(strstr(node_asks(2, "GET", "/v1/node/keys", ""), "\nswitch=yes\n"));
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_false(rotate_takes(F.e, rt()->r.prev, 0));
	assert_int_equal(engine_breaches(F.e).n, 0);
	assert_null(rt()->store);
	assert_int_equal(audits("rotate"), 1);
	assert_int_equal(audits("rotate-switch"), 1);
}

static void who_comes_with_the_old_key_is_bought_anew(void **state)
{
	(void)state;
	assert_true(rotate_takes(F.e, 7, 7));
	stage(ROTATION_MUNGE);
	assert_true(rotate_takes(F.e, 7, 7)); /* the key that is used is in both */
	assert_true(rotate_takes(F.e, now_version(), 7));
	assert_false(rotate_takes(F.e, 6, 6));
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	fails = SECRET_AWAY;
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SWITCHING);
	/* The store has the old key still: nobody gets it, and who has it is late. */
	assert_true(F.e->keys->secrets->held);
	assert_false(rotate_takes(F.e, 7, 7));
	assert_false(rotate_takes(F.e, now_version(), now_version()));
	claim(2)->keys_ms = 0;
	assert_string_equal(node_asks(2, "GET", "/v1/node/keys", ""), "(waits)");
	fails = SECRET_OK;
	rt()->store->next_ms = 0;
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_false(F.e->keys->secrets->held);
	assert_int_equal(F.answers[F.tickets].status, 200);
	assert_non_null(strstr(F.answers[F.tickets].body, "\nswitch=yes\n"));
	assert_false(rotate_takes(F.e, 7, 7));
	assert_true(rotate_takes(F.e, now_version(), 7));
}

static void jwks_rolls(void **state)
{
	(void)state;
	stage(ROTATION_JWKS);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_LOADING);
	/* There is no scontrol here: it stands still, and says so. */
	assert_non_null(strstr(rt()->error, "scontrol"));
	assert_int_equal(events("rotation-alarm"), 1);
	assert_int_equal(audits("reconfigure"), 1);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(writes, 2);
	assert_true(rotate_takes(F.e, rt()->r.prev, 0)); /* it has both keys */
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	assert_int_equal(phase(), ROTATION_AGING);
	/* A server of the store that knows of neither write yet. */
	(void)snprintf(F.e->keys->secrets->version, sizeof(F.e->keys->secrets->version), "7");
	F.e->keys->secrets->version_next = engine_now(F.e) + F.e->conf->secrets.poll_ms;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_AGING);
	F.e->keys->secrets->version_next = F.e->keys->secrets->next_ms = 0;
	go();
	its_time_comes();
	assert_int_equal(phase(), ROTATION_DONE);
	/* Who has claimed a moment ago, and confirms now, has the new key. */
	assert_true(rotate_takes(F.e, rt()->r.prev, 0));
	assert_false(rotate_takes(F.e, 7, 7));
	assert_int_equal(writes, 3);
	assert_null(strstr(bundle(), "Im9sZCI")); /* "old" */
	assert_non_null(strstr(bundle(), "munge_key"));
	(void)snprintf(F.e->keys->secrets->version, sizeof(F.e->keys->secrets->version),
		       "99"); /* an admin */
	assert_false(rotate_takes(F.e, rt()->r.prev, 0) || rotate_takes(F.e, rt()->r.now, 0));
}

static void a_restart_goes_on_where_it_was(void **state)
{
	int64_t version;

	(void)state;
	fails = SECRET_AWAY;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_STAGING);
	restart();
	fails = SECRET_OK;
	go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	version = now_version();
	/* It died between the write and the journal. */
	rt()->r.phase = ROTATION_STAGING;
	rt()->r.now = 7;
	rt()->r.prev = 0;
	rt()->dirty = true;
	rt()->store->next_ms = INT64_MAX;
	rotate_run(F.e);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	assert_int_equal(rt()->r.now, version);
	up(1, 7);
	up(2, 7);
	all_follow();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_WINDOW);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	restart();
	go();
	up(1, 7);
	up(2, 7);
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_int_equal(writes, 2);
}

static void what_somebody_else_writes_ends_it(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	put_bundle(BUNDLE, "99");
	its_time_comes();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_true(rt()->r.alien);
	assert_non_null(strstr(rt()->error, "somebody else"));
	assert_int_equal(writes, 1);
	assert_string_equal(bundle(), BUNDLE);
}

static void abort_takes_the_new_key_out(void **state)
{
	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), -1);
	stage(ROTATION_MUNGE);
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_null(strstr(bundle(), "munge_key_next"));
	assert_non_null(strstr(bundle(), "kZ3qVh0v8mJ5"));
	/* Munge's key is the same: who has claimed before, and confirms now, is no node too few. */
	assert_true(rotate_takes(F.e, rt()->r.prev, 0));
	assert_false(rotate_takes(F.e, 7, 7));
	/* Another one may follow. */
	writes = 0;
	stage(ROTATION_MUNGE);
}

static void slurmctld_has(int i, uint32_t flags)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "c%d", i);
	fleet_find(&F.e->fleet, name)->flags = flags;
	rt()->look_ms = 0;
	go();
}

/* c1 has munge's new key, and c2 that of before. */
static void one_of_two_follows(void)
{
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	(void)beats(1, now_version());
	(void)beats(2, 7);
	rt()->look_ms = 0;
	go();
}

static void a_node_that_does_not_follow_is_drained(void **state)
{
	(void)state;
	one_of_two_follows();
	assert_int_equal(rt()->nodes.have, 1);
	assert_int_equal(rt()->nodes.lack, 1);
	assert_int_equal(claim(1)->keys_old_ms, 0);
	assert_true(claim(2)->keys_old_ms != 0);
	assert_int_equal(events("keys-old"), 0);
	claim(2)->keys_old_ms -= ROTATION_SPREAD_MS;
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 1);
	assert_true(claim(2)->keys_drained);
	assert_false(claim(1)->keys_drained);
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 1);
	assert_int_equal(phase(), ROTATION_STAGED); /* the others do not wait for it */
}

static void minutes_pass(int n)
{
	for (int i = 0; i < n; i++) {
		claim(2)->keys_old_ms -= MINUTE;
		rt()->looked_ms -= MINUTE;
		rt()->look_ms = 0;
		rotate_run(F.e);
	}
	engine_commit(F.e);
}

/* Nor while burstd has no port, since somebody else had it first. */
static void who_cannot_follow_for_nodes_cannot_reach_burstd_is_not_late(void **state)
{
	(void)state;
	one_of_two_follows();
	F.door.off = "cannot listen";
	minutes_pass(60);
	assert_int_equal(events("keys-old"), 0);
	rt()->r.since_ms -= ROTATION_SPREAD_MS;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_SPREADING);
	F.door.off = NULL;
	minutes_pass(8);
	assert_int_equal(events("keys-old"), 0);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
}

/* Nobody can follow while the store is away: an hour of that must not cost all nodes. */
static void who_cannot_follow_for_the_store_is_away_is_not_late(void **state)
{
	(void)state;
	one_of_two_follows();
	assert_in_range(claim(2)->keys_old_ms, 1, engine_now(F.e));
	F.e->keys->secrets->phase = SECRETS_PROBE;
	minutes_pass(60);
	assert_int_equal(events("keys-old"), 0);
	/* Nor is he left behind. */
	rt()->r.since_ms -= ROTATION_SPREAD_MS;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_true(rotate_next_ms(F.e) > engine_now(F.e));
	F.e->keys->secrets->phase = SECRETS_READY;
	minutes_pass(8);
	assert_int_equal(events("keys-old"), 0);
	assert_int_equal(phase(), ROTATION_SPREADING);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
	go();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	its_time_comes();
	F.e->keys->secrets->phase = SECRETS_PROBE;
	rt()->r.since_ms -= ROTATION_SETTLE_MS + 1000;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_SETTLING);
	F.e->keys->secrets->phase = SECRETS_READY;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_DONE); /* whoever is about to be heard */
}

static void an_hour_stands_still(void)
{
	rt()->look_ms -= 60 * MINUTE;
	rt()->due_ms -= 60 * MINUTE;
	rt()->looked_ms -= 60 * MINUTE;
	rt()->r.since_ms -= 60 * MINUTE;
	claim(2)->keys_old_ms -= 60 * MINUTE;
}

/* F54: nor while burstd itself stands still, be it for an hour. */
static void who_cannot_follow_for_burstd_stands_still_is_not_late(void **state)
{
	(void)state;
	one_of_two_follows();
	an_hour_stands_still();
	go();
	assert_int_equal(events("keys-old"), 0);
	assert_int_equal(phase(), ROTATION_SPREADING);
	minutes_pass(8);
	assert_int_equal(events("keys-old"), 0);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
}

/* F54: nor if the first thing that happens afterwards changes the phase. */
static void who_cannot_follow_until_an_admin_orders_the_switch_is_not_late(void **state)
{
	(void)state;
	one_of_two_follows();
	its_time_comes();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(events("keys-old"), 0);
	an_hour_stands_still();
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_WINDOW);
	go();
	assert_int_equal(events("keys-old"), 0);
}

/* ... and burstd knows since when somebody has other keys than he should for as long as it runs. */
static void after_a_restart_all_have_their_time_anew(void **state)
{
	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	rt()->r.since_ms -= ROTATION_SPREAD_MS - 1000;
	rt()->dirty = true;
	rotate_run(F.e);
	restart();
	go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_true(secrets_serves(F.e));
	rt()->r.since_ms -= 2000;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_SPREADING);
	rt()->r.since_ms -= ROTATION_SPREAD_MS;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_STAGED);
}

static void poll_the_store(void)
{
	F.e->keys->secrets->version_next = F.e->keys->secrets->next_ms = 0;
	go();
}

/* F54: one version after another is written.  Who has followed to one has time for the next ... */
static void who_follows_to_one_version_after_another_is_not_late(void **state)
{
	int64_t staged;

	(void)state;
	one_of_two_follows();
	staged = now_version();
	minutes_pass(8);
	put_bundle(BUNDLE, "99");
	poll_the_store();
	(void)beats(2, staged); /* fetched a moment before */
	rt()->look_ms = 0;
	go();
	minutes_pass(9);
	assert_int_equal(events("keys-old"), 0);
	minutes_pass(1);
	assert_int_equal(events("keys-old"), 1);
}

/* ... and who follows to none has it once. */
static void who_never_follows_is_late_whatever_else_is_written(void **state)
{
	(void)state;
	one_of_two_follows();
	minutes_pass(8);
	put_bundle(BUNDLE, "99");
	poll_the_store();
	(void)beats(2, 7);
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 0);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
}

/* F54, I18: it came up with the staged key, and its first heartbeats got lost until the switch. */
static void who_is_heard_for_the_first_time_has_its_time_from_then_on(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	claim(2)->heartbeat_ms = 0;
	rt()->look_ms = 0;
	go();
	assert_true(claim(2)->keys_old_ms != 0);
	claim(2)->keys_old_ms -= 4 * MINUTE;
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	(void)beats(2, rt()->r.prev);
	rt()->look_ms = 0;
	go();
	minutes_pass(4);
	assert_int_equal(events("keys-old"), 0);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
}

/* What was staged is in no store any more: who fetched what is there now would be drained for it,
 * and all others would switch to a key that no node to come can have. */
static void what_somebody_else_writes_while_nodes_fetch_ends_it_at_once(void **state)
{
	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	put_bundle(BUNDLE, "99");
	(void)snprintf(F.e->keys->secrets->version, sizeof(F.e->keys->secrets->version), "6");
	F.e->keys->secrets->version_next = 0; /* it was away, and that is of long ago */
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_SPREADING);
	F.e->keys->secrets->phase = SECRETS_PROBE;
	F.e->keys->secrets->version_next = INT64_MAX;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_SPREADING);
	F.e->keys->secrets->phase = SECRETS_READY;
	poll_the_store();
	assert_int_equal(now_version(), 99);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(events("rotation-alarm"), 1);
	(void)beats(2, 99);
	rt()->look_ms = 0;
	go();
	assert_int_equal(claim(2)->keys_old_ms, 0);
}

static void what_somebody_else_writes_calls_the_switch_off(void **state)
{
	int64_t version;

	(void)state;
	stage(ROTATION_MUNGE);
	version = now_version();
	(void)snprintf(F.e->keys->secrets->version, sizeof(F.e->keys->secrets->version), "7");
	go(); /* a server that is behind: what was there before is nobody else's */
	assert_int_equal(phase(), ROTATION_STAGED);
	poll_the_store();
	assert_int_equal(now_version(), version);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
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
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
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
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_STAGING);
	assert_int_equal(rt()->r.now, 99);
	assert_int_equal(writes, 0); /* not before that is durable */
	rt()->store->next_ms = 0;
	go();
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
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
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
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING);
	/* A server that knows of neither write was asked a moment ago. */
	(void)snprintf(F.e->keys->secrets->version, sizeof(F.e->keys->secrets->version), "7");
	F.e->conf->secrets.poll_ms = MINUTE;
	rotate_run(F.e);
	assert_int_equal(phase(), ROTATION_AGING);
}

/* He looks at it, or knows why no job is to come there: it gets none with old keys either. */
static void a_node_that_an_admin_has_drained_is_left_to_him(void **state)
{
	uint64_t orders = slurm_orders(F.e->slurm);

	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	(void)beats(1, now_version());
	(void)beats(2, 7);
	rt()->look_ms = 0;
	go();
	claim(2)->keys_old_ms -= ROTATION_SPREAD_MS;
	slurmctld_has(2, 0); /* burstd was just started: nobody knows */
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE | SLURM_DRAIN);
	slurmctld_has(2, SLURM_KNOWN | SLURM_DOWN);
	assert_int_equal(events("keys-old"), 0);
	assert_int_equal(slurm_orders(F.e->slurm), orders);
	assert_int_equal(phase(), ROTATION_STAGED); /* the others do not wait for it */
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE); /* he gives it back */
	assert_int_equal(events("keys-old"), 1);
	assert_int_equal(slurm_orders(F.e->slurm), orders + 1);
}

static void keys_are_given_once_a_minute_and_to_who_has_confirmed(void **state)
{
	const char *said = node_asks(1, "GET", "/v1/node/keys", "");

	(void)state;
	assert_non_null(strstr(said, "munge_key="));
	assert_non_null(strstr(said, "\nswitch=no\n")); /* what all use is not known to us */
	(void)node_asks(1, "GET", "/v1/node/keys", "");
	assert_int_equal(F.answers[F.tickets].status, 429);
	claim(1)->keys_ms -= ROTATE_KEYS_MS;
	(void)node_asks(1, "GET", "/v1/node/keys", "");
	assert_int_equal(F.answers[F.tickets].status, 200);
	claim(2)->c.state = CLAIM_CLAIMED;
	(void)node_asks(2, "GET", "/v1/node/keys", "");
	assert_int_equal(F.answers[F.tickets].status, 409);
}

/* It was breached while it waited for them. */
static void keys_that_come_too_late_for_a_node_are_not_given(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	fails = SECRET_AWAY;
	its_time_comes();
	assert_string_equal(node_asks(2, "GET", "/v1/node/keys", ""), "(waits)");
	claim(2)->c.state = CLAIM_BREACHED;
	fails = SECRET_OK;
	rt()->store->next_ms = 0;
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(F.answers[F.tickets].status, 503);
	assert_null(strstr(F.answers[F.tickets].body, "munge_key"));
	assert_int_equal(events("keys-released"), 0);
}

static void vaults_credential_is_unwrapped_once_and_of_the_right_role(void **state)
{
	(void)state;
	store_flags = SECRET_RENEWS;
	restart();
	for (int i = 0; i < 4; i++)
		go();
	F.e->keys->secrets->phase = SECRETS_READY;
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "w", 0), -1); /* no role */
	F.e->conf->secrets.rotate_role_id = mem_strdup("r");
	F.e->conf->secrets.rotate_role_name = mem_strdup("burst-rotate");
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), -1);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "evil", 0), 0);
	assert_int_equal(phase(), ROTATION_STAGING);
	assert_non_null(strstr(rt()->error, "not of rotate_role_name"));
	assert_string_equal(enrolled, "");
	/* Nothing was written: to give that up takes no credential. */
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "evil", 0), 0);
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, "good", 0), 0);
	assert_string_equal(enrolled, "secret-id");
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_string_equal(rt()->error, "");
	/* It is in memory alone: after a restart somebody must give another one. */
	restart();
	go();
	assert_null(rt()->store);
	enrolled[0] = '\0';
}

/* The nodes have their timers, and the store would keep the old key: people must know before. */
static void without_a_credential_for_the_switch_there_is_an_alarm(void **state)
{
	const struct engine_rotate_ask abort = {.verb = ENGINE_ROTATE_ABORT, .by = "root"};
	struct err err = {0};

	(void)state;
	stage(ROTATION_MUNGE);
	store_flags = SECRET_RENEWS;
	restart();
	go();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(events("rotation-alarm"), 0); /* it has time */
	store_flags = 0;
	restart();
	go();
	assert_int_equal(order(ENGINE_ROTATE_SWITCH, ROTATION_NONE, NULL, 0), 0);
	store_flags = SECRET_RENEWS;
	restart();
	go();
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_int_equal(events("rotation-alarm"), 1);
	assert_non_null(strstr(rt()->error, "--resume"));
	F.e->conf->secrets.rotate_role_id = mem_strdup("r");
	F.e->conf->secrets.rotate_role_name = mem_strdup("burst-rotate");
	assert_int_equal(engine_rotate(F.e, &abort, &err), -1);
	assert_non_null(strstr(err.msg, "burst-rotate: \"--credential -\""));
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SWITCHING);
	assert_int_equal(events("rotation-alarm"), 1);
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, "good", 0), 0);
	assert_string_equal(rt()->error, "");
	assert_int_equal(phase(), ROTATION_SETTLING);
}

static void a_store_of_two_steps_is_promoted(void **state)
{
	(void)state;
	store_flags = SECRET_TWO_STEPS;
	restart();
	go();
	up(1, 7);
	up(2, 7);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_JWKS, NULL, 0), 0);
	assert_int_equal(writes, 1);
	assert_int_equal(promotes, 1);
	assert_int_equal(phase(), ROTATION_SPREADING);
}

/* Node i is up, with keys of this version, which came by its user-data. */
static void up_by_token(int i, int64_t version)
{
	struct voucher v = {.gen = 1, .state = VOUCHER_SPENT, .version = version};
	struct node n;

	(void)snprintf(v.node, sizeof(v.node), "c%d", i);
	node_init(&n, v.node, 1, engine_now(F.e));
	place_set(F.e, &n, &F.e->conf->pools[0].own, 1);
	n.state = NODE_READY;
	n.wake_ms = INT64_MAX;
	journal_put_node(engine_tx(F.e), &n, "pool");
	journal_put_voucher(engine_tx(F.e), &v);
	engine_commit(F.e);
}

static int setup_tokens(void **state)
{
	(void)state;
	store_flags = SECRET_WRAPS;
	writes = promotes = logins = 0;
	fails = SECRET_OK;
	(void)setup_with(CONF_ATTEST_AUTO, CONF_USER_DATA);
	F.store = the_store;
	put_bundle("{\"munge_key\":\"kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE=\"}", "7");
	restart();
	up_by_token(1, 7);
	up_by_token(2, 7);
	restart();
	go();
	assert_string_equal(secrets_version(F.e), "7");
	return 0;
}

/* Nobody can give it others: it goes as soon as there are some, and the rotation goes on. */
static void a_node_that_cannot_follow_is_drained_at_once(void **state)
{
	struct engine_rotation s;

	(void)state;
	rt()->look_ms = 0;
	go();
	engine_rotation(F.e, &s);
	assert_int_equal(s.nodes.fixed, 2);
	assert_int_equal(s.nodes.have, 2);
	assert_int_equal(events("keys-old"), 0);
	slurmctld_has(1, SLURM_KNOWN | SLURM_IDLE);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE | SLURM_DRAIN); /* by an admin */
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), 0);
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 1);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	engine_rotation(F.e, &s);
	assert_int_equal(s.nodes.fixed, 2);
	assert_int_equal(s.nodes.drained, 2);
	assert_int_equal(s.nodes.lack + s.nodes.unheard + s.nodes.others, 0);
	assert_int_equal(events("keys-old"), 2);
	assert_int_equal(phase(), ROTATION_STAGED);
	rt()->look_ms = 0;
	go();
	assert_int_equal(events("keys-old"), 2); /* once */
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(munges_key_is_staged_then_switched_at_one_time),
		T(who_comes_with_the_old_key_is_bought_anew),
		T(jwks_rolls),
		T(a_restart_goes_on_where_it_was),
		T(what_somebody_else_writes_ends_it),
		T(abort_takes_the_new_key_out),
		T(a_node_that_does_not_follow_is_drained),
		T(who_cannot_follow_for_the_store_is_away_is_not_late),
		T(who_cannot_follow_for_nodes_cannot_reach_burstd_is_not_late),
		T(who_cannot_follow_for_burstd_stands_still_is_not_late),
		T(who_cannot_follow_until_an_admin_orders_the_switch_is_not_late),
		T(after_a_restart_all_have_their_time_anew),
		T(who_follows_to_one_version_after_another_is_not_late),
		T(who_never_follows_is_late_whatever_else_is_written),
		T(who_is_heard_for_the_first_time_has_its_time_from_then_on),
		T(a_node_that_an_admin_has_drained_is_left_to_him),
		T(what_somebody_else_writes_while_nodes_fetch_ends_it_at_once),
		T(what_somebody_else_writes_calls_the_switch_off),
		T(what_somebody_else_wrote_just_before_calls_the_switch_off),
		T(what_an_admin_wrote_just_before_is_what_it_begins_with),
		T(nodes_that_settle_are_given_what_an_admin_writes),
		T(when_the_store_was_looked_at_is_no_matter_of_the_next_poll),
		T(keys_are_given_once_a_minute_and_to_who_has_confirmed),
		T(keys_that_come_too_late_for_a_node_are_not_given),
		T(vaults_credential_is_unwrapped_once_and_of_the_right_role),
		T(without_a_credential_for_the_switch_there_is_an_alarm),
		T(a_store_of_two_steps_is_promoted),
		cmocka_unit_test_setup_teardown(a_node_that_cannot_follow_is_drained_at_once,
						setup_tokens, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
