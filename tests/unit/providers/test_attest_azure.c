/* test_attest_azure.c - Azure's attested documents: good ones, and what an attacker would send. */
#include "attest_lab.h"

#define NONCE "0123456789abcdef0123456789abcdef"
#define DOCUMENT_OF(nonce, created, expires)                                                       \
	"{\"licenseType\":\"\",\"nonce\":\"" nonce "\",\"plan\":{\"name\":\"\"},\"sku\":\"22\","   \
	"\"subscriptionId\":\"s-1\",\"timeStamp\":{\"createdOn\":\"" created "\","                 \
	"\"expiresOn\":\"" expires "\"},\"vmId\":\"vm-1\"}"
#define DOCUMENT DOCUMENT_OF(NONCE, "11/16/26 23:59:00 -0000", "11/17/26 05:59:00 -0000")

#define SAN "DNS:eastus.metadata.azure.com"
#define AIA "caIssuers;URI:http://www.microsoft.com/pkiops/certs/inter.crt"

struct lab {
	struct lab_cert root, inter, leaf, attacker, self; /* leaf < inter < root */
	void *azure;
};

static const struct attest_expect ours = {.account = "s-1", .instance = "vm-1", .nonce = NONCE};

static void *open_with(const struct lab_cert *a, const struct lab_cert *b)
{
	struct attest_conf conf = {0};
	struct err e = {0};
	struct str s;
	void *azure;

	str_init(&s, 1 << 16);
	lab_add_pem(&s, a->cert);
	if (b != NULL)
		lab_add_pem(&s, b->cert);
	conf.trust = s.p;
	conf.trust_len = s.len;
	if (attest_find(ATTEST_AZURE)->open(&azure, &conf, &e) < 0)
		fail_msg("%s", e.msg);
	str_fini(&s);
	return azure;
}

static int setup(void **state)
{
	struct lab *l = mem_zalloc(sizeof(*l));

	l->root = lab_cert(&(struct lab_want){.name = "root", .ca = true});
	l->inter = lab_cert(&(struct lab_want){.name = "inter", .issuer = &l->root, .ca = true});
	l->leaf = lab_cert(&(struct lab_want){
		.name = "azure", .issuer = &l->inter, .san = SAN, .aia = AIA, .serial = 9});
	/* An attacker's: names, numbers and all, and a chain of his own. */
	l->attacker = lab_cert(&(struct lab_want){.name = "inter", .ca = true});
	l->self = lab_cert(&(struct lab_want){
		.name = "azure", .issuer = &l->attacker, .san = SAN, .serial = 9});
	l->azure = open_with(&l->root, &l->inter);
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct lab *l = *state;

	attest_find(ATTEST_AZURE)->close(l->azure);
	lab_cert_free(&l->root);
	lab_cert_free(&l->inter);
	lab_cert_free(&l->leaf);
	lab_cert_free(&l->attacker);
	lab_cert_free(&l->self);
	free(l);
	return 0;
}

static int verify(const void *azure, const struct attest_expect *want, char *doc,
		  struct attest_identity *id, struct err *e)
{
	int rc;

	*e = (struct err){0};
	rc = attest_find(ATTEST_AZURE)->verify(azure, want, doc, strlen(doc), lab_now_ms, id, e);
	free(doc);
	return rc;
}

static void refused(const void *azure, const struct attest_expect *want, char *doc,
		    enum err_code code, const char *why)
{
	struct attest_identity id;
	struct err e;
	int rc = verify(azure, want, doc, &id, &e);

	lab_refused(rc, &e, code, why);
	/* Of what is wrong in nothing but its time it is said which machine it is of. */
	assert_string_equal(id.instance, code == ERR_TIME ? ours.instance : "");
}

/* As the metadata service has it. */
static char *wrapped(char *signature, const char *encoding)
{
	struct str s;

	str_init(&s, 1 << 16);
	str_addf(&s, "{\"encoding\":\"%s\",\"signature\":\"%s\"}", encoding, signature);
	free(signature);
	return str_take(&s);
}

