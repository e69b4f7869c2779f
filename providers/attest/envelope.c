/* envelope.c - opens and verifies PKCS#7: content inside, one signer, and nothing else that PKCS#7
 * allows. */
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pkcs7.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/pem.h"
#include "providers/attest/private.h"

static int bad(struct err *e, const char *why)
{
	ERR_clear_error(); /* leave no OpenSSL error for other code to find */
	return err_set(e, ERR_INVALID, "identity document: %s", why);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Convert DER, PEM or base64 to DER.  DER begins with 0x30, base64 of it with 'M'. */
static int to_der(const char *doc, size_t len, unsigned char *out, size_t *n, struct err *e)
{
	if (len > ATTEST_DOC_MAX)
		return bad(e, "it is too long");
	if (len > 0 && (unsigned char)doc[0] == 0x30) {
		memcpy(out, doc, len);
		*n = len;
		return 0;
	}
	if (len > 0 && doc[0] == '-') {
		if (pem_next(&doc, &len, "PKCS7", out, ATTEST_DOC_MAX, n) != 1)
			return bad(e, "it is not PEM of PKCS#7");
		while (len > 0 && is_space(doc[len - 1]))
			len--;
		return len == 0 ? 0 : bad(e, "data follows its end");
	}
	if (!base64_decode(BASE64_LINES, doc, len, out, ATTEST_DOC_MAX, n) || *n == 0)
		return bad(e, "it is neither DER nor base64");
	return 0;
}

static bool is_good_hash(const X509_ALGOR *alg)
{
	const ASN1_OBJECT *o;

	X509_ALGOR_get0(&o, NULL, NULL, alg);
	switch (OBJ_obj2nid(o)) {
	case NID_sha256:
	case NID_sha384:
	case NID_sha512:
		return true;
	default: /* among them SHA-1, of AWS's older signatures */
		return false;
	}
}

static int check_shape(PKCS7 *p7, struct err *e)
{
	STACK_OF(PKCS7_SIGNER_INFO) * signers;

	if (!PKCS7_type_is_signed(p7) || p7->d.sign == NULL || p7->d.sign->contents == NULL)
		return bad(e, "it is PKCS#7, but not signed data");
	if (PKCS7_get_detached(p7) || !PKCS7_type_is_data(p7->d.sign->contents) ||
	    p7->d.sign->contents->d.data == NULL)
		return bad(e, "what is signed is not in it");
	signers = PKCS7_get_signer_info(p7);
	if (signers == NULL || sk_PKCS7_SIGNER_INFO_num(signers) != 1)
		return bad(e, "it has not exactly one signer");
	if (sk_X509_num(p7->d.sign->cert) > ATTEST_CERTS_MAX)
		return bad(e, "it has too many certificates");
	if (!is_good_hash(sk_PKCS7_SIGNER_INFO_value(signers, 0)->digest_alg))
		return bad(e, "it is signed with a hash that is not accepted");
	return 0;
}

int envelope_open(PKCS7 **out, const char *doc, size_t len, struct err *e)
{
	unsigned char der[ATTEST_DOC_MAX];
	const unsigned char *p = der;
	size_t n = 0;

	*out = NULL;
	if (to_der(doc, len, der, &n, e) < 0)
		return -1;
	*out = d2i_PKCS7(NULL, &p, (long)n);
	if (*out == NULL)
		return bad(e, "it is not PKCS#7");
	if (p == der + n && check_shape(*out, e) == 0)
		return 0;
	if (p != der + n)
		(void)bad(e, "data follows its end");
	PKCS7_free(*out);
	*out = NULL;
	return -1;
}

static bool is_of(PKCS7 *p7, X509 *cert)
{
	PKCS7_SIGNER_INFO *si = sk_PKCS7_SIGNER_INFO_value(PKCS7_get_signer_info(p7), 0);
	const PKCS7_ISSUER_AND_SERIAL *is = si->issuer_and_serial;

	return X509_NAME_cmp(is->issuer, X509_get_issuer_name(cert)) == 0 &&
	       ASN1_INTEGER_cmp(is->serial, X509_get0_serialNumber(cert)) == 0;
}

/* NOVERIFY: check no chain, since the certificate itself is trusted.  NOINTERN: use no other. */
static bool is_signed_by(PKCS7 *p7, X509 *cert, BIO *content)
{
	STACK_OF(X509) *certs = mem_check(sk_X509_new_null());
	bool ok;

	if (sk_X509_push(certs, cert) == 0)
		(void)mem_check(NULL);
	ok = PKCS7_verify(p7, certs, NULL, NULL, content,
			  PKCS7_BINARY | PKCS7_NOVERIFY | PKCS7_NOINTERN) == 1;
	sk_X509_free(certs);
	ERR_clear_error();
	return ok;
}

int envelope_verify(PKCS7 *p7, X509 *cert, json_t **json, struct err *e)
{
	BIO *content;
	char *text;
	long n;

	*json = NULL;
	if (!is_of(p7, cert))
		return 0;
	content = mem_check(BIO_new(BIO_s_mem()));
	if (is_signed_by(p7, cert, content)) {
		n = BIO_get_mem_data(content, &text);
		*json = attest_json(text, (size_t)n, e); /* parse only what was verified */
	} else {
		(void)err_set(e, ERR_AUTH, "identity document: its signature is not good");
	}
	BIO_free(content);
	return *json != NULL ? 1 : -1;
}
