/* test_attest_gcp.c - Google's identity tokens: good ones, and what an attacker would send. */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/hmac.h>

#include "attest_lab.h"
#include "providers/attest/jwt.h"

#define HEAD     "{\"alg\":\"RS256\",\"kid\":\"k1\",\"typ\":\"JWT\"}"
#define AUDIENCE "burst:batch-1"
#define TIMES    "\"iat\":1794873500,\"exp\":1794877100"
#define MACHINE                                                                                    \
	"\"google\":{\"compute_engine\":{\"project_id\":\"proj\",\"project_number\":42,"           \
	"\"zone\":\"europe-west4-a\",\"instance_id\":\"8087716956832600000\","                     \
	"\"instance_name\":\"c1\",\"instance_creation_timestamp\":1794870000}}"
#define ISS    "\"iss\":\"https://accounts.google.com\""
#define AUD    "\"aud\":\"" AUDIENCE "\""
#define CLAIMS "{" ISS "," AUD "," TIMES ",\"sub\":\"1\"," MACHINE "}"

struct lab {
	struct lab_cert one, two;
	void *gcp;
};

static const struct attest_expect ours = {.account = "proj",
					  .region = "europe-west4",
					  .instance = "8087716956832600000",
					  .nonce = AUDIENCE};

static void add_url64(struct str *s, const void *data, size_t n)
{
	char *text = lab_base64(data, n);

	for (char *p = text; *p != '\0' && *p != '='; p++)
		str_addf(s, "%c", *p == '+' ? '-' : *p == '/' ? '_' : *p);
	free(text);
}

static char *rsa_sign(EVP_PKEY *key, const char *text, size_t len, size_t *n)
{
	EVP_MD_CTX *ctx = mem_check(EVP_MD_CTX_new());
	unsigned char *sig = mem_zalloc(512);

	*n = 512;
	assert_int_equal(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key), 1);
	assert_int_equal(EVP_DigestSign(ctx, sig, n, (const unsigned char *)text, len), 1);
	EVP_MD_CTX_free(ctx);
	return (char *)sig;
}

/* free() it. */
static char *token(EVP_PKEY *key, const char *head, const char *claims)
{
	struct str s;
	size_t n;
	char *sig;

	str_init(&s, 1 << 16);
	add_url64(&s, head, strlen(head));
	str_adds(&s, ".");
	add_url64(&s, claims, strlen(claims));
	sig = rsa_sign(key, s.p, s.len, &n);
	str_adds(&s, ".");
	add_url64(&s, sig, n);
	free(sig);
	return str_take(&s);
}

static void add_number(struct str *s, EVP_PKEY *key, const char *name)
{
	BIGNUM *bn = NULL;
	unsigned char bytes[520];
	int n;

	assert_int_equal(EVP_PKEY_get_bn_param(key, name, &bn), 1);
	n = BN_bn2bin(bn, bytes);
	add_url64(s, bytes, (size_t)n);
	BN_free(bn);
}

/* As https://www.googleapis.com/oauth2/v3/certs has them; free() it. */
static char *jwk(EVP_PKEY *key, const char *kid, const char *kty)
{
	struct str s;

	str_init(&s, 1 << 16);
	str_addf(&s,
		 "{\"keys\":[{\"kty\":\"%s\",\"alg\":\"RS256\",\"use\":\"sig\",\"kid\":\"%s\","
		 "\"e\":\"",
		 kty, kid);
	add_number(&s, key, OSSL_PKEY_PARAM_RSA_E);
	str_adds(&s, "\",\"n\":\"");
	add_number(&s, key, OSSL_PKEY_PARAM_RSA_N);
	str_adds(&s, "\"}]}");
	return str_take(&s);
}

/* As https://www.googleapis.com/oauth2/v1/certs has them; free() it. */
static char *x509(X509 *cert, const char *kid)
{
	struct str pem, s;

	str_init(&pem, 1 << 16);
	str_init(&s, 1 << 16);
	lab_add_pem(&pem, cert);
	str_addf(&s, "{\"%s\":\"", kid);
	for (const char *p = pem.p; *p != '\0'; p++)
		str_add(&s, *p == '\n' ? "\\n" : p, *p == '\n' ? 2 : 1);
	str_adds(&s, "\"}");
	str_fini(&pem);
	return str_take(&s);
}