static void a_document_says_which_machine_it_is(void **state)
{
	const struct lab *l = *state;
	struct attest_identity id;
	struct err e;

	for (int i = 0; i < 3; i++) {
		char *doc = lab_signed(DOCUMENT, &l->leaf, i == 1 ? LAB_STREAM : 0);

		if (verify(l->azure, &ours, i == 2 ? wrapped(doc, "pkcs7") : doc, &id, &e) < 0)
			fail_msg("%s", e.msg);
		assert_string_equal(id.account, "s-1");
		assert_string_equal(id.instance, "vm-1");
		assert_string_equal(id.nonce, NONCE);
		assert_true(id.issued_ms == lab_now_ms - 60000);
		assert_true(id.expires_ms == lab_now_ms + INT64_C(21540000));
	}
}

static void a_wrong_nonce_is_refused(void **state)
{
	const struct lab *l = *state;
	struct attest_expect want = ours;

	want.nonce = "0123456789abcdef0123456789abcdee";
	refused(l->azure, &want, lab_signed(DOCUMENT, &l->leaf, 0), ERR_AUTH, "of nonce");
	refused(l->azure, &ours,
		lab_signed(DOCUMENT_OF("20261117", "11/16/26 23:59:00 -0000",
				       "11/17/26 05:59:00 -0000"),
			   &l->leaf, 0),
		ERR_AUTH, "of nonce");
	refused(l->azure, &ours,
		lab_signed(DOCUMENT_OF("", "11/16/26 23:59:00 -0000", "11/17/26 05:59:00 -0000"),
			   &l->leaf, 0),
		ERR_INVALID, "\"nonce\"");
	want.nonce = NULL;
	refused(l->azure, &want, lab_signed(DOCUMENT, &l->leaf, 0), ERR_INVALID, "no nonce");
}

static void a_document_of_another_machine_or_subscription_is_refused(void **state)
{
	const struct lab *l = *state;
	struct attest_expect want = ours;

	want.instance = "vm-2";
	refused(l->azure, &want, lab_signed(DOCUMENT, &l->leaf, 0), ERR_AUTH, "of instance");
	want = ours;
	want.account = "s-2";
	refused(l->azure, &want, lab_signed(DOCUMENT, &l->leaf, 0), ERR_AUTH, "of account");
}

/* It leads to a root that is trusted, and may be signed for another text with the same hash. */
static void a_chain_with_sha1_in_it_is_refused(void **state)
{
	const struct lab *l = *state;
	struct lab_cert inter = lab_cert(
		&(struct lab_want){.name = "weak", .issuer = &l->root, .ca = true, .sha1 = true});
	struct lab_cert leaf = lab_cert(&(struct lab_want){
		.name = "azure", .issuer = &l->inter, .san = SAN, .serial = 9, .sha1 = true});
	struct lab_cert below = lab_cert(
		&(struct lab_want){.name = "azure", .issuer = &inter, .san = SAN, .serial = 9});
	void *azure = open_with(&l->root, &inter);

	refused(l->azure, &ours, lab_signed(DOCUMENT, &leaf, 0), ERR_AUTH, "is not trusted");
	refused(azure, &ours, lab_signed(DOCUMENT, &below, 0), ERR_AUTH, "is not trusted");
	attest_find(ATTEST_AZURE)->close(azure);
	lab_cert_free(&inter);
	lab_cert_free(&leaf);
	lab_cert_free(&below);
}

static void an_attackers_own_chain_is_of_no_use(void **state)
{
	const struct lab *l = *state;

	refused(l->azure, &ours, lab_signed(DOCUMENT, &l->self, 0), ERR_AUTH, "is not trusted");
	refused(l->azure, &ours, lab_signed(DOCUMENT, &l->attacker, 0), ERR_AUTH,
		"not of metadata.azure.com");
}

/* The true certificate, which anybody can have, and a signature by another key. */
static void the_true_certificate_with_another_signature_is_refused(void **state)
{
	const struct lab *l = *state;
	struct lab_cert mixed = {.key = l->self.key, .cert = l->self.cert};
	size_t n;
	unsigned char *der = lab_sign(DOCUMENT, &mixed, NULL, LAB_NO_CERT, &n), *out = NULL;
	const unsigned char *p = der;
	PKCS7 *p7 = mem_check(d2i_PKCS7(NULL, &p, (long)n));
	int len;

	assert_int_equal(PKCS7_add_certificate(p7, l->leaf.cert), 1);
	len = i2d_PKCS7(p7, &out);
	refused(l->azure, &ours, lab_base64(out, (size_t)len), ERR_AUTH, "signature is not good");
	OPENSSL_free(out);
	PKCS7_free(p7);
	free(der);
}

