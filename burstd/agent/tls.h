/* tls.h - TLS with a pinned CA, and the node's certificate and key.
 *
 * A server's certificate must be signed by burstd's CA for the name or address of the URL; the
 * system's CAs do not count.  Its dates are not checked: a node with a wrong clock must neither be
 * cut off nor, by the dead-man's switch, powered off.  A certificate that is out of date by this
 * node's clock is reported instead (tls_clock_wrong()). */
#ifndef AGENT_TLS_H
#define AGENT_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct origin;
struct tls;

struct tls_files {
	const char *ca, *cert, *key; /* PEM; the key is a plain file of this user's, mode 0600 */
};

/* *out is the caller's (tls_close()), NULL on failure. */
int tls_open(struct tls **out, const struct tls_files *f, struct err *e);
void tls_close(struct tls *t);

/* Make a session for one connection to p; the caller's (SSL_free()). */
SSL *tls_session(struct tls *t, struct origin *p);
/* After the handshake: is the server's certificate not yet or no longer valid, by this node's
 * clock? */
bool tls_clock_wrong(const SSL *s);
/* Set *e to OpenSSL's first error, and empty its queue. */
int tls_err(struct err *e, const char *what);

void tls_dates(const struct tls *t, int64_t *from_ms, int64_t *until_ms);
/* Make a request for a new certificate for the node's key, as base64 of PEM. */
int tls_request(const struct tls *t, const char *node, struct str *out, struct err *e);
/* Take the new certificate, PEM or base64 of PEM.  It must be for the node's key, of burstd's CA
 * and not older than the present one.  It is written to `path` (as a whole or not at all) and used
 * from then on. */
int tls_renew(struct tls *t, const char *pem, const char *path, struct err *e);

#endif
