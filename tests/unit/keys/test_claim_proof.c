/* test_claim_proof.c - which machine is it that claims: documents, addresses and nonces. */
#include "claims_proved.h"
#include "claims_store.h"
#include "keys_engine.h"

static int gcp(void **state)
{
	(void)state;
	return begin(CONF_ATTEST_GCP);
}

static int azure(void **state)
{
	(void)state;
	return begin(CONF_ATTEST_AZURE);
}

static const struct attest_ops *find_none(enum attest_kind k)
{
	(void)k;
	return NULL;
}

/* In the place of the engine before, with another verifier. */
static int start_with(const struct attest_ops *(*verifier)(enum attest_kind k), struct err *err)
{
	F.door.verifier = verifier;
	return load(err);
}

/* No file mends that. */
static void test_start_without_a_verifier(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(start_with(find_none, &err), -1);
	assert_non_null(strstr(err.msg, "provider \"cloud\": attest: there is no"));
}

/* Its attest_ca_file is empty or garbage: that provider is off until the file is better. */
static void test_start_with_a_verifier_that_does_not_open(void **state)
{
	static const char why[] = "attest_ca_file: /ca: no certificate in it";
	struct err err = {0};

	(void)state;
	if (start_with(find_refusing, &err) != 0)
		fail_msg("%s", err.msg);
	assert_string_equal(engine_off(F.e, 0), why);
	assert_null(F.e->keys->claims->provers[0].ops);
	/* It is no better ... */
	assert_int_equal(claims_part.may_use(F.e, 0, &err), -1);
	assert_string_equal(err.msg, why);
	assert_null(F.e->keys->claims->provers[0].ops);
	/* ... and then it is. */
	F.door.verifier = find;
	assert_int_equal(claims_part.may_use(F.e, 0, &err), 0);
	assert_non_null(F.e->keys->claims->provers[0].ops);
}

/* Of the built-in certificates no file is named. */
static void test_start_with_a_verifier_of_no_file_that_does_not_open(void **state)
{
	struct err err = {0};

	(void)state;
	if (start_with(find_refusing, &err) != 0)
		fail_msg("%s", err.msg);
	assert_string_equal(engine_off(F.e, 0), "attest: no certificate in it");
}

static void test_its_own_document(void **state)
{
	uint64_t t;

	(void)state;
	two();
	F.address = "10.0.0.2";
	t = shows("i-2 a r");
	is_served(t, "");
	assert_non_null(strstr(body(t), "node=c2\n"));
	assert_int_equal(claim(2)->c.state, CLAIM_CLAIMED);
	assert_false(claim(2)->c.weak);
}

/* Its provider is off: nothing is proved, nor disproved, and least of all by the address alone. */
static void test_while_its_provider_is_off(void **state)
{
	(void)state;
	two();
	F.address = "10.0.0.2";
	(void)snprintf(F.e->cloud->all[0].off, sizeof(F.e->cloud->all[0].off), "no key");
	assert_int_not_equal(status(shows("i-2 a r")), 200);
	assert_int_equal(F.released, 0);
	turn();
	assert_int_equal(goes(1, NODE_BECAUSE_BREACH), false);
	assert_int_equal(events("claim-refused"), 0);
	F.e->cloud->all[0].off[0] = '\0';
	is_served(shows("i-2 a r"), "");
}

static void test_document_of_another_instance(void **state)
{
	(void)state;
	one();
	refused("i-9 a r", true);
}

static void test_document_tampered(void **state)
{
	(void)state;
	one();
	refused("tampered", true);
}

static void test_document_detached(void **state)
{
	(void)state;
	one();
	refused("detached", true);
}

static void test_document_of_another_account(void **state)
{
	(void)state;
	free(F.e->conf->providers[0].account);
	F.e->conf->providers[0].account = mem_strdup("ours");
	one();
	refused("i-1 theirs r", true);
}

static void test_document_of_another_region(void **state)
{
	(void)state;
	one();
	refused("i-1 a elsewhere", true);
}