static void only_the_domain_and_what_is_below_it_may_sign(void **state)
{
	static const struct {
		const char *san;
		bool good;
	} rows[] = {
		{"DNS:metadata.azure.com", true},
		{"DNS:other.example,DNS:EastUS.Metadata.Azure.COM", true},
		{"DNS:evilmetadata.azure.com", false},
		{"DNS:metadata.azure.com.evil.example", false},
		{"DNS:azure.com", false},
		{"URI:https://metadata.azure.com", false},
		{"email:a@metadata.azure.com", false},
		{NULL, false},
	};
	const struct lab *l = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab_want w = {.name = "azure", .issuer = &l->inter, .san = rows[i].san};
		struct lab_cert c;
		struct attest_identity id;
		struct err e;

		(void)EVP_PKEY_up_ref(l->leaf.key);
		c = lab_cert_with(l->leaf.key, &w);
		if ((verify(l->azure, &ours, lab_signed(DOCUMENT, &c, 0), &id, &e) == 0) !=
		    rows[i].good)
			fail_msg("%s: %s", rows[i].san, e.msg);
		lab_cert_free(&c);
	}
}

static void an_expired_signer_and_one_of_a_strange_key_are_refused(void **state)
{
	static const struct {
		struct lab_want want;
		const char *why;
		enum err_code code;
	} rows[] = {
		{{.from_day = -9, .to_day = -1}, "has expired", ERR_TIME},
		{{.from_day = 1, .to_day = 9}, "not yet valid", ERR_TIME},
		{{.bits = 1024}, "a key of a kind", ERR_AUTH},
		{{.bits = 2}, "a key of a kind", ERR_AUTH},
	};
	const struct lab *l = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab_want w = rows[i].want;
		struct lab_cert c;

		w.name = "azure";
		w.issuer = &l->inter;
		w.san = SAN;
		c = lab_cert(&w);
		refused(l->azure, &ours, lab_signed(DOCUMENT, &c, 0), rows[i].code, rows[i].why);
		lab_cert_free(&c);
		if (rows[i].code != ERR_TIME)
			continue;
		/* An attacker's own chain is not looked at any kinder for being old. */
		w.issuer = &l->attacker;
		c = lab_cert(&w);
		refused(l->azure, &ours, lab_signed(DOCUMENT, &c, 0), ERR_AUTH, "is not trusted");
		lab_cert_free(&c);
	}
}

/* A leaf is no authority, whatever it signs. */
static void a_certificate_issued_by_a_leaf_is_refused(void **state)
{
	const struct lab *l = *state;
	struct lab_want w = {.name = "azure2", .issuer = &l->leaf, .san = SAN, .bits = 1};
	struct lab_cert c = lab_cert(&w);
	size_t n;
	unsigned char *der = lab_sign(DOCUMENT, &c, &l->leaf, 0, &n);

	refused(l->azure, &ours, lab_base64(der, n), ERR_INVALID, "exactly one signer");
	free(der);
	refused(l->azure, &ours, lab_signed(DOCUMENT, &c, 0), ERR_LIMIT, "is not trusted");
	lab_cert_free(&c);
}

static void times_that_are_over_to_come_or_no_times_are_refused(void **state)
{
	static const struct {
		const char *document, *why;
		enum err_code code;
	} rows[] = {
		{DOCUMENT_OF(NONCE, "11/16/26 23:59:00 -0000", "11/17/26 00:00:00 -0000"),
		 "has expired", ERR_TIME},
		{DOCUMENT_OF(NONCE, "11/17/26 00:01:01 -0000", "11/17/26 05:59:00 -0000"),
		 "from the future", ERR_TIME},
		{DOCUMENT_OF(NONCE, "2026-11-16T23:59:00Z", "11/17/26 05:59:00 -0000"),
		 "\"createdOn\"", ERR_INVALID},
		{DOCUMENT_OF(NONCE, "11/16/26 23:59:00 -0000", "11/17/26 05:59:00 +0100"),
		 "\"expiresOn\"", ERR_INVALID},
		{DOCUMENT_OF(NONCE, "13/32/26 23:59:00 -0000", "11/17/26 05:59:00 -0000"),
		 "\"createdOn\"", ERR_INVALID},
		{DOCUMENT_OF(NONCE, "11/16/26 23:59:00 -00000", "11/17/26 05:59:00 -0000"),
		 "\"createdOn\"", ERR_INVALID},
		{"{\"nonce\":\"" NONCE "\",\"vmId\":\"vm-1\",\"subscriptionId\":\"s-1\"}",
		 "\"createdOn\"", ERR_INVALID},
		{"{\"nonce\":\"" NONCE "\",\"vmId\":\"vm-1\",\"vmId\":\"vm-2\"}", "twice",
		 ERR_INVALID},
	};
	const struct lab *l = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(l->azure, &ours, lab_signed(rows[i].document, &l->leaf, 0), rows[i].code,
			rows[i].why);
}

