#include "agent/tls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/origin.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/secret.h"

enum {
	TLS_PEM_MAX = 32768, /* a chain of certificates */
	TLS_CHAIN_MAX = 4,   /* certificates below the leaf */
	TLS_REQUEST_MAX = 8192
};

struct tls {
	SSL_CTX *ctx;
	EVP_PKEY *key;
	X509 *cert;
};

int tls_err(struct err *e, const char *what)
{
	unsigned long code = ERR_get_error();
	const char *why = code != 0 ? ERR_reason_error_string(code) : NULL;

	ERR_clear_error();
	return err_set(e, ERR_AUTH, "%s: %s", what, why != NULL ? why : "unknown OpenSSL error");
}

/* A key with a passphrase is refused: nobody is there to type one. */
static int no_passphrase(char *buf, int size, int rw, void *ctx)
{
	(void)buf;
	(void)size;
	(void)rw;
	(void)ctx;
	return -1;
}

static EVP_PKEY *read_key(const char *path, struct err *e)
{
	struct secret *s;
	EVP_PKEY *key = NULL;
	BIO *b;

	if (secret_load(&s, path, e) != 0)
		return NULL;
	b = mem_check(BIO_new_mem_buf(secret_text(s), -1));
	key = PEM_read_bio_PrivateKey(b, NULL, no_passphrase, NULL);
	if (key == NULL)
		(void)tls_err(e, path);
	BIO_free(b);
	secret_free(s);
	return key;
}

/* A chain in PEM, leaf first; NULL: *e. */
static STACK_OF(X509) * read_chain(const char *pem, struct err *e)
{
	STACK_OF(X509) *chain = mem_check(sk_X509_new_null());
	BIO *b = mem_check(BIO_new_mem_buf(pem, -1));
	X509 *x;

	while (sk_X509_num(chain) <= TLS_CHAIN_MAX &&
	       (x = PEM_read_bio_X509(b, NULL, no_passphrase, NULL)) != NULL)
		(void)sk_X509_push(chain, x);
	BIO_free(b);
	if (sk_X509_num(chain) > 0 && sk_X509_num(chain) <= TLS_CHAIN_MAX) {
		ERR_clear_error(); /* the end of the text is an error, too */
		return chain;
	}
	(void)tls_err(e, "no certificate, or too many");
	sk_X509_pop_free(chain, X509_free);
	return NULL;
}

static char *read_file(const char *path, struct err *e)
{
	char *text = mem_zalloc(TLS_PEM_MAX + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, text, TLS_PEM_MAX) : -1;

	if (n < 0)
		(void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
	else if (n == TLS_PEM_MAX)
		(void)err_set(e, ERR_LIMIT, "%s: too long", path);
	if (fd >= 0)
		(void)close(fd);
	if (n >= 0 && n < TLS_PEM_MAX)
		return text;
	free(text);
	return NULL;
}

/* Use the chain: the leaf is our certificate, the rest is sent to the server with it. */
static int use_chain(struct tls *t, STACK_OF(X509) * chain, struct err *e)
{
	X509 *leaf = sk_X509_value(chain, 0);

	if (X509_check_private_key(leaf, t->key) != 1)
		return tls_err(e, "the certificate is for another key");
	if (SSL_CTX_use_cert_and_key(t->ctx, leaf, t->key, NULL, 1) != 1 ||
	    SSL_CTX_clear_chain_certs(t->ctx) != 1)
		return tls_err(e, "certificate");
	for (int i = 1; i < sk_X509_num(chain); i++)
		if (SSL_CTX_add1_chain_cert(t->ctx, sk_X509_value(chain, i)) != 1)
			return tls_err(e, "certificate");
	X509_free(t->cert);
	t->cert = leaf;
	(void)X509_up_ref(leaf);
	return 0;
}

static SSL_CTX *make_ctx(void)
{
	SSL_CTX *c = mem_check(SSL_CTX_new(TLS_client_method()));

	SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION); /* both ends are ours */
	SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
	SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
				    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	/* Else records without data, one after the other, would keep us in SSL_read(). */
	SSL_CTX_clear_mode(c, SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_max_cert_list(c, TLS_PEM_MAX);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_verify_depth(c, TLS_CHAIN_MAX);
	X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(c), X509_V_FLAG_NO_CHECK_TIME);
	return c;
}