/* It was taken out of the configuration, and burstd started anew, while a machine of it booted. */
static void test_document_when_its_offer_is_gone(void **state)
{
	(void)state;
	one();
	(void)snprintf(row(1)->n.offer, sizeof(row(1)->n.offer), "gone");
	assert_int_equal(status(shows("i-1 a elsewhere")), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	F.e->cloud->all[0].caps.region = "s"; /* of a driver that buys in one region only */
	is_served(shows("i-1 a s"), "");
}

static void test_document_of_another_kind(void **state)
{
	(void)state;
	one();
	assert_int_equal(
		status(says((struct says){.create = 1, .attest = "gcp-jwt", .doc = "i-1 a r"})),
		403);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

static void test_no_document(void **state)
{
	(void)state;
	one();
	assert_int_equal(status(says((struct says){.create = 1})), 403);
}

/* Of one create with several machines nobody knows whose secret it was. */
static void test_document_of_another_instance_among_many(void **state)
{
	(void)state;
	two();
	refused("i-9 a r", false);
}

/* Every user of a node can read its document. */
static void test_document_from_another_address(void **state)
{
	(void)state;
	two();
	F.address = "10.0.0.2";
	refused("i-1 a r", true);
	assert_int_equal(row(2)->n.state, NODE_BOOTING);
}

static void test_document_from_another_address_behind_a_nat(void **state)
{
	(void)state;
	F.e->conf->providers[0].check_address = 0;
	one();
	F.address = "192.0.2.1";
	is_served(shows("i-1 a r"), "");
}

/* It was proved by its document, and its answer lost with burstd, which starts without the file of
 * its provider: whose address it has says as little as before. */
static void test_lost_answer_while_its_provider_is_off(void **state)
{
	const struct attest_ops *ops;

	(void)state;
	F.e->conf->providers[0].check_address = 0;
	one();
	F.address = "192.0.2.1";
	is_served(shows("i-1 a r"), "");
	ops = F.e->keys->claims->provers[0].ops;
	F.e->keys->claims->provers[0].ops = NULL;
	(void)snprintf(F.e->cloud->all[0].off, sizeof(F.e->cloud->all[0].off), "no credential");
	is_served(shows("i-1 a r"), "");
	F.e->keys->claims->provers[0].ops = ops;
	F.e->cloud->all[0].off[0] = '\0';
}

static void test_instance_is_not_known_yet(void **state)
{
	(void)state;
	buy(1, 1);
	assert_int_equal(status(shows("i-1 a r")), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	boots(1, true);
	is_served(shows("i-1 a r"), "");
}

/* Every user of another node could send its document meanwhile. */
static void test_address_is_not_known_yet(void **state)
{
	(void)state;
	buy(1, 1);
	boots(1, false);
	assert_int_equal(status(shows("i-1 a r")), 202);
	F.address = "192.0.2.1";
	assert_int_equal(status(shows("i-1 a r")), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_int_equal(F.released, 0);
	shows_address(1);
	refused("i-1 a r", true);
}

static void test_address_comes_later(void **state)
{
	(void)state;
	buy(1, 1);
	boots(1, false);
	assert_int_equal(status(shows("i-1 a r")), 202);
	shows_address(1);
	is_served(shows("i-1 a r"), "");
}

/* The wait for it is no longer than any other. */
static void test_address_never_comes(void **state)
{
	(void)state;
	buy(1, 1);
	boots(1, false);
	assert_int_equal(status(shows("i-1 a r")), 202);
	claim(1)->c.expires_ms = engine_now(F.e);
	F.e->keys->claims->wake_ms = 0;
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_true(goes(1, NODE_BECAUSE_INIT));
	assert_int_equal(status(shows("i-1 a r")), 410);
	assert_int_equal(F.released, 0);
}

static void test_address_never_comes_and_is_not_asked_for(void **state)
{
	(void)state;
	F.e->conf->providers[0].check_address = 0;
	buy(1, 1);
	boots(1, false);
	F.address = "192.0.2.1";
	is_served(shows("i-1 a r"), "");
}

static void test_google_token_is_for_this_claim(void **state)
{
	char doc[160];

	(void)state;
	one();
	(void)snprintf(doc, sizeof(doc), "i-1 a r burst:%s", claim(1)->c.id);
	is_served(says((struct says){.create = 1, .attest = "gcp-jwt", .doc = doc}), "");
}

static void test_google_token_for_another_claim(void **state)
{
	(void)state;
	one();
	assert_int_equal(
		status(says((struct says){
			.create = 1, .attest = "gcp-jwt", .doc = "i-1 a r burst:another"})),
		403);
}

static void get_nonce(char out[33])
{
	char path[200];
	struct http_answer an;

	(void)snprintf(path, sizeof(path), "/v1/claim/%s/nonce", claim(1)->c.id);
	request("GET", path, "", &an);
	assert_int_equal(status(F.tickets), 200);
	assert_int_equal(strlen(body(F.tickets)), 32);
	(void)snprintf(out, 33, "%s", body(F.tickets));
}

static uint64_t shows_nonce(const char *nonce, int key)
{
	char doc[160];

	(void)snprintf(doc, sizeof(doc), "i-1 a r %s", nonce);
	return says((struct says){
		.create = 1, .key = key, .attest = "azure-attested", .doc = doc, .nonce = nonce});
}

static void test_azure_nonce(void **state)
{
	char a[33], b[33];
	struct http_answer an;
	uint64_t t;

	(void)state;
	one();
	get_nonce(a);
	get_nonce(b);
	assert_string_not_equal(a, b);
	assert_int_equal(status(shows_nonce("0123456789abcdef0123456789abcdef", 0)), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED); /* it may ask for another one */
	t = shows_nonce(a, 0);
	is_served(t, "");
	assert_false(claim_nonce_use(F.e, claim(1)->c.id, a)); /* once */
	assert_false(claim_nonce_use(F.e, "another", b));
	assert_true(claim_nonce_use(F.e, claim(1)->c.id, b));
	request("GET", "/v1/claim/none/nonce", "", &an);
	assert_int_equal(status(F.tickets), 401);
}

/* As the engine makes one that is good until then, in seconds of 1970. */
static void nonce_until(uint64_t until, char out[33])
{
	char head[17], text[128], hex[65];

	(void)snprintf(head, sizeof(head), "%08x00000001", (unsigned)(until & UINT32_MAX));
	(void)snprintf(text, sizeof(text), "%s %s", head, claim(1)->c.id);
	claims_mac(F.e->keys->claims->nonce_key, "nonce", text, hex);
	(void)snprintf(out, 33, "%s%.16s", head, hex);
}

static void test_nonce_ends(void **state)
{
	uint64_t now;
	char a[33];

	(void)state;
	one();
	now = (uint64_t)engine_now(F.e) / 1000;
	nonce_until(now + 100, a);
	assert_true(claim_nonce_use(F.e, claim(1)->c.id, a));
	nonce_until(now, a);
	assert_false(claim_nonce_use(F.e, claim(1)->c.id, a));
	nonce_until(now + 100, a);
	a[7] = a[7] == 'f' ? '0' : 'f'; /* it lives longer, says who has it */
	assert_false(claim_nonce_use(F.e, claim(1)->c.id, a));
	get_nonce(a);
	/* No burstd ends in the millisecond in which it started, of which the key is made. */
	for (int64_t then = engine_now(F.e); engine_now(F.e) <= then;)
		;
	restart();
	assert_false(claim_nonce_use(F.e, claim(1)->c.id, a)); /* who used it is not known */
}

int main(void)
{
#define T(how, f) cmocka_unit_test_setup_teardown(f, how, teardown)
	const struct CMUnitTest tests[] = {
		T(aws, test_start_without_a_verifier),
		T(azure, test_start_without_a_verifier),
		T(azure, test_start_with_a_verifier_that_does_not_open),
		T(aws, test_start_with_a_verifier_of_no_file_that_does_not_open),
		T(aws, test_its_own_document),
		T(aws, test_while_its_provider_is_off),
		T(aws, test_document_of_another_instance),
		T(aws, test_document_tampered),
		T(aws, test_document_detached),
		T(aws, test_document_of_another_account),
		T(aws, test_document_of_another_region),
		T(aws, test_document_when_its_offer_is_gone),
		T(aws, test_document_of_another_kind),
		T(aws, test_no_document),
		T(aws, test_document_of_another_instance_among_many),
		T(aws, test_document_from_another_address),
		T(aws, test_document_from_another_address_behind_a_nat),
		T(aws, test_lost_answer_while_its_provider_is_off),
		T(aws, test_instance_is_not_known_yet),
		T(aws, test_address_is_not_known_yet),
		T(aws, test_address_comes_later),
		T(aws, test_address_never_comes),
		T(aws, test_address_never_comes_and_is_not_asked_for),
		T(gcp, test_google_token_is_for_this_claim),
		T(gcp, test_google_token_for_another_claim),
		T(azure, test_azure_nonce),
		T(azure, test_nonce_ends),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
