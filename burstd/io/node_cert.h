/* node_cert.h - makes and reads the certificates of node_ca.h.
 *
 * Keys are P-256.  Of a node's request only the public key gets into its certificate. */
#ifndef BURSTD_NODE_CERT_H
#define BURSTD_NODE_CERT_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "io/node_ca.h"

struct node_cert_ca { /* a CA; key NULL: it is trusted, but signs no more */
	EVP_PKEY *key;
	X509 *cert;
};

/* Make a CA, valid for life_ms.  It fails only for want of entropy. */
int node_cert_new_ca(struct node_cert_ca *out, const char *cluster, int64_t now_ms, int64_t life_ms,
		     struct err *e);
void node_cert_free_ca(struct node_cert_ca *ca); /* may be called twice */
/* The CA in PEM: the key, if there is one and `key` is true, then the certificate.  The caller's:
 * node_cert_free_text() wipes it. */
char *node_cert_print_ca(const struct node_cert_ca *ca, bool key);
/* Parse that form; key: it must have one.  -1: *out is empty. */
int node_cert_parse_ca(struct node_cert_ca *out, const char *text, size_t len, bool key,
		       struct err *e);
void node_cert_free_text(char *text); /* NULL is fine */
int64_t node_cert_end_ms(const X509 *cert);

/* Make a certificate for this key, for a node or a server, signed by ca; it ends with ca at the
 * latest.  san: as in openssl.cnf.  NULL: *e. */
X509 *node_cert_sign(const struct node_cert_ca *ca, EVP_PKEY *key, const char *cn, const char *san,
		     bool server, int64_t now_ms, int64_t life_ms, struct err *e);
/* The hash of a key, to which a claim is bound; the serial number in hex. */
void node_cert_spki(const X509_PUBKEY *key, unsigned char out[NODE_CA_SPKI_SIZE]);
void node_cert_serial(const X509 *cert, char out[NODE_CA_SERIAL_MAX + 1]);
/* Parse a request with a valid signature and a P-256 key; the caller's.  NULL: *e. */
X509_REQ *node_cert_read_csr(const char *pem, size_t len, struct err *e);
/* Read the owner of a node's certificate, signed by ca and valid at now_ms; the caller checks that
 * it is not revoked.  1: *out is set; 0: it is not of this CA; -1: *e. */
int node_cert_check(const struct node_cert_ca *ca, X509 *cert, int64_t now_ms,
		    struct node_ca_peer *out, struct err *e);

#endif
