/* test_claims_again.c - an answer to a claim that was lost, cannot be given yet, or is asked for
 * again, also after a crash. */
#include "claims_store.h"
#include "keys_engine.h"

/* Throttled: it goes out again with another token, and the old secret opens nothing. */
static void test_create_not_sent_claims_anew(void **state)
{
	struct node_event ev = {.type = NODE_EV_NOTSENT, .now_ms = engine_now(F.e)};
	char secret[CLAIM_SECRET_SIZE], id[96];
	struct fleet_node *fn;

	(void)state;
	buy(1, 1);
	(void)snprintf(id, sizeof(id), "%s", claim(1)->c.id);
	claims_secret(F.e, id, secret);
	fn = row(1);
	fn->busy = false;
	engine_post(F.e, fn, &ev);
	turn();
	launch(&fn, 1);
	assert_string_not_equal(claim(1)->c.id, id);
	knock(id, secret, false);
	restart();
	assert_string_not_equal(claim(1)->c.id, id);
	knock(id, secret, false);
}

static void test_lost_answer_asked_again(void **state)
{
	uint64_t t;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	is_served(t, "acc-1");
	claim(1)->c.released_ms -= CLAIM_AGAIN_MS - 1000;
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 0);
	is_served(t, "acc-2");
	assert_string_equal(body(t) + strlen(body(t)) - 7, "\nend=1\n");
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_string_equal(claim(1)->c.accessor, "acc-2");
	claim(1)->c.released_ms -= 1000;
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 409); /* but it is still the owner: no breach */
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
}

/* Its answer was lost, and the secret store has been away since: it asks until that is back. */
static void test_lost_answer_while_the_store_is_away(void **state)
{
	const struct err err = {.code = ERR_NET, .msg = "gone"};

	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	for (int i = 0; i < 3; i++) {
		uint64_t t = says((struct says){.create = 1});
		secrets_fn fn = F.keys_fn;

		assert_non_null(fn);
		F.keys_fn = NULL;
		fn(F.keys_ctx, NULL, &err);
		turn();
		assert_int_equal(status(t), 503);
		claim(1)->c.released_ms -= CLAIM_AGAIN_MS - 1000;
	}
	for (int i = 0; i < 2; i++) {
		uint64_t t = says((struct says){.create = 1});

		claim(1)->ask->until_ms = engine_now(F.e);
		turn();
		assert_int_equal(status(t), 202);
		claim(1)->c.released_ms -= CLAIM_AGAIN_MS - 1000;
	}
	is_served(says((struct says){.create = 1}), "acc-2");
	assert_string_equal(F.revoked_last, "acc-1");
}

/* What it asks with can be copied: a request for a certificate is no secret. */
static void test_asked_again_from_another_address(void **state)
{
	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "acc-1");
	F.address = "10.0.0.9";
	assert_int_equal(status(says((struct says){.create = 1})), 403);
	assert_null(F.keys_fn);
	assert_int_equal(events("claim-refused"), 1);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	F.address = "::ffff:10.0.0.1";
	assert_int_equal(status(says((struct says){.create = 1})), 0);
	keys_come("acc-2");
}

/* The answer cannot be said: the token in it is for nobody. */
static void test_answer_that_cannot_be_said(void **state)
{
	uint64_t t;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	F.e->conf->nodes.slurmd_options = mem_strdup("-Z; reboot");
	keys_come("acc-1");
	assert_int_equal(status(t), 500);
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	assert_string_equal(F.revoked_last, "acc-1");
}

static void test_newer_request_takes_the_place(void **state)
{
	uint64_t a, b;

	(void)state;
	one();
	a = says((struct says){.create = 1});
	b = says((struct says){.create = 1});
	assert_int_equal(status(a), 202);
	assert_true(has(body(a), "retry_after=2"));
	assert_int_equal(status(b), 0);
	is_served(b, "");
}

/* What was decided is durable; what was not is asked for again. */
static void test_crash_between_ask_and_release(void **state)
{
	(void)state;
	one();
	(void)says((struct says){.create = 1});
	assert_non_null(F.keys_fn);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	assert_true(claim(1)->c.attested);
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH)); /* asked of the state alone */
}

