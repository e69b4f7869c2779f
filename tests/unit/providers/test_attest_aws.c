/* test_attest_aws.c - the identity documents of EC2: good ones, and what an attacker would send. */
#include "attest_lab.h"

#define DOCUMENT                                                                                   \
	"{\"accountId\":\"123456789012\",\"architecture\":\"x86_64\","                             \
	"\"availabilityZone\":\"us-test-1b\",\"billingProducts\":null,\"imageId\":\"ami-1\","      \
	"\"instanceId\":\"i-0a\",\"instanceType\":\"p5.48xlarge\",\"kernelId\":null,"              \
	"\"pendingTime\":\"2026-11-16T23:00:00Z\",\"privateIp\":\"10.0.0.1\","                     \
	"\"region\":\"us-test-1\",\"version\":\"2017-09-30\"}"

struct lab {
	struct lab_cert region, other, attacker;
	void *aws;
};

static const struct attest_expect ours = {
	.account = "123456789012", .region = "us-test-1", .instance = "i-0a"};

static void open_with(struct lab *l, const struct lab_cert *region)
{
	struct attest_conf conf = {0};
	struct err e = {0};
	struct str s;

	str_init(&s, 1 << 16);
	str_adds(&s, "# ours\n[us-test-1]\n");
	lab_add_pem(&s, region->cert);
	str_adds(&s, "\n[us-test-2]\n");
	lab_add_pem(&s, l->other.cert);
	conf.trust = s.p;
	conf.trust_len = s.len;
	if (attest_find(ATTEST_AWS)->open(&l->aws, &conf, &e) < 0)
		fail_msg("%s", e.msg);
	str_fini(&s);
}

static int setup(void **state)
{
	struct lab *l = mem_zalloc(sizeof(*l));

	l->region = lab_cert(&(struct lab_want){.name = "AWS", .serial = 7});
	l->other = lab_cert(&(struct lab_want){.name = "AWS", .serial = 8});
	/* Its name and number are the real one's, its key is not. */
	l->attacker = lab_cert(&(struct lab_want){.name = "AWS", .serial = 7});
	open_with(l, &l->region);
	*state = l;
	return 0;
}

static int teardown(void **state)
{
	struct lab *l = *state;

	attest_find(ATTEST_AWS)->close(l->aws);
	lab_cert_free(&l->region);
	lab_cert_free(&l->other);
	lab_cert_free(&l->attacker);
	free(l);
	return 0;
}

static int verify(const struct lab *l, const struct attest_expect *want, const char *doc,
		  struct attest_identity *id, struct err *e)
{
	static const struct attest_identity none;
	int rc;

	*e = (struct err){0};
	rc = attest_find(ATTEST_AWS)->verify(l->aws, want, doc, strlen(doc), lab_now_ms, id, e);
	if (rc < 0 && e->code != ERR_TIME)
		assert_string_equal(id->instance, none.instance);
	return rc;
}

/* Signed like that it is refused like that. */
static void refused(const struct lab *l, const struct attest_expect *want, char *doc,
		    enum err_code code, const char *why)
{
	struct attest_identity id;
	struct err e;
	int rc = verify(l, want, doc, &id, &e);

	lab_refused(rc, &e, code, why);
	free(doc);
}

static void a_document_says_which_instance_it_is(void **state)
{
	/* AWS's own have indefinite lengths and no certificate in them. */
	static const int hows[] = {
		0,      LAB_STREAM, LAB_NO_CERT, LAB_STREAM | LAB_NO_CERT, LAB_PEM | LAB_STREAM,
		LAB_PEM};
	const struct lab *l = *state;
	struct attest_identity id;
	struct err e;

	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
		char *doc = lab_signed(DOCUMENT, &l->region, hows[i]);

		if (verify(l, &ours, doc, &id, &e) < 0)
			fail_msg("%d: %s", hows[i], e.msg);
		assert_string_equal(id.account, "123456789012");
		assert_string_equal(id.region, "us-test-1");
		assert_string_equal(id.zone, "us-test-1b");
		assert_string_equal(id.instance, "i-0a");
		assert_string_equal(id.image, "ami-1");
		assert_string_equal(id.type, "p5.48xlarge");
		assert_true(id.created_ms == INT64_C(1794870000000));
		free(doc);
	}
}

