/* test_node_ca.c - who gets a certificate, what is in it, and who is believed for how long. */
#include "io/node_ca.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/node_cert.h"

static const int64_t now = INT64_C(1794873600000), day = INT64_C(86400000);

struct fixture {
	char dir[32];
	struct node_ca *ca;
	EVP_PKEY *key;
	char *csr; /* of key */
};

static char *in_dir(const struct fixture *f, const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static char *slurp(BIO *b)
{
	char *p, *text;
	long n = BIO_get_mem_data(b, &p);

	text = mem_zalloc((size_t)n + 1);
	memcpy(text, p, (size_t)n);
	BIO_free(b);
	return text;
}

static X509_REQ *make_req(EVP_PKEY *key, EVP_PKEY *signer, const char *cn)
{
	X509_REQ *req = mem_check(X509_REQ_new());
	STACK_OF(X509_EXTENSION) *xs = NULL;
	static const struct {
		int nid;
		const char *value;
	} asked[] = {{NID_basic_constraints, "critical,CA:TRUE"},
		     {NID_ext_key_usage, "serverAuth"},
		     {NID_subject_alt_name, "DNS:evil.example,URI:urn:burst:node:other:9"}};

	(void)X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(req), "CN", MBSTRING_ASC,
					 (const unsigned char *)cn, -1, -1, 0);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		X509_EXTENSION *x =
			mem_check(X509V3_EXT_conf_nid(NULL, NULL, asked[i].nid, asked[i].value));

		(void)X509v3_add_ext(&xs, x, -1);
		X509_EXTENSION_free(x);
	}
	assert_int_equal(X509_REQ_add_extensions(req, xs), 1);
	sk_X509_EXTENSION_pop_free(xs, X509_EXTENSION_free);
	assert_int_equal(X509_REQ_set_pubkey(req, key), 1);
	assert_true(X509_REQ_sign(req, signer, EVP_sha256()) > 0);
	return req;
}

static char *make_csr(EVP_PKEY *key, EVP_PKEY *signer, const char *cn)
{
	X509_REQ *req = make_req(key, signer, cn);
	BIO *b = mem_check(BIO_new(BIO_s_mem()));

	assert_int_equal(PEM_write_bio_X509_REQ(b, req), 1);
	X509_REQ_free(req);
	return slurp(b);
}

static void open_at(struct fixture *f, int64_t at)
{
	struct err e = {0};

	if (node_ca_open(&f->ca, f->dir, "north", at, &e) < 0)
		fail_msg("%s", e.msg);
}

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/node-caXXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->key = mem_check(EVP_EC_gen("P-256"));
	f->csr = make_csr(f->key, f->key, "someone");
	open_at(f, now);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {"node-ca.pem", "node-ca-next.pem", "node-ca-old.pem",
					    "node-ca.pem.tmp", "other"};
	struct fixture *f = *state;

	node_ca_close(f->ca);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(in_dir(f, names[i]));
	assert_int_equal(rmdir(f->dir), 0); /* nothing else was left there */
	EVP_PKEY_free(f->key);
	free(f->csr);
	free(f);
	return 0;
}

static X509 *parse(const char *pem)
{
	BIO *b = mem_check(BIO_new_mem_buf(pem, -1));
	X509 *cert = mem_check(PEM_read_bio_X509(b, NULL, NULL, NULL));

	BIO_free(b);
	return cert;
}

/* By OpenSSL's own rules, as the other end of TLS would. */
static bool is_trusted(const char *trust, const char *pem, int purpose, const char *host,
		       int64_t at_ms)
{
	X509_STORE *store = mem_check(X509_STORE_new());
	X509_STORE_CTX *ctx = mem_check(X509_STORE_CTX_new());
	BIO *b = mem_check(BIO_new_mem_buf(trust, -1));
	X509 *cert = parse(pem), *ca;
	bool ok;

	while ((ca = PEM_read_bio_X509(b, NULL, NULL, NULL)) != NULL) {
		(void)X509_STORE_add_cert(store, ca);
		X509_free(ca);
	}
	BIO_free(b);
	(void)X509_STORE_CTX_init(ctx, store, cert, NULL);
	(void)X509_STORE_CTX_set_purpose(ctx, purpose);
	X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(ctx), X509_V_FLAG_X509_STRICT);
	X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(ctx), (time_t)(at_ms / 1000));
	ok = X509_verify_cert(ctx) == 1 &&
	     (host == NULL || X509_check_host(cert, host, 0, 0, NULL) == 1 ||
	      X509_check_ip_asc(cert, host, 0) == 1);
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	X509_free(cert);
	ERR_clear_error();
	return ok;
}

