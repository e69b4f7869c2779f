/* node_gate.h - who may open a connection to the node-facing listener, and who may ask without a
 * certificate.
 *
 * Asked for each connection before a byte of TLS is read, so that a flood costs an accept() and a
 * close().  Addresses are counted in a table of fixed size: of IPv6 a /64 is one address.  Where
 * too many live addresses fall into one place of it, a stranger is refused rather than forgotten
 * about somebody else.  One thread's. */
#ifndef BURSTD_NODE_GATE_H
#define BURSTD_NODE_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct node_gate;
struct node_gate_addr;

struct node_gate_opts { /* 0: no limit */
	uint32_t accepts_per_s, accepts_per_addr_s;
	uint32_t asks_per_addr_s; /* requests without a certificate that get as far as the loop */
	unsigned max_conns, max_per_addr;
};

enum node_gate_word { NODE_GATE_OPEN, NODE_GATE_RATE, NODE_GATE_FULL };

/* An address as node_gate wants it: IPv4 as ::ffff:a.b.c.d. */
struct node_gate_key {
	uint8_t octet[16];
};

struct node_gate *node_gate_new(const struct node_gate_opts *o, uint64_t seed, int64_t now_ms);
void node_gate_free(struct node_gate *g);
enum node_gate_word node_gate_knock(struct node_gate *g, const struct node_gate_key *k,
				    int64_t now_ms);
/* The connection is there.  What comes back is good until node_gate_leave(); never NULL. */
struct node_gate_addr *node_gate_enter(struct node_gate *g, const struct node_gate_key *k,
				       int64_t now_ms);
void node_gate_leave(struct node_gate *g, struct node_gate_addr *a, int64_t now_ms);
bool node_gate_ask(struct node_gate_addr *a, int64_t now_ms);
unsigned node_gate_conns(const struct node_gate *g);

#endif
