/* test_claims_misused.c - what becomes of claims that are replayed, stolen or tried by others, and
 * of their machines. */
#include "claims_store.h"
#include "keys_engine.h"

#include "keys/door.h"

/* The first key is taken; whoever comes with another one has the secret, too. */
static void test_claim_replayed(void **state)
{
	uint64_t thief;

	(void)state;
	one();
	thief = says((struct says){.create = 1});
	is_served(thief, "acc-1");
	thief = says((struct says){.create = 1, .key = 1});
	assert_int_equal(status(thief), 409);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(events("breach"), 1);
	assert_int_equal(audits("breach"), 1);
	assert_int_equal(F.e->count.claims_breached, 1);
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_int_equal(F.released, 1); /* nothing was asked for him */
}

/* The first answer's token may be unused, whoever of the two had it; burstd was started anew. */
static void test_replayed_after_a_restart(void **state)
{
	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	engine_commit(F.e);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
}

/* I33: a death between the two commits, of what was found and of what follows from it. */
static void test_breach_of_before_a_restart_ends_its_machine(void **state)
{
	const struct claim_event ev = {.type = CLAIM_EV_ALARM, .proved = true};

	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	(void)claims_step(F.e, claim(1), &ev);
	engine_commit(F.e);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	assert_false(goes(1, NODE_BECAUSE_BREACH));
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

/* The same for the token of an answer that was given again. */
static void test_replayed_after_a_lost_answer_and_a_restart(void **state)
{
	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	is_served(says((struct says){.create = 1}), "acc-2");
	engine_commit(F.e);
	assert_int_equal(F.revoked, 1);
	restart();
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
	assert_int_equal(F.revoked, 2);
	assert_string_equal(F.revoked_last, "acc-2");
}

/* There is no session when it comes to light: it is revoked when there is one, in burstd's next
 * life too. */
static void test_replayed_while_the_store_is_away(void **state)
{
	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	F.away = true;
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(F.revoked, 0);
	assert_true(F.e->keys->claims->wake_ms <= engine_now(F.e) + CLAIM_LATE_MS);
	restart();
	turn();
	assert_int_equal(F.revoked, 0);
	F.away = false;
	F.e->keys->claims->wake_ms = 0;
	turn();
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
	F.e->keys->claims->wake_ms = 0;
	turn();
	assert_int_equal(F.revoked, 1); /* once */
}

static void test_replayed_while_it_waits(void **state)
{
	uint64_t t, thief;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	thief = says((struct says){.create = 1, .key = 1});
	assert_int_equal(status(thief), 409);
	assert_int_equal(status(t), 409);
	assert_null(F.keys_fn); /* nobody is waited for */
}

/* A thief was first: the machine itself finds out, and both are shut out. */
static void test_stolen_claim_used_first(void **state)
{
	uint64_t t;
	char text[300], secret[CLAIM_SECRET_SIZE];
	struct http_answer an;

	(void)state;
	one();
	t = says((struct says){.create = 1, .key = 1});
	is_served(t, "acc-1");
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 409);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	claims_secret(F.e, claim(1)->c.id, secret);
	(void)snprintf(text, sizeof(text),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"claim_used\"}",
		       claim(1)->c.id, secret);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(status(F.tickets), 200);
	assert_int_equal(events("claim-alarm"), 1);
	assert_int_equal(events("breach"), 1);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_string_equal(F.revoked_last, "acc-1");
}

static void test_alarms(void **state)
{
	char text[300], secret[CLAIM_SECRET_SIZE];
	struct http_answer an;

	(void)state;
	one();
	claims_secret(F.e, claim(1)->c.id, secret);
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"reason\":\"unwrap_failed\"}",
		       claim(1)->c.id);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(status(F.tickets), 200); /* anybody may be loud, and no more */
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_int_equal(claim(1)->c.alarms, 1);
	request("POST", "/v1/alarm", "{\"claim_id\":\"no\"}", &an);
	assert_int_equal(status(F.tickets), 401);
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"reason\":\"a\\nb\"}",
		       claim(1)->c.id);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(status(F.tickets), 400);
	assert_int_equal(events("claim-alarm"), 1);
	(void)snprintf(text, sizeof(text),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"creation_path\"}",
		       claim(1)->c.id, secret);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

