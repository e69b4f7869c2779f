/* node_tls.h - TLS of the listener for nodes: its certificate, and the check of clients'.
 *
 * It has one set of certificate, key and client CA; a new set is used for new connections while old
 * ones keep theirs.  A client need not show a certificate.  If it does, the handshake fails unless
 * the certificate is signed by burstd's CA, valid and for a client; or self-signed by a P-256 key,
 * whatever its dates.  A self-signed one only proves that the client has the key.  Claims are made
 * with it. */
#ifndef BURSTD_NODE_TLS_H
#define BURSTD_NODE_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* GnuTLS's priorities: TLS 1.3, and of 1.2 only forward secrecy and AEAD ciphers.  Only fast groups
 * and signatures are allowed, since they are computed before the client is known: a stranger's RSA
 * key of any size and exponent could occupy the thread for seconds. */
#define NODE_TLS_PRIORITIES                                                                        \
	"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-MAC-ALL:+AEAD:-KX-ALL:+ECDHE-ECDSA:"       \
	"-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:"                              \
	"-SIGN-ALL:+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SECP256R1-SHA256"

struct node_tls;
struct gnutls_session_int; /* GnuTLS's session */

struct node_peer { /* the client's certificate; known false: none of burstd's CA */
	bool known;
	bool self; /* it is self-signed: only spki is set */
	char cn[65];
	char urn[256];          /* first URI of its subjectAltName; "": none */
	char serial[41];        /* hex, as RFC 5280 limits it */
	unsigned char spki[32]; /* SHA-256 of its SubjectPublicKeyInfo */
	int64_t not_after_ms;
};

/* From PEM texts, which are not kept.  Has one reference, the caller's. */
int node_tls_new(struct node_tls **out, const char *cert_pem, const char *key_pem,
		 const char *client_ca_pem, struct err *e);
/* References are counted without a lock: use it in one thread at a time. */
struct node_tls *node_tls_ref(struct node_tls *t);
void node_tls_unref(struct node_tls *t); /* NULL is fine */

/* Before the handshake: use t, and request a client certificate. */
void node_tls_use(const struct node_tls *t, struct gnutls_session_int *session);
/* After the handshake.  -1: the client's certificate cannot be read. */
int node_tls_peer(struct node_peer *out, struct gnutls_session_int *session);

#endif
