/* test_claims_end.c - what becomes of claims whose time is over or whose machine goes. */
#include "claims_store.h"
#include "keys_engine.h"
#include "store/journal_claims.h"

/* It ended by itself, with a token that nobody may have used: no breach, no release comes before.
 */
static void test_unused_token_of_one_that_ended_is_revoked(void **state)
{
	struct provider_instance in = {.id = "i-1", .node = "c1", .state = PROVIDER_ENDED};
	struct node_event end = {.type = NODE_EV_SEEN, .instance = &in};

	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	turn();
	end.now_ms = engine_now(F.e);
	engine_post(F.e, row(1), &end);
	turn();
	assert_null(claim(1));
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
}

static void test_after_its_time(void **state)
{
	uint64_t t;

	(void)state;
	one();
	claim(1)->c.expires_ms = engine_now(F.e);
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 410);
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(events("boot-failed"), 1);
	assert_int_equal(F.e->count.claims_breached, 0);
}

/* It ran out while the secret store was asked, and nobody has looked at the time yet. */
static void test_keys_after_its_time(void **state)
{
	uint64_t t;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	claim(1)->c.expires_ms = engine_now(F.e);
	keys_come("acc-1");
	assert_int_equal(status(t), 410);
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_string_equal(F.revoked_last, "acc-1");
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
}

static void test_nobody_claims_in_time(void **state)
{
	(void)state;
	one();
	assert_int_equal(claims_turn_part.next_ms(F.e), claim(1)->c.expires_ms);
	claim(1)->c.expires_ms = F.e->keys->claims->wake_ms = engine_now(F.e);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(events("boot-failed"), 1);
}

/* It may have registered by other keys: then no other deadline counts. */
static void test_keys_that_are_never_confirmed(void **state)
{
	uint64_t t;

	(void)state;
	one();
	claim(1)->c.expires_ms = F.e->keys->claims->wake_ms = engine_now(F.e) + INT64_C(86400000);
	t = says((struct says){.create = 1});
	is_served(t, "acc-1");
	assert_int_equal(F.e->keys->claims->wake_ms, claim(1)->c.released_ms + CLAIM_CONFIRM_MS);
	claim(1)->c.released_ms -= CLAIM_CONFIRM_MS;
	F.e->keys->claims->wake_ms = engine_now(F.e);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(events("boot-failed"), 1);
	assert_string_equal(F.revoked_last, "acc-1");
}

/* Nobody could claim while there was no burstd; and an older journal may have been put back, whose
 * nodes are at work. */
static void test_after_a_restart_there_is_time_to_claim(void **state)
{
	uint64_t t;

	(void)state;
	one();
	claim(1)->c.expires_ms = engine_now(F.e) - 1;
	journal_put_claim(engine_tx(F.e), &claim(1)->c);
	engine_commit(F.e);
	restart();
	F.e->keys->claims->wake_ms = 0;
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_in_range(claims_turn_part.next_ms(F.e), engine_now(F.e) + CLAIM_GRACE_MS - 1000,
			engine_now(F.e) + CLAIM_GRACE_MS);
	t = says((struct says){.create = 1});
	is_served(t, "acc-1");
}

static int keep_issued(void *ctx, const struct claim *c, struct err *err)
{
	(void)err;
	*(int64_t *)ctx = c->issued_ms;
	return 0;
}

/* F57: it was ahead when the claim was issued.  Who never claims must go all the same. */
static void test_after_the_clock_was_set_back_there_is_no_more_time_to_claim(void **state)
{
	const int64_t day = 24 * 3600 * INT64_C(1000);
	int64_t issued_ms = 0, life_ms;
	const struct journal_visitor v = {.claim = keep_issued, .ctx = &issued_ms};

	(void)state;
	one();
	life_ms = claim(1)->c.expires_ms - claim(1)->c.issued_ms;
	assert_true(life_ms > CLAIM_GRACE_MS);
	claim(1)->c.issued_ms += day;
	claim(1)->c.expires_ms += day;
	journal_put_claim(engine_tx(F.e), &claim(1)->c);
	engine_commit(F.e);
	restart();
	assert_true(claim(1)->c.expires_ms <= engine_now(F.e) + life_ms);
	assert_int_equal(journal_load(F.journal, &v, NULL), 0); /* it is on record, too */
	assert_in_range(issued_ms, 1, engine_now(F.e));
}

static int keep_released(void *ctx, const struct claim *c, struct err *err)
{
	(void)err;
	*(int64_t *)ctx = c->released_ms;
	return 0;
}