static int learn(void *gcp, char *text, struct err *e)
{
	int rc = attest_find(ATTEST_GCP)->learn(gcp, text, strlen(text), e);

	free(text);
	return rc;
}

static int setup(void **state)
{
	struct lab *l = mem_zalloc(sizeof(*l));
	struct attest_conf conf = {0};

	l->one = lab_cert(&(struct lab_want){.name = "one"});
	l->two = lab_cert(&(struct lab_want){.name = "two"});
	conf.trust = jwk(l->one.key, "k1", "RSA");
	conf.trust_len = strlen(conf.trust);
	assert_int_equal(attest_find(ATTEST_GCP)->open(&l->gcp, &conf, NULL), 0);
	free((void *)(uintptr_t)conf.trust);
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct lab *l = *state;

	attest_find(ATTEST_GCP)->close(l->gcp);
	lab_cert_free(&l->one);
	lab_cert_free(&l->two);
	free(l);
	return 0;
}

static int verify(const void *gcp, const struct attest_expect *want, char *doc,
		  struct attest_identity *id, struct err *e)
{
	int rc;

	*e = (struct err){0};
	rc = attest_find(ATTEST_GCP)->verify(gcp, want, doc, strlen(doc), lab_now_ms, id, e);
	free(doc);
	return rc;
}

static void refused(const struct lab *l, const struct attest_expect *want, char *doc,
		    enum err_code code, const char *why)
{
	struct attest_identity id;
	struct err e;
	int rc = verify(l->gcp, want, doc, &id, &e);

	lab_refused(rc, &e, code, why);
	/* Of what is wrong in nothing but its time it is said which machine it is of. */
	assert_string_equal(id.instance, code == ERR_TIME ? ours.instance : "");
}

