/* attest_lab.h - makes keys, certificates and signed documents while a test runs. */
#ifndef TESTS_PROVIDERS_ATTEST_LAB_H
#define TESTS_PROVIDERS_ATTEST_LAB_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/attest/registry.h"

enum { LAB_DAY = 86400 };

/* A Tuesday in 2026; certificates are good from a day before to 30 days after. */
static const int64_t lab_now_ms = INT64_C(1794873600000);

struct lab_cert {
	EVP_PKEY *key;
	X509 *cert;
};

struct lab_want { /* how to make a certificate */
	const char *name;
	const struct lab_cert *issuer; /* NULL: self-signed */
	const char *san, *aia;         /* as openssl.cnf has them */
	long serial;                   /* 0: 1 */
	int from_day, to_day;          /* both 0: as above */
	int bits;                      /* of an RSA key; 0: 2048, 1: P-256, 2: P-521 */
	bool ca;
	bool sha1; /* sign with SHA-1; false: SHA-256 */
};

static inline void lab_extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *x;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	assert_non_null(x);
	assert_int_equal(X509_add_ext(cert, x, -1), 1);
	X509_EXTENSION_free(x);
}

static inline EVP_PKEY *lab_key(int bits)
{
	if (bits == 1 || bits == 2)
		return mem_check(EVP_EC_gen(bits == 1 ? "P-256" : "P-521"));
	return mem_check(EVP_RSA_gen(bits == 0 ? 2048u : (unsigned)bits));
}

/* Make a certificate with a given key, which it takes. */
static inline struct lab_cert lab_cert_with(EVP_PKEY *key, const struct lab_want *w)
{
	struct lab_cert c = {.key = key, .cert = mem_check(X509_new())};
	const struct lab_cert *by = w->issuer != NULL ? w->issuer : &c;
	X509_NAME *name = X509_get_subject_name(c.cert);
	const bool said = w->from_day != 0 || w->to_day != 0;
	const int64_t now = lab_now_ms / 1000;

	(void)X509_set_version(c.cert, 2);
	(void)ASN1_INTEGER_set(X509_get_serialNumber(c.cert), w->serial != 0 ? w->serial : 1);
	(void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)w->name,
					 -1, -1, 0);
	(void)X509_set_issuer_name(c.cert, X509_get_subject_name(by->cert));
	(void)ASN1_TIME_set(X509_getm_notBefore(c.cert), now + LAB_DAY * (said ? w->from_day : -1));
	(void)ASN1_TIME_set(X509_getm_notAfter(c.cert), now + LAB_DAY * (said ? w->to_day : 30));
	(void)X509_set_pubkey(c.cert, c.key);
	if (w->ca)
		lab_extend(c.cert, by->cert, NID_basic_constraints, "critical,CA:TRUE");
	if (w->san != NULL)
		lab_extend(c.cert, by->cert, NID_subject_alt_name, w->san);
	if (w->aia != NULL)
		lab_extend(c.cert, by->cert, NID_info_access, w->aia);
	assert_true(X509_sign(c.cert, by->key, w->sha1 ? EVP_sha1() : EVP_sha256()) > 0);
	return c;
}

static inline struct lab_cert lab_cert(const struct lab_want *w)
{
	return lab_cert_with(lab_key(w->bits), w);
}

static inline void lab_cert_free(struct lab_cert *c)
{
	X509_free(c->cert);
	EVP_PKEY_free(c->key);
}

static inline void lab_add_pem(struct str *s, X509 *cert)
{
	BIO *b = mem_check(BIO_new(BIO_s_mem()));
	char *p;
	long n;

	assert_int_equal(PEM_write_bio_X509(b, cert), 1);
	n = BIO_get_mem_data(b, &p);
	str_add(s, p, (size_t)n);
	BIO_free(b);
}

/* Encode DER in base64; free() it. */
static inline char *lab_base64(const void *data, size_t n)
{
	char *out = mem_zalloc(n / 3 * 4 + 8);

	(void)EVP_EncodeBlock((unsigned char *)out, data, (int)n);
	return out;
}

enum { LAB_STREAM = 1, LAB_DETACHED = 2, LAB_NO_CERT = 4, LAB_SHA1 = 8, LAB_PEM = 16 };

/* Sign content as PKCS#7, in DER; free() it.  second: another signer, or NULL. */
static inline unsigned char *lab_sign(const char *content, const struct lab_cert *by,
				      const struct lab_cert *second, int how, size_t *n)
{
	const int flags = PKCS7_BINARY | PKCS7_PARTIAL | PKCS7_NOSMIMECAP |
			  ((how & LAB_DETACHED) != 0 ? PKCS7_DETACHED : 0);
	const int certs = (how & LAB_NO_CERT) != 0 ? PKCS7_NOCERTS : 0;
	const EVP_MD *md = (how & LAB_SHA1) != 0 ? EVP_sha1() : EVP_sha256();
	BIO *in = mem_check(BIO_new_mem_buf(content, -1)), *out = mem_check(BIO_new(BIO_s_mem()));
	PKCS7 *p7 = mem_check(PKCS7_sign(NULL, NULL, NULL, in, flags | certs));
	unsigned char *copy;
	char *p;

	assert_non_null(PKCS7_sign_add_signer(p7, by->cert, by->key, md, flags | certs));
	if (second != NULL)
		assert_non_null(PKCS7_sign_add_signer(p7, second->cert, second->key, md, flags));
	if ((how & LAB_STREAM) != 0) {
		assert_int_equal(i2d_PKCS7_bio_stream(out, p7, in, flags | PKCS7_STREAM), 1);
	} else {
		assert_int_equal(PKCS7_final(p7, in, flags), 1);
		assert_int_equal(i2d_PKCS7_bio(out, p7), 1);
	}
	*n = (size_t)BIO_get_mem_data(out, &p);
	copy = mem_zalloc(*n + 1);
	memcpy(copy, p, *n);
	PKCS7_free(p7);
	BIO_free(in);
	BIO_free(out);
	return copy;
}

/* The same in the form that a node gets. */
static inline char *lab_signed(const char *content, const struct lab_cert *by, int how)
{
	size_t n;
	unsigned char *der = lab_sign(content, by, NULL, how, &n);
	char *text = lab_base64(der, n), *pem;

	free(der);
	if ((how & LAB_PEM) == 0)
		return text;
	pem = mem_zalloc(strlen(text) + 64);
	(void)sprintf(pem, "-----BEGIN PKCS7-----\n%s\n-----END PKCS7-----\n", text);
	free(text);
	return pem;
}

static inline void lab_refused(int rc, const struct err *e, enum err_code code, const char *why)
{
	if (rc == 0)
		fail_msg("taken, and not refused with '%s'", why);
	if (e->code != (int)code || strstr(e->msg, why) == NULL)
		fail_msg("want %d '%s', got %d '%s'", code, why, e->code, e->msg);
	assert_true(ERR_peek_error() == 0); /* no OpenSSL error is left behind */
}

#endif
