/* test_claim_callback.c - which machine is it that claims, where nobody signs for it: whose address
 * and root's port it comes from.  And whose claim it is, wherever: who has its key. */
#include "claims_store.h"
#include "keys_engine.h"

static int callback(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_CALLBACK, CONF_BROKER);
	restart();
	return 0;
}

static int address(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_BROKER);
	restart();
	return 0;
}

struct search {
	const char *type, *words;
	bool found;
};

static int find(void *ctx, const struct journal_event *ev)
{
	struct search *s = ctx;

	s->found = s->found || (strcmp(ev->type, s->type) == 0 && strstr(ev->detail, s->words));
	return 0;
}

/* Is there an event with these words? */
static bool told(const char *type, const char *words)
{
	struct search s = {.type = type, .words = words};

	assert_int_equal(journal_events(F.journal, 0, NULL, 10000, find, &s, NULL), 0);
	return s.found;
}

static void test_from_roots_port(void **state)
{
	static const int ports[] = {CLAIM_PORT_MIN, 861, CLAIM_PORT_MAX};

	(void)state;
	buy(1, 3);
	for (int i = 0; i < 3; i++) {
		static char from[24]; /* as long as F */
		uint64_t t;

		boots(i + 1, true);
		(void)snprintf(from, sizeof(from), "10.0.0.%d", i + 1);
		F.address = from;
		t = says((struct says){.create = 1, .key = i, .port = ports[i]});
		is_served(t, "");
		assert_false(claim(i + 1)->c.weak);
	}
	assert_non_null(strstr(F.creates[0].user_data, "PORTS='800-863'"));
	assert_int_equal(F.nwire, 0); /* nobody is called */
}

/* Who asks again within a minute has another port, for the first is still busy; as often as that.
 */
static void test_again_and_again(void **state)
{
	unsigned n;

	(void)state;
	one();
	is_served(says((struct says){.create = 1, .port = 800}), "");
	n = F.released;
	for (int port = 801; port < 804; port++)
		is_served(says((struct says){.create = 1, .port = port}), "");
	assert_int_equal(F.released, n + 3);
}

static void test_port_that_anybody_can_have(void **state)
{
	static const int ports[] = {CLAIM_PORT_MIN - 1, CLAIM_PORT_MAX + 1, 1, 40123};

	(void)state;
	buy(1, 4);
	for (int i = 0; i < 4; i++) {
		boots(i + 1, true);
		F.address = "10.0.0.1";
		assert_int_equal(
			status(says((struct says){.create = 1, .key = i, .port = ports[i]})), 403);
	}
	assert_int_equal(events("claim-refused"), 4);
	assert_true(told("claim-refused",
			 "it comes from port 40123, not from 800 to 863: not sent by "
			 "root, or behind NAT, where \"callback\" does not work"));
	assert_int_equal(F.released, 0);
}

static void test_behind_nat(void **state)
{
	(void)state;
	one();
	F.address = "192.0.2.1";
	assert_int_equal(status(says((struct says){.create = 1, .port = 861})), 403);
	assert_true(told("claim-refused", "\"callback\" does not work behind NAT"));
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(F.released, 0);
}

/* The journal of an older burstd, which was calling its machine back when it ended. */
static void begun(void)
{
	const struct claim_event ev = {.type = CLAIM_EV_ASK,
				       .now_ms = claim(1)->c.issued_ms,
				       .spki = F.keys[0].spki,
				       .addr = "10.0.0.1"};

	(void)claim_step(&claim(1)->c, &ev);
	assert_int_equal(claim_want(&claim(1)->c), CLAIM_WANT_PROOF);
}

static void second_key_from(int nodes, int port)
{
	unsigned n;

	buy(1, nodes);
	for (int i = 1; i <= nodes; i++)
		boots(i, true);
	is_served(says((struct says){.create = 1, .port = 861}), "");
	n = F.released;
	assert_int_equal(status(says((struct says){.create = 1, .key = 1, .port = port})), 409);
	assert_int_equal(F.released, n);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	assert_int_equal(claim(1)->c.reason, CLAIM_BECAUSE_KEY);
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(F.e->count.claims_breached, 1);
	assert_int_equal(events("breach"), 1);
}

/* I31: whoever he is, root or not, and however many were bought with it. */
static void test_second_key_of_one(void **state)
{
	(void)state;
	second_key_from(1, 40123);
}

static void test_second_key_of_many(void **state)
{
	(void)state;
	second_key_from(3, 40123);
	assert_true(told("claim-refused", "it comes from port 40123"));
	/* The others have done nothing. */
	for (int i = 2; i <= 3; i++) {
		assert_int_equal(claim(i)->c.state, CLAIM_ISSUED);
		assert_int_equal(row(i)->n.state, NODE_BOOTING);
	}
	F.address = "10.0.0.2";
	is_served(says((struct says){.create = 2, .key = 2}), "");
}

static void test_second_key_of_many_by_root(void **state)
{
	(void)state;
	second_key_from(3, CLAIM_PORT_MAX);
}

/* Whoever was on one machine of a create has the secret of all: that he is not root on another
 * says nothing against that one before it has claimed, nor does its own key. */
