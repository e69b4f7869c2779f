/* test_node_claims.c - which requests of strangers get as far as the loop. */
#include "io/node_claims.h"

#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct node_claims *with_one(void)
{
	struct node_claims *t = node_claims_new();
	uint8_t hash[EVP_MAX_MD_SIZE];

	assert_int_equal(EVP_Digest("open sesame", 11, hash, NULL, EVP_sha256(), NULL), 1);
	assert_int_equal(node_claims_put(t, "b-17", hash), 0);
	return t;
}

enum { PASS = 0 };

/* The status that it is answered, or PASS. */
static unsigned ask(struct node_claims *t, const char *method, const char *path, const char *body,
		    bool certificate)
{
	struct node_request rq = {.http = {.method = method,
					   .path = path,
					   .query = "",
					   .body = body,
					   .len = strlen(body)},
				  .peer = {.known = certificate, .self = !certificate}};
	struct http_answer an = {.status = 500};

	return node_claims_check(t, &rq, &an) ? an.status : PASS;
}

#define RIGHT "{\"v\":1,\"claim_id\":\"b-17\",\"claim_secret\":\"open sesame\"}"

static const struct {
	const char *name, *method, *path, *body;
	bool certificate;
	unsigned status;
} cases[] = {
	{"the right secret", "POST", "/v1/claim", RIGHT, false, PASS},
	{"a wrong one", "POST", "/v1/claim",
	 "{\"claim_id\":\"b-17\",\"claim_secret\":\"open sesam\"}", false, 401},
	{"none", "POST", "/v1/claim", "{\"claim_id\":\"b-17\"}", false, 401},
	{"an unknown claim", "POST", "/v1/claim",
	 "{\"claim_id\":\"b-18\",\"claim_secret\":\"open sesame\"}", false, 401},
	{"no claim", "POST", "/v1/claim", "{\"claim_secret\":\"open sesame\"}", false, 400},
	{"two claims", "POST", "/v1/claim",
	 "{\"claim_id\":\"b-17\",\"claim_id\":\"b-18\",\"claim_secret\":\"open sesame\"}", false,
	 400},
	{"two secrets", "POST", "/v1/claim",
	 "{\"claim_id\":\"b-17\",\"claim_secret\":\"x\",\"claim_secret\":\"open sesame\"}", false,
	 400},
	{"a secret that is a number", "POST", "/v1/claim",
	 "{\"claim_id\":\"b-17\",\"claim_secret\":7}", false, 400},
	{"no JSON", "POST", "/v1/claim", "claim_id=b-17", false, 400},
	{"half of one", "POST", "/v1/claim", "{\"claim_id\":\"b-17\"", false, 400},
	{"nothing", "POST", "/v1/claim", "", false, 400},
	{"a claim by GET", "GET", "/v1/claim", RIGHT, false, 404},
	{"a nonce", "GET", "/v1/claim/b-17/nonce", "", false, PASS},
	{"a nonce for nobody", "GET", "/v1/claim/b-18/nonce", "", false, 401},
	{"something else of a claim", "GET", "/v1/claim/b-17/secret", "", false, 404},
	{"an alarm", "POST", "/v1/alarm", "{\"claim_id\":\"b-17\",\"reason\":\"claim_used\"}",
	 false, PASS},
	{"an alarm about nothing", "POST", "/v1/alarm", "{\"claim_id\":\"b-18\"}", false, 401},
	{"a node without a certificate", "POST", "/v1/node/ready", "{}", false, 401},
	{"a node", "POST", "/v1/node/ready", "{}", true, PASS},
	{"what there is not", "GET", "/metrics", "", true, 404},
	/* 96 bytes, and one more: NODE_CLAIM_ID_MAX */
	{"as long as an id may be", "GET",
	 "/v1/claim/"
	 "b-1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	 "0123456789ab/nonce",
	 "", false, 401},
	{"longer than an id may be", "GET",
	 "/v1/claim/"
	 "b-1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	 "0123456789abc/nonce",
	 "", false, 404},
};

static void only_what_knows_something_gets_to_the_loop(void **state)
{
	struct node_claims *t = with_one();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("# %s\n", cases[i].name);
		assert_int_equal(
			ask(t, cases[i].method, cases[i].path, cases[i].body, cases[i].certificate),
			cases[i].status);
	}
	node_claims_free(t);
}

/* Ids are not secret enough to let who knows one end, or delay, the machines that have it. */
static void wrong_secrets_keep_nobody_from_the_right_one(void **state)
{
	static const char wrong[] = "{\"claim_id\":\"b-17\",\"claim_secret\":\"x\"}";
	struct node_claims *t = with_one();
	char id[NODE_CLAIM_ID_MAX + 1], from[NODE_ADDR_SIZE];

	(void)state;
	for (int i = 0; i < 3 * NODE_CLAIM_GUESSES; i++)
		assert_int_equal(ask(t, "POST", "/v1/claim", RIGHT, false), PASS);
	assert_false(node_claims_guessed(t, id, from)); /* it knows */
	for (int i = 0; i < 3 * NODE_CLAIM_GUESSES; i++) {
		assert_int_equal(ask(t, "POST", "/v1/claim", wrong, false), 401);
		assert_int_equal(ask(t, "POST", "/v1/claim", RIGHT, false), PASS);
	}
	node_claims_free(t);
}