static void a_token_says_which_instance_it_is(void **state)
{
	const struct lab *l = *state;
	struct attest_identity id;
	struct err e;

	if (verify(l->gcp, &ours, token(l->one.key, HEAD, CLAIMS), &id, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(id.account, "proj");
	assert_string_equal(id.zone, "europe-west4-a");
	assert_string_equal(id.region, "europe-west4");
	assert_string_equal(id.instance, "8087716956832600000");
	assert_string_equal(id.name, "c1");
	assert_string_equal(id.nonce, AUDIENCE);
	assert_true(id.created_ms == INT64_C(1794870000000));
	assert_true(id.expires_ms == INT64_C(1794877100000));
}

static void a_token_for_another_audience_is_refused(void **state)
{
	static const char *const claims[] = {
		"{" ISS ",\"aud\":\"burst:batch-2\"," TIMES "," MACHINE "}",
		"{" ISS ",\"aud\":\"https://bank.example\"," TIMES "," MACHINE "}",
		"{" ISS ",\"aud\":\"" AUDIENCE "x\"," TIMES "," MACHINE "}",
	};
	const struct lab *l = *state;
	struct attest_expect want = ours;

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++)
		refused(l, &ours, token(l->one.key, HEAD, claims[i]), ERR_AUTH, "of nonce");
	refused(l, &ours,
		token(l->one.key, HEAD,
		      "{" ISS ",\"aud\":[\"" AUDIENCE "\"]," TIMES "," MACHINE "}"),
		ERR_INVALID, "\"aud\"");
	want.nonce = NULL;
	refused(l, &want, token(l->one.key, HEAD, CLAIMS), ERR_INVALID, "no audience");
	want.nonce = "";
	refused(l, &want, token(l->one.key, HEAD, CLAIMS), ERR_INVALID, "no audience");
}

static void a_token_of_another_instance_or_project_is_refused(void **state)
{
	const struct lab *l = *state;
	struct attest_expect want = ours;

	want.instance = "8087716956832600001";
	refused(l, &want, token(l->one.key, HEAD, CLAIMS), ERR_AUTH, "of instance");
	want = ours;
	want.account = "other";
	refused(l, &want, token(l->one.key, HEAD, CLAIMS), ERR_AUTH, "of account");
}

static void alg_none_and_hs256_are_refused(void **state)
{
	static const char *const heads[] = {
		"{\"alg\":\"none\",\"kid\":\"k1\"}",  "{\"alg\":\"HS256\",\"kid\":\"k1\"}",
		"{\"alg\":\"RS512\",\"kid\":\"k1\"}", "{\"alg\":\"rs256\",\"kid\":\"k1\"}",
		"{\"alg\":\"ES256\",\"kid\":\"k1\"}",
	};
	const struct lab *l = *state;
	char *good = token(l->one.key, HEAD, CLAIMS), *body = strchr(good, '.');
	struct str s;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		refused(l, &ours, token(l->one.key, heads[i], CLAIMS), ERR_AUTH, "not by RS256");
	str_init(&s, 1 << 16);
	add_url64(&s, heads[0], strlen(heads[0]));
	str_add(&s, body, (size_t)(strrchr(good, '.') - body) + 1); /* and no signature */
	refused(l, &ours, str_take(&s), ERR_AUTH, "not by RS256");
	free(good);
}

static void a_header_that_wants_more_is_refused(void **state)
{
	static const struct {
		const char *head;
		enum err_code code;
		const char *why;
	} rows[] = {
		{"{\"alg\":\"RS256\",\"kid\":\"k1\",\"crit\":[\"x\"]}", ERR_INVALID, "critical"},
		{"{\"alg\":\"RS256\",\"kid\":\"k1\",\"alg\":\"none\"}", ERR_INVALID, "twice"},
		{"{\"alg\":\"RS256\"}", ERR_INVALID, "\"kid\""},
		{"{\"alg\":\"RS256\",\"kid\":7}", ERR_INVALID, "\"kid\""},
		{"{\"alg\":\"RS256\",\"kid\":\"k2\"}", ERR_LIMIT, "'k2' is not known"},
		{"{\"alg\":\"RS256\",\"kid\":\"../../k1\"}", ERR_LIMIT, "is not known"},
		{"", ERR_INVALID, "not a JSON object"},
	};
	const struct lab *l = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(l, &ours, token(l->one.key, rows[i].head, CLAIMS), rows[i].code,
			rows[i].why);
}

static void a_tampered_token_and_one_of_another_key_are_refused(void **state)
{
	const struct lab *l = *state;
	char *good = token(l->one.key, HEAD, CLAIMS), *doc;
	struct str s;

	refused(l, &ours, token(l->two.key, HEAD, CLAIMS), ERR_AUTH, "signature is not good");
	str_init(&s, 1 << 16); /* another's claims under this signature */
	add_url64(&s, HEAD, strlen(HEAD));
	str_adds(&s, ".");
	add_url64(&s, "{}", 2);
	str_adds(&s, strrchr(good, '.'));
	refused(l, &ours, str_take(&s), ERR_AUTH, "signature is not good");
	doc = mem_strdup(good);
	doc[strlen(doc) - 3] = doc[strlen(doc) - 3] == 'A' ? 'B' : 'A';
	refused(l, &ours, doc, ERR_AUTH, "signature is not good");
	doc = mem_strdup(good);
	*strrchr(doc, '.') = '\0';
	refused(l, &ours, doc, ERR_INVALID, "three parts");
	free(good);
}

static void trailing_bytes_and_oversized_tokens_are_refused(void **state)
{
	static const char *const tails[] = {".", "=", "A", "\n", " ", ".e30", "AAAA"};
	const struct lab *l = *state;
	char *good = token(l->one.key, HEAD, CLAIMS), *big;

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		struct str s;

		str_init(&s, 1 << 16);
		str_addf(&s, "%s%s", good, tails[i]);
		refused(l, &ours, str_take(&s), ERR_AUTH, "signature is not good");
	}
	free(good);
	big = mem_zalloc(JWT_TOKEN_MAX + 2);
	memset(big, 'A', JWT_TOKEN_MAX + 1);
	big[1] = big[3] = '.';
	refused(l, &ours, big, ERR_INVALID, "three parts");
	big = mem_zalloc(4096);
	memset(big, 'A', 4000);
	big[3000] = big[3004] = '.';
	refused(l, &ours, big, ERR_INVALID, "its header");
}