int tls_open(struct tls **out, const struct tls_files *f, struct err *e)
{
	struct tls *t = mem_zalloc(sizeof(*t));
	STACK_OF(X509) *chain = NULL;
	char *pem = NULL;
	int rc = -1;

	*out = NULL;
	t->ctx = make_ctx();
	if (SSL_CTX_load_verify_file(t->ctx, f->ca) != 1) {
		(void)tls_err(e, f->ca);
		goto out;
	}
	t->key = read_key(f->key, e);
	pem = t->key != NULL ? read_file(f->cert, e) : NULL;
	chain = pem != NULL ? read_chain(pem, e) : NULL;
	if (chain == NULL) {
		if (pem != NULL)
			(void)err_wrap(e, "%s", f->cert);
		goto out;
	}
	rc = use_chain(t, chain, e);
	if (rc != 0)
		(void)err_wrap(e, "%s", f->cert);
out:
	if (rc == 0)
		*out = t;
	else
		tls_close(t);
	sk_X509_pop_free(chain, X509_free);
	free(pem);
	return rc;
}

void tls_close(struct tls *t)
{
	if (t == NULL)
		return;
	SSL_CTX_free(t->ctx);
	EVP_PKEY_free(t->key);
	X509_free(t->cert);
	free(t);
}

SSL *tls_session(struct tls *t, struct origin *p)
{
	SSL *s = mem_check(SSL_new(t->ctx));
	X509_VERIFY_PARAM *param = SSL_get0_param(s);
	int ok;

	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (p->numeric) {
		ok = X509_VERIFY_PARAM_set1_ip_asc(param, p->host);
	} else {
		ok = X509_VERIFY_PARAM_set1_host(param, p->host, 0) &&
		     SSL_set_tlsext_host_name(s, p->host) == 1;
	}
	assert(ok == 1); /* the name was checked when the URL was read */
	SSL_set_connect_state(s);
	return s;
}

bool tls_clock_wrong(const SSL *s)
{
	const X509 *x = SSL_get0_peer_certificate(s);

	return x == NULL || X509_cmp_current_time(X509_get0_notBefore(x)) > 0 ||
	       X509_cmp_current_time(X509_get0_notAfter(x)) < 0;
}

/* Milliseconds since 1970, without any time zone, such as the C library's. */
static int64_t asn1_ms(const ASN1_TIME *t)
{
	ASN1_TIME *zero = mem_check(ASN1_TIME_set(NULL, 0));
	int days = 0, seconds = 0;

	(void)ASN1_TIME_diff(&days, &seconds, zero, t);
	ASN1_TIME_free(zero);
	return ((int64_t)days * 86400 + seconds) * 1000;
}

void tls_dates(const struct tls *t, int64_t *from_ms, int64_t *until_ms)
{
	*from_ms = asn1_ms(X509_get0_notBefore(t->cert));
	*until_ms = asn1_ms(X509_get0_notAfter(t->cert));
}

static int add_base64(struct str *out, BIO *b)
{
	BUF_MEM *m = NULL;
	unsigned char *text;

	(void)BIO_get_mem_ptr(b, &m);
	text = mem_zalloc(m->length / 3 * 4 + 5);
	(void)EVP_EncodeBlock(text, (const unsigned char *)m->data, (int)m->length);
	str_adds(out, (const char *)text);
	free(text);
	return out->full ? -1 : 0;
}

