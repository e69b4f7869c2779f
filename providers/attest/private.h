/* private.h - functions that the verifiers share; only providers/attest/ includes it. */
#ifndef PROVIDERS_ATTEST_PRIVATE_H
#define PROVIDERS_ATTEST_PRIVATE_H

#include <jansson.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>
#include <stdbool.h>

#include "core/attest.h"

enum {
	ATTEST_CERTS_MAX = 8,   /* in one envelope */
	ATTEST_CERT_MAX = 8192, /* bytes of one certificate */
	ATTEST_KEY_BITS_MIN = 2048,
	ATTEST_KEY_BITS_MAX = 4096, /* RSA; a longer key only costs burstd time */
};

/* --- envelope.c: PKCS#7 with its content, by one signer --- */

/* Parse doc: DER, or base64 of it, with or without PEM lines.  *out is the caller's (PKCS7_free()):
 * SignedData with its content, exactly one signer and a correct hash.  The signature is not
 * verified. */
int envelope_open(PKCS7 **out, const char *doc, size_t len, struct err *e);
/* Verify that the content is signed with the key of this certificate.  Certificates in the envelope
 * are ignored, so an attacker's own is of no use there.  1: *json is set, as by attest_json(); 0:
 * the signer names another certificate; -1: *e. */
int envelope_verify(PKCS7 *p7, X509 *cert, json_t **json, struct err *e);

/* --- attest.c --- */

/* Parse one JSON object, with nothing after it and no name twice at any depth.  The caller's; NULL:
 * *e. */
json_t *attest_json(const void *text, size_t len, struct err *e);
/* Copy the member `key` of o, printable ASCII; "" if it is missing, unless `must`. */
int attest_word(const json_t *o, const char *key, bool must, char *out, size_t size, struct err *e);
/* Parse the next certificate in PEM.  1: *out is the caller's (X509_free()); 0: there is none; -1:
 * *e. */
int attest_next_cert(X509 **out, const char **text, size_t *len, struct err *e);
/* Check that the certificate's key has an accepted kind and length, before it is used. */
int attest_check_key(const X509 *cert, struct err *e);
/* Check that the certificate is valid at now_ms; ERR_TIME if not.  Check times last: ERR_TIME means
 * that everything else is right. */
int attest_check_time(const X509 *cert, int64_t now_ms, struct err *e);

/* --- the verifiers --- */
extern const struct attest_ops attest_aws, attest_gcp, attest_azure;

#endif
