/* test_node_ca.c - who gets a certificate, what is in it, and who is believed for how long. */
#include "node_ca_lab.h"

static void a_node_gets_a_certificate_for_a_day_and_is_known_by_it(void **state)
{
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "gpu-1", UINT64_MAX, now), again = sign(f, "gpu-1", 1, now);
	unsigned char spki[NODE_CA_SPKI_SIZE];
	struct node_ca_peer peer;
	struct err e;

	assert_true(c.until_ms == now + day);
	assert_int_equal(strlen(c.serial), 32);
	assert_string_not_equal(c.serial, again.serial);
	assert_int_equal(node_ca_read_csr(f->csr, strlen(f->csr), spki, &e), 0);
	assert_memory_equal(spki, c.spki, sizeof(spki));
	assert_int_equal(check(f, c.pem, now, &peer, &e), 0);
	assert_string_equal(peer.node, "gpu-1");
	assert_true(peer.gen == UINT64_MAX);
	assert_string_equal(peer.serial, c.serial);
	assert_memory_equal(peer.spki, spki, sizeof(spki));
	assert_true(is_trusted(node_ca_trust(f->ca), c.pem, X509_PURPOSE_SSL_CLIENT, NULL, now));
	assert_false(is_trusted(node_ca_trust(f->ca), c.pem, X509_PURPOSE_SSL_SERVER, NULL, now));
	assert_int_equal(check(f, c.pem, now + day, &peer, &e), -1);
	assert_int_equal(check(f, c.pem, now - 2 * day, &peer, &e), -1);
}

static void nothing_of_the_request_but_its_key_gets_into_the_certificate(void **state)
{
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "gpu-1", 3, now);
	X509 *cert = parse(c.pem);
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	char cn[65];

	assert_int_equal(X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, cn,
						   sizeof(cn)),
			 5);
	assert_string_equal(cn, "gpu-1");
	assert_int_equal(X509_NAME_entry_count(X509_get_subject_name(cert)), 1);
	assert_int_equal(X509_check_ca(cert), 0);
	assert_int_equal(sk_GENERAL_NAME_num(names), 1);
	assert_int_equal(X509_get_extended_key_usage(cert), XKU_SSL_CLIENT);
	assert_int_equal(X509_get_key_usage(cert), KU_DIGITAL_SIGNATURE);
	assert_int_equal(EVP_PKEY_eq(X509_get0_pubkey(cert), f->key), 1);
	GENERAL_NAMES_free(names);
	X509_free(cert);
}

static void csr_refused(const struct fixture *f, char *csr, const char *why)
{
	unsigned char spki[NODE_CA_SPKI_SIZE];
	struct node_ca_cert out;
	struct err e = {0};

	if (node_ca_read_csr(csr, strlen(csr), spki, &e) == 0)
		fail_msg("taken, and not refused with '%s'", why);
	if (strstr(e.msg, why) == NULL)
		fail_msg("want '%s', got '%s'", why, e.msg);
	assert_int_equal(node_ca_sign(f->ca, csr, strlen(csr), "c1", 1, now, &out, &e), -1);
	assert_string_equal(out.pem, "");
	assert_true(ERR_peek_error() == 0);
	free(csr);
}

static void a_key_that_is_not_of_p256_is_refused(void **state)
{
	const struct fixture *f = *state;
	EVP_PKEY *keys[] = {EVP_EC_gen("P-384"), EVP_EC_gen("secp256k1"), EVP_RSA_gen(2048)};
	EVP_PKEY *explicit_params, *compressed;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		csr_refused(f, make_csr(keys[i], keys[i], "c1"), "P-256");
		EVP_PKEY_free(keys[i]);
	}
	explicit_params = EVP_EC_gen("P-256");
	(void)EVP_PKEY_set_utf8_string_param(explicit_params, OSSL_PKEY_PARAM_EC_ENCODING,
					     "explicit");
	csr_refused(f, make_csr(explicit_params, explicit_params, "c1"), "P-256");
	EVP_PKEY_free(explicit_params);
	compressed = EVP_EC_gen("P-256");
	(void)EVP_PKEY_set_utf8_string_param(compressed, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
					     "compressed");
	csr_refused(f, make_csr(compressed, compressed, "c1"), "P-256");
	EVP_PKEY_free(compressed);
}

