/* test_rotate.c - a key is replaced by another: what is written to the store, what nodes are told,
 * and that a restart goes on where it was. */
#include "rotation_world.h"

static void munges_key_is_staged_then_switched_at_one_time(void **state)
{
	const char *said;
	char want[80];

	(void)state;
	assert_null(strstr(beats(1, 7), "keys"));
	F.e->keys->breaches = (struct engine_breaches){.n = 1, .last_ms = engine_now(F.e)};
	begins(ROTATION_MUNGE);
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
	switches(2 * MINUTE);
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
	switches(0);
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
	write_again();
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
	switches(0);
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
	believe_in("50");                                /* what an admin wrote a moment ago */
	assert_true(rotate_takes(F.e, 50, 50));
	poll_the_store();
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	assert_int_equal(phase(), ROTATION_AGING);
	/* A server of the store that knows of neither write yet. */
	believe_in("7");
	F.e->keys->secrets->version_next = engine_now(F.e) + F.e->conf->secrets.poll_ms;
	act_on_rotation();
	assert_int_equal(phase(), ROTATION_AGING);
	poll_the_store();
	its_time_comes();
	assert_int_equal(phase(), ROTATION_DONE);
	/* Who has claimed a moment ago, and confirms now, has the new key. */
	assert_true(rotate_takes(F.e, rt()->r.prev, 0));
	assert_false(rotate_takes(F.e, 7, 7));
	assert_int_equal(writes, 3);
	assert_null(strstr(bundle(), "Im9sZCI")); /* "old" */
	assert_non_null(strstr(bundle(), "munge_key"));
	believe_in("99"); /* an admin */
	assert_false(rotate_takes(F.e, rt()->r.prev, 0) || rotate_takes(F.e, rt()->r.now, 0));
}

static void a_restart_goes_on_where_it_was(void **state)
{
	int64_t version;

	(void)state;
	fails = SECRET_AWAY;
	begins(ROTATION_MUNGE);
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
	act_on_rotation();
	restart_and_go();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_int_equal(writes, 1);
	assert_int_equal(rt()->r.now, version);
	both_are_up(7);
	all_follow();
	assert_int_equal(phase(), ROTATION_STAGED);
	switches(0);
	restart_and_go();
	assert_int_equal(phase(), ROTATION_WINDOW);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
	restart_and_go();
	both_are_up(7);
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	restart_and_go();
	assert_int_equal(phase(), ROTATION_DONE);
	assert_int_equal(writes, 2);
}

static void abort_takes_the_new_key_out(void **state)
{
	(void)state;
	assert_int_equal(order(ENGINE_ROTATE_ABORT, ROTATION_NONE, NULL, 0), -1);
	stage(ROTATION_MUNGE);
	aborts();
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

/* Order a rotation, and let its first write go out. */
static void begins_to_write(void)
{
	const struct engine_rotate_ask start = {
		.verb = ENGINE_ROTATE_START, .kind = ROTATION_MUNGE, .by = "root"};

	assert_int_equal(engine_rotate(F.e, &start, NULL), 0);
	for (int i = 0; i < TURNS && rt()->store->step != ROTATE_WRITE; i++)
		act_on_rotation();
	assert_int_equal(rt()->store->step, ROTATE_WRITE);
}

static void another_credential_while_a_write_is_under_way_is_refused(void **state)
{
	const struct engine_rotate_ask resume = {
		.verb = ENGINE_ROTATE_RESUME, .credential = "good", .by = "root"};
	struct err err = {0};

	(void)state;
	begins_to_write();
	assert_int_equal(engine_rotate(F.e, &resume, &err), -1);
	assert_non_null(strstr(err.msg, "a write is under way"));
	assert_int_equal(rt()->store->step, ROTATE_WRITE);
	go();
	assert_int_equal(phase(), ROTATION_SPREADING);
}

/* The answer to the write comes after the order: the key is in the store, and must be taken out. */
static void an_abort_while_a_write_is_under_way_waits_for_another(void **state)
{
	(void)state;
	begins_to_write();
	assert_non_null(strstr(bundle(), "munge_key_next"));
	aborts();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(writes, 2);
	assert_null(strstr(bundle(), "munge_key_next"));
}

/* ... at another address, and ever more seldom; people are told the third time. */
static void a_write_that_fails_is_tried_again(void **state)
{
	int64_t most = ROTATE_AGAIN_MS;

	(void)state;
	F.e->keys->secrets->naddresses = 3;
	fails = SECRET_AWAY;
	begins(ROTATION_MUNGE);
	for (unsigned i = 1; i <= 6; i++) {
		int64_t now = engine_now(F.e);

		assert_int_equal(rt()->store->failures, i);
		assert_int_equal(rt()->store->s.at, i % 3);
		assert_in_range(rt()->store->next_ms - now, i == 1 ? 1 : most / 2 + 1, most);
		assert_int_equal(rotate_store_next_ms(rt()), rt()->store->next_ms);
		assert_int_equal(events("rotation-alarm"), i >= 3);
		most = 2 * most < ROTATE_AGAIN_MAX_MS ? 2 * most : ROTATE_AGAIN_MAX_MS;
		write_again();
	}
	fails = SECRET_OK;
	write_again();
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_string_equal(rt()->error, "");
}

static void a_write_that_fails_is_tried_again_when_the_store_says(void **state)
{
	(void)state;
	fails = SECRET_TRANSIENT;
	again_in_ms = 10 * MINUTE;
	begins(ROTATION_MUNGE);
	assert_in_range(rt()->store->next_ms - engine_now(F.e), 9 * MINUTE, 10 * MINUTE);
}

/* It would be denied each time, and audited there. */
static void a_write_that_is_denied_waits_for_an_admin(void **state)
{
	struct engine_rotation s;

	(void)state;
	fails = SECRET_DENIED;
	begins(ROTATION_MUNGE);
	engine_rotation(F.e, &s);
	assert_true(s.needs_credential);
	assert_int_equal(events("rotation-alarm"), 1);
	assert_int_equal(rotate_store_next_ms(rt()), INT64_MAX);
	fails = SECRET_OK;
	write_again();
	assert_int_equal(phase(), ROTATION_STAGING);
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, NULL, 0), 0);
	assert_int_equal(phase(), ROTATION_SPREADING);
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
	switches(0);
	fails = SECRET_AWAY;
	its_time_comes();
	assert_string_equal(node_asks(2, "GET", "/v1/node/keys", ""), "(waits)");
	claim(2)->c.state = CLAIM_BREACHED;
	fails = SECRET_OK;
	write_again();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_int_equal(F.answers[F.tickets].status, 503);
	assert_null(strstr(F.answers[F.tickets].body, "munge_key"));
	assert_int_equal(events("keys-released"), 0);
}

