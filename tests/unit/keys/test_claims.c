/* test_claims.c - who gets the cluster's keys: what a create gives its machines, who may use that,
 * and what they are answered. */
#include "claims_store.h"
#include "keys_engine.h"

static bool tells(const char *text, const char *key)
{
	char head[32];

	(void)snprintf(head, sizeof(head), "\n%s=", key);
	return strstr(text, head) != NULL;
}

static void test_issued_with_its_create(void **state)
{
	char secret[CLAIM_SECRET_SIZE], line[128];
	const char *text;

	(void)state;
	buy(1, 3);
	text = F.creates[0].user_data;
	for (int i = 1; i <= 3; i++) {
		assert_non_null(claim(i));
		assert_int_equal(claim(i)->c.state, CLAIM_ISSUED);
		assert_string_equal(claim(i)->c.id, claim(1)->c.id);
		assert_int_equal(claim(i)->c.expires_ms, claim(i)->c.issued_ms + 600000);
	}
	/* Nobody finds it by the create's token, which can be guessed and is in lists. */
	(void)snprintf(line, sizeof(line), "%s-", F.creates[0].token);
	assert_int_equal(strncmp(claim(1)->c.id, line, strlen(line)), 0);
	assert_int_equal(strspn(claim(1)->c.id + strlen(line), "0123456789abcdef"), 16);
	assert_int_equal(strlen(claim(1)->c.id), strlen(line) + 16);
	knock(F.creates[0].token, "", false);
	claims_secret(F.e, claim(1)->c.id, secret);
	assert_int_equal(strlen(secret), 64);
	(void)snprintf(line, sizeof(line), "ID='%s'", claim(1)->c.id);
	assert_non_null(strstr(text, line));
	assert_non_null(strstr(text, secret));
	assert_non_null(strstr(text, "URLS='https://burst.example:8443'"));
	assert_non_null(strstr(text, "PORTS=''"));
	knock(claim(1)->c.id, secret, true);
	secret[0] = secret[0] == '0' ? '1' : '0';
	knock(claim(1)->c.id, secret, false);
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
}

/* What is sent again must be the same bytes, and what a machine has must open the same claim. */
static void test_create_repeat_has_same_user_data_after_restart(void **state)
{
	char secret[CLAIM_SECRET_SIZE], *again;
	struct member members[2];
	struct keys_for keys;

	(void)state;
	buy(1, 2);
	claims_secret(F.e, claim(1)->c.id, secret);
	restart();
	keys = keys_of_rows((struct fleet_node *[]){row(1), row(2)}, 2, F.creates[0].token,
			    members);
	again = claims_user_data(F.e, &keys, NULL);
	assert_string_equal(again, F.creates[0].user_data);
	free(again);
	assert_int_equal(claim(2)->c.state, CLAIM_ISSUED);
	knock(claim(1)->c.id, secret, true);
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
	is_served(t, "");
	assert_int_equal(claim(1)->c.state, CLAIM_CLAIMED);
	assert_int_equal(claim(1)->c.version, 7);
	assert_string_equal(claim(1)->c.instance, "i-1");
	assert_true(has(body(t), "node=c1"));
	assert_true(has(body(t), "generation=1"));
	assert_true(has(body(t), "release=inline"));
	assert_true(has(body(t), "munge_key=kZ3qVh0v8mJ5rT2yB7nC4xW1sD6fG9hL0pQoIuYtReE="));
	assert_true(has(body(t), "version=7"));
	assert_true(has(body(t), "cloud=fake"));
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

/* GPUs by slurm.conf, the network by the pool, or the offer, which knows better. */
static void test_it_is_told_what_it_must_have(void **state)
{
	struct conf_pool *p;
	struct fleet_name *name;
	uint64_t t;

	(void)state;
	one();
	p = &F.e->conf->pools[0];
	name = fleet_find(&F.e->fleet, "c1");
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_false(tells(body(t), "gpus") || tells(body(t), "gpu_type") ||
		     tells(body(t), "fabric"));
	assert_false(tells(body(t), "gpu_mig"));
	F.e->conf->nodes.deadman_ms = 1; /* 0 would be never */
	name->gpus = 8;
	name->gpu_model = "h100";
	p->own.interconnect = p->interconnect = mem_strdup("ib");
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "gpus=8") && has(body(t), "gpu_type=h100"));
	assert_true(has(body(t), "fabric=ib") && has(body(t), "deadman=1"));
	assert_null(strstr(body(t), "fabric_ports"));
	p->own.interconnect = (char *)(uintptr_t) "efa:32x100";
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "fabric=efa") && has(body(t), "fabric_ports=32") &&
		    has(body(t), "fabric_rate=100"));
	F.e->conf->nodes.deadman_ms = 0;
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "deadman=0"));
}

