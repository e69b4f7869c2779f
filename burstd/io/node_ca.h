/* node_ca.h - burstd's own small authority: it says which node is which, to burstd alone.
 *
 * A node that has claimed gets a certificate for a key of its own: CN the node's name, SAN
 * urn:burst:node:<name>:<generation>, for a day.  The listener that nodes talk to has one of the
 * same authority, whose certificate is in the user-data: so neither end believes anybody else.
 *
 * The keys are in the state directory, each in one file with its certificate: node-ca.pem signs;
 * node-ca-next.pem is made a year before that one ends, and is told to nodes from then on, so that
 * all that live know it when it takes over; node-ca-old.pem, without a key, is the one before,
 * believed until it ends.  A file that others can read, that is a link, or that is damaged is
 * refused, and never replaced: what runs out there knows the old key.
 *
 * There is no list of those that are revoked: the engine asks with each request whether the node
 * is the present incarnation of its name and its claim holds (keys/door.c). */
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
	NODE_CA_CSR_MAX = 4096,  /* bytes of a request in PEM; one has about 500 */
	NODE_CA_CERT_MAX = 8192, /* bytes of a certificate that somebody shows */
	NODE_CA_PEM_MAX = 4096,  /* text of one that we made */
	NODE_CA_NAMES_MAX = 16,  /* of the listener */
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

struct node_ca_peer { /* who shows a certificate */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	char serial[NODE_CA_SERIAL_MAX + 1];
	unsigned char spki[NODE_CA_SPKI_SIZE];
};

/* Read the keys in dir, or make the first, durably; and node_ca_roll().  cluster is in its name.
 * -1 with *e, which names the file: ERR_AUTH: it is not ours alone; ERR_INVALID: damaged; ERR_IO.
 */
int node_ca_open(struct node_ca **out, const char *dir, const char *cluster, int64_t now_ms,
		 struct err *e);
void node_ca_close(struct node_ca *ca); /* NULL is fine */

/* Make the next key, or have it take over, if it is time: daily.  1: node_ca_trust() has changed,
 * and the listener's certificate is to be made again; 0: nothing; -1: as it was, try again. */
int node_ca_roll(struct node_ca *ca, int64_t now_ms, struct err *e);
/* What nodes and the listener are to believe: certificates in PEM, one or two.  Borrowed until the
 * next roll. */
const char *node_ca_trust(const struct node_ca *ca);

/* Can this request be signed?  Its key is P-256 and it is signed with it; all else that it asks for
 * is passed over.  0 and the hash of its key, by which its claim knows it. */
int node_ca_read_csr(const char *pem, size_t len, unsigned char spki[NODE_CA_SPKI_SIZE],
		     struct err *e);
/* Sign it, for a day. */
int node_ca_sign(struct node_ca *ca, const char *pem, size_t len, const char *node, uint64_t gen,
		 int64_t now_ms, struct node_ca_cert *out, struct err *e);
/* A new key and its certificate for the listener, for 30 days, in memory only: made again at every
 * start.  names: host names and addresses, n of them, from the configuration. */
int node_ca_serve(struct node_ca *ca, const char *const *names, size_t n, int64_t now_ms,
		  struct node_ca_server *out, struct err *e);

/* Who is it that shows this certificate (DER)?  -1 with *e (ERR_AUTH): not of ours, not a node's,
 * or over. */
int node_ca_check(const struct node_ca *ca, const void *der, size_t len, int64_t now_ms,
		  struct node_ca_peer *out, struct err *e);
#endif
