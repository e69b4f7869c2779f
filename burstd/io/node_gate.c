#include "io/node_gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/bucket.h"

enum {
	SETS = 1024, /* of ... */
	WAYS = 8,    /* addresses each: 1 MiB in all */
};

struct node_gate_addr {
	struct node_gate_key key;
	struct bucket accepts, asks;
	int64_t seen_ms; /* 0: free */
	unsigned conns;
};

struct node_gate {
	struct node_gate_opts o;
	struct bucket accepts;
	uint64_t seed;
	unsigned conns;
	struct node_gate_addr rest; /* of connections whose address lost its place meanwhile */
	struct node_gate_addr sets[SETS][WAYS];
};

struct node_gate *node_gate_new(const struct node_gate_opts *o, uint64_t seed, int64_t now_ms)
{
	struct node_gate *g = mem_zalloc(sizeof(*g));

	g->o = *o;
	g->seed = seed;
	bucket_init(&g->accepts, o->accepts_per_s, now_ms);
	bucket_init(&g->rest.asks, o->asks_per_addr_s, now_ms);
	return g;
}

void node_gate_free(struct node_gate *g)
{
	free(g);
}

/* A network is the customer's: the lower half of an IPv6 address is his to choose. */
static struct node_gate_key site(const struct node_gate_key *k)
{
	static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};
	struct node_gate_key out = *k;

	if (memcmp(k->octet, four, sizeof(four)) != 0)
		memset(out.octet + 8, 0, 8);
	return out;
}

/* Seeded, so that nobody can choose addresses that share a place. */
static struct node_gate_addr *set_of(struct node_gate *g, const struct node_gate_key *k)
{
	uint64_t h = g->seed;

	for (int i = 0; i < 16; i++) {
		h = (h ^ k->octet[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return g->sets[h % SETS];
}

static struct node_gate_addr *find(struct node_gate *g, const struct node_gate_key *k)
{
	struct node_gate_addr *set = set_of(g, k);

	for (int i = 0; i < WAYS; i++)
		if (set[i].seen_ms != 0 && memcmp(&set[i].key, k, sizeof(*k)) == 0)
			return &set[i];
	return NULL;
}

/* The place of the address, a free one, or that of who was away longest; NULL: all are here. */
static struct node_gate_addr *take(struct node_gate *g, const struct node_gate_key *k,
				   int64_t now_ms)
{
	struct node_gate_addr *set = set_of(g, k), *a = find(g, k), *best = NULL;

	if (a != NULL)
		return a;
	for (int i = 0; i < WAYS; i++)
		if (set[i].conns == 0 && (best == NULL || set[i].seen_ms < best->seen_ms))
			best = &set[i];
	if (best == NULL)
		return NULL;
	*best = (struct node_gate_addr){.key = *k, .seen_ms = now_ms};
	bucket_init(&best->accepts, g->o.accepts_per_addr_s, now_ms);
	bucket_init(&best->asks, g->o.asks_per_addr_s, now_ms);
	return best;
}

/* One address pays from its own bucket first: it cannot empty that of all by knocking. */
enum node_gate_word node_gate_knock(struct node_gate *g, const struct node_gate_key *k,
				    int64_t now_ms)
{
	struct node_gate_key key = site(k);
	struct node_gate_addr *a;

	if (g->o.max_conns > 0 && g->conns >= g->o.max_conns)
		return NODE_GATE_FULL;
	a = take(g, &key, now_ms);
	if (a == NULL || (g->o.max_per_addr > 0 && a->conns >= g->o.max_per_addr))
		return NODE_GATE_FULL;
	a->seen_ms = now_ms;
	if (!bucket_take(&a->accepts, now_ms) || !bucket_take(&g->accepts, now_ms))
		return NODE_GATE_RATE;
	return NODE_GATE_OPEN;
}

struct node_gate_addr *node_gate_enter(struct node_gate *g, const struct node_gate_key *k,
				       int64_t now_ms)
{
	struct node_gate_key key = site(k);
	struct node_gate_addr *a = take(g, &key, now_ms);

	if (a == NULL)
		a = &g->rest;
	g->conns++;
	a->conns++;
	return a;
}

void node_gate_leave(struct node_gate *g, struct node_gate_addr *a, int64_t now_ms)
{
	g->conns--;
	a->conns--;
	a->seen_ms = now_ms;
}

bool node_gate_ask(struct node_gate_addr *a, int64_t now_ms)
{
	return bucket_take(&a->asks, now_ms);
}

unsigned node_gate_conns(const struct node_gate *g)
{
	return g->conns;
}
