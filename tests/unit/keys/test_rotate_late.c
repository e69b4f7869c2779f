/* test_rotate_late.c - nodes have a time to follow to new keys: who is late is drained, and who
 * could not follow is not late. */
#include "rotation_world.h"
#include "store/journal_nodes.h"
#include "store/journal_vouchers.h"

/* c1 has munge's new key, and c2 that of before. */
static void one_of_two_follows(void)
{
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	begins(ROTATION_MUNGE);
	(void)beats(1, now_version());
	(void)beats(2, 7);
	look_at_nodes();
}

static void a_node_that_does_not_follow_is_drained(void **state)
{
	const char *lack[2];

	(void)state;
	one_of_two_follows();
	assert_int_equal(rt()->nodes.have, 1);
	assert_int_equal(rt()->nodes.lack, 1);
	assert_int_equal(engine_rotation_lack(F.e, lack, 2), 1);
	assert_string_equal(lack[0], "c2");
	assert_int_equal(claim(1)->keys_old_ms, 0);
	assert_true(claim(2)->keys_old_ms != 0);
	assert_int_equal(events("keys-old"), 0);
	claim(2)->keys_old_ms -= ROTATION_SPREAD_MS;
	look_at_nodes();
	assert_int_equal(events("keys-old"), 1);
	assert_true(claim(2)->keys_drained);
	assert_false(claim(1)->keys_drained);
	look_at_nodes();
	assert_int_equal(events("keys-old"), 1);
	assert_int_equal(phase(), ROTATION_STAGED); /* the others do not wait for it */
}

/* It gets its keys when it claims, and is refused when it comes up with old ones. */
static void a_node_that_boots_is_not_waited_for(void **state)
{
	(void)state;
	claim(2)->c.state = CLAIM_CLAIMED;
	begins(ROTATION_MUNGE);
	(void)beats(1, now_version());
	look_at_nodes();
	assert_int_equal(rt()->nodes.have, 1);
	assert_int_equal(rt()->nodes.lack + rt()->nodes.unheard + rt()->nodes.others, 0);
	assert_int_equal(claim(2)->keys_old_ms, 0);
	assert_int_equal(phase(), ROTATION_STAGED);
}

static void minutes_pass(int n)
{
	for (int i = 0; i < n; i++) {
		claim(2)->keys_old_ms -= MINUTE;
		rt()->looked_ms -= MINUTE;
		rt()->look_ms = 0;
		act_on_rotation();
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
	act_on_rotation();
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
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_true(rotate_turn_part.next_ms(F.e) > engine_now(F.e));
	F.e->keys->secrets->phase = SECRETS_READY;
	minutes_pass(8);
	assert_int_equal(events("keys-old"), 0);
	assert_int_equal(phase(), ROTATION_SPREADING);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
	go();
	assert_int_equal(phase(), ROTATION_STAGED);
	switches(0);
	its_time_comes();
	F.e->keys->secrets->phase = SECRETS_PROBE;
	rt()->r.since_ms -= ROTATION_SETTLE_MS + 1000;
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_SETTLING);
	F.e->keys->secrets->phase = SECRETS_READY;
	act_on_rotation();
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
	switches(0);
	assert_int_equal(phase(), ROTATION_WINDOW);
	go();
	assert_int_equal(events("keys-old"), 0);
}

/* ... and burstd knows since when somebody has other keys than he should for as long as it runs. */
static void after_a_restart_all_have_their_time_anew(void **state)
{
	(void)state;
	begins(ROTATION_MUNGE);
	rt()->r.since_ms -= ROTATION_SPREAD_MS - 1000;
	rt()->dirty = true;
	assert_true(rotate_turn_part.next_ms(F.e) <= engine_now(F.e));
	act_on_rotation();
	assert_false(F.e->staging.due);
	restart_and_go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_true(secrets_serves(F.e));
	rt()->r.since_ms -= 2000;
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_SPREADING);
	rt()->r.since_ms -= ROTATION_SPREAD_MS;
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_STAGED);
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
	look_at_nodes();
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
	look_at_nodes();
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
	look_at_nodes();
	assert_true(claim(2)->keys_old_ms != 0);
	claim(2)->keys_old_ms -= 4 * MINUTE;
	switches(0);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	(void)beats(2, rt()->r.prev);
	look_at_nodes();
	minutes_pass(4);
	assert_int_equal(events("keys-old"), 0);
	minutes_pass(2);
	assert_int_equal(events("keys-old"), 1);
}