static struct node_ca_cert sign(struct fixture *f, const char *node, uint64_t gen, int64_t at)
{
	struct node_ca_cert out;
	struct err e = {0};

	if (node_ca_sign(f->ca, f->csr, strlen(f->csr), node, gen, at, &out, &e) < 0)
		fail_msg("%s", e.msg);
	return out;
}

static int check_der(const struct fixture *f, X509 *cert, int64_t at, struct node_ca_peer *peer,
		     struct err *e)
{
	unsigned char *der = NULL;
	int n = i2d_X509(cert, &der), rc;

	*e = (struct err){0};
	rc = node_ca_check(f->ca, der, (size_t)n, at, peer, e);
	OPENSSL_free(der);
	assert_true(ERR_peek_error() == 0);
	if (rc < 0)
		assert_true(peer->node[0] == '\0' && peer->gen == 0);
	return rc;
}

static int check(const struct fixture *f, const char *pem, int64_t at, struct node_ca_peer *peer,
		 struct err *e)
{
	X509 *cert = parse(pem);
	int rc = check_der(f, cert, at, peer, e);

	X509_free(cert);
	return rc;
}

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

static void keys_stay_over_a_restart_and_are_ours_alone(void **state)
{
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "c1", 1, now);
	char *trust = mem_strdup(node_ca_trust(f->ca));
	struct node_ca_peer peer;
	struct stat st;
	struct err e;

	assert_int_equal(stat(in_dir(f, "node-ca.pem"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_null(strstr(trust, "PRIVATE"));
	node_ca_close(f->ca);
	open_at(f, now + day / 2);
	assert_string_equal(node_ca_trust(f->ca), trust);
	assert_int_equal(check(f, c.pem, now + day / 2, &peer, &e), 0);
	free(trust);
}

static void refused_to_open(struct fixture *f, enum err_code code, const char *why)
{
	struct node_ca *ca;
	struct err e = {0};

	assert_int_equal(node_ca_open(&ca, f->dir, "north", now, &e), -1);
	assert_null(ca);
	if (e.code != (int)code || strstr(e.msg, why) == NULL)
		fail_msg("want %d '%s', got %d '%s'", code, why, e.code, e.msg);
}

static void a_file_that_is_not_ours_alone_or_damaged_is_refused_and_kept(void **state)
{
	struct fixture *f = *state;
	char path[128], other[128];
	struct stat before, after;

	(void)snprintf(path, sizeof(path), "%s", in_dir(f, "node-ca.pem"));
	(void)snprintf(other, sizeof(other), "%s", in_dir(f, "other"));
	assert_int_equal(chmod(path, 0640), 0);
	refused_to_open(f, ERR_AUTH, "mode 0600");
	assert_int_equal(chmod(path, 0602), 0);
	refused_to_open(f, ERR_AUTH, "mode 0600");
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink("other", path), 0);
	refused_to_open(f, ERR_AUTH, "node-ca.pem");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	refused_to_open(f, ERR_AUTH, "mode 0600");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(other, path), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		refused_to_open(f, ERR_AUTH, "owned by this user");
		assert_int_equal(chown(path, 0, 0), 0);
	}
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(truncate(path, before.st_size / 2), 0);
	refused_to_open(f, ERR_INVALID, "damaged");
	assert_int_equal(truncate(path, 0), 0);
	refused_to_open(f, ERR_INVALID, "damaged");
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino == after.st_ino); /* never replaced by a new one */
}

static void a_key_and_a_certificate_that_do_not_belong_together_are_refused(void **state)
{
	struct fixture *f = *state;
	BIO *b = mem_check(BIO_new_file(in_dir(f, "node-ca.pem"), "w"));
	X509 *cert = parse(node_ca_trust(f->ca));

	(void)PEM_write_bio_PKCS8PrivateKey(b, f->key, NULL, NULL, 0, NULL, NULL);
	(void)PEM_write_bio_X509(b, cert);
	BIO_free(b);
	X509_free(cert);
	refused_to_open(f, ERR_INVALID, "damaged");
}

static bool exists(const struct fixture *f, const char *name)
{
	return access(in_dir(f, name), F_OK) == 0;
}

