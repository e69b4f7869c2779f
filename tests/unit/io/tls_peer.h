/* tls_peer.h - certificates made on the spot, and a blocking TLS client, for tests. */
#ifndef TESTS_TLS_PEER_H
#define TESTS_TLS_PEER_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tls_id { /* a certificate and its key */
	char cert[4096], key[4096];
};

struct tls_id_opts {
	const char *cn, *urn; /* urn NULL: none */
	bool ca;
	bool server;      /* a server's certificate, not a client's */
	bool rsa, p384;   /* else its key is P-256 */
	int from_s, to_s; /* its validity, relative to now */
	uint8_t serial;
};

/* Make a certificate signed by ca, or by itself if ca is NULL. */
void tls_id_make(struct tls_id *out, const struct tls_id *ca, const struct tls_id_opts *o);

struct tls_peer {
	gnutls_session_t session;
	gnutls_certificate_credentials_t cred;
	int fd;
};

int tcp_open(uint16_t port); /* -1: refused */
/* Connect.  -1: no TLS session.  self NULL: without a certificate.  tls_peer_close() in either
 * case. */
int tls_peer_open(struct tls_peer *p, uint16_t port, const char *ca_pem, const struct tls_id *self);
/* The same in two parts: a connection (fd -1: refused) that has sent nothing, and the handshake,
 * which returns 0 or GnuTLS's error. */
void tls_peer_prepare(struct tls_peer *p, uint16_t port, const char *ca_pem,
		      const struct tls_id *self);
int tls_peer_shake(struct tls_peer *p);
void tls_peer_close(struct tls_peer *p);
int tls_peer_send(struct tls_peer *p, const char *data, size_t len); /* -1: closed */
/* Read one HTTP reply, its whole text, into out; the status; -1: closed, or nothing for ten
 * seconds. */
int tls_peer_reply(struct tls_peer *p, char *out, size_t size);

#endif
