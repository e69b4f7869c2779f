/* node_gate_lab.h - a gate and those who knock. */
#ifndef TESTS_NODE_GATE_LAB_H
#define TESTS_NODE_GATE_LAB_H

#include "io/node_gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "io/node_server.h"

static inline struct node_gate_key four(uint8_t a, uint8_t b)
{
	return (struct node_gate_key){
		.octet = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 0, [14] = a, [15] = b}};
}

static inline struct node_gate_key six(uint8_t net, uint8_t host)
{
	return (struct node_gate_key){.octet = {0x20, 0x01, 0x0d, 0xb8, [7] = net, [15] = host}};
}

static inline unsigned open_of(struct node_gate *g, const struct node_gate_key *k, unsigned n,
			       int64_t now)
{
	struct node_gate_conn *out;
	unsigned open = 0;

	for (unsigned i = 0; i < n; i++)
		open += node_gate_knock(g, k, now, &out) == NODE_GATE_OPEN;
	return open;
}

/* One connection; who has to go for it. */
static inline struct node_gate_conn *come(struct node_gate *g, struct node_gate_conn *c,
					  const struct node_gate_key *k, int64_t now)
{
	struct node_gate_conn *out;

	assert_int_equal(node_gate_knock(g, k, now, &out), NODE_GATE_OPEN);
	node_gate_enter(g, c, k, now);
	return out;
}

static inline enum node_gate_word knock(struct node_gate *g, const struct node_gate_key *k,
					int64_t now)
{
	struct node_gate_conn *out;

	return node_gate_knock(g, k, now, &out);
}

static inline void spki_of(uint8_t out[NODE_GATE_SPKI], unsigned n)
{
	memset(out, 7, NODE_GATE_SPKI);
	out[0] = (uint8_t)(n >> 8);
	out[1] = (uint8_t)n;
	out[2] = (uint8_t)(n >> 16);
}

/* A key whose requests count for mine: it has the same place.  Of 4096 places some thousands of
 * keys find it; nobody can tell which without the seed. */
static inline unsigned beside(uint64_t seed, const uint8_t mine[NODE_GATE_SPKI],
			      uint8_t his[NODE_GATE_SPKI])
{
	const struct node_gate_opts o = {.asks_per_key_s = 1};
	struct node_gate *g = node_gate_new(&o, seed, 0);
	struct node_gate_key a = four(0, 1);
	struct node_gate_conn me, he;
	int64_t now = 0;
	bool same = false;
	unsigned n = 1;

	(void)come(g, &me, &a, now);
	assert_null(node_gate_know(g, &me, mine, now));
	while (!same) {
		now += 1000; /* every place has its token again */
		assert_true(node_gate_ask(g, &me, now));
		spki_of(his, ++n);
		(void)come(g, &he, &a, now);
		(void)node_gate_know(g, &he, his, now);
		same = !node_gate_ask(g, &he, now);
		node_gate_leave(g, &he, now);
	}
	node_gate_free(g);
	return n;
}

#endif