static void test_crash_and_the_owner_goes_on(void **state)
{
	uint64_t t;

	(void)state;
	one();
	(void)says((struct says){.create = 1});
	restart();
	t = says((struct says){.create = 1});
	is_served(t, "acc-1");
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	t = says((struct says){.create = 1}); /* the answer may have been lost with us */
	is_served(t, "acc-2");
}

static void test_secret_store_away(void **state)
{
	uint64_t t, again;
	const struct err err = {.code = ERR_NET, .msg = "gone"};
	secrets_fn fn;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 0);
	claim(1)->ask->until_ms = engine_now(F.e);
	assert_int_equal(claims_turn_part.next_ms(F.e), claim(1)->ask->until_ms);
	turn();
	assert_int_equal(status(t), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	again = says((struct says){.create = 1});
	assert_int_equal(F.released, 1); /* once, however often it comes */
	fn = F.keys_fn;
	F.keys_fn = NULL;
	fn(F.keys_ctx, NULL, &err);
	turn();
	assert_int_equal(status(again), 503);
	assert_true(has(body(again), "retry_after=10"));
	assert_null(strstr(body(again), "munge_key"));
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
}

/* burstd cannot say which node-init it is to run: with the keys it would run the image's. */
static void test_no_keys_while_node_init_is_away(void **state)
{
	uint64_t t;

	(void)state;
	one();
	node_init_off(F.e, &(struct err){.code = ERR_IO, .msg = "node_init: away"});
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 503);
	assert_int_equal(F.released, 0);
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	node_init_off(F.e, NULL);
	is_served(says((struct says){.create = 1}), "");
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
}

/* Why machines would boot for nothing: they could not ask, or burstd could not say which node-init
 * they are to run, and they would run the image's.  Who has its keys elsewhere needs neither. */
static void test_machines_that_claim_are_keyless_without_a_door_or_node_init(void **state)
{
	(void)state;
	assert_null(claims_part.keyless(F.e, 0));
	node_init_off(F.e, &(struct err){.code = ERR_IO, .msg = "node_init: away"});
	assert_string_equal(claims_part.keyless(F.e, 0), "node_init: away");
	F.door.off = "cannot listen";
	assert_string_equal(claims_part.keyless(F.e, 0), "cannot listen");
	assert_string_equal(engine_keyless(F.e, 0), "cannot listen");
	node_init_off(F.e, NULL);
	assert_string_equal(claims_part.keyless(F.e, 0), "cannot listen");
	F.e->conf->providers[0].attest = CONF_ATTEST_OFF;
	assert_null(claims_part.keyless(F.e, 0));
	F.door.off = NULL;
}

/* It was told to come again, and the store answers in between. */
static void test_keys_for_who_comes_again(void **state)
{
	uint64_t t;

	(void)state;
	one();
	(void)says((struct says){.create = 1});
	claim(1)->ask->until_ms = engine_now(F.e);
	turn();
	keys_come("acc-1");
	assert_string_equal(F.revoked_last, "acc-1");
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	t = says((struct says){.create = 1});
	is_served(t, "acc-2");
	assert_string_equal(F.revoked_last, "acc-1");
	assert_string_equal(claim(1)->c.accessor, "acc-2");
}

/* F57: the journal was lost, the list brought the row back, and the node has its
 * certificate. */
static void test_a_lost_claim_is_made_of_its_certificate(void **state)
{
	static const unsigned char spki[CLAIM_SPKI_SIZE] = "k";
	struct node gone;

	(void)state;
	one();
	gone = row(1)->n;
	gone.state = NODE_GONE;
	claims_part.row_in_tx(F.e, &gone);
	assert_null(claim(1));
	assert_non_null(claims_adopt(F.e, row(1), spki));
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	assert_memory_equal(claim(1)->c.spki, spki, sizeof(spki));
	engine_commit(F.e);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	assert_int_equal(claim_want(&claim(1)->c), CLAIM_WANT_NOTHING);
}