static void test_not_root_of_many_ends_nobody(void **state)
{
	(void)state;
	two();
	begun();
	assert_int_equal(status(says((struct says){.create = 1, .port = 40123})), 403);
	F.address = "10.0.0.2";
	assert_int_equal(status(says((struct says){.create = 1, .key = 1, .port = 40123})), 403);
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	assert_int_equal(F.e->count.claims_breached, 0);
	assert_int_equal(F.released, 0);
}

/* Its own key, its own address, and not root: also not for an answer that was lost. */
static void test_port_that_anybody_can_have_the_second_time(void **state)
{
	unsigned n;

	(void)state;
	one();
	is_served(says((struct says){.create = 1, .port = 861}), "");
	n = F.released;
	assert_int_equal(status(says((struct says){.create = 1, .port = 8610})), 403);
	assert_int_equal(F.released, n);
	is_served(says((struct says){.create = 1, .port = 862}), "");
}

/* Where its address is all that is asked for, it may come from any. */
static void test_address_and_any_port(void **state)
{
	(void)state;
	one();
	assert_non_null(strstr(F.creates[0].user_data, "PORTS=''"));
	is_served(says((struct says){.create = 1, .port = 40123}), "");
	is_served(says((struct says){.create = 1, .port = 40124}), "");
}

/* --- the key, whatever proves the machine ------------------------------------------------------
 */

/* I31: a claim that was caught, from the machine's own address, by who has not its key. */
static void test_replayed(void **state)
{
	unsigned n;

	(void)state;
	one();
	is_served(says((struct says){.create = 1}), "");
	n = F.released;
	assert_int_equal(status(says((struct says){.create = 1, .shown = -1})), 403);
	assert_true(told("claim-refused", "no certificate for its key"));
	assert_int_equal(events("breach"), 0);
	is_served(says((struct says){.create = 1}), ""); /* it is none the worse for it */
	/* With a key of his own he is a second client. */
	assert_int_equal(status(says((struct says){.create = 1, .shown = 1})), 409);
	assert_true(told("claim-refused", "its certificate has another key than its request"));
	assert_int_equal(F.released, n + 1);
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

/* Likewise before the machine itself has come. */
static void test_replayed_first(void **state)
{
	(void)state;
	one();
	assert_int_equal(status(says((struct says){.create = 1, .shown = -1})), 403);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_int_equal(status(says((struct says){.create = 1, .shown = 1})), 403);
	assert_int_equal(F.released, 0);
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

/* A certificate of ours is one of a node, and claims nothing. */
static void test_a_nodes_certificate_is_none(void **state)
{
	struct http_answer an;
	char body[4096], secret[CLAIM_SECRET_SIZE];

	(void)state;
	one();
	claims_secret(F.e, claim(1)->c.id, secret);
	(void)snprintf(body, sizeof(body),
		       "{\"v\":1,\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"csr\":\"%s\"}",
		       claim(1)->c.id, secret, F.keys[0].csr);
	F.peer.known = true;
	memcpy(F.peer.spki, F.keys[0].spki, sizeof(F.peer.spki));
	request("POST", "/v1/claim", body, &an);
	assert_int_equal(status(F.tickets), 403);
	F.peer.known = false;
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
}

static void test_proof_that_was_begun(void **state)
{
	(void)state;
	one();
	begun();
	assert_int_equal(status(says((struct says){.create = 1, .port = 8610})), 403);
	assert_int_equal(F.released, 0);
}

static void test_proof_that_was_begun_goes_on(void **state)
{
	(void)state;
	one();
	begun();
	is_served(says((struct says){.create = 1, .port = 861}), "");
}

/* ... and its key does not make it another machine. */
static void test_proof_that_was_begun_for_another(void **state)
{
	(void)state;
	buy(1, 2);
	boots(1, true);
	boots(2, true);
	begun();
	F.address = "10.0.0.2";
	assert_int_equal(status(says((struct says){.create = 1, .port = 861})), 403);
	assert_true(told("claim-refused", "it uses the key of another machine"));
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	assert_int_equal(F.released, 0);
}

int main(void)
{
#define T(f)       cmocka_unit_test_setup_teardown(f, callback, teardown)
#define ADDRESS(f) cmocka_unit_test_setup_teardown(f, address, teardown)
	const struct CMUnitTest tests[] = {
		T(test_from_roots_port),
		T(test_again_and_again),
		T(test_port_that_anybody_can_have),
		T(test_behind_nat),
		T(test_second_key_of_one),
		T(test_second_key_of_many),
		T(test_second_key_of_many_by_root),
		T(test_not_root_of_many_ends_nobody),
		T(test_port_that_anybody_can_have_the_second_time),
		ADDRESS(test_address_and_any_port),
		T(test_replayed),
		ADDRESS(test_replayed),
		T(test_replayed_first),
		ADDRESS(test_replayed_first),
		T(test_a_nodes_certificate_is_none),
		T(test_proof_that_was_begun),
		T(test_proof_that_was_begun_goes_on),
		T(test_proof_that_was_begun_for_another),
	};
#undef T
#undef ADDRESS

	return cmocka_run_group_tests(tests, NULL, NULL);
}