static void the_next_key_is_told_before_it_takes_over(void **state)
{
	static const char *const names[] = {"burst.example.org"};
	const int64_t end = now + 3 * 365 * day;
	struct fixture *f = *state;
	char *first = mem_strdup(node_ca_trust(f->ca)), *both;
	struct node_ca_cert before, after;
	struct node_ca_server s;
	struct node_ca_peer peer;
	struct err e;

	assert_int_equal(node_ca_roll(f->ca, end - 365 * day, &e), 0);
	assert_false(exists(f, "node-ca-next.pem"));
	assert_int_equal(node_ca_roll(f->ca, end - 364 * day, &e), 1);
	assert_true(exists(f, "node-ca-next.pem"));
	both = mem_strdup(node_ca_trust(f->ca));
	assert_true(strlen(both) > 3 * strlen(first) / 2 && strstr(both, first) == both);
	before = sign(f, "c1", 1, end - 91 * day);
	assert_true(is_trusted(first, before.pem, X509_PURPOSE_SSL_CLIENT, NULL, end - 91 * day));
	assert_int_equal(node_ca_roll(f->ca, end - 91 * day, &e), 0);
	node_ca_close(f->ca); /* and the same after a restart */
	open_at(f, end - 90 * day + day / 2);
	assert_false(exists(f, "node-ca-next.pem"));
	assert_true(exists(f, "node-ca-old.pem"));
	after = sign(f, "c1", 2, end - 89 * day);
	assert_false(is_trusted(first, after.pem, X509_PURPOSE_SSL_CLIENT, NULL, end - 89 * day));
	/* Who was told of both believes the listener now. */
	assert_int_equal(node_ca_serve(f->ca, names, 1, end - 89 * day, &s, &e), 0);
	assert_true(is_trusted(both, s.pem, X509_PURPOSE_SSL_SERVER, names[0], end - 89 * day));
	assert_int_equal(check(f, after.pem, end - 89 * day, &peer, &e), 0);
	assert_int_equal(check(f, before.pem, end - 91 * day, &peer, &e), 0); /* by the old one */
	node_ca_close(f->ca);
	open_at(f, end - 89 * day);
	assert_int_equal(check(f, before.pem, end - 91 * day, &peer, &e), 0);
	assert_int_equal(node_ca_roll(f->ca, end + 2 * day, &e), 1);
	assert_false(exists(f, "node-ca-old.pem"));
	free(first);
	free(both);
}

static void a_take_over_that_was_cut_short_is_done_again(void **state)
{
	const int64_t end = now + 3 * 365 * day;
	struct fixture *f = *state;
	struct node_ca_cert c;
	struct node_ca_peer peer;
	FILE *old;
	struct err e;

	assert_int_equal(node_ca_roll(f->ca, end - 300 * day, &e), 1);
	/* The old one was written, the next did not take its place yet; and what was begun then. */
	old = fopen(in_dir(f, "node-ca-old.pem"), "w");
	assert_non_null(old);
	assert_int_equal(fchmod(fileno(old), 0600), 0);
	(void)fputs(strstr(node_ca_trust(f->ca), "-----BEGIN"), old);
	(void)fclose(old);
	(void)close(open(in_dir(f, "node-ca.pem.tmp"), O_CREAT | O_WRONLY, 0600));
	node_ca_close(f->ca);
	open_at(f, end - 300 * day);
	c = sign(f, "c1", 1, end - 300 * day);
	assert_int_equal(check(f, c.pem, end - 300 * day, &peer, &e), 0);
	assert_int_equal(node_ca_roll(f->ca, end - 80 * day, &e), 1);
	assert_false(exists(f, "node-ca-next.pem"));
	c = sign(f, "c1", 2, end - 80 * day);
	assert_int_equal(check(f, c.pem, end - 80 * day, &peer, &e), 0);
}

static void a_certificate_ends_with_its_authority_at_the_latest(void **state)
{
	const int64_t end = now + 3 * 365 * day;
	struct fixture *f = *state;
	struct node_ca_cert c = sign(f, "c1", 1, end - 3600000);

	assert_true(c.until_ms == end);
}

static void a_key_that_is_missing_while_the_next_is_there_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct err e;

	assert_int_equal(node_ca_roll(f->ca, now + 900 * day, &e), 1);
	assert_int_equal(unlink(in_dir(f, "node-ca.pem")), 0);
	refused_to_open(f, ERR_INVALID, "missing");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
		TEST(keys_stay_over_a_restart_and_are_ours_alone),
		TEST(a_file_that_is_not_ours_alone_or_damaged_is_refused_and_kept),
		TEST(a_key_and_a_certificate_that_do_not_belong_together_are_refused),
		TEST(the_next_key_is_told_before_it_takes_over),
		TEST(a_take_over_that_was_cut_short_is_done_again),
		TEST(a_certificate_ends_with_its_authority_at_the_latest),
		TEST(a_key_that_is_missing_while_the_next_is_there_is_an_error),
	};

	return cmocka_run_group_tests_name("node_ca", tests, NULL, NULL);
}
