/* test_claims.c - who gets the cluster's keys: what a create gives its machines, who may use that,
 * and what becomes of those who misuse it. */
#include "bare_claims.h"

static int setup(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_BROKER);
	restart();
	return 0;
}

static int setup_wrap(void **state)
{
	(void)state;
	(void)setup_with(CONF_ATTEST_ADDRESS, CONF_WRAP);
	restart();
	return 0;
}

/* One machine, which is there. */
static void one(void)
{
	buy(1, 1);
	boots(1, true);
}

static bool has(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	return p != NULL && (p == text || p[-1] == '\n') && p[strlen(line)] == '\n';
}

static bool goes(int i, enum node_reason why)
{
	return row(i)->n.state == NODE_DELETING && row(i)->n.reason == why;
}

static void knock(const char *id, const char *secret, bool loop)
{
	char body[400];
	struct node_request rq = {.http = {.method = "POST", .path = "/v1/claim", .body = body}};
	struct http_answer an = {.status = 0};

	(void)snprintf(body, sizeof(body), "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\"}", id,
		       secret);
	rq.http.len = strlen(body);
	assert_int_equal(node_claims_check(F.table, &rq, &an), !loop);
	assert_int_equal(an.status, loop ? 0 : 401);
}

static void test_issued_with_its_create(void **state)
{
	char secret[CLAIM_SECRET_SIZE], line[128];
	const char *text;

	(void)state;
	buy(1, 3);
	assert_int_equal(F.nwire, 1);
	text = F.wire[0].body;
	for (int i = 1; i <= 3; i++) {
		assert_non_null(claim(i));
		assert_int_equal(claim(i)->c.state, CLAIM_ISSUED);
		assert_string_equal(claim(i)->c.id, claim(1)->c.id);
		assert_int_equal(claim(i)->c.expires_ms, claim(i)->c.issued_ms + 600000);
	}
	/* Nobody finds it by the create's token, which can be guessed and is in lists. */
	(void)snprintf(line, sizeof(line), "%s-", F.e->batches->j.token);
	assert_int_equal(strncmp(claim(1)->c.id, line, strlen(line)), 0);
	assert_int_equal(strspn(claim(1)->c.id + strlen(line), "0123456789abcdef"), 16);
	assert_int_equal(strlen(claim(1)->c.id), strlen(line) + 16);
	knock(F.e->batches->j.token, "", false);
	claims_secret(F.e, claim(1)->c.id, secret);
	assert_int_equal(strlen(secret), 64);
	(void)snprintf(line, sizeof(line), "ID='%s'", claim(1)->c.id);
	assert_non_null(strstr(text, line));
	assert_non_null(strstr(text, secret));
	assert_non_null(strstr(text, "URLS='https://burst.example:8443'"));
	assert_non_null(strstr(text, "PORT='0'"));
	knock(claim(1)->c.id, secret, true);
	secret[0] = secret[0] == '0' ? '1' : '0';
	knock(claim(1)->c.id, secret, false);
	wire_says(0, ERR_NOTSENT, "no way there");
}

static void test_secrets_differ_by_create(void **state)
{
	char a[CLAIM_SECRET_SIZE], b[CLAIM_SECRET_SIZE];

	(void)state;
	buy(1, 1);
	buy(2, 1);
	assert_string_not_equal(claim(1)->c.id, claim(2)->c.id);
	claims_secret(F.e, claim(1)->c.id, a);
	claims_secret(F.e, claim(2)->c.id, b);
	assert_string_not_equal(a, b);
	wire_says(0, ERR_NOTSENT, "no way there");
	wire_says(1, ERR_NOTSENT, "no way there");
}

/* What is sent again must be the same bytes, and what a machine has must open the same claim. */
static void test_create_repeat_has_same_user_data_after_restart(void **state)
{
	char secret[CLAIM_SECRET_SIZE], *again;

	(void)state;
	buy(1, 2);
	claims_secret(F.e, claim(1)->c.id, secret);
	restart();
	assert_non_null(F.e->batches);
	again = claims_user_data(F.e, F.e->batches, NULL);
	assert_string_equal(again, F.wire[0].body);
	free(again);
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	knock(claim(1)->c.id, secret, true);
}

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
	launch_send(&F.e->clouds[0], &fn, 1);
	turn();
	assert_string_not_equal(claim(1)->c.id, id);
	knock(id, secret, false);
	restart();
	assert_string_not_equal(claim(1)->c.id, id);
	knock(id, secret, false);
}