/* Of processors, memory and disk what slurmctld would not take it without. */
static void test_it_is_told_how_large_it_must_be(void **state)
{
	struct fleet_name *name;
	uint64_t t;

	(void)state;
	one();
	name = fleet_find(&F.e->fleet, "c1");
	name->cpus = 192;
	name->memory_mb = 2000001;
	name->tmp_mb = 900000;
	name->gpu_parts = "all";
	/* Not known yet how exact it is. */
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "gpu_mig=all") && !tells(body(t), "gpus"));
	assert_false(tells(body(t), "cpus") || tells(body(t), "memory_mb") ||
		     tells(body(t), "tmp_mb"));
	D.memory_percent = 80;
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_true(has(body(t), "cpus=192") && has(body(t), "memory_mb=1600000") &&
		    has(body(t), "tmp_mb=900000"));
	/* It takes any. */
	D.memory_percent = 0;
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_false(tells(body(t), "cpus") || tells(body(t), "memory_mb") ||
		     tells(body(t), "tmp_mb"));
	/* What slurm.conf does not say. */
	D.memory_percent = 80;
	name->cpus = name->tmp_mb = 0;
	name->memory_mb = 1;
	t = says((struct says){.create = 1});
	is_served(t, "");
	assert_false(tells(body(t), "cpus") || tells(body(t), "memory_mb") ||
		     tells(body(t), "tmp_mb"));
}

static void test_wrapped_and_as_json(void **state)
{
	uint64_t t;

	(void)state;
	one();
	F.accept = "application/json";
	F.e->d.store_ca = "CA\n";
	t = says((struct says){.create = 1});
	is_served(t, "acc-1");
	assert_non_null(strstr(body(t), "{\"v\":1,\"node\":\"c1\""));
	assert_non_null(strstr(body(t), "\"release\":\"wrap\""));
	assert_non_null(strstr(body(t), "\"vault\":\"https://v1:8200 https://v2:8200\""));
	assert_non_null(strstr(body(t), "\"vault_ca\":\"Q0EK\""));
	assert_non_null(strstr(body(t), "\"wrap_token\":\"s.wrap\""));
	assert_non_null(strstr(body(t), "\"wrap_ttl\":\"60\""));
	assert_non_null(strstr(body(t), "\"creation_path\":\"kv/data/slurm\""));
	assert_null(strstr(body(t), "munge_key"));
	assert_string_equal(claim(1)->c.accessor, "acc-1");
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
	two();
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
	two();
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

static void test_bad_requests(void **state)
{
	struct http_answer an;
	char *csr;

	(void)state;
	one();
	request("POST", "/v1/claim", "{\"claim_id\":", &an);
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
	assert_string_equal(F.creates[0].user_data, "");
	assert_null(claim(1));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_broker, teardown)
#define W(f) cmocka_unit_test_setup_teardown(f, setup_wrap, teardown)
	const struct CMUnitTest tests[] = {
		T(test_issued_with_its_create),
		T(test_secrets_differ_by_create),
		T(test_create_repeat_has_same_user_data_after_restart),
		T(test_claimed_with_the_keys),
		T(test_it_is_told_what_it_must_have),
		T(test_it_is_told_how_large_it_must_be),
		W(test_wrapped_and_as_json),
		T(test_from_another_address),
		T(test_from_another_address_among_many),
		T(test_address_is_not_known_yet),
		T(test_each_of_many_has_its_own),
		T(test_bad_requests),
		T(test_nothing_without_the_section),
	};
#undef T
#undef W

	return cmocka_run_group_tests(tests, NULL, NULL);
}
