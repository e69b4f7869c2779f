/* node_ca_lab.h - an authority and requests to it. */
#ifndef TESTS_NODE_CA_LAB_H
#define TESTS_NODE_CA_LAB_H

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

static inline char *in_dir(const struct fixture *f, const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return path;
}

static inline char *slurp(BIO *b)
{
	char *p, *text;
	long n = BIO_get_mem_data(b, &p);

	text = mem_zalloc((size_t)n + 1);
	memcpy(text, p, (size_t)n);
	BIO_free(b);
	return text;
}

static inline X509_REQ *make_req(EVP_PKEY *key, EVP_PKEY *signer, const char *cn)
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

static inline char *make_csr(EVP_PKEY *key, EVP_PKEY *signer, const char *cn)
{
	X509_REQ *req = make_req(key, signer, cn);
	BIO *b = mem_check(BIO_new(BIO_s_mem()));

	assert_int_equal(PEM_write_bio_X509_REQ(b, req), 1);
	X509_REQ_free(req);
	return slurp(b);
}

static inline void open_at(struct fixture *f, int64_t at)
{
	struct err e = {0};

	if (node_ca_open(&f->ca, f->dir, "north", at, &e) < 0)
		fail_msg("%s", e.msg);
}

static inline int setup(void **state)
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

static inline int teardown(void **state)
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

static inline X509 *parse(const char *pem)
{
	BIO *b = mem_check(BIO_new_mem_buf(pem, -1));
	X509 *cert = mem_check(PEM_read_bio_X509(b, NULL, NULL, NULL));

	BIO_free(b);
	return cert;
}

/* By OpenSSL's own rules, as the other end of TLS would. */
static inline bool is_trusted(const char *trust, const char *pem, int purpose, const char *host,
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

static inline struct node_ca_cert sign(struct fixture *f, const char *node, uint64_t gen,
				       int64_t at)
{
	struct node_ca_cert out;
	struct err e = {0};

	if (node_ca_sign(f->ca, f->csr, strlen(f->csr), node, gen, at, &out, &e) < 0)
		fail_msg("%s", e.msg);
	return out;
}

static inline int check_der(const struct fixture *f, X509 *cert, int64_t at,
			    struct node_ca_peer *peer, struct err *e)
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

static inline int check(const struct fixture *f, const char *pem, int64_t at,
			struct node_ca_peer *peer, struct err *e)
{
	X509 *cert = parse(pem);
	int rc = check_der(f, cert, at, peer, e);

	X509_free(cert);
	return rc;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