static void tampered_detached_wrapped_wrongly_and_signed_twice_are_refused(void **state)
{
	const struct lab *l = *state;
	size_t n, at = 0;
	unsigned char *der = lab_sign(DOCUMENT, &l->leaf, NULL, 0, &n);
	char *good = lab_signed(DOCUMENT, &l->leaf, 0);

	while (memcmp(der + at, "vm-1", 4) != 0)
		at++;
	der[at + 3] = '2';
	refused(l->azure, &ours, lab_base64(der, n), ERR_AUTH, "signature is not good");
	free(der);
	der = lab_sign(DOCUMENT, &l->leaf, &l->self, 0, &n);
	refused(l->azure, &ours, lab_base64(der, n), ERR_INVALID, "exactly one signer");
	free(der);
	refused(l->azure, &ours, lab_signed(DOCUMENT, &l->leaf, LAB_DETACHED), ERR_INVALID,
		"not in it");
	refused(l->azure, &ours, lab_signed(DOCUMENT, &l->leaf, LAB_NO_CERT), ERR_INVALID,
		"certificate is not in it");
	refused(l->azure, &ours, wrapped(mem_strdup(good), "none"), ERR_INVALID, "no signature");
	refused(l->azure, &ours, wrapped(mem_strdup(good), "x\",\"signature\":\"y"), ERR_INVALID,
		"a name twice");
	refused(l->azure, &ours, mem_strdup("{\"encoding\":\"pkcs7\"}"), ERR_INVALID,
		"no signature");
	free(good);
}

static void a_missing_intermediate_is_asked_for_at_microsoft_and_learnt(void **state)
{
	const struct attest_ops *ops = attest_find(ATTEST_AZURE);
	const struct lab *l = *state;
	void *azure = open_with(&l->root, NULL);
	char *doc = lab_signed(DOCUMENT, &l->leaf, 0);
	struct attest_lack lack;
	unsigned char *der = NULL;
	int n = i2d_X509(l->inter.cert, &der);
	struct attest_identity id;
	struct err e;

	assert_int_equal(verify(azure, &ours, mem_strdup(doc), &id, &e), -1);
	assert_int_equal(e.code, ERR_LIMIT);
	assert_int_equal(ops->lacks(azure, doc, strlen(doc), &lack), 1);
	assert_string_equal(lack.url, "https://www.microsoft.com/pkiops/certs/inter.crt");
	assert_string_equal(lack.what, lack.url);
	assert_true(lack.said);
	assert_int_equal(ops->lacks(azure, "?", 1, &lack), 0);
	assert_int_equal(ops->learn(azure, "no certificate", 14, &e), -1);
	assert_int_equal(ops->learn(azure, (char *)der, (size_t)n - 1, &e), -1);
	assert_int_equal(ops->learn(azure, (char *)der, (size_t)n, &e), 0);
	assert_int_equal(ops->learn(azure, (char *)der, (size_t)n, &e), 0); /* once is enough */
	assert_int_equal(ops->lacks(azure, doc, strlen(doc), &lack), 0);
	if (verify(azure, &ours, doc, &id, &e) < 0)
		fail_msg("%s", e.msg);
	OPENSSL_free(der);
	/* What was got from there is not trusted for that. */
	der = NULL;
	n = i2d_X509(l->attacker.cert, &der);
	assert_int_equal(ops->learn(azure, (char *)der, (size_t)n, &e), -1);
	refused(azure, &ours, lab_signed(DOCUMENT, &l->self, 0), ERR_AUTH, "is not trusted");
	OPENSSL_free(der);
	ops->close(azure);
}

