#include <openssl/evp.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/pem.h"
#include "providers/attest/private.h"

json_t *attest_json(const void *text, size_t len, struct err *e)
{
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(o))
		return o;
	json_decref(o);
	(void)err_set(e, ERR_INVALID,
		      "identity document: its content is not a JSON object, or has a "
		      "name twice");
	return NULL;
}

int attest_word(const json_t *o, const char *key, bool must, char *out, size_t size, struct err *e)
{
	const json_t *v = json_object_get(o, key);
	const char *text = json_string_value(v);

	out[0] = '\0';
	if (!must && (v == NULL || json_is_null(v)))
		return 0;
	if (text == NULL || json_string_length(v) >= size || (must && text[0] == '\0'))
		return err_set(e, ERR_INVALID,
			       "identity document: \"%s\" is missing, too long or not a string",
			       key);
	for (const char *p = text; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			return err_set(e, ERR_INVALID, "identity document: \"%s\" is not plain",
				       key);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

int attest_next_cert(X509 **out, const char **text, size_t *len, struct err *e)
{
	unsigned char der[ATTEST_CERT_MAX];
	const unsigned char *p = der;
	size_t n;
	int rc = pem_next(text, len, "CERTIFICATE", der, sizeof(der), &n);

	*out = rc == 1 ? d2i_X509(NULL, &p, (long)n) : NULL;
	if (rc == 0 || (*out != NULL && p == der + n))
		return rc;
	X509_free(*out);
	*out = NULL;
	return err_set(e, ERR_INVALID, "a certificate in PEM cannot be read");
}

static bool is_good_key(const EVP_PKEY *key)
{
	const int bits = key != NULL ? EVP_PKEY_get_bits(key) : 0;

	if (key == NULL)
		return false;
	if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC)
		return bits == 256 || bits == 384;
	return EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA && bits >= ATTEST_KEY_BITS_MIN &&
	       bits <= ATTEST_KEY_BITS_MAX;
}

int attest_check_key(const X509 *cert, struct err *e)
{
	if (!is_good_key(X509_get0_pubkey(cert)))
		return err_set(e, ERR_AUTH,
			       "identity document: a key of a kind or length that is "
			       "not accepted");
	return 0;
}

int attest_check_time(const X509 *cert, int64_t now_ms, struct err *e)
{
	time_t now = (time_t)(now_ms / 1000);

	if (X509_cmp_time(X509_get0_notBefore(cert), &now) >= 0 ||
	    X509_cmp_time(X509_get0_notAfter(cert), &now) <= 0)
		return err_set(e, ERR_TIME,
			       "identity document: the certificate that signed it has expired, or "
			       "is not valid yet");
	return 0;
}