static void a_request_for_somebody_elses_key_is_refused(void **state)
{
	const struct fixture *f = *state;
	EVP_PKEY *other = EVP_EC_gen("P-256");

	csr_refused(f, make_csr(f->key, other, "c1"), "not signed with its own key");
	EVP_PKEY_free(other);
}

static void what_is_not_one_request_is_refused(void **state)
{
	const struct fixture *f = *state;
	char *two = mem_zalloc(2 * strlen(f->csr) + 1), *text;

	(void)sprintf(two, "%s%s", f->csr, f->csr);
	csr_refused(f, two, "not one request");
	text = mem_zalloc(strlen(f->csr) + 8);
	(void)sprintf(text, "%sx", f->csr);
	csr_refused(f, text, "not one request");
	csr_refused(f, mem_strdup(""), "not one request");
	csr_refused(f,
		    mem_strdup("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"
			       "-----END CERTIFICATE REQUEST-----\n"),
		    "not one request in DER");
	/* One that would have the daemon ask for a password. */
	csr_refused(f,
		    mem_strdup("-----BEGIN CERTIFICATE REQUEST-----\n"
			       "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
			       "-----END CERTIFICATE REQUEST-----\n"),
		    "not one request in PEM");
	text = mem_zalloc(NODE_CA_CSR_MAX + 2);
	memset(text, ' ', NODE_CA_CSR_MAX + 1);
	csr_refused(f, text, "too long");
}

static void only_a_node_name_is_signed_for(void **state)
{
	static const char *const names[] = {"", "a b", "a,URI:urn:burst:node:b", "a[1-2]", "a:1"};
	const struct fixture *f = *state;
	struct node_ca_cert out;
	struct err e;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(
			node_ca_sign(f->ca, f->csr, strlen(f->csr), names[i], 1, now, &out, &e),
			-1);
}