/* A token that has ended looks like one that was used. */
static void test_a_token_that_may_have_ended_is_no_breach(void **state)
{
	static const char *const reasons[] = {"unwrap_late", "unwrap_lost"};
	char text[300], secret[CLAIM_SECRET_SIZE];
	struct http_answer an;

	(void)state;
	one();
	claims_secret(F.e, claim(1)->c.id, secret);
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof(text),
			       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"%s\"}",
			       claim(1)->c.id, secret, reasons[i]);
		request("POST", "/v1/alarm", text, &an);
		assert_int_equal(status(F.tickets), 200);
	}
	assert_int_equal(events("token-unknown"), 2);
	assert_int_equal(events("claim-alarm") + events("breach"), 0);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	turn();
	assert_false(goes(1, NODE_BECAUSE_BREACH));
}

/* Who knows an id alone must not hide what others say of it. */
static void test_alarms_of_anybody_hide_no_other(void **state)
{
	char text[300], secret[CLAIM_SECRET_SIZE];
	struct http_answer an;

	(void)state;
	one();
	claims_secret(F.e, claim(1)->c.id, secret);
	F.address = "10.9.9.9";
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"reason\":\"noise\"}",
		       claim(1)->c.id);
	for (int i = 0; i < 2 * CLAIM_TOLD_MAX; i++)
		request("POST", "/v1/alarm", text, &an);
	assert_int_equal(events("claim-alarm"), CLAIM_NOISE_MAX);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	(void)snprintf(text, sizeof(text),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"claim_used\"}",
		       claim(1)->c.id, secret);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(events("claim-alarm"), CLAIM_NOISE_MAX + 1);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	assert_int_equal(status(says((struct says){.create = 1})), 409);
	assert_int_equal(events("claim-refused"), 1);
}

static void shows_certificate(const char *node, uint64_t gen, int key)
{
	F.peer.known = true;
	(void)snprintf(F.peer.cn, sizeof(F.peer.cn), "%s", node);
	(void)snprintf(F.peer.urn, sizeof(F.peer.urn), "urn:burst:node:%s:%u", node, (unsigned)gen);
	memcpy(F.peer.spki, F.keys[key].spki, sizeof(F.peer.spki));
}

/* A certificate speaks for the machine that it was made for, and for no other. */
static void test_alarm_about_another_node(void **state)
{
	char text[200];
	struct http_answer an;

	(void)state;
	one();
	(void)says((struct says){.create = 1});
	keys_come("");
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"reason\":\"unwrap_failed\"}",
		       claim(1)->c.id);
	shows_certificate("c2", 1, 1);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(status(F.tickets), 200);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	shows_certificate("c1", 0, 0); /* of who had the name before */
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	shows_certificate("c1", 1, 1);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	shows_certificate("c1", 1, 0);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
}

/* As if all of a second's were asked for, and that second did not end. */
static void empties(struct bucket *b)
{
	assert_int_equal(b->gains, DOOR_ASKS_S);
	b->level = 0;
	b->at_ms = engine_now(F.e) + 3600000;
}

/* Who has a certificate may be hostile: he fills no disk with true words, and keeps the loop from
 * nobody, whatever he asks for. */
