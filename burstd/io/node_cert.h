/* node_cert.h - the certificates that node_ca.h gives out: how they are made, and how read.
 *
 * Keys are P-256.  Of what a node sends, nothing gets into its certificate but its public key. */
#ifndef BURSTD_NODE_CERT_H
#define BURSTD_NODE_CERT_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "io/node_ca.h"

struct node_cert_ca { /* an authority; key NULL: it is only believed any more */
	EVP_PKEY *key;
	X509 *cert;
};

/* A new one, good for life_ms.  Out of entropy is the only failure. */
int node_cert_new_ca(struct node_cert_ca *out, const char *cluster, int64_t now_ms, int64_t life_ms,
		     struct err *e);
void node_cert_free_ca(struct node_cert_ca *ca); /* twice is fine */
/* In PEM: the key, if it has one and it is wanted, then the certificate.  The caller's, wiped by
 * node_cert_free_text(). */
char *node_cert_print_ca(const struct node_cert_ca *ca, bool key);
/* Of that form, key and all; or -1, and *out is empty. */
int node_cert_parse_ca(struct node_cert_ca *out, const char *text, size_t len, bool key,
		       struct err *e);
void node_cert_free_text(char *text); /* NULL is fine */
int64_t node_cert_end_ms(const X509 *cert);

/* The node's certificate for that key, or a server's for these names (san: as openssl.cnf has it),
 * signed by ca; it ends with ca at the latest.  NULL with *e. */
X509 *node_cert_sign(const struct node_cert_ca *ca, EVP_PKEY *key, const char *cn, const char *san,
		     bool server, int64_t now_ms, int64_t life_ms, struct err *e);
/* The hash by which a claim knows a key, and the serial number in hex. */
void node_cert_spki(const X509_PUBKEY *key, unsigned char out[NODE_CA_SPKI_SIZE]);
void node_cert_serial(const X509 *cert, char out[NODE_CA_SERIAL_MAX + 1]);
/* A request, whose signature holds and whose key is P-256; the caller's.  NULL with *e. */
X509_REQ *node_cert_read_csr(const char *pem, size_t len, struct err *e);
/* Who it says that it is, if ca signed it and it is a node's and good at now_ms; deny lists are the
 * caller's. 1; 0: it is not of this ca; -1 with *e. */
int node_cert_check(const struct node_cert_ca *ca, X509 *cert, int64_t now_ms,
		    struct node_ca_peer *out, struct err *e);

#endif