static void the_listener_has_its_names_and_no_others(void **state)
{
	static const char *const names[] = {"burst.example.org", "10.0.0.7", "2001:db8::7"};
	static const char *const bad[] = {"a,DNS:b", "", "a b", "a/b", "IP:10.0.0.1", "@x"};
	struct fixture *f = *state;
	struct node_ca_server s;
	struct node_ca_peer peer;
	struct err e = {0};

	if (node_ca_serve(f->ca, names, 3, now, &s, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < 3; i++)
		assert_true(is_trusted(node_ca_trust(f->ca), s.pem, X509_PURPOSE_SSL_SERVER,
				       names[i], now));
	assert_false(
		is_trusted(node_ca_trust(f->ca), s.pem, X509_PURPOSE_SSL_SERVER, "10.0.0.8", now));
	assert_non_null(strstr(s.key, "BEGIN PRIVATE KEY"));
	assert_null(strstr(s.key, "CERTIFICATE"));
	assert_true(s.until_ms == now + 30 * day);
	/* Nobody is a node by that. */
	assert_int_equal(check(f, s.pem, now, &peer, &e), -1);
	assert_non_null(strstr(e.msg, "not a node certificate"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(node_ca_serve(f->ca, &bad[i], 1, now, &s, &e), -1);
	assert_int_equal(node_ca_serve(f->ca, names, 0, now, &s, &e), -1);
	explicit_bzero(&s, sizeof(s));
}

static void a_certificate_of_another_authority_is_nobodys(void **state)
{
	struct fixture *f = *state, *other;
	void *p;
	struct node_ca_cert c;
	struct node_ca_peer peer;
	unsigned char der[NODE_CA_CERT_MAX + 1] = {0};
	struct err e;

	(void)setup(&p);
	other = p;
	c = sign(other, "c1", 1, now); /* of the same name, cluster and all */
	assert_int_equal(check(f, c.pem, now, &peer, &e), -1);
	assert_non_null(strstr(e.msg, "not issued by this cluster's CA"));
	assert_int_equal(check(f, node_ca_trust(f->ca), now, &peer, &e), -1); /* its own */
	assert_int_equal(node_ca_check(f->ca, der, sizeof(der), now, &peer, &e), -1);
	assert_int_equal(node_ca_check(f->ca, "", 0, now, &peer, &e), -1);
	(void)teardown(&p);
}

/* Signed by our own key, as it never should be: one thing is wrong with each. */
static void only_a_whole_nodes_certificate_makes_a_node(void **state)
{
	static const struct {
		const char *san;
		bool server, good;
	} rows[] = {
		{"URI:urn:burst:node:c1:3", false, true},
		{"URI:urn:burst:node:c1:3", true, false},
		{"URI:urn:burst:node:c1:3,URI:urn:burst:node:c2:3", false, false},
		{"URI:urn:burst:node:c1:3,DNS:c1", false, false},
		{"DNS:c1", false, false},
		{"URI:urn:burst:node:c1:03", false, false},
		{"URI:urn:burst:node:c1:", false, false},
		{"URI:urn:burst:node:c1:-1", false, false},
		{"URI:urn:burst:node:c1:99999999999999999999", false, false},
		{"URI:urn:burst:node:c1", false, false},
		{"URI:urn:burst:node::3", false, false},
		{"URI:urn:burst:node:c 1:3", false, false},
		{"URI:urn:burst:user:c1:3", false, false},
		{"URI:URN:BURST:NODE:c1:3", false, false},
	};
	struct fixture *f = *state;
	BIO *b = mem_check(BIO_new_file(in_dir(f, "node-ca.pem"), "r"));
	struct node_cert_ca ca = {.key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL),
				  .cert = PEM_read_bio_X509(b, NULL, NULL, NULL)};
	struct node_ca_peer peer;
	struct err e;

	BIO_free(b);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		X509 *cert = mem_check(node_cert_sign(&ca, f->key, "c1", rows[i].san,
						      rows[i].server, now, day, &e));

		if ((check_der(f, cert, now, &peer, &e) == 0) != rows[i].good)
			fail_msg("%s: %s", rows[i].san, e.msg);
		X509_free(cert);
	}
	node_cert_free_ca(&ca);
}

static void trailing_bytes_behind_a_certificate_are_refused(void **state)
{
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "c1", 1, now);
	struct node_ca_peer peer;
	X509 *cert = parse(c.pem);
	unsigned char der[NODE_CA_CERT_MAX] = {0}, *p = der;
	int n = i2d_X509(cert, &p);
	struct err e;

	assert_int_equal(node_ca_check(f->ca, der, (size_t)n, now, &peer, &e), 0);
	assert_int_equal(node_ca_check(f->ca, der, (size_t)n + 1, now, &peer, &e), -1);
	assert_int_equal(node_ca_check(f->ca, der, (size_t)n - 1, now, &peer, &e), -1);
	der[n - 1] ^= 1;
	assert_int_equal(node_ca_check(f->ca, der, (size_t)n, now, &peer, &e), -1);
	X509_free(cert);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_node_gets_a_certificate_for_a_day_and_is_known_by_it),
		TEST(nothing_of_the_request_but_its_key_gets_into_the_certificate),
		TEST(a_key_that_is_not_of_p256_is_refused),
		TEST(a_request_for_somebody_elses_key_is_refused),
		TEST(what_is_not_one_request_is_refused),
		TEST(only_a_node_name_is_signed_for),
		TEST(the_listener_has_its_names_and_no_others),
		TEST(a_certificate_of_another_authority_is_nobodys),
		TEST(only_a_whole_nodes_certificate_makes_a_node),
		TEST(trailing_bytes_behind_a_certificate_are_refused),
	};

	return cmocka_run_group_tests_name("node_ca", tests, NULL, NULL);
}