static void test_claimed_with_the_keys(void **state)
{
	struct node_ca_peer peer;
	uint64_t t;
	char pem[NODE_CA_PEM_MAX], *cert, *end;
	X509 *x;
	unsigned char *der = NULL;
	BIO *b;
	int n;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 0); /* the secret store is asked */
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	assert_true(claim(1)->c.weak);
	keys_come("");
	assert_int_equal(status(t), 200);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	assert_int_equal(claim(1)->c.version, 7);
	assert_string_equal(claim(1)->c.instance, "i-1");
	assert_true(has(body(t), "node=c1"));
	assert_true(has(body(t), "generation=1"));
	assert_true(has(body(t), "release=inline"));
	assert_true(has(body(t), "munge_key=kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE="));
	assert_true(has(body(t), "version=7"));
	assert_true(has(body(t), "auth=munge"));
	assert_true(has(body(t), "burst_uid=64030"));
	assert_true(has(body(t), "conf_server=ctl:6817"));
	assert_true(has(body(t), "instance_id=i-1"));
	assert_true(has(body(t), "deadman=600"));
	assert_string_equal(body(t) + strlen(body(t)) - 7, "\nend=1\n");
	cert = strstr(body(t), "cert=") + 5;
	end = strchr(cert, '\n');
	n = EVP_DecodeBlock((unsigned char *)pem, (unsigned char *)cert, (int)(end - cert));
	b = BIO_new_mem_buf(pem, n);
	x = mem_check(PEM_read_bio_X509(b, NULL, NULL, NULL));
	n = i2d_X509(x, &der);
	assert_int_equal(node_ca_check(F.ca, der, (size_t)n, engine_now(F.e), &peer, NULL), 0);
	assert_string_equal(peer.node, "c1");
	assert_memory_equal(peer.spki, F.keys[0].spki, sizeof(peer.spki));
	assert_string_equal(peer.serial, claim(1)->c.serial);
	OPENSSL_free(der);
	X509_free(x);
	BIO_free(b);
	assert_int_equal(events("claimed"), 1);
}

static void test_wrapped_and_as_json(void **state)
{
	uint64_t t;

	(void)state;
	one();
	F.accept = "application/json";
	F.door.store_ca = "CA\n";
	t = says((struct says){.create = 1});
	keys_come("acc-1");
	assert_int_equal(status(t), 200);
	assert_non_null(strstr(body(t), "{\"v\":1,\"node\":\"c1\""));
	assert_non_null(strstr(body(t), "\"release\":\"wrap\""));
	assert_non_null(strstr(body(t), "\"vault\":\"https://v1:8200 https://v2:8200\""));
	assert_non_null(strstr(body(t), "\"vault_ca\":\"Q0EK\""));
	assert_non_null(strstr(body(t), "\"wrap_token\":\"s.wrap\""));
	assert_non_null(strstr(body(t), "\"creation_path\":\"kv/data/slurm\""));
	assert_null(strstr(body(t), "munge_key"));
	assert_string_equal(claim(1)->accessor, "acc-1");
}

/* The first key is taken; whoever comes with another one has the secret, too. */
static void test_claim_replayed(void **state)
{
	uint64_t t, thief;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	keys_come("acc-1");
	assert_int_equal(status(t), 200);
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

static void test_from_another_address(void **state)
{
	uint64_t t;

	(void)state;
	one();
	F.address = "10.9.9.9";
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 403);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(events("claim-refused"), 1);
	assert_int_equal(audits("claim-refuse"), 1);
	assert_int_equal(F.released, 0);
}