static void a_document_of_another_instance_account_or_region_is_refused(void **state)
{
	const struct lab *l = *state;
	struct attest_expect want = ours;

	want.instance = "i-0b";
	refused(l, &want, lab_signed(DOCUMENT, &l->region, 0), ERR_AUTH, "instance 'i-0a'");
	want = ours;
	want.account = "999999999999";
	refused(l, &want, lab_signed(DOCUMENT, &l->region, 0), ERR_AUTH, "account '123456789012'");
	want = ours;
	want.region = "us-test-2"; /* which has a certificate, but not this one */
	refused(l, &want, lab_signed(DOCUMENT, &l->region, 0), ERR_AUTH, "not signed by AWS");
	/* Of a region by the certificate of another: each signs for itself alone. */
	refused(l, &want, lab_signed(DOCUMENT, &l->other, 0), ERR_AUTH, "region 'us-test-1'");
	refused(l, &ours, lab_signed(DOCUMENT, &l->other, 0), ERR_AUTH, "not signed by AWS");
	want.region = "mars-1";
	refused(l, &want, lab_signed(DOCUMENT, &l->region, 0), ERR_AUTH,
		"no certificate for region");
	want.region = NULL;
	refused(l, &want, lab_signed(DOCUMENT, &l->region, 0), ERR_INVALID, "no region");
}

/* NOINTERN: with the certificate that comes along the signature would be good. */
static void an_attackers_own_embedded_certificate_is_of_no_use(void **state)
{
	const struct lab *l = *state;

	refused(l, &ours, lab_signed(DOCUMENT, &l->attacker, 0), ERR_AUTH, "signature is not good");
	refused(l, &ours, lab_signed(DOCUMENT, &l->attacker, LAB_NO_CERT), ERR_AUTH,
		"signature is not good");
}

static void a_tampered_document_is_refused(void **state)
{
	const struct lab *l = *state;
	size_t n, at = 0;
	unsigned char *der = lab_sign(DOCUMENT, &l->region, NULL, 0, &n);

	while (memcmp(der + at, "i-0a", 4) != 0)
		at++;
	der[at + 3] = 'b';
	refused(l, &ours, lab_base64(der, n), ERR_AUTH, "signature is not good");
	der[at + 3] = 'a';
	der[n - 1] ^= 1; /* in the signature */
	refused(l, &ours, lab_base64(der, n), ERR_AUTH, "signature is not good");
	free(der);
}

static void a_detached_signature_is_refused(void **state)
{
	const struct lab *l = *state;

	refused(l, &ours, lab_signed(DOCUMENT, &l->region, LAB_DETACHED), ERR_INVALID,
		"what is signed is not in it");
}

static void two_signers_are_refused(void **state)
{
	const struct lab *l = *state;
	size_t n;
	unsigned char *der = lab_sign(DOCUMENT, &l->region, &l->attacker, 0, &n);

	refused(l, &ours, lab_base64(der, n), ERR_INVALID, "exactly one signer");
	free(der);
}

static void no_signer_is_refused(void **state)
{
	const struct lab *l = *state;
	BIO *in = mem_check(BIO_new_mem_buf(DOCUMENT, -1));
	PKCS7 *p7 = mem_check(PKCS7_sign(NULL, NULL, NULL, in, PKCS7_BINARY | PKCS7_PARTIAL));
	unsigned char *der = NULL;
	int n;

	assert_int_equal(PKCS7_final(p7, in, PKCS7_BINARY), 1);
	n = i2d_PKCS7(p7, &der);
	refused(l, &ours, lab_base64(der, (size_t)n), ERR_INVALID, "exactly one signer");
	OPENSSL_free(der);
	PKCS7_free(p7);
	BIO_free(in);
}

static void trailing_bytes_are_refused(void **state)
{
	const struct lab *l = *state;
	size_t n;
	unsigned char *der = lab_sign(DOCUMENT, &l->region, NULL, 0, &n);
	char *pem = lab_signed(DOCUMENT, &l->region, LAB_PEM), *more;

	refused(l, &ours, lab_base64(der, n + 1), ERR_INVALID, "data follows its end");
	refused(l, &ours, lab_base64(der, n - 1), ERR_INVALID, "not PKCS#7");
	more = mem_zalloc(2 * strlen(pem) + 1);
	(void)sprintf(more, "%s%s", pem, pem);
	refused(l, &ours, more, ERR_INVALID, "data follows its end");
	free(pem);
	free(der);
}

static void an_oversized_document_is_refused(void **state)
{
	const struct lab *l = *state;
	char *big = mem_zalloc(ATTEST_DOC_MAX + 2);

	memset(big, 'A', ATTEST_DOC_MAX + 1);
	refused(l, &ours, big, ERR_INVALID, "too long");
}

static void a_weak_hash_is_refused(void **state)
{
	const struct lab *l = *state;

	refused(l, &ours, lab_signed(DOCUMENT, &l->region, LAB_SHA1), ERR_INVALID,
		"a hash that is not accepted");
}