static void an_expired_token_and_one_of_the_future_are_refused(void **state)
{
	static const struct {
		const char *times, *why;
		enum err_code code;
	} rows[] = {
		{"\"iat\":1794870000,\"exp\":1794873600", "has expired", ERR_TIME},
		{"\"iat\":1794873661,\"exp\":1794877100", "from the future", ERR_TIME},
		{"\"iat\":1794873500,\"exp\":1794973500", "never expires", ERR_AUTH},
		{"\"iat\":1794873500", "\"exp\"", ERR_INVALID},
		{"\"exp\":1794877100", "\"iat\"", ERR_INVALID},
		{"\"iat\":1794873500,\"exp\":\"1794877100\"", "\"exp\"", ERR_INVALID},
		{"\"iat\":1794873500,\"exp\":1794877100.5", "\"exp\"", ERR_INVALID},
		{"\"iat\":-1,\"exp\":1794877100", "\"iat\"", ERR_INVALID},
		{"\"iat\":1794873500,\"exp\":9223372036854775807", "\"exp\"", ERR_INVALID},
	};
	const struct lab *l = *state;
	struct attest_expect another = ours;

	another.nonce = "burst:batch-2";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char claims[1024];

		(void)snprintf(claims, sizeof(claims), "{" ISS "," AUD ",%s," MACHINE "}",
			       rows[i].times);
		refused(l, &ours, token(l->one.key, HEAD, claims), rows[i].code, rows[i].why);
		if (rows[i].code != ERR_TIME)
			continue;
		/* An old one is no excuse for another fault. */
		refused(l, &ours, token(l->two.key, HEAD, claims), ERR_AUTH, "signature");
		refused(l, &another, token(l->one.key, HEAD, claims), ERR_AUTH, "nonce");
	}
}

static void claims_that_are_not_googles_or_of_no_machine_are_refused(void **state)
{
	static const struct {
		const char *claims, *why;
		enum err_code code;
	} rows[] = {
		{"{\"iss\":\"https://evil.example\"," AUD "," TIMES "," MACHINE "}", "not Google",
		 ERR_AUTH},
		{"{\"iss\":\"http://accounts.google.com\"," AUD "," TIMES "," MACHINE "}",
		 "not Google", ERR_AUTH},
		{"{" AUD "," TIMES "," MACHINE "}", "\"iss\"", ERR_INVALID},
		{"{" ISS "," AUD "," TIMES "}", "format=full", ERR_INVALID},
		{"{" ISS "," AUD "," TIMES ",\"google\":{\"compute_engine\":[]}}", "format=full",
		 ERR_INVALID},
		{"{" ISS "," AUD "," TIMES ",\"google\":{\"compute_engine\":{\"zone\":\"a\","
		 "\"instance_id\":\"1\",\"instance_id\":\"2\"}}}",
		 "a name twice", ERR_INVALID},
		{"{" ISS "," AUD "," TIMES ",\"google\":{\"compute_engine\":{\"zone\":\"a\"}}}",
		 "\"project_id\"", ERR_INVALID},
		{CLAIMS "x", "not a JSON object", ERR_INVALID},
		{"{" ISS ",\"aud\":\"" AUDIENCE "\\u0000\"," TIMES "," MACHINE "}",
		 "not a JSON object", ERR_INVALID},
	};
	const struct lab *l = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(l, &ours, token(l->one.key, HEAD, rows[i].claims), rows[i].code,
			rows[i].why);
}

