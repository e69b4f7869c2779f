/* tls.h - who we are and whom we believe: the pinned CA, our certificate and its key.
 *
 * Only what the CA of burstd signed for the very name or address of the URL is believed; the
 * system's own CAs count for nothing.  Dates are the one thing that is not: a node whose clock is
 * wrong must neither be cut off nor (by the dead-man's switch) be put out.  A certificate that is
 * out of date by our clock is reported instead (tls_clock_odd()). */
#ifndef AGENT_TLS_H
#define AGENT_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct place;
struct tls;

struct tls_files {
	const char *ca, *cert, *key; /* PEM; the key is a plain file of ours, mode 0600 */
};

/* *out is the caller's (tls_close()), NULL on failure. */
int tls_open(struct tls **out, const struct tls_files *f, struct err *e);
void tls_close(struct tls *t);

/* For one connection to p; the caller's (SSL_free()). */
SSL *tls_session(struct tls *t, struct place *p);
/* After the handshake: is their certificate not valid yet, or no longer, by our clock? */
bool tls_clock_odd(const SSL *s);
/* OpenSSL's first complaint, as our error; its queue is empty then. */
int tls_err(struct err *e, const char *what);

void tls_dates(const struct tls *t, int64_t *from_ms, int64_t *until_ms);
/* A request for a new certificate for our key, as base64 of PEM. */
int tls_request(const struct tls *t, const char *node, struct str *out, struct err *e);
/* The answer to it, PEM or base64 of PEM.  Believed when it is for our key, from our CA and no
 * older than the one we have; written to `path` (whole or not at all) and used from then on. */
int tls_renew(struct tls *t, const char *pem, const char *path, struct err *e);

#endif