/* He looks at it, or knows why no job is to come there: it gets none with old keys either. */
static void a_node_that_an_admin_has_drained_is_left_to_him(void **state)
{
	(void)state;
	begins(ROTATION_MUNGE);
	(void)beats(1, now_version());
	(void)beats(2, 7);
	look_at_nodes();
	claim(2)->keys_old_ms -= ROTATION_SPREAD_MS;
	slurmctld_has(2, 0); /* burstd was just started: nobody knows */
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE | SLURM_DRAIN);
	slurmctld_has(2, SLURM_KNOWN | SLURM_DOWN);
	assert_int_equal(events("keys-old"), 0);
	assert_int_equal(D.drains, 0);
	assert_int_equal(phase(), ROTATION_STAGED); /* the others do not wait for it */
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE); /* he gives it back */
	assert_int_equal(events("keys-old"), 1);
	assert_int_equal(D.drains, 1);
	assert_string_equal(D.drained, "c2");
	assert_string_equal(D.why, "burstd: it has old keys");
}

/* Node i is up, with keys of this version, which came by its user-data. */
static void up_by_token(int i, int64_t version)
{
	struct voucher v = {.gen = 1, .state = VOUCHER_SPENT, .version = version};
	struct node *n = &want(i, 1)->n;

	(void)snprintf(v.node, sizeof(v.node), "%s", n->name);
	n->state = NODE_READY;
	n->wake_ms = INT64_MAX;
	journal_put_node(engine_tx(F.e), n, "pool");
	journal_put_voucher(engine_tx(F.e), &v);
	engine_commit(F.e);
}

static int setup_tokens(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_AUTO, CONF_USER_DATA);
	store_has(SECRET_WRAPS, BUNDLE);
	restart();
	up_by_token(1, 7);
	up_by_token(2, 7);
	restart_and_go();
	assert_string_equal(secrets_version(F.e), "7");
	return 0;
}

/* Nobody can give it others: it goes as soon as there are some, and the rotation goes on. */
static void a_node_that_cannot_follow_is_drained_at_once(void **state)
{
	struct engine_rotation s;

	(void)state;
	look_at_nodes();
	engine_rotation(F.e, &s);
	assert_int_equal(s.nodes.fixed, 2);
	assert_int_equal(s.nodes.have, 2);
	assert_int_equal(events("keys-old"), 0);
	slurmctld_has(1, SLURM_KNOWN | SLURM_IDLE);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE | SLURM_DRAIN); /* by an admin */
	begins(ROTATION_MUNGE);
	look_at_nodes();
	assert_int_equal(events("keys-old"), 1);
	slurmctld_has(2, SLURM_KNOWN | SLURM_IDLE);
	engine_rotation(F.e, &s);
	assert_int_equal(s.nodes.fixed, 2);
	assert_int_equal(s.nodes.drained, 2);
	assert_int_equal(s.nodes.lack + s.nodes.unheard + s.nodes.others, 0);
	assert_int_equal(events("keys-old"), 2);
	assert_int_equal(phase(), ROTATION_STAGED);
	look_at_nodes();
	assert_int_equal(events("keys-old"), 2); /* once */
}

/* The store was away since burstd started: nobody knows which keys are old. */
static void a_node_that_cannot_follow_stays_while_no_version_is_known(void **state)
{
	(void)state;
	slurmctld_has(1, SLURM_KNOWN | SLURM_IDLE);
	believe_in("");
	rt()->look_ms = 0;
	act_on_rotation();
	assert_int_equal(rt()->nodes.fixed, 2);
	assert_int_equal(rt()->nodes.drained, 0);
	assert_int_equal(D.drains, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define V(f) cmocka_unit_test_setup_teardown(f, setup_tokens, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_node_that_does_not_follow_is_drained),
		T(a_node_that_boots_is_not_waited_for),
		T(who_cannot_follow_for_the_store_is_away_is_not_late),
		T(who_cannot_follow_for_nodes_cannot_reach_burstd_is_not_late),
		T(who_cannot_follow_for_burstd_stands_still_is_not_late),
		T(who_cannot_follow_until_an_admin_orders_the_switch_is_not_late),
		T(after_a_restart_all_have_their_time_anew),
		T(who_follows_to_one_version_after_another_is_not_late),
		T(who_never_follows_is_late_whatever_else_is_written),
		T(who_is_heard_for_the_first_time_has_its_time_from_then_on),
		T(a_node_that_an_admin_has_drained_is_left_to_him),
		V(a_node_that_cannot_follow_is_drained_at_once),
		V(a_node_that_cannot_follow_stays_while_no_version_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