/* F58: an older journal, which has it as it was issued. */
static void test_a_claim_of_before_is_replaced_by_its_certificate(void **state)
{
	static const unsigned char spki[CLAIM_SPKI_SIZE] = "k";
	const struct claim_run *adopted;

	(void)state;
	one();
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	adopted = claims_adopt(F.e, row(1), spki);
	assert_ptr_equal(adopted, claim(1));
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	assert_int_equal(F.e->keys->claims->nall, 1); /* its secret opens nothing any more */
	engine_commit(F.e);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	assert_int_equal(F.e->keys->claims->nall, 1);
}

/* Who is left of a create is no thief's victim because another machine of it, which its provider
 * shows no more, asks once more: they have the same secret. */
static void one_of_two_is_gone_and_asks(int gone, int left)
{
	static const char *const addresses[] = {"", "10.0.0.1", "10.0.0.2"};
	struct claim_event ev = {.type = CLAIM_EV_CONFIRMED, .now_ms = engine_now(F.e)};
	struct node_event end = {.type = NODE_EV_RELEASE,
				 .reason = NODE_BECAUSE_SUSPENDED,
				 .now_ms = engine_now(F.e)};
	struct provider_instance in = {.state = PROVIDER_ENDED};
	char text[300], secret[CLAIM_SECRET_SIZE];
	struct http_answer an;

	two();
	F.address = addresses[left];
	is_served(says((struct says){.create = 2, .key = left}), "");
	ev.spki = F.keys[left].spki;
	assert_int_equal(claims_step(F.e, claim(left), &ev).answer, CLAIM_OK);
	memcpy(in.id, row(gone)->n.instance, sizeof(in.id));
	memcpy(in.node, row(gone)->n.name, sizeof(in.node));
	engine_post(F.e, row(gone), &end);
	turn();
	end = (struct node_event){.type = NODE_EV_SEEN, .instance = &in, .now_ms = engine_now(F.e)};
	engine_post(F.e, row(gone), &end);
	turn();
	assert_null(claim(gone));
	F.address = addresses[gone];
	for (int life = 0; life < 2; life++) {
		assert_int_equal(status(says((struct says){.create = left, .key = gone})), 403);
		claims_secret(F.e, claim(left)->c.id, secret);
		(void)snprintf(text, sizeof(text),
			       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"used\"}",
			       claim(left)->c.id, secret);
		request("POST", "/v1/alarm", text, &an);
		assert_int_equal(claim(left)->c.state, CLAIM_CONFIRMED);
		restart();
	}
	assert_int_equal(events("breach"), 0);
	assert_int_equal(events("claim-refused"), 2);
	assert_int_equal(row(left)->n.state, NODE_BOOTING);
}

static void test_one_of_two_is_gone_and_asks(void **state)
{
	(void)state;
	one_of_two_is_gone_and_asks(1, 2);
}

static void test_the_other_of_two_is_gone_and_asks(void **state)
{
	(void)state;
	one_of_two_is_gone_and_asks(2, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_broker, teardown)
#define W(f) cmocka_unit_test_setup_teardown(f, setup_wrap, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_lost_claim_is_made_of_its_certificate),
		T(test_a_claim_of_before_is_replaced_by_its_certificate),
		T(test_create_not_sent_claims_anew),
		T(test_one_of_two_is_gone_and_asks),
		T(test_the_other_of_two_is_gone_and_asks),
		W(test_lost_answer_asked_again),
		W(test_lost_answer_while_the_store_is_away),
		W(test_asked_again_from_another_address),
		W(test_answer_that_cannot_be_said),
		T(test_newer_request_takes_the_place),
		T(test_crash_between_ask_and_release),
		W(test_crash_and_the_owner_goes_on),
		T(test_secret_store_away),
		T(test_no_keys_while_node_init_is_away),
		T(test_machines_that_claim_are_keyless_without_a_door_or_node_init),
		W(test_keys_for_who_comes_again),
	};
#undef T
#undef W

	return cmocka_run_group_tests(tests, NULL, NULL);
}