/* That is said of what is right in all else, and it says which machine that is. */
static void a_certificate_that_is_not_good_now_is_a_matter_of_time(void **state)
{
	static const int days[][2] = {{-9, -1}, {1, 9}};
	struct lab mine = *(const struct lab *)*state;
	struct attest_expect other = ours;

	other.instance = "i-0b";
	for (size_t i = 0; i < 2; i++) {
		struct lab_cert old = lab_cert(&(struct lab_want){
			.name = "AWS", .from_day = days[i][0], .to_day = days[i][1]});
		char *doc = lab_signed(DOCUMENT, &old, 0);
		struct attest_identity id;
		struct err e;
		int rc;

		open_with(&mine, &old);
		rc = verify(&mine, &ours, doc, &id, &e);
		lab_refused(rc, &e, ERR_TIME, "has expired");
		assert_string_equal(id.instance, "i-0a");
		refused(&mine, &other, doc, ERR_AUTH, "instance 'i-0a'");
		refused(&mine, &ours, lab_signed(DOCUMENT, &mine.attacker, 0), ERR_AUTH, "sign");
		attest_find(ATTEST_AWS)->close(mine.aws);
		lab_cert_free(&old);
	}
}

static void what_is_no_document_is_refused(void **state)
{
	static const struct {
		const char *content, *why;
	} rows[] = {
		{"", "not a JSON object"},
		{"[]", "not a JSON object"},
		{DOCUMENT "{}", "not a JSON object"},
		{"{\"accountId\":\"1\",\"accountId\":\"123456789012\"}", "a name twice"},
		{"{\"a\":{\"b\":[{\"c\":1,\"c\":2}]}}", "a name twice"},
		{"{}", "\"accountId\" is missing"},
		{"{\"accountId\":123456789012}",
		 "\"accountId\" is missing, too long or not a string"},
		{"{\"accountId\":\"\"}", "\"accountId\" is missing"},
		{"{\"accountId\":\"1\\n2\"}", "\"accountId\" is not plain"},
		{"{\"accountId\":\"1\",\"region\":\"us-test-1\"}", "\"instanceId\" is missing"},
		{"{\"accountId\":\"123456789012\",\"region\":\"us-test-1\",\"instanceId\":\"i-0a\","
		 "\"pendingTime\":\"yesterday\"}",
		 "pendingTime"},
	};
	static const char *const texts[] = {"",     "?",    "AAAA",
					    "MA==", "MAA=", "-----BEGIN PKCS7-----"};
	const struct lab *l = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(l, &ours, lab_signed(rows[i].content, &l->region, 0), ERR_INVALID,
			rows[i].why);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(l, &ours, mem_strdup(texts[i]), ERR_INVALID, "identity document");
}

/* When it was started is for the engine to judge, which knows what the provider says of that. */
static void an_instance_of_the_future_is_none_of_its_business(void **state)
{
	static const char later[] =
		"{\"accountId\":\"123456789012\",\"instanceId\":\"i-0a\",\"region\":\"us-test-1\","
		"\"pendingTime\":\"2026-11-17T00:01:01Z\"}";
	const struct lab *l = *state;
	char *doc = lab_signed(later, &l->region, 0);
	struct attest_identity id;
	struct err e;

	assert_int_equal(verify(l, &ours, doc, &id, &e), 0);
	assert_true(id.created_ms == lab_now_ms + 61000);
	free(doc);
}

/* --- what is shipped ---------------------------------------------------------------------------
 */

static size_t shipped_regions(char regions[][32], size_t max)
{
	FILE *f = fopen("providers/attest/aws-identity.pem", "r");
	char line[256];
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		if (line[0] == '[') {
			assert_true(n < max);
			assert_int_equal(sscanf(line, "[%31[a-z0-9-]]\n", regions[n++]), 1);
		}
	(void)fclose(f);
	return n;
}

static void check_shipped(X509 *cert)
{
	char subject[256];
	time_t now = (time_t)(lab_now_ms / 1000), later = now + (time_t)20 * 365 * LAB_DAY;

	(void)X509_NAME_oneline(X509_get_subject_name(cert), subject, sizeof(subject));
	assert_string_equal(subject,
			    "/C=US/ST=Washington State/L=Seattle/O=Amazon Web Services LLC");
	assert_int_equal(X509_NAME_cmp(X509_get_subject_name(cert), X509_get_issuer_name(cert)), 0);
	assert_true(X509_cmp_time(X509_get0_notBefore(cert), &now) < 0);
	assert_true(X509_cmp_time(X509_get0_notAfter(cert), &later) > 0);
	assert_int_equal(EVP_PKEY_get_base_id(X509_get0_pubkey(cert)), EVP_PKEY_RSA);
	assert_int_equal(EVP_PKEY_get_bits(X509_get0_pubkey(cert)), 2048);
	assert_int_equal(X509_verify(cert, X509_get0_pubkey(cert)), 1);
}