int tls_request(const struct tls *t, const char *node, struct str *out, struct err *e)
{
	X509_REQ *r = mem_check(X509_REQ_new());
	BIO *b = mem_check(BIO_new(BIO_s_mem()));
	int rc = -1;

	if (X509_REQ_set_version(r, 0) == 1 && X509_REQ_set_pubkey(r, t->key) == 1 &&
	    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(r), "CN", MBSTRING_ASC,
				       (const unsigned char *)node, -1, -1, 0) == 1 &&
	    X509_REQ_sign(r, t->key, EVP_sha256()) > 0 && PEM_write_bio_X509_REQ(b, r) == 1)
		rc = add_base64(out, b);
	if (rc != 0)
		(void)tls_err(e, "certificate request");
	BIO_free(b);
	X509_REQ_free(r);
	return rc;
}

/* Decode one line of base64; NULL: it is none. */
static char *decode(const char *in)
{
	size_t n = strlen(in), have;
	char *out = mem_zalloc(n + 1);

	if (n > 0 && n <= TLS_PEM_MAX &&
	    base64_decode(BASE64_PLAIN, in, n, (unsigned char *)out, n, &have)) {
		out[have] = '\0';
		return out;
	}
	free(out);
	return NULL;
}

/* Is the chain signed by our CA?  Dates are not checked. */
static int check_chain(const struct tls *t, STACK_OF(X509) * chain, struct err *e)
{
	X509_STORE_CTX *c = mem_check(X509_STORE_CTX_new());
	int rc = -1;

	if (X509_STORE_CTX_init(c, SSL_CTX_get_cert_store(t->ctx), sk_X509_value(chain, 0),
				chain) == 1) {
		X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(c),
					    X509_V_FLAG_NO_CHECK_TIME);
		if (X509_verify_cert(c) == 1)
			rc = 0;
		else
			(void)err_set(e, ERR_AUTH, "new certificate: %s",
				      X509_verify_cert_error_string(X509_STORE_CTX_get_error(c)));
	}
	ERR_clear_error();
	X509_STORE_CTX_free(c);
	return rc;
}

/* Replace the file by a rename, without a sync: it is on a tmpfs, and need not outlive the machine.
 */
static int write_chain(const char *path, STACK_OF(X509) * chain, struct err *e)
{
	struct str tmp;
	BIO *b = mem_check(BIO_new(BIO_s_mem()));
	BUF_MEM *m = NULL;
	int fd, rc = -1;

	for (int i = 0; i < sk_X509_num(chain); i++)
		(void)PEM_write_bio_X509(b, sk_X509_value(chain, i));
	(void)BIO_get_mem_ptr(b, &m);
	str_init(&tmp, 4096);
	str_addf(&tmp, "%s.new", path);
	(void)unlink(tmp.p);
	fd = open(tmp.p, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, m->data, m->length) == (ssize_t)m->length &&
	    rename(tmp.p, path) == 0)
		rc = 0;
	else
		(void)err_set(e, ERR_IO, "%s: %s", tmp.p, strerror(errno));
	if (fd >= 0)
		(void)close(fd);
	str_fini(&tmp);
	BIO_free(b);
	return rc;
}

int tls_renew(struct tls *t, const char *pem, const char *path, struct err *e)
{
	char *plain = pem[0] == '-' ? mem_strdup(pem) : decode(pem);
	STACK_OF(X509) *chain = NULL;
	int rc = -1;

	if (plain == NULL)
		return err_set(e, ERR_INVALID, "new certificate: neither PEM nor base64");
	chain = read_chain(plain, e);
	if (chain == NULL || check_chain(t, chain, e) != 0)
		goto out;
	if (X509_check_private_key(sk_X509_value(chain, 0), t->key) != 1) {
		(void)tls_err(e, "new certificate is for another key");
		goto out;
	}
	if (ASN1_TIME_compare(X509_get0_notAfter(sk_X509_value(chain, 0)),
			      X509_get0_notAfter(t->cert)) < 0) {
		(void)err_set(e, ERR_AUTH, "new certificate ends before the old one");
		goto out;
	}
	rc = write_chain(path, chain, e);
	if (rc == 0)
		rc = use_chain(t, chain, e);
out:
	sk_X509_pop_free(chain, X509_free);
	free(plain);
	return rc;
}