/* Of many that have the same secret nobody knows whose was stolen: none ends by that. */
static void test_from_another_address_among_many(void **state)
{
	uint64_t t;

	(void)state;
	buy(1, 2);
	boots(1, true);
	boots(2, true);
	F.address = "10.9.9.9";
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 403);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	for (int i = 0; i < 40; i++) {
		t = says((struct says){.create = 1});
		assert_int_equal(status(t), 403);
		free(F.answers[F.tickets].body);
		F.answers[F.tickets].body = NULL;
		F.answers[F.tickets].status = 0;
		F.tickets--;
	}
	assert_int_equal(events("claim-refused"), CLAIM_TOLD_MAX);
}

static void test_address_is_not_known_yet(void **state)
{
	uint64_t t;

	(void)state;
	buy(1, 1);
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 202);
	assert_true(has(body(t), "retry_after=2"));
	boots(1, false);
	assert_int_equal(status(says((struct says){.create = 1})), 202);
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
}

static void test_each_of_many_has_its_own(void **state)
{
	uint64_t a, b;

	(void)state;
	buy(1, 2);
	boots(1, true);
	boots(2, true);
	F.address = "10.0.0.2";
	a = says((struct says){.create = 1, .key = 1});
	keys_come("");
	assert_true(has(body(a), "node=c2"));
	F.address = "10.0.0.1";
	b = says((struct says){.create = 1});
	keys_come("");
	assert_true(has(body(b), "node=c1"));
	assert_int_equal(F.e->count.claims_breached, 0);
}

/* A thief was first: the machine itself finds out, and both are shut out. */
static void test_stolen_claim_used_first(void **state)
{
	uint64_t thief, t;
	char text[300], secret[CLAIM_SECRET_SIZE];
	struct http_answer an;

	(void)state;
	one();
	thief = says((struct says){.create = 1, .key = 1});
	keys_come("acc-1");
	assert_int_equal(status(thief), 200);
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 409);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	claims_secret(F.e, claim(1)->c.id, secret);
	(void)snprintf(text, sizeof(text),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"claim_used\"}",
		       claim(1)->c.id, secret);
	request("POST", "/v1/alarm", text, false, &an);
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
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(status(F.tickets), 200); /* anybody may be loud, and no more */
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	assert_int_equal(claim(1)->c.alarms, 1);
	request("POST", "/v1/alarm", "{\"claim_id\":\"no\"}", false, &an);
	assert_int_equal(status(F.tickets), 401);
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"reason\":\"a\\nb\"}",
		       claim(1)->c.id);
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(status(F.tickets), 400);
	assert_int_equal(events("claim-alarm"), 1);
	(void)snprintf(text, sizeof(text),
		       "{\"claim_id\":\"%s\",\"claim_secret\":\"%s\",\"reason\":\"creation_path\"}",
		       claim(1)->c.id, secret);
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
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
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(status(F.tickets), 200);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	shows_certificate("c1", 0, 0); /* of who had the name before */
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	shows_certificate("c1", 1, 1);
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	shows_certificate("c1", 1, 0);
	request("POST", "/v1/alarm", text, false, &an);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
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
	assert_true(goes(1, NODE_BECAUSE_BOOT));
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
	assert_true(goes(1, NODE_BECAUSE_BOOT));
}

static void test_nobody_claims_in_time(void **state)
{
	(void)state;
	one();
	assert_int_equal(claims_next_ms(F.e), claim(1)->c.expires_ms);
	claim(1)->c.expires_ms = F.e->claims->wake_ms = engine_now(F.e);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_true(goes(1, NODE_BECAUSE_BOOT));
	assert_int_equal(events("boot-failed"), 1);
	assert_int_equal(row(1)->name->refused, NODE_BECAUSE_BOOT);
}

/* Of a create that is on its way nobody would learn that it was given up. */
static void test_time_is_over_before_it_is_there(void **state)
{
	(void)state;
	buy(1, 1);
	claim(1)->c.expires_ms = F.e->claims->wake_ms = engine_now(F.e);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_EXPIRED);
	assert_false(row(1)->n.release);
	boots(1, true);
	F.e->claims->wake_ms = engine_now(F.e);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BOOT));
}