/* F58: likewise of one that had its keys then, and has said long ago that it has them. */
static void test_after_a_restart_there_is_time_to_confirm(void **state)
{
	int64_t released_ms = 0;
	const struct journal_visitor v = {.claim = keep_released, .ctx = &released_ms};

	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	claim(1)->c.released_ms -= 2 * CLAIM_CONFIRM_MS;
	journal_put_claim(engine_tx(F.e), &claim(1)->c);
	engine_commit(F.e);
	restart();
	F.e->keys->claims->wake_ms = 0;
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	assert_in_range(claims_turn_part.next_ms(F.e), engine_now(F.e) + CLAIM_CONFIRM_MS - 1000,
			engine_now(F.e) + CLAIM_CONFIRM_MS);
	assert_int_equal(journal_load(F.journal, &v, NULL), 0); /* it is on record, too */
	assert_int_equal(released_ms, claim(1)->c.released_ms);
}

/* Its answer was lost with burstd, which came back minutes later: it asks once more, and is no
 * thief; and it has time to say that it has its keys. */
static void test_after_a_restart_a_lost_answer_is_given_again(void **state)
{
	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	claim(1)->c.released_ms -= 2 * CLAIM_AGAIN_MS;
	journal_put_claim(engine_tx(F.e), &claim(1)->c);
	engine_commit(F.e);
	restart();
	is_served(says((struct says){.create = 1}), "acc-2");
	assert_string_equal(F.revoked_last, "acc-1");
	claim(1)->c.released_ms += 2 * CLAIM_AGAIN_MS; /* the clock was wrong then, or is now */
	journal_put_claim(engine_tx(F.e), &claim(1)->c);
	engine_commit(F.e);
	restart();
	is_served(says((struct says){.create = 1}), "acc-3");
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409); /* he is */
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
}

/* Of a create that is on its way nobody would learn that it was given up. */
static void test_time_is_over_before_it_is_there(void **state)
{
	(void)state;
	buy(1, 1);
	claim(1)->c.expires_ms = F.e->keys->claims->wake_ms = engine_now(F.e);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_false(row(1)->n.release);
	boots(1, true);
	F.e->keys->claims->wake_ms = engine_now(F.e);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
}

/* It did not become a node: its pool is told, with the reason. */
static int count_detail(void *ctx, const struct journal_event *ev)
{
	const char **want = ctx;
	size_t *n = (size_t *)(void *)(uintptr_t)want[1];

	*n += strcmp(ev->detail, want[0]) == 0;
	return 0;
}

static size_t tells(const char *detail)
{
	size_t n = 0;
	const char *want[2] = {detail, (const char *)(void *)&n};

	assert_int_equal(journal_events(F.journal, 0, NULL, 10000, count_detail, want, NULL), 0);
	return n;
}

static void test_boot_that_failed(void **state)
{
	(void)state;
	one();
	(void)says((struct says){.create = 1});
	keys_come("acc-1");
	claims_fail(F.e, claim(1), "gpu", "7 GPUs, 8 expected", false);
	turn();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(claim(1)->c.state, CLAIM_REVOKED);
	assert_int_equal(events("breach"), 0);
	assert_string_equal(F.revoked_last, "acc-1");
	/* Everywhere that its end is told of; of its row the word is known after a restart, too. */
	assert_int_equal(tells("booting -> deleting: gpu: 7 GPUs, 8 expected"), 1);
	assert_string_equal(fleet_why(row(1), &row(1)->n), "gpu: 7 GPUs, 8 expected");
	restart();
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_string_equal(fleet_why(row(1), &row(1)->n), "its boot failed");
}

/* Words of others are kept as they are logged: without what looks like a secret. */
static void test_event_with_a_token_in_it(void **state)
{
	(void)state;
	engine_event(F.e, "", 0, "secrets", "bad token \"hvs.abcdefghij0123456789\"");
	engine_commit(F.e);
	assert_int_equal(tells("bad token \"[redacted]\""), 1);
	assert_int_equal(events("secrets"), 1);
	/* Those of a node's root go to slurmctld, too, and by the command line of scontrol. */
	one();
	claims_fail(F.e, claim(1), "key", "odd: hvs.abcdefghij0123456789", false);
	assert_string_equal(fleet_why(row(1), row(1)->next), "key: odd: [redacted]");
}

