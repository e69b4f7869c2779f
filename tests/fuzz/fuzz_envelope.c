/* fuzz_envelope.c - any bytes as an identity document in PKCS#7.  The first byte: 'c' and 'z' sign
 * the rest as the content of AWS's and of Azure's, so that what is behind the signature is reached
 * too; else the rest is the document itself, for both.  Nothing but what was signed here is ever
 * taken, and then it is what was expected. */
#include <assert.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs7.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "providers/attest/registry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t now_ms = INT64_C(1794873600000);
static EVP_PKEY *key;
static X509 *leaf, *root;
static void *aws, *azure;

static X509 *make(const char *name, X509 *issuer, int nid, const char *value)
{
	X509 *cert = mem_check(X509_new());
	X509_EXTENSION *x = mem_check(X509V3_EXT_conf_nid(NULL, NULL, nid, value));

	(void)X509_set_version(cert, 2);
	(void)X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
					 (const unsigned char *)name, -1, -1, 0);
	(void)X509_set_issuer_name(cert, X509_get_subject_name(issuer != NULL ? issuer : cert));
	(void)ASN1_INTEGER_set(X509_get_serialNumber(cert), issuer != NULL ? 2 : 1);
	(void)ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)(now_ms / 1000 - 86400));
	(void)ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)(now_ms / 1000 + 86400));
	(void)X509_set_pubkey(cert, key);
	(void)X509_add_ext(cert, x, -1);
	(void)X509_sign(cert, key, EVP_sha256());
	X509_EXTENSION_free(x);
	return cert;
}

static void *open_with(enum attest_kind kind, const char *head, X509 *cert)
{
	BIO *b = mem_check(BIO_new(BIO_s_mem()));
	struct attest_conf conf = {0};
	struct str s;
	void *self;
	char *p;
	long n;

	str_init(&s, 1 << 16);
	str_adds(&s, head);
	(void)PEM_write_bio_X509(b, cert);
	n = BIO_get_mem_data(b, &p);
	str_add(&s, p, (size_t)n);
	conf.trust = s.p;
	conf.trust_len = s.len;
	if (attest_find(kind)->open(&self, &conf, NULL) < 0)
		abort();
	str_fini(&s);
	BIO_free(b);
	return self;
}

static void begin(void)
{
	if (key != NULL)
		return;
	key = mem_check(EVP_EC_gen("P-256"));
	root = make("root", NULL, NID_basic_constraints, "critical,CA:TRUE");
	leaf = make("leaf", root, NID_subject_alt_name, "DNS:metadata.azure.com");
	aws = open_with(ATTEST_AWS, "[us-test-1]\n", leaf);
	azure = open_with(ATTEST_AZURE, "", root);
}

/* The rest, signed; *n bytes of DER, free(). */
static char *sign(const uint8_t *data, size_t size, size_t *n)
{
	const int flags = PKCS7_BINARY | PKCS7_NOSMIMECAP;
	BIO *in = mem_check(BIO_new_mem_buf(data, (int)size));
	PKCS7 *p7 = mem_check(PKCS7_sign(leaf, key, NULL, in, flags));
	unsigned char *der = NULL;
	char *copy;
	int len = i2d_PKCS7(p7, &der);

	*n = (size_t)len;
	copy = mem_zalloc(*n);
	memcpy(copy, der, *n);
	OPENSSL_free(der);
	PKCS7_free(p7);
	BIO_free(in);
	return copy;
}

/* What is taken is what was expected; what is not leaves nothing but one line. */
static void check(enum attest_kind kind, void *self, const char *doc, size_t len, bool ours)
{
	static const struct attest_identity none;
	const struct attest_expect want = {.account = "a",
					   .region = kind == ATTEST_AWS ? "us-test-1" : NULL,
					   .nonce = kind == ATTEST_AZURE ? "n" : NULL};
	const struct attest_ops *ops = attest_find(kind);
	struct attest_identity id;
	struct attest_lack lack;
	struct err e = {0};

	/* Of another time: right in all else. */
	if (ops->verify(self, &want, doc, len, now_ms, &id, &e) == 0 || e.code == ERR_TIME) {
		assert(ours && strcmp(id.account, "a") == 0 && id.instance[0] != '\0');
		assert(memchr(id.zone, '\0', sizeof(id.zone)) != NULL);
	} else {
		assert(e.code != 0 && e.msg[0] != '\0');
		assert(memcmp(id.instance, none.instance, sizeof(id.instance)) == 0);
	}
	if (ops->lacks != NULL && ops->lacks(self, doc, len, &lack) == 1)
		assert(strncmp(lack.url, "https://www.microsoft.com/pki", 29) == 0);
	assert(ERR_peek_error() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *doc;
	size_t n;

	begin();
	if (size == 0)
		return 0;
	if (data[0] == 'c' || data[0] == 'z') {
		doc = sign(data + 1, size - 1, &n);
		check(data[0] == 'c' ? ATTEST_AWS : ATTEST_AZURE, data[0] == 'c' ? aws : azure, doc,
		      n, true);
	} else {
		doc = mem_zalloc(size);
		memcpy(doc, data + 1, size - 1);
		check(ATTEST_AWS, aws, doc, size - 1, false);
		check(ATTEST_AZURE, azure, doc, size - 1, false);
	}
	free(doc);
	return 0;
}