static void test_alarms_without_end(void **state)
{
	char text[200], nonce[200];
	struct http_answer an;

	(void)state;
	one();
	(void)says((struct says){.create = 1});
	keys_come("");
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"reason\":\"unwrap_late\"}",
		       claim(1)->c.id);
	(void)snprintf(nonce, sizeof(nonce), "/v1/claim/%s/nonce", claim(1)->c.id);
	shows_certificate("c1", 1, 0);
	for (int i = 0; i < CLAIM_TOLD_MAX + 2; i++)
		request("POST", "/v1/alarm", text, &an);
	assert_int_equal(events("token-unknown"), CLAIM_TOLD_MAX);
	empties(&claim(1)->asks);
	request("GET", nonce, "", &an);
	assert_int_equal(status(F.tickets), 429);
	request("POST", "/v1/alarm", text, &an);
	assert_int_equal(status(F.tickets), 429);
	shows_certificate("c9", 1, 0); /* of a node that is no more: all of them together */
	request("GET", nonce, "", &an);
	assert_int_equal(status(F.tickets), 200);
	empties(&F.e->keys->door->asks);
	request("GET", nonce, "", &an);
	assert_int_equal(status(F.tickets), 429);
	F.peer.known = false; /* the listener has counted him */
	request("GET", nonce, "", &an);
	assert_int_equal(status(F.tickets), 200);
}

/* Who has said that it has its keys has used its token: ten thousand that go at once must not ask
 * the store for as many things that are not there. */
static void test_used_token_is_not_revoked(void **state)
{
	struct claim_event ev = {.type = CLAIM_EV_CONFIRMED, .now_ms = engine_now(F.e)};
	struct node_event end = {.type = NODE_EV_RELEASE,
				 .reason = NODE_BECAUSE_SUSPENDED,
				 .now_ms = engine_now(F.e)};
	struct provider_instance in = {.id = "i-1", .node = "c1", .state = PROVIDER_ENDED};

	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	assert_string_equal(claim(1)->c.accessor, "acc-1");
	ev.spki = F.keys[0].spki;
	assert_int_equal(claims_step(F.e, claim(1), &ev).answer, CLAIM_OK);
	turn();
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	engine_post(F.e, row(1), &end);
	turn();
	end = (struct node_event){.type = NODE_EV_SEEN, .instance = &in, .now_ms = engine_now(F.e)};
	engine_post(F.e, row(1), &end);
	turn();
	assert_null(claim(1));
	assert_int_equal(F.revoked, 0);
}

static void test_keys_for_who_was_breached_meanwhile(void **state)
{
	uint64_t t;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	claims_fail(F.e, claim(1), "agent", "somebody else is there", true);
	turn();
	assert_int_equal(status(t), 409);
	assert_null(F.keys_fn);
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

/* Its name is another machine's by now, whose jobs are none of its business. */
static void test_breach_of_an_older_machine_of_the_name(void **state)
{
	struct fleet_node *old;
	struct claim_run *r;

	(void)state;
	one();
	old = row(1);
	old->n.state = NODE_DRAINING;
	r = claim(1);
	(void)want(1, 2);
	claims_fail(F.e, r, "agent", "somebody else is there", true);
	turn();
	assert_int_equal(old->n.state, NODE_DELETING);
	assert_int_equal(D.n, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_broker, teardown)
#define W(f) cmocka_unit_test_setup_teardown(f, setup_wrap, teardown)
	const struct CMUnitTest tests[] = {
		W(test_claim_replayed),
		W(test_replayed_after_a_restart),
		W(test_breach_of_before_a_restart_ends_its_machine),
		W(test_replayed_after_a_lost_answer_and_a_restart),
		W(test_replayed_while_the_store_is_away),
		T(test_replayed_while_it_waits),
		W(test_stolen_claim_used_first),
		T(test_alarms),
		T(test_alarms_of_anybody_hide_no_other),
		T(test_a_token_that_may_have_ended_is_no_breach),
		T(test_alarm_about_another_node),
		T(test_alarms_without_end),
		W(test_used_token_is_not_revoked),
		T(test_keys_for_who_was_breached_meanwhile),
		T(test_breach_of_an_older_machine_of_the_name),
	};
#undef T
#undef W

	return cmocka_run_group_tests(tests, NULL, NULL);
}