static int learn(void *azure, const struct lab_cert *c)
{
	unsigned char *der = NULL;
	int n = i2d_X509(c->cert, &der);
	int rc = attest_find(ATTEST_AZURE)->learn(azure, (char *)der, (size_t)n, NULL);

	OPENSSL_free(der);
	return rc;
}

/* Whoever has a machine's secret says where to fetch from: 32 certificates of anybody's were
 * enough, and Azure's own had no place until a restart. */
static void only_what_leads_to_a_root_is_kept_and_the_oldest_goes(void **state)
{
	const struct lab *l = *state;
	void *azure = open_with(&l->root, NULL);
	struct lab_cert none = lab_cert(&(struct lab_want){.name = "none"});
	struct lab_cert odd = lab_cert(
		&(struct lab_want){.name = "odd", .issuer = &l->root, .bits = 2, .ca = true});
	struct attest_identity id;
	struct err e;

	for (int i = 0; i < 40; i++) {
		struct lab_cert c = lab_cert(&(struct lab_want){
			.name = "other", .bits = 1, .ca = true, .serial = 100 + i});

		assert_int_equal(learn(azure, &c), -1);
		lab_cert_free(&c);
	}
	assert_int_equal(learn(azure, &none), -1);
	assert_int_equal(learn(azure, &l->inter), 0);
	assert_int_equal(learn(azure, &l->leaf), -1); /* issues nothing */
	assert_int_equal(learn(azure, &odd), -1);
	assert_int_equal(verify(azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), &id, &e), 0);
	for (int i = 0; i < 32; i++) { /* the root's own, and so many that one must go */
		struct lab_cert c = lab_cert(&(struct lab_want){.name = "more",
								.issuer = &l->root,
								.bits = 1,
								.ca = true,
								.serial = 200 + i});

		assert_int_equal(verify(azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), &id, &e),
				 0);
		assert_int_equal(learn(azure, &c), 0);
		lab_cert_free(&c);
	}
	refused(azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), ERR_LIMIT, "is not trusted");
	assert_int_equal(learn(azure, &l->inter), 0); /* there is a place for it again */
	assert_int_equal(verify(azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), &id, &e), 0);
	attest_find(ATTEST_AZURE)->close(azure);
	lab_cert_free(&none);
	lab_cert_free(&odd);
}

/* It has no part in what may be learnt. */
static void what_was_given_is_never_dropped(void **state)
{
	const struct lab *l = *state;
	struct lab_cert other = lab_cert(
		&(struct lab_want){.name = "given", .issuer = &l->root, .bits = 1, .ca = true});
	void *azure = open_with(&l->root, &other);
	struct attest_identity id;
	struct err e;

	assert_int_equal(learn(azure, &l->inter), 0);
	for (int i = 1; i < 40; i++) {
		struct lab_cert c = lab_cert(&(struct lab_want){.name = "more",
								.issuer = &l->root,
								.bits = 1,
								.ca = true,
								.serial = 200 + i});

		assert_int_equal(learn(l->azure, &c), 0);
		assert_int_equal(learn(azure, &c), 0);
		lab_cert_free(&c);
		if (i == 31)
			assert_int_equal(
				verify(azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), &id, &e),
				0);
	}
	assert_int_equal(verify(l->azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), &id, &e), 0);
	attest_find(ATTEST_AZURE)->close(azure);
	lab_cert_free(&other);
}