static void test_five_wrong_secrets(void **state)
{
	uint64_t t;

	(void)state;
	buy(1, 2);
	boots(1, true);
	boots(2, true);
	claim(2)->c.bound = true;
	claim(2)->c.state = CLAIM_CONFIRMED;
	t = says((struct says){.create = 1, .secret = "wrong"});
	assert_int_equal(status(t), 401); /* the listener counts */
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
	t = says((struct says){.create = 1, .secret = "wrong", .spoilt = true});
	assert_int_equal(status(t), 401);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	assert_int_equal(claim(2)->c.state, CLAIM_CONFIRMED); /* its secret opens nothing */
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(row(2)->n.state, NODE_BOOTING);
}

/* Its secret opens nothing any more, whatever else is wrong with what was sent. */
static void test_five_wrong_secrets_in_half_a_request(void **state)
{
	char text[200];
	struct http_answer an;

	(void)state;
	one();
	(void)snprintf(text, sizeof(text), "{\"claim_id\":\"%s\",\"claim_secret\":\"x\"}",
		       claim(1)->c.id);
	request("POST", "/v1/claim", text, true, &an);
	assert_int_equal(status(F.tickets), 401);
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
}

static void test_lost_answer_asked_again(void **state)
{
	uint64_t t;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	keys_come("acc-1");
	assert_int_equal(status(t), 200);
	claim(1)->c.released_ms -= CLAIM_AGAIN_MS - 1000;
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 0);
	keys_come("acc-2");
	assert_int_equal(status(t), 200);
	assert_string_equal(body(t) + strlen(body(t)) - 7, "\nend=1\n");
	assert_int_equal(F.revoked, 1);
	assert_string_equal(F.revoked_last, "acc-1");
	assert_string_equal(claim(1)->accessor, "acc-2");
	claim(1)->c.released_ms -= 1000;
	t = says((struct says){.create = 1});
	assert_int_equal(status(t), 409); /* but it is still the owner: no breach */
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
}

/* What it asks with can be copied: a request for a certificate is no secret. */
static void test_asked_again_from_another_address(void **state)
{
	uint64_t t;

	(void)state;
	one();
	t = says((struct says){.create = 1});
	keys_come("acc-1");
	assert_int_equal(status(t), 200);
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
	keys_come("");
	assert_int_equal(status(b), 200);
}

/* What was decided is durable; what was not is asked for again. */
static void test_crash_between_ask_and_release(void **state)
{
	uint64_t t;

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
	(void)t;
}

static void test_crash_and_the_owner_goes_on(void **state)
{
	uint64_t t;

	(void)state;
	one();
	(void)says((struct says){.create = 1});
	restart();
	t = says((struct says){.create = 1});
	keys_come("acc-1");
	assert_int_equal(status(t), 200);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	t = says((struct says){.create = 1}); /* the answer may have been lost with us */
	keys_come("acc-2");
	assert_int_equal(status(t), 200);
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
	assert_int_equal(claims_next_ms(F.e), claim(1)->ask->until_ms);
	turn();
	assert_int_equal(status(t), 202);
	assert_null(F.keys_fn); /* cancelled: a token for nobody is revoked */
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
	again = says((struct says){.create = 1});
	fn = F.keys_fn;
	F.keys_fn = NULL;
	fn(F.keys_ctx, NULL, &err);
	turn();
	assert_int_equal(status(again), 503);
	assert_true(has(body(again), "retry_after=10"));
	assert_null(strstr(body(again), "munge_key"));
	assert_int_equal(claim(1)->c.state, CLAIM_ATTESTING);
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

/* It did not become a node: its pool is told, with the reason. */
static void test_boot_that_failed(void **state)
{
	(void)state;
	one();
	(void)says((struct says){.create = 1});
	keys_come("acc-1");
	claims_fail(F.e, claim(1), "gpu", "7 GPUs, 8 expected", false);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BOOT));
	assert_int_equal(claim(1)->c.state, CLAIM_REVOKED);
	assert_int_equal(events("breach"), 0);
	assert_int_equal(row(1)->name->fails, 1);
	assert_string_equal(row(1)->name->why, "gpu: 7 GPUs, 8 expected");
	assert_string_equal(F.revoked_last, "acc-1");
}

