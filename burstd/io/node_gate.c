#include "io/node_gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/bucket.h"

enum {
	SETS = 1024, /* of ... */
	WAYS = 8,    /* addresses each: 1 MiB in all */
	KEYS = 4096, /* places for keys: some nodes of ten thousand share one, and its bucket */
	LATELY_MS = 5000,
	FIRST_SHARE = 4, /* a quarter of all accepts */
};

struct node_gate_addr {
	struct node_gate_key key;
	struct bucket accepts, asks;
	int64_t seen_ms;           /* 0: free */
	int64_t let_in_ms;         /* 0: not yet */
	unsigned conns, strangers; /* conns: held ones too */
};

struct node_gate {
	struct node_gate_opts o;
	struct bucket accepts, first; /* first: for addresses that were not let in lately */
	uint64_t seed;
	unsigned conns, nstrangers;
	struct node_gate_conn *strangers, **last; /* oldest first */
	struct node_gate_conn *keys[KEYS];        /* newest first */
	struct bucket key_asks[KEYS];
	struct node_gate_addr rest; /* of connections whose address lost its place meanwhile */
	struct node_gate_addr sets[SETS][WAYS];
};

struct node_gate *node_gate_new(const struct node_gate_opts *o, uint64_t seed, int64_t now_ms)
{
	struct node_gate *g = mem_zalloc(sizeof(*g));

	g->o = *o;
	g->seed = seed;
	g->last = &g->strangers;
	bucket_init(&g->accepts, o->accepts_per_s - o->accepts_per_s / FIRST_SHARE, now_ms);
	bucket_init(&g->first, o->accepts_per_s / FIRST_SHARE, now_ms);
	bucket_init(&g->rest.asks, o->asks_per_addr_s, now_ms);
	for (unsigned i = 0; i < KEYS; i++)
		bucket_init(&g->key_asks[i], o->asks_per_key_s, now_ms);
	return g;
}

void node_gate_free(struct node_gate *g)
{
	free(g);
}

/* --- addresses -------------------------------------------------------------------------------- */

/* A network is the customer's: the lower half of an IPv6 address is his to choose. */
static struct node_gate_key site(const struct node_gate_key *k)
{
	static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};
	struct node_gate_key out = *k;

	if (memcmp(k->octet, four, sizeof(four)) != 0)
		memset(out.octet + 8, 0, 8);
	return out;
}

