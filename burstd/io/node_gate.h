/* node_gate.h - who may open a connection to the node-facing listener, who has to go for it, and
 *how often somebody may ask.
 *
 * Asked for each connection before a byte of TLS is read, so that a flood costs an accept() and a
 * close().  A connection is a stranger's until a certificate is seen on it.  Strangers have a room
 *of their own: when it is full, or all of the listener is, the oldest of them goes and the
 *newcomer, who may be a node, comes in.  So nodes find room however many connections strangers
 *keep.
 *
 *	enter --> STRANGER <--> HELD (the loop has its request: it stays)
 *	               \--> KNOWN (counts for its key, and no more for its address)
 *
 * Addresses are counted in a table of fixed size, and of IPv6 also the network (/64) that each is
 * in: all nodes of a subnet of a cloud are in one, but elsewhere one customer has all of it.  So a
 * network has as much as two addresses have, until a good certificate was shown there; then it has
 * all but an eighth of what all have.  Where too many live addresses fall into one place of the
 * table, a stranger is refused rather than forgotten about somebody else.  One thread's. */
#ifndef BURSTD_NODE_GATE_H
#define BURSTD_NODE_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct node_gate;
struct node_gate_addr;

struct node_gate_opts {         /* 0: no limit */
	uint32_t accepts_per_s; /* a quarter is for addresses that were not let in lately */
	uint32_t accepts_per_addr_s;
	uint32_t asks_per_addr_s; /* requests without a certificate that get as far as the loop ...
				   */
	uint32_t asks_per_key_s;  /* ... and with the certificate of one key, on all connections */
	unsigned max_conns;       /* of all */
	unsigned max_strangers, max_per_addr; /* of strangers, in all and of one address */
	unsigned max_per_key;                 /* of who is known by one key */
};

enum node_gate_word { NODE_GATE_OPEN, NODE_GATE_RATE, NODE_GATE_FULL };

/* An address as node_gate wants it: IPv4 as ::ffff:a.b.c.d. */
struct node_gate_key {
	uint8_t octet[16];
};

enum { NODE_GATE_SPKI = 32 };

enum node_gate_state { NODE_GATE_GONE, NODE_GATE_STRANGER, NODE_GATE_HELD, NODE_GATE_KNOWN };

struct node_gate_conn { /* a connection, in the caller's memory; node_gate's from enter to leave */
	struct node_gate_conn *next, **prev; /* of strangers, oldest first; or of a place of keys */
	struct node_gate_addr *from;         /* NULL: known or gone */
	enum node_gate_state state;
	uint8_t spki[NODE_GATE_SPKI];
};

struct node_gate *node_gate_new(const struct node_gate_opts *o, uint64_t seed, int64_t now_ms);
void node_gate_free(struct node_gate *g);
/* *out: who is to be closed for it (he has left as far as we are concerned), or NULL. */
enum node_gate_word node_gate_knock(struct node_gate *g, const struct node_gate_key *k,
				    int64_t now_ms, struct node_gate_conn **out);
/* The connection is there. */
void node_gate_enter(struct node_gate *g, struct node_gate_conn *c, const struct node_gate_key *k,
		     int64_t now_ms);
/* It has shown a good certificate, of this key.  What comes back is the oldest connection of the
 * key if it has too many now, which is to be closed; else NULL. */
struct node_gate_conn *node_gate_know(struct node_gate *g, struct node_gate_conn *c,
				      const uint8_t spki[NODE_GATE_SPKI], int64_t now_ms);
/* A stranger's request got past all checks and waits (held), or has its answer now: then he is the
 * youngest.  Nothing for who is known. */
void node_gate_hold(struct node_gate *g, struct node_gate_conn *c, bool held);
void node_gate_leave(struct node_gate *g, struct node_gate_conn *c,
		     int64_t now_ms); /* twice is fine */
/* Who has to go may not ask. */
bool node_gate_ask(struct node_gate *g, struct node_gate_conn *c, int64_t now_ms);
unsigned node_gate_conns(const struct node_gate *g);
unsigned node_gate_strangers(const struct node_gate *g);

#endif
