/* node_tls.h - what the node-facing listener shows in TLS, and whom it believes.
 *
 * One set of certificate, key and client CA; a new set replaces it for new connections while old
 * ones go on with theirs.  A client need not show a certificate.  If it does, the handshake fails
 * unless the certificate is good: signed by our CA, of its time, for a client; or of nobody but the
 * client's own P-256 key, whatever its time.  That one says nothing of who the client is, only that
 * it has the key: TLS proves that.  Claims are made with it. */
#ifndef BURSTD_NODE_TLS_H
#define BURSTD_NODE_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* GnuTLS's words: TLS 1.3, and of 1.2 only keys that a stolen private key does not give away later,
 * with ciphers that are their own MAC.  Groups and signatures are those that take a millisecond,
 * for they are reckoned before it is known who asks: a stranger's RSA key, which may have any size
 * and exponent, takes seconds, and the thread is everybody's. */
#define NODE_TLS_PRIORITIES                                                                        \
	"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-MAC-ALL:+AEAD:-KX-ALL:+ECDHE-ECDSA:"       \
	"-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:"                              \
	"-SIGN-ALL:+SIGN-ECDSA-SHA256:+SIGN-ECDSA-SECP256R1-SHA256"

struct node_tls;
struct gnutls_session_int; /* GnuTLS's session */

struct node_peer { /* of the client's certificate; known false: it showed none of our CA */
	bool known;
	bool self; /* it showed one of its own, of which spki alone is said */
	char cn[65];
	char urn[256];          /* its first URI among the subject's other names; "": none */
	char serial[41];        /* hex, as RFC 5280 limits it */
	unsigned char spki[32]; /* SHA-256 of its SubjectPublicKeyInfo */
	int64_t not_after_ms;
};

/* PEM texts, not kept.  With one reference, the caller's. */
int node_tls_new(struct node_tls **out, const char *cert_pem, const char *key_pem,
		 const char *client_ca_pem, struct err *e);
/* References are counted without a lock: one thread's, once it has it. */
struct node_tls *node_tls_ref(struct node_tls *t);
void node_tls_unref(struct node_tls *t); /* NULL is fine */

/* Before the handshake: use t, and ask for a certificate. */
void node_tls_use(const struct node_tls *t, struct gnutls_session_int *session);
/* After it.  -1: there is a certificate that cannot be read. */
int node_tls_peer(struct node_peer *out, struct gnutls_session_int *session);

#endif