/* Seeded, so that nobody can choose addresses, or keys, that share a place with somebody's. */
static uint64_t hash_of(const struct node_gate *g, const uint8_t *octet, unsigned n)
{
	uint64_t h = g->seed;

	for (unsigned i = 0; i < n; i++) {
		h = (h ^ octet[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

static struct node_gate_addr *set_of(struct node_gate *g, const struct node_gate_key *k)
{
	return g->sets[hash_of(g, k->octet, sizeof(k->octet)) % SETS];
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

/* --- connections ------------------------------------------------------------------------------ */

static void add_stranger(struct node_gate *g, struct node_gate_conn *c)
{
	c->state = NODE_GATE_STRANGER;
	c->next = NULL;
	c->prev = g->last;
	*g->last = c;
	g->last = &c->next;
	g->nstrangers++;
	c->from->strangers++;
}

static void del_stranger(struct node_gate *g, struct node_gate_conn *c)
{
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		g->last = c->prev;
	g->nstrangers--;
	c->from->strangers--;
}

static struct node_gate_conn *oldest(struct node_gate *g, const struct node_gate_addr *of)
{
	struct node_gate_conn *c = g->strangers;

	while (c != NULL && of != NULL && c->from != of)
		c = c->next;
	return c;
}

static bool reached(unsigned n, unsigned max)
{
	return max > 0 && n >= max;
}

/* One address pays from its own bucket first: it cannot empty that of all by knocking.  When that
 * of all is empty, who was not let in lately has another, so that a flood from some hundred
 * addresses leaves a node its way in. */
static bool pay(struct node_gate *g, struct node_gate_addr *a, int64_t now_ms)
{
	bool late = g->first.per_s == 0 || (a->let_in_ms != 0 && now_ms < a->let_in_ms + LATELY_MS);

	a->seen_ms = now_ms;
	if (!bucket_take(&a->accepts, now_ms))
		return false;
	if (!bucket_take(&g->accepts, now_ms) && (late || !bucket_take(&g->first, now_ms)))
		return false;
	a->let_in_ms = now_ms;
	return true;
}

/* Whoever is too many goes only for a newcomer who has paid, so nobody is driven out faster than
 * the rates. */
enum node_gate_word node_gate_knock(struct node_gate *g, const struct node_gate_key *k,
				    int64_t now_ms, struct node_gate_conn **out)
{
	struct node_gate_key key = site(k);
	struct node_gate_addr *a = take(g, &key, now_ms);

	*out = NULL;
	if (a == NULL || (reached(g->conns, g->o.max_conns) && g->strangers == NULL))
		return NODE_GATE_FULL;
	if (!pay(g, a, now_ms))
		return NODE_GATE_RATE;
	if (reached(a->strangers, g->o.max_per_addr))
		*out = oldest(g, a);
	else if (reached(g->nstrangers, g->o.max_strangers) || reached(g->conns, g->o.max_conns))
		*out = oldest(g, NULL);
	if (*out != NULL)
		node_gate_leave(g, *out, now_ms);
	return NODE_GATE_OPEN;
}

void node_gate_enter(struct node_gate *g, struct node_gate_conn *c, const struct node_gate_key *k,
		     int64_t now_ms)
{
	struct node_gate_key key = site(k);

	c->from = take(g, &key, now_ms);
	if (c->from == NULL)
		c->from = &g->rest;
	g->conns++;
	c->from->conns++;
	add_stranger(g, c);
}

static void leave_address(struct node_gate_conn *c, int64_t now_ms)
{
	c->from->conns--;
	c->from->seen_ms = now_ms;
	c->from = NULL;
}

static void del_known(struct node_gate_conn *c)
{
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
}

void node_gate_leave(struct node_gate *g, struct node_gate_conn *c, int64_t now_ms)
{
	if (c->state == NODE_GATE_GONE)
		return;
	if (c->state == NODE_GATE_STRANGER)
		del_stranger(g, c);
	else if (c->state == NODE_GATE_KNOWN)
		del_known(c);
	if (c->from != NULL)
		leave_address(c, now_ms);
	g->conns--;
	c->state = NODE_GATE_GONE;
}

void node_gate_hold(struct node_gate *g, struct node_gate_conn *c, bool held)
{
	if (held && c->state == NODE_GATE_STRANGER) {
		del_stranger(g, c);
		c->state = NODE_GATE_HELD;
	} else if (!held && c->state == NODE_GATE_HELD) {
		add_stranger(g, c);
	}
}

static unsigned place_of(const struct node_gate *g, const uint8_t spki[NODE_GATE_SPKI])
{
	return hash_of(g, spki, NODE_GATE_SPKI) % KEYS;
}

struct node_gate_conn *node_gate_know(struct node_gate *g, struct node_gate_conn *c,
				      const uint8_t spki[NODE_GATE_SPKI], int64_t now_ms)
{
	struct node_gate_conn **place = &g->keys[place_of(g, spki)], *last = NULL;
	unsigned n = 0;

	if (c->state != NODE_GATE_STRANGER)
		return NULL;
	del_stranger(g, c);
	leave_address(c, now_ms);
	c->state = NODE_GATE_KNOWN;
	memcpy(c->spki, spki, NODE_GATE_SPKI);
	for (struct node_gate_conn *o = *place; o != NULL; o = o->next)
		if (memcmp(o->spki, spki, NODE_GATE_SPKI) == 0) {
			last = o;
			n++;
		}
	c->next = *place;
	c->prev = place;
	if (c->next != NULL)
		c->next->prev = &c->next;
	*place = c;
	if (last == NULL || !reached(n, g->o.max_per_key))
		return NULL;
	node_gate_leave(g, last, now_ms);
	return last;
}

bool node_gate_ask(struct node_gate *g, struct node_gate_conn *c, int64_t now_ms)
{
	if (c->state == NODE_GATE_KNOWN)
		return bucket_take(&g->key_asks[place_of(g, c->spki)], now_ms);
	return c->from != NULL && bucket_take(&c->from->asks, now_ms);
}

unsigned node_gate_conns(const struct node_gate *g)
{
	return g->conns;
}

unsigned node_gate_strangers(const struct node_gate *g)
{
	return g->nstrangers;
}