/* Its name is another machine's by now, whose jobs are none of its business. */
static void test_breach_of_an_older_machine_of_the_name(void **state)
{
	struct fleet_node *old;
	struct claim_run *r;
	struct node node;

	(void)state;
	one();
	old = row(1);
	old->n.state = NODE_DRAINING;
	r = claim(1);
	node_init(&node, "c1", 2, engine_now(F.e));
	place_set(F.e, &node, &F.e->conf->pools[0].own, 1);
	(void)fleet_add(&F.e->fleet, &node);
	claims_fail(F.e, r, "agent", "somebody else is there", true);
	turn();
	assert_int_equal(old->n.state, NODE_DELETING);
	assert_int_equal(old->name->forced_ms, 0);
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
	assert_int_equal(F.e->claims->nall, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(F.e->claims->all[i]->at, i);
	assert_non_null(claims_named(F.e, claim(2)->c.id));
	assert_non_null(claims_named(F.e, claim(3)->c.id));
	for (size_t i = 0; i < 4; i++)
		wire_says(i, ERR_NOTSENT, "no way there");
}

static void test_bad_requests(void **state)
{
	struct http_answer an;
	char *csr;

	(void)state;
	one();
	request("POST", "/v1/claim", "{\"claim_id\":", false, &an);
	assert_int_equal(status(F.tickets), 400);
	csr = F.keys[0].csr;
	F.keys[0].csr = mem_strdup("Q0EK");
	assert_int_equal(status(says((struct says){.create = 1})), 400);
	free(F.keys[0].csr);
	F.keys[0].csr = csr;
	assert_int_equal(claim(1)->c.state, CLAIM_ISSUED);
}

static void test_nothing_without_the_section(void **state)
{
	(void)state;
	F.door.claim_key = NULL;
	engine_free(F.e);
	F.e = NULL;
	F.attest = CONF_ATTEST_OFF;
	F.door.claim_key = claim_key;
	restart();
	buy(1, 1);
	assert_string_equal(F.wire[0].body, "");
	assert_null(claim(1));
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
	claims_row(F.e, &gone);
	assert_null(claim(1));
	assert_non_null(claims_adopt(F.e, row(1), spki));
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	assert_memory_equal(claim(1)->c.spki, spki, sizeof(spki));
	engine_commit(F.e);
	restart();
	assert_int_equal(claim(1)->c.state, CLAIM_CONFIRMED);
	assert_int_equal(claim_want(&claim(1)->c), CLAIM_WANT_NOTHING);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define W(f) cmocka_unit_test_setup_teardown(f, setup_wrap, teardown)
	const struct CMUnitTest tests[] = {
		T(test_issued_with_its_create),
		T(test_a_lost_claim_is_made_of_its_certificate),
		T(test_secrets_differ_by_create),
		T(test_create_repeat_has_same_user_data_after_restart),
		T(test_create_not_sent_claims_anew),
		T(test_claimed_with_the_keys),
		W(test_wrapped_and_as_json),
		W(test_claim_replayed),
		T(test_replayed_while_it_waits),
		T(test_from_another_address),
		T(test_from_another_address_among_many),
		T(test_address_is_not_known_yet),
		T(test_each_of_many_has_its_own),
		W(test_stolen_claim_used_first),
		T(test_alarms),
		T(test_alarm_about_another_node),
		T(test_after_its_time),
		W(test_keys_after_its_time),
		T(test_nobody_claims_in_time),
		T(test_time_is_over_before_it_is_there),
		T(test_five_wrong_secrets),
		T(test_five_wrong_secrets_in_half_a_request),
		W(test_lost_answer_asked_again),
		W(test_asked_again_from_another_address),
		W(test_answer_that_cannot_be_said),
		T(test_newer_request_takes_the_place),
		T(test_crash_between_ask_and_release),
		W(test_crash_and_the_owner_goes_on),
		T(test_secret_store_away),
		T(test_keys_for_who_was_breached_meanwhile),
		W(test_boot_that_failed),
		T(test_breach_of_an_older_machine_of_the_name),
		T(test_released_node_claims_nothing),
		T(test_one_of_many_creates_is_over),
		T(test_bad_requests),
		T(test_nothing_without_the_section),
	};
#undef T
#undef W

	return cmocka_run_group_tests(tests, NULL, NULL);
}
