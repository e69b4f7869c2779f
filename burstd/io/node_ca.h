/* node_ca.h - burstd's own certificate authority, by which burstd and its nodes know each other.
 *
 * A node that has claimed gets a certificate for its own key: CN the node's name, SAN
 * urn:burst:node:<name>:<generation>, valid for a day.  The listener for nodes has a certificate of
 * the same CA, whose certificate is in the user-data: neither end trusts any other CA.
 *
 * The keys are in the state directory, each in a file with its certificate.  node-ca.pem signs.
 * node-ca-next.pem is made a year before that one ends, and given to nodes from then on, so that
 * all live nodes know it when it takes over.  node-ca-old.pem, without a key, is the previous one,
 * trusted until it ends.  A file that others can read, a link, or a damaged file is refused, and
 * never replaced, for running nodes know the old key.
 *
 * There is no revocation list: at each request the engine checks that the node is the present
 * generation of its name and its claim is valid (keys/door_request.c). */
#ifndef BURSTD_NODE_CA_H
#define BURSTD_NODE_CA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "core/claim.h"

enum {
	NODE_CA_SPKI_SIZE = CLAIM_SPKI_SIZE,
	NODE_CA_SERIAL_MAX = CLAIM_SERIAL_MAX,
	NODE_CA_CSR_MAX = 4096,  /* bytes of a request in PEM; real ones have about 500 */
	NODE_CA_CERT_MAX = 8192, /* bytes of a client's certificate */
	NODE_CA_PEM_MAX = 4096,  /* text of a certificate made here */
	NODE_CA_NAMES_MAX = 16,  /* names of the listener */
};

struct node_ca;

struct node_ca_cert {
	char pem[NODE_CA_PEM_MAX];
	char serial[NODE_CA_SERIAL_MAX + 1]; /* hex */
	unsigned char spki[NODE_CA_SPKI_SIZE];
	int64_t until_ms;
};

struct node_ca_server {
	char pem[NODE_CA_PEM_MAX];
	char key[NODE_CA_PEM_MAX]; /* a secret: explicit_bzero() */
	int64_t until_ms;
};

struct node_ca_peer { /* the owner of a node's certificate */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	char serial[NODE_CA_SERIAL_MAX + 1];
	unsigned char spki[NODE_CA_SPKI_SIZE];
};

/* Read the keys in dir, or make the first one, durably; then call node_ca_roll().  cluster: for the
 * CA's name.  -1: *e names the file; ERR_AUTH: others can access it; ERR_INVALID: damaged; ERR_IO.
 */
int node_ca_open(struct node_ca **out, const char *dir, const char *cluster, int64_t now_ms,
		 struct err *e);
void node_ca_close(struct node_ca *ca); /* NULL is fine */

/* Make the next key, or have it take over, if it is time; call it daily.  1: node_ca_trust() has
 * changed, and the listener needs a new certificate; 0: nothing has changed; -1: likewise, try
 * again. */
int node_ca_roll(struct node_ca *ca, int64_t now_ms, struct err *e);
/* The CA certificates that nodes and the listener trust, in PEM, one or two.  Borrowed until the
 * next roll. */
const char *node_ca_trust(const struct node_ca *ca);

/* Check a request: its key must be P-256 and have signed it; anything else in it is ignored.  spki:
 * the hash of the key, to which the claim is bound. */
int node_ca_read_csr(const char *pem, size_t len, unsigned char spki[NODE_CA_SPKI_SIZE],
		     struct err *e);
/* Sign a request, for a day. */
int node_ca_sign(struct node_ca *ca, const char *pem, size_t len, const char *node, uint64_t gen,
		 int64_t now_ms, struct node_ca_cert *out, struct err *e);
/* Make a key and a certificate for the listener, for 30 days, in memory only: a new one at every
 * start.  names: n host names and addresses from the configuration. */
int node_ca_serve(struct node_ca *ca, const char *const *names, size_t n, int64_t now_ms,
		  struct node_ca_server *out, struct err *e);

/* Find the owner of this certificate (DER).  -1: *e (ERR_AUTH): it is not of this CA, not a node's,
 * or expired. */
int node_ca_check(const struct node_ca *ca, const void *der, size_t len, int64_t now_ms,
		  struct node_ca_peer *out, struct err *e);
#endif
