/* node_gate.h - admission to the listener for nodes: which connections it accepts, which it closes
 * for others, and how often a client may ask.
 *
 * It decides before a byte of TLS is read, so that a flood costs an accept() and a close().  A
 * connection is a stranger until it shows a good certificate.  Strangers have a limit of their own:
 * at that limit, or at the listener's, the oldest stranger is closed for the new connection, which
 * may be a node's.  So nodes find room however many connections strangers keep open.
 *
 *	enter --> STRANGER <--> HELD (the loop has its request: it stays)
 *	               \--> KNOWN (counts for its key, and no more for its address)
 *
 * Connections are counted by address, in a table of fixed size, and for IPv6 also by network (/64):
 * in a cloud all nodes of a subnet share one, elsewhere one customer has all of it.  So a network
 * has the limit of two addresses until a good certificate is shown from it; then it has seven
 * eighths of the total.  If too many live addresses fall into one slot of the table, a stranger is
 * refused rather than another address forgotten.  For one thread. */
#ifndef BURSTD_NODE_GATE_H
#define BURSTD_NODE_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct node_gate;
struct node_gate_addr;

struct node_gate_opts {         /* 0: no limit */
	uint32_t accepts_per_s; /* a quarter is kept for addresses without a recent connection */
	uint32_t accepts_per_addr_s;
	uint32_t asks_per_addr_s; /* requests without a certificate that reach the loop */
	uint32_t asks_per_key_s;  /* likewise with certificates of one key, on all connections */
	unsigned max_conns;       /* connections in all */
	unsigned max_strangers, max_per_addr; /* strangers, in all and from one address */
	unsigned max_per_key;                 /* connections known by one key */
};

enum node_gate_word { NODE_GATE_OPEN, NODE_GATE_RATE, NODE_GATE_FULL };

/* An address; IPv4 as ::ffff:a.b.c.d. */
struct node_gate_key {
	uint8_t octet[16];
};

enum { NODE_GATE_SPKI = 32 };

enum node_gate_state { NODE_GATE_GONE, NODE_GATE_STRANGER, NODE_GATE_HELD, NODE_GATE_KNOWN };

struct node_gate_conn { /* a connection, in the caller's memory; linked from enter to leave */
	struct node_gate_conn *next,
		**prev;              /* list of strangers, oldest first; or of a slot of keys */
	struct node_gate_addr *from; /* NULL: state KNOWN or GONE */
	enum node_gate_state state;
	uint8_t spki[NODE_GATE_SPKI];
};

struct node_gate *node_gate_new(const struct node_gate_opts *o, uint64_t seed, int64_t now_ms);
void node_gate_free(struct node_gate *g);
/* May a connection from k be accepted?  *out: a connection to close for it, which has left already;
 * NULL: none. */
enum node_gate_word node_gate_knock(struct node_gate *g, const struct node_gate_key *k,
				    int64_t now_ms, struct node_gate_conn **out);
/* The connection is accepted. */
void node_gate_enter(struct node_gate *g, struct node_gate_conn *c, const struct node_gate_key *k,
		     int64_t now_ms);
/* The connection has shown a good certificate, of this key.  Returns the oldest connection of the
 * key if it has too many now, to be closed; else NULL. */
struct node_gate_conn *node_gate_know(struct node_gate *g, struct node_gate_conn *c,
				      const uint8_t spki[NODE_GATE_SPKI], int64_t now_ms);
/* A stranger's request has passed all checks and waits (held), or is answered: then it is the
 * newest stranger.  No effect if it is KNOWN. */
void node_gate_hold(struct node_gate *g, struct node_gate_conn *c, bool held);
void node_gate_leave(struct node_gate *g, struct node_gate_conn *c,
		     int64_t now_ms); /* may be called twice */
/* May the connection make another request?  false for one that is to be closed. */
bool node_gate_ask(struct node_gate *g, struct node_gate_conn *c, int64_t now_ms);
unsigned node_gate_conns(const struct node_gate *g);
unsigned node_gate_strangers(const struct node_gate *g);

#endif