static void the_shipped_certificates_are_awss_and_good_for_twenty_years(void **state)
{
	static const char *const known[] = {"us-east-1",     "us-west-2",  "eu-central-1",
					    "us-gov-west-1", "cn-north-1", "ap-southeast-2"};
	char regions[128][32];
	size_t n = shipped_regions(regions, 128), certs = 0, found = 0;
	BIO *b = mem_check(BIO_new_file("providers/attest/aws-identity.pem", "r"));
	X509 *cert;

	(void)state;
	while ((cert = PEM_read_bio_X509(b, NULL, NULL, NULL)) != NULL) {
		check_shipped(cert);
		X509_free(cert);
		certs++;
	}
	ERR_clear_error();
	BIO_free(b);
	assert_int_equal(certs, n);
	assert_true(n >= 39);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			found += strcmp(known[k], regions[i]) == 0;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(regions[k], regions[i]);
	}
	assert_int_equal(found, sizeof(known) / sizeof(known[0]));
}

static void every_shipped_region_is_in_the_program(void **state)
{
	const struct lab *l = *state;
	struct attest_expect want = ours;
	char regions[128][32];
	size_t n = shipped_regions(regions, 128);

	for (size_t i = 0; i < n; i++) {
		want.region = regions[i];
		refused(l, &want, lab_signed(DOCUMENT, &l->region, 0), ERR_AUTH,
			"not signed by AWS in");
	}
}

static void a_region_of_the_configuration_replaces_the_shipped_one(void **state)
{
	static const char document[] =
		"{\"accountId\":\"1\",\"instanceId\":\"i-0a\",\"region\":\"us-east-1\","
		"\"pendingTime\":\"2026-11-16T23:00:00Z\"}";
	const struct attest_expect want = {.region = "us-east-1"};
	struct lab mine = *(const struct lab *)*state, *l = &mine;
	struct attest_identity id;
	struct attest_conf conf;
	struct err e = {0};
	struct str s;
	char *doc;

	str_init(&s, 1 << 16);
	str_adds(&s, "[us-east-1]\n");
	lab_add_pem(&s, l->other.cert);
	lab_add_pem(&s, l->region.cert); /* two of one region: one comes, one goes */
	conf = (struct attest_conf){.trust = s.p, .trust_len = s.len};
	assert_int_equal(attest_find(ATTEST_AWS)->open(&l->aws, &conf, &e), 0);
	for (int i = 0; i < 2; i++) {
		doc = lab_signed(document, i == 0 ? &l->other : &l->region, 0);
		if (verify(l, &want, doc, &id, &e) < 0)
			fail_msg("%s", e.msg);
		free(doc);
	}
	attest_find(ATTEST_AWS)->close(l->aws);
	str_fini(&s);
}

static void trust_that_makes_no_sense_is_refused(void **state)
{
	static const char *const texts[] = {"",
					    "us-east-1\n",
					    "[us-east-1",
					    "[]\n",
					    "[a-region-with-a-name-that-is-much-too-long]\n",
					    ("[us-east-1]\n-----BEGIN CERTIFICATE-----\nAAAA\n"
					     "-----END CERTIFICATE-----\n"),
					    "[us-east-1]\n-----BEGIN RSA PRIVATE KEY-----\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct attest_conf conf = {.trust = texts[i], .trust_len = strlen(texts[i])};
		struct err e = {0};
		void *aws;

		if (attest_find(ATTEST_AWS)->open(&aws, &conf, &e) == 0)
			fail_msg("taken: %s", texts[i]);
		assert_null(aws);
		assert_true(e.msg[0] != '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_document_says_which_instance_it_is),
		cmocka_unit_test(a_document_of_another_instance_account_or_region_is_refused),
		cmocka_unit_test(an_attackers_own_embedded_certificate_is_of_no_use),
		cmocka_unit_test(a_tampered_document_is_refused),
		cmocka_unit_test(a_detached_signature_is_refused),
		cmocka_unit_test(two_signers_are_refused),
		cmocka_unit_test(no_signer_is_refused),
		cmocka_unit_test(trailing_bytes_are_refused),
		cmocka_unit_test(an_oversized_document_is_refused),
		cmocka_unit_test(a_weak_hash_is_refused),
		cmocka_unit_test(a_certificate_that_is_not_good_now_is_a_matter_of_time),
		cmocka_unit_test(what_is_no_document_is_refused),
		cmocka_unit_test(an_instance_of_the_future_is_none_of_its_business),
		cmocka_unit_test(every_shipped_region_is_in_the_program),
		cmocka_unit_test(a_region_of_the_configuration_replaces_the_shipped_one),
		cmocka_unit_test(the_shipped_certificates_are_awss_and_good_for_twenty_years),
		cmocka_unit_test(trust_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests_name("attest_aws", tests, setup, teardown);
}