static void no_other_host_is_asked(void **state)
{
	static const char *const aias[] = {
		"caIssuers;URI:http://evil.example/pkiops/certs/inter.crt",
		"caIssuers;URI:http://www.microsoft.com.evil.example/pki/inter.crt",
		"caIssuers;URI:http://www.microsoft.com@evil.example/pki/inter.crt",
		"caIssuers;URI:http://www.microsoft.com:8080/pki/inter.crt",
		"caIssuers;URI:ftp://www.microsoft.com/pki/inter.crt",
		"caIssuers;URI:http://www.microsoft.com/redirect/inter.crt",
		"caIssuers;URI:http://www.microsoft.com/pki/../redirect",
		"caIssuers;URI:http://www.microsoft.com/pki/x?to=evil",
		"OCSP;URI:http://www.microsoft.com/pkiops/certs/inter.crt",
		NULL,
	};
	const struct attest_ops *ops = attest_find(ATTEST_AZURE);
	const struct lab *l = *state;
	void *azure = open_with(&l->root, NULL);

	for (size_t i = 0; i < sizeof(aias) / sizeof(aias[0]); i++) {
		struct lab_want w = {
			.name = "azure", .issuer = &l->inter, .san = SAN, .aia = aias[i]};
		struct lab_cert c;
		struct attest_lack lack;
		char *doc;

		(void)EVP_PKEY_up_ref(l->leaf.key);
		c = lab_cert_with(l->leaf.key, &w);
		doc = lab_signed(DOCUMENT, &c, 0);
		if (ops->lacks(azure, doc, strlen(doc), &lack) != 0)
			fail_msg("asks %s", lack.url);
		free(doc);
		lab_cert_free(&c);
	}
	ops->close(azure);
}

static void roots_must_be_given(void **state)
{
	const struct lab *l = *state;
	struct attest_conf conf = {.trust = "", .trust_len = 0};
	struct err e = {0};
	struct str s;
	void *azure;

	assert_int_equal(attest_find(ATTEST_AZURE)->open(&azure, &conf, &e), -1);
	conf.trust = NULL;
	assert_int_equal(attest_find(ATTEST_AZURE)->open(&azure, &conf, &e), -1);
	str_init(&s, 1 << 16);
	lab_add_pem(&s, l->inter.cert);
	conf = (struct attest_conf){.trust = s.p, .trust_len = s.len};
	assert_int_equal(attest_find(ATTEST_AZURE)->open(&azure, &conf, &e), -1);
	assert_non_null(strstr(e.msg, "no root"));
	str_fini(&s);
}

static void another_cloud_has_another_domain(void **state)
{
	const struct lab *l = *state;
	struct attest_identity id;
	struct attest_conf conf = {.domain = "metadata.azure.us"};
	struct lab_cert c = lab_cert(&(struct lab_want){
		.name = "azure", .issuer = &l->root, .san = "DNS:gov.metadata.azure.us"});
	struct err e = {0};
	struct str s;
	void *azure;

	str_init(&s, 1 << 16);
	lab_add_pem(&s, l->root.cert);
	conf.trust = s.p;
	conf.trust_len = s.len;
	assert_int_equal(attest_find(ATTEST_AZURE)->open(&azure, &conf, &e), 0);
	if (verify(azure, &ours, lab_signed(DOCUMENT, &c, 0), &id, &e) < 0)
		fail_msg("%s", e.msg);
	refused(azure, &ours, lab_signed(DOCUMENT, &l->leaf, 0), ERR_AUTH, "metadata.azure.us");
	attest_find(ATTEST_AZURE)->close(azure);
	lab_cert_free(&c);
	str_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_says_which_machine_it_is),
		cmocka_unit_test(a_wrong_nonce_is_refused),
		cmocka_unit_test(a_document_of_another_machine_or_subscription_is_refused),
		cmocka_unit_test(an_attackers_own_chain_is_of_no_use),
		cmocka_unit_test(a_chain_with_sha1_in_it_is_refused),
		cmocka_unit_test(the_true_certificate_with_another_signature_is_refused),
		cmocka_unit_test(only_the_domain_and_what_is_below_it_may_sign),
		cmocka_unit_test(an_expired_signer_and_one_of_a_strange_key_are_refused),
		cmocka_unit_test(a_certificate_issued_by_a_leaf_is_refused),
		cmocka_unit_test(times_that_are_over_to_come_or_no_times_are_refused),
		cmocka_unit_test(tampered_detached_wrapped_wrongly_and_signed_twice_are_refused),
		cmocka_unit_test(a_missing_intermediate_is_asked_for_at_microsoft_and_learnt),
		cmocka_unit_test(only_what_leads_to_a_root_is_kept_and_the_oldest_goes),
		cmocka_unit_test(what_was_given_is_never_dropped),
		cmocka_unit_test(no_other_host_is_asked),
		cmocka_unit_test(roots_must_be_given),
		cmocka_unit_test(another_cloud_has_another_domain),
	};

	return cmocka_run_group_tests_name("attest_azure", tests, setup, teardown);
}