/* burstd.conf names the AppRole that may write the bundle. */
static void has_a_role(void)
{
	F.e->conf->secrets.rotate_role_id = mem_strdup("r");
	F.e->conf->secrets.rotate_role_name = mem_strdup("burst-rotate");
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
	has_a_role();
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, NULL, 0), -1);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "evil", 0), 0);
	assert_int_equal(phase(), ROTATION_STAGING);
	assert_non_null(strstr(rt()->error, "not of rotate_role_name"));
	assert_string_equal(enrolled, "");
	/* Nothing was written: to give that up takes no credential. */
	aborts();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_int_equal(order(ENGINE_ROTATE_START, ROTATION_MUNGE, "evil", 0), 0);
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, "good", 0), 0);
	assert_string_equal(enrolled, "secret-id");
	assert_int_equal(phase(), ROTATION_SPREADING);
	assert_string_equal(rt()->error, "");
	/* It is in memory alone: after a restart somebody must give another one. */
	restart_and_go();
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
	restart_and_go();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(events("rotation-alarm"), 0); /* it has time */
	store_flags = 0;
	restart_and_go();
	switches(0);
	store_flags = SECRET_RENEWS;
	restart_and_go();
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_int_equal(events("rotation-alarm"), 1);
	assert_non_null(strstr(rt()->error, "--resume"));
	has_a_role();
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
	restart_and_go();
	both_are_up(7);
	begins(ROTATION_JWKS);
	assert_int_equal(writes, 1);
	assert_int_equal(promotes, 1);
	assert_int_equal(phase(), ROTATION_SPREADING);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(munges_key_is_staged_then_switched_at_one_time),
		T(who_comes_with_the_old_key_is_bought_anew),
		T(jwks_rolls),
		T(a_restart_goes_on_where_it_was),
		T(abort_takes_the_new_key_out),
		T(an_abort_while_a_write_is_under_way_waits_for_another),
		T(another_credential_while_a_write_is_under_way_is_refused),
		T(a_write_that_fails_is_tried_again),
		T(a_write_that_fails_is_tried_again_when_the_store_says),
		T(a_write_that_is_denied_waits_for_an_admin),
		T(keys_are_given_once_a_minute_and_to_who_has_confirmed),
		T(keys_that_come_too_late_for_a_node_are_not_given),
		T(vaults_credential_is_unwrapped_once_and_of_the_right_role),
		T(without_a_credential_for_the_switch_there_is_an_alarm),
		T(a_store_of_two_steps_is_promoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