static void a_key_that_is_not_known_is_fetched_and_learnt(void **state)
{
	const struct lab *l = *state;
	const struct attest_ops *ops = attest_find(ATTEST_GCP);
	const struct attest_conf conf = {0};
	struct attest_identity id;
	char *doc = token(l->two.key, HEAD, CLAIMS);
	struct attest_lack lack;
	struct err e = {0};
	void *gcp;

	assert_int_equal(ops->open(&gcp, &conf, NULL), 0);
	assert_int_equal(ops->lacks(gcp, doc, strlen(doc), &lack), 1);
	assert_string_equal(lack.url, "https://www.googleapis.com/oauth2/v3/certs");
	assert_string_equal(lack.what, "k1");
	assert_false(lack.said);
	assert_int_equal(ops->lacks(gcp, "no token", 8, &lack), 0);
	assert_int_equal(verify(gcp, &ours, mem_strdup(doc), &id, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(learn(gcp, x509(l->two.cert, "k1"), &e), 0);
	assert_int_equal(ops->lacks(gcp, doc, strlen(doc), &lack), 0);
	if (verify(gcp, &ours, doc, &id, &e) < 0)
		fail_msg("%s", e.msg);
	/* One that is not published any more does not count. */
	assert_int_equal(learn(gcp, jwk(l->one.key, "k0", "RSA"), &e), 0);
	doc = token(l->two.key, HEAD, CLAIMS);
	assert_int_equal(ops->lacks(gcp, doc, strlen(doc), &lack), 1);
	free(doc);
	ops->close(gcp);
}

/* Else a token with any name of a key had them replaced by Google's. */
static void keys_that_are_given_are_all_there_are(void **state)
{
	const struct lab *l = *state;
	const struct attest_ops *ops = attest_find(ATTEST_GCP);
	char *keys = x509(l->one.cert, "k0"), *doc = token(l->two.key, HEAD, CLAIMS);
	const struct attest_conf conf = {.trust = keys, .trust_len = strlen(keys)};
	struct attest_lack lack;
	struct attest_identity id;
	struct err e = {0};
	void *gcp;

	assert_int_equal(ops->open(&gcp, &conf, NULL), 0);
	assert_int_equal(ops->lacks(gcp, doc, strlen(doc), &lack), 0);
	assert_int_equal(verify(gcp, &ours, doc, &id, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	ops->close(gcp);
	free(keys);
}

static void a_key_of_an_expired_certificate_is_refused(void **state)
{
	const struct attest_ops *ops = attest_find(ATTEST_GCP);
	const struct attest_conf conf = {0};
	struct lab_cert old =
		lab_cert(&(struct lab_want){.name = "old", .from_day = -9, .to_day = -1});
	struct attest_identity id;
	struct err e = {0};
	void *gcp;

	(void)state;
	assert_int_equal(ops->open(&gcp, &conf, NULL), 0);
	assert_int_equal(learn(gcp, x509(old.cert, "k1"), &e), 0);
	assert_int_equal(verify(gcp, &ours, token(old.key, HEAD, CLAIMS), &id, &e), -1);
	assert_int_equal(e.code, ERR_TIME);
	assert_non_null(strstr(e.msg, "has expired"));
	ops->close(gcp);
	lab_cert_free(&old);
}

static void keys_that_cannot_be_used_are_refused_and_change_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"keys\":[]}",
		"{\"keys\":[{}]}",
		"{\"k1\":\"no PEM\"}",
		"{\"k1\":7}",
		"{\"keys\":[{\"kty\":\"oct\",\"kid\":\"k1\",\"k\":\"AAAA\"}]}",
		"{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k1\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
	};
	const struct lab *l = *state;
	struct lab_cert small = lab_cert(&(struct lab_want){.name = "small", .bits = 1024});
	struct lab_cert ec = lab_cert(&(struct lab_want){.name = "ec", .bits = 1});
	struct attest_identity id;
	struct err e = {0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (learn(l->gcp, mem_strdup(texts[i]), &e) == 0)
			fail_msg("taken: %s", texts[i]);
	assert_int_equal(learn(l->gcp, jwk(l->two.key, "k1", "EC"), &e), -1);
	assert_int_equal(learn(l->gcp, jwk(l->two.key, "", "RSA"), &e), -1);
	assert_int_equal(learn(l->gcp, jwk(small.key, "k1", "RSA"), &e), -1);
	assert_int_equal(learn(l->gcp, x509(small.cert, "k1"), &e), -1);
	assert_int_equal(learn(l->gcp, x509(ec.cert, "k1"), &e), -1);
	if (verify(l->gcp, &ours, token(l->one.key, HEAD, CLAIMS), &id, &e) < 0)
		fail_msg("%s", e.msg);
	lab_cert_free(&small);
	lab_cert_free(&ec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_says_which_instance_it_is),
		cmocka_unit_test(a_token_for_another_audience_is_refused),
		cmocka_unit_test(a_token_of_another_instance_or_project_is_refused),
		cmocka_unit_test(alg_none_and_hs256_are_refused),
		cmocka_unit_test(a_header_that_wants_more_is_refused),
		cmocka_unit_test(a_tampered_token_and_one_of_another_key_are_refused),
		cmocka_unit_test(trailing_bytes_and_oversized_tokens_are_refused),
		cmocka_unit_test(an_expired_token_and_one_of_the_future_are_refused),
		cmocka_unit_test(claims_that_are_not_googles_or_of_no_machine_are_refused),
		cmocka_unit_test(a_key_that_is_not_known_is_fetched_and_learnt),
		cmocka_unit_test(keys_that_are_given_are_all_there_are),
		cmocka_unit_test(a_key_of_an_expired_certificate_is_refused),
		cmocka_unit_test(keys_that_cannot_be_used_are_refused_and_change_nothing),
	};

	return cmocka_run_group_tests_name("attest_gcp", tests, setup, teardown);
}
