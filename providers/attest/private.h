/* private.h - what the verifiers share; nobody else includes it. */
#ifndef PROVIDERS_ATTEST_PRIVATE_H
#define PROVIDERS_ATTEST_PRIVATE_H

#include <jansson.h>
#include <openssl/pkcs7.h>
#include <openssl/x509.h>
#include <stdbool.h>

#include "core/attest.h"

enum {
	ATTEST_CERTS_MAX = 8,   /* in one envelope */
	ATTEST_CERT_MAX = 8192, /* bytes of one that we are given */
	ATTEST_KEY_BITS_MIN = 2048,
	ATTEST_KEY_BITS_MAX = 4096, /* of RSA: a longer one only costs time, which is ours */
};

/* --- envelope.c: PKCS#7 with what is signed in it, by one signer --- */

/* doc: DER, or base64 of it, with or without PEM's lines around it.  *out is the caller's
 * (PKCS7_free()).  It is SignedData with its content, exactly one signer and a hash that holds;
 * nothing of it is verified. */
int envelope_open(PKCS7 **out, const char *doc, size_t len, struct err *e);
/* The content, when it is signed with the key of this very certificate: whatever the envelope
 * itself brings is not looked at, so an attacker's own certificate in it is of no use.  1, and
 * *json as attest_json() makes it; 0: the certificate is not the one that the signer names; -1 with
 * *e. */
int envelope_verify(PKCS7 *p7, X509 *cert, json_t **json, struct err *e);

/* --- attest.c --- */

/* One JSON object and nothing behind it, in which no name comes twice at any depth.  NULL with *e;
 * else the caller's. */
json_t *attest_json(const void *text, size_t len, struct err *e);
/* The member `key` of o, printable ASCII; "" where it may be missing and is. */
int attest_word(const json_t *o, const char *key, bool must, char *out, size_t size, struct err *e);
/* The next certificate in PEM: 1, 0 or -1 with *e.  *out is the caller's (X509_free()). */
int attest_next_cert(X509 **out, const char **text, size_t *len, struct err *e);
/* Is its key of a kind and length that we accept?  To be asked before the key is used. */
int attest_check_key(const X509 *cert, struct err *e);
/* Is it good at that time?  ERR_TIME if not.  To be asked last, as all times are: only of what is
 * right in everything else it may be said that its time is wrong. */
int attest_check_time(const X509 *cert, int64_t now_ms, struct err *e);

/* --- the verifiers --- */
extern const struct attest_ops attest_aws, attest_gcp, attest_azure;

#endif