static void guesses_at_a_claim_are_named_once(void **state)
{
	static const char wrong[] = "{\"claim_id\":\"b-17\",\"claim_secret\":\"x\"}";
	struct node_claims *t = with_one();
	char id[NODE_CLAIM_ID_MAX + 1], from[NODE_ADDR_SIZE];
	uint8_t hash[NODE_CLAIM_HASH] = {0};
	struct node_request rq = {.http = {.method = "POST",
					   .path = "/v1/claim",
					   .query = "",
					   .body = wrong,
					   .len = sizeof(wrong) - 1}};
	struct http_answer an;

	(void)state;
	assert_int_equal(node_claims_put(t, "b-18", hash), 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 1; i <= NODE_CLAIM_GUESSES; i++) {
			assert_false(node_claims_guessed(t, id, from));
			(void)snprintf(rq.address, sizeof(rq.address), "192.0.2.%d", i);
			assert_true(node_claims_check(t, &rq, &an));
		}
		if (round == 0)
			assert_true(node_claims_guessed(t, id, from));
		if (round == 1) /* it is another claim by now, of which that is forgotten */
			assert_int_equal(node_claims_put(t, "b-17", hash), 0);
	}
	assert_string_equal(id, "b-17");
	assert_string_equal(from, "192.0.2.5");
	assert_true(node_claims_guessed(t, id, from));
	assert_false(node_claims_guessed(t, id, from));
	node_claims_free(t);
}

static void a_claim_that_is_taken_back_is_unknown(void **state)
{
	struct node_claims *t = with_one();
	uint8_t hash[NODE_CLAIM_HASH] = {0};

	(void)state;
	assert_int_equal(node_claims_put(t, "b-18", hash), 0);
	assert_int_equal(node_claims_put(t, "b-19", hash), 0);
	node_claims_del(t, "b-18");
	node_claims_del(t, "b-18");
	assert_int_equal(ask(t, "GET", "/v1/claim/b-18/nonce", "", false), 401);
	assert_int_equal(ask(t, "GET", "/v1/claim/b-19/nonce", "", false), PASS);
	node_claims_del(t, "b-19");
	assert_int_equal(ask(t, "POST", "/v1/claim", RIGHT, false), PASS);
	node_claims_del(t, "b-17");
	assert_int_equal(ask(t, "POST", "/v1/claim", RIGHT, false), 401);
	node_claims_free(t);
}

/* Who moves up into the place of one that was taken back can be taken back as well, and those that
 * stay are told of. */
static void claims_that_move_up_are_found(void **state)
{
	static const char *const ids[] = {"b-1", "b-2", "b-3"}; /* after b-17 */
	static const char wrong[] = "{\"claim_id\":\"b-2\",\"claim_secret\":\"x\"}";
	struct node_claims *t = with_one();
	uint8_t hash[NODE_CLAIM_HASH] = {0};
	char id[NODE_CLAIM_ID_MAX + 1], from[NODE_ADDR_SIZE];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(node_claims_put(t, ids[i], hash), 0);
	node_claims_del(t, "b-1"); /* b-3 has its place */
	node_claims_del(t, "b-3");
	for (int i = 0; i < NODE_CLAIM_GUESSES; i++)
		assert_int_equal(ask(t, "POST", "/v1/claim", wrong, false), 401);
	assert_true(node_claims_guessed(t, id, from));
	assert_string_equal(id, "b-2");
	node_claims_free(t);
}

/* The loop is woken once a second for all of them. */
static void heartbeats_may_wait_and_nothing_else(void **state)
{
	static const struct {
		const char *path;
		bool lazy;
	} cases_[] = {{"/v1/node/heartbeat", true},
		      {"/v1/node/heartbeats", false},
		      {"/v1/node/event", false},
		      {"/v1/node/confirm", false}};
	struct node_claims *t = with_one();

	(void)state;
	for (size_t i = 0; i < sizeof(cases_) / sizeof(cases_[0]); i++) {
		struct node_request rq = {.http = {.method = "POST",
						   .path = cases_[i].path,
						   .query = "",
						   .body = "{}",
						   .len = 2},
					  .peer = {.known = true}};
		struct http_answer an = {.status = 500};

		assert_false(node_claims_check(t, &rq, &an));
		assert_int_equal(rq.lazy, cases_[i].lazy);
	}
	node_claims_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_knows_something_gets_to_the_loop),
		cmocka_unit_test(wrong_secrets_keep_nobody_from_the_right_one),
		cmocka_unit_test(guesses_at_a_claim_are_named_once),
		cmocka_unit_test(a_claim_that_is_taken_back_is_unknown),
		cmocka_unit_test(claims_that_move_up_are_found),
		cmocka_unit_test(heartbeats_may_wait_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