static void test_released_node_claims_nothing(void **state)
{
	struct node_event ev = {.type = NODE_EV_RELEASE,
				.reason = NODE_BECAUSE_SUSPENDED,
				.now_ms = engine_now(F.e)};
	struct provider_instance in = {.id = "i-1", .node = "c1", .state = PROVIDER_ENDED};
	uint64_t t;
	char secret[CLAIM_SECRET_SIZE], id[96];

	(void)state;
	one();
	t = says((struct says){.create = 1});
	engine_post(F.e, row(1), &ev);
	turn();
	assert_int_equal(status(t), 410);
	assert_int_equal(claim(1)->c.state, CLAIM_REVOKED);
	assert_int_equal(status(says((struct says){.create = 1})), 410);
	(void)snprintf(id, sizeof(id), "%s", claim(1)->c.id);
	claims_secret(F.e, id, secret);
	knock(id, secret, true);
	ev = (struct node_event){.type = NODE_EV_SEEN, .instance = &in, .now_ms = engine_now(F.e)};
	engine_post(F.e, row(1), &ev);
	turn();
	assert_int_equal(row(1)->n.state, NODE_GONE);
	assert_null(claim(1));
	knock(id, secret, false);
	restart();
	assert_null(claim(1));
}

/* Those of other creates are where they were. */
static void test_one_of_many_creates_is_over(void **state)
{
	struct node_event ev = {.type = NODE_EV_REFUSED,
				.reason = NODE_BECAUSE_CAPACITY,
				.now_ms = engine_now(F.e)};

	(void)state;
	for (int i = 1; i <= 4; i++)
		buy(i, 1);
	for (int i = 1; i <= 4; i += 3) {
		row(i)->busy = false;
		engine_post(F.e, row(i), &ev);
		turn();
		assert_null(claim(i));
	}
	assert_int_equal(F.e->keys->claims->nall, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(F.e->keys->claims->all[i]->at, i);
	assert_non_null(claims_named(F.e, claim(2)->c.id));
	assert_non_null(claims_named(F.e, claim(3)->c.id));
}

static void is_seen(int i, enum provider_state s)
{
	struct provider_instance in = {.state = s};
	struct node_event ev = {.type = NODE_EV_SEEN, .now_ms = engine_now(F.e), .instance = &in};

	(void)snprintf(in.id, sizeof(in.id), "i-%d", i);
	(void)snprintf(in.node, sizeof(in.node), "c%d", i);
	engine_post(F.e, row(i), &ev);
	turn();
}

/* It runs or it is nobody: what comes from there when it was stopped is not a node that boots. */
static void test_machine_that_its_provider_takes_claims_nothing(void **state)
{
	static const enum provider_state going[] = {PROVIDER_STOPPING, PROVIDER_RECLAIMING};
	uint64_t t = 0;

	(void)state;
	two();
	for (int i = 1; i <= 2; i++) {
		F.address = i == 1 ? "10.0.0.1" : "10.0.0.2";
		if (i == 1) { /* it waits for the store */
			t = says((struct says){.create = i, .key = i});
			assert_int_equal(status(t), 0);
		}
		is_seen(i, going[i - 1]);
		if (i == 1)
			assert_int_equal(status(t), 410);
		assert_int_equal(claim(i)->c.state, CLAIM_REVOKED);
		assert_null(F.keys_fn);
		assert_int_equal(status(says((struct says){.create = i, .key = i})), 410);
		assert_int_equal(status(says((struct says){.create = i, .key = 3})), 410);
	}
	assert_int_equal(events("breach"), 0);
}

/* One that has them works on until it is taken. */
static void test_node_that_its_provider_takes_keeps_its_keys(void **state)
{
	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "");
	is_seen(1, PROVIDER_RECLAIMING);
	assert_int_equal(row(1)->n.state, NODE_DRAINING);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	is_served(says((struct says){.create = 1}), ""); /* its answer was lost */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_broker, teardown)
#define W(f) cmocka_unit_test_setup_teardown(f, setup_wrap, teardown)
	const struct CMUnitTest tests[] = {
		W(test_unused_token_of_one_that_ended_is_revoked),
		T(test_after_its_time),
		W(test_keys_after_its_time),
		T(test_nobody_claims_in_time),
		W(test_keys_that_are_never_confirmed),
		T(test_after_a_restart_there_is_time_to_claim),
		T(test_after_the_clock_was_set_back_there_is_no_more_time_to_claim),
		W(test_after_a_restart_there_is_time_to_confirm),
		W(test_after_a_restart_a_lost_answer_is_given_again),
		T(test_time_is_over_before_it_is_there),
		W(test_boot_that_failed),
		T(test_event_with_a_token_in_it),
		T(test_released_node_claims_nothing),
		T(test_machine_that_its_provider_takes_claims_nothing),
		T(test_node_that_its_provider_takes_keeps_its_keys),
		T(test_one_of_many_creates_is_over),
	};
#undef T
#undef W

	return cmocka_run_group_tests(tests, NULL, NULL);
}
