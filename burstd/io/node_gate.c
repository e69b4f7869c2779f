#include "io/node_gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/bucket.h"

enum {
	SETS = 1024, /* sets of ... */
	WAYS = 8,    /* addresses each: 1 MiB in all */
	KEYS = 4096, /* slots for keys: some nodes of ten thousand share one, and its bucket */
	LATELY_MS = 5000,
	FIRST_SHARE = 4, /* a quarter of all accepts */
	NET_ADDRS = 2,   /* an unknown network has the accepts of two addresses ... */
	NET_REST = 8,    /* ... and a known one all but an eighth of all accepts */
	NET_ASKS = 4,    /* ... and the requests of four addresses: more than one for each accept */
};

struct share {
	struct bucket all, first; /* first: for addresses that were not let in lately */
};

struct node_gate_addr { /* the entry of an address, or of a network */
	struct node_gate_key key;
	bool is_net;
	bool known;                 /* of a network: a good certificate was shown there */
	struct node_gate_addr *net; /* of an address: valid while it has connections; NULL: IPv4 */
	struct share accepts;       /* an address uses only `all` */
	struct bucket asks;
	int64_t seen_ms;           /* 0: free */
	int64_t let_in_ms;         /* 0: not yet */
	unsigned conns, strangers; /* conns: held ones too */
};

struct node_gate {
	struct node_gate_opts o;
	struct share accepts;
	uint64_t seed;
	unsigned conns, nstrangers;
	struct node_gate_conn *strangers, **last; /* oldest first */
	struct node_gate_conn *keys[KEYS];        /* newest first */
	struct bucket key_asks[KEYS];
	struct node_gate_addr rest; /* entry for connections whose address lost its own meanwhile */
	struct node_gate_addr sets[SETS][WAYS];
};

static void share_init(struct share *s, uint32_t per_s, int64_t now_ms)
{
	bucket_init(&s->all, per_s - per_s / FIRST_SHARE, now_ms);
	bucket_init(&s->first, per_s / FIRST_SHARE, now_ms);
}

static bool share_has(const struct share *s, bool late, int64_t now_ms)
{
	return bucket_has(&s->all, now_ms) > 0 ||
	       (!late && s->first.gains > 0 && bucket_has(&s->first, now_ms) > 0);
}

static bool share_take(struct share *s, bool late, int64_t now_ms)
{
	return share_has(s, late, now_ms) &&
	       (bucket_take(&s->all, now_ms) || bucket_take(&s->first, now_ms));
}

struct node_gate *node_gate_new(const struct node_gate_opts *o, uint64_t seed, int64_t now_ms)
{
	struct node_gate *g = mem_zalloc(sizeof(*g));

	g->o = *o;
	g->seed = seed;
	g->last = &g->strangers;
	share_init(&g->accepts, o->accepts_per_s, now_ms);
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

static bool is_four(const struct node_gate_key *k)
{
	static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(k->octet, four, sizeof(four)) == 0;
}

/* The network (/64) of an IPv6 address, whose owner can often choose the lower half, and so have
 * all addresses of the network. */
static struct node_gate_key net_of(const struct node_gate_key *k)
{
	struct node_gate_key out = *k;

	memset(out.octet + 8, 0, 8);
	return out;
}

/* Seeded, so that nobody can choose an address, or a key, that shares a slot with somebody else's.
 */
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

static struct node_gate_addr *find(struct node_gate *g, const struct node_gate_key *k, bool is_net)
{
	struct node_gate_addr *set = set_of(g, k);

	for (int i = 0; i < WAYS; i++)
		if (set[i].seen_ms != 0 && set[i].is_net == is_net &&
		    memcmp(&set[i].key, k, sizeof(*k)) == 0)
			return &set[i];
	return NULL;
}

static void begin(const struct node_gate *g, struct node_gate_addr *a, int64_t now_ms)
{
	const struct node_gate_opts *o = &g->o;

	if (a->is_net)
		share_init(&a->accepts, NET_ADDRS * o->accepts_per_addr_s, now_ms);
	else
		bucket_init(&a->accepts.all, o->accepts_per_addr_s, now_ms);
	bucket_init(&a->asks, (a->is_net ? NET_ASKS : 1) * o->asks_per_addr_s, now_ms);
}

/* The address's entry, a free one, or the one unused longest; NULL: all have connections. */
static struct node_gate_addr *take(struct node_gate *g, const struct node_gate_key *k, bool is_net,
				   int64_t now_ms)
{
	struct node_gate_addr *set = set_of(g, k), *a = find(g, k, is_net), *best = NULL;

	if (a != NULL)
		return a;
	for (int i = 0; i < WAYS; i++)
		if (set[i].conns == 0 && (best == NULL || set[i].seen_ms < best->seen_ms))
			best = &set[i];
	if (best == NULL)
		return NULL;
	*best = (struct node_gate_addr){.key = *k, .is_net = is_net, .seen_ms = now_ms};
	begin(g, best, now_ms);
	return best;
}

/* The same for an address and its network. */
static struct node_gate_addr *take_both(struct node_gate *g, const struct node_gate_key *k,
					int64_t now_ms)
{
	struct node_gate_key net_key = net_of(k);
	struct node_gate_addr *net, *a;

	if (is_four(k))
		return take(g, k, false, now_ms);
	net = take(g, &net_key, true, now_ms);
	if (net == NULL)
		return NULL;
	net->seen_ms = now_ms;
	net->conns++; /* so that its address cannot take this entry */
	a = take(g, k, false, now_ms);
	net->conns--;
	if (a != NULL)
		a->net = net;
	return a;
}

/* Has the network used up its accepts, and the address no entry yet?  Then it gets none, or one
 * network could push out all other entries. */
static bool is_in_vain(struct node_gate *g, const struct node_gate_key *k, int64_t now_ms)
{
	struct node_gate_key net_key = net_of(k);
	const struct node_gate_addr *net = is_four(k) ? NULL : find(g, &net_key, true);

	return net != NULL && !share_has(&net->accepts, false, now_ms) && find(g, k, false) == NULL;
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

/* Take from the address's own bucket first, so that one address cannot empty those of its network
 * and of all by knocking.  When one of these is empty, addresses that were not let in lately have
 * another, so that a flood from some hundred addresses leaves a node its way in. */
static bool pay(struct node_gate *g, struct node_gate_addr *a, int64_t now_ms)
{
	bool late = a->let_in_ms != 0 && now_ms < a->let_in_ms + LATELY_MS;

	a->seen_ms = now_ms;
	if (!bucket_take(&a->accepts.all, now_ms) ||
	    (a->net != NULL && !share_take(&a->net->accepts, late, now_ms)) ||
	    !share_take(&g->accepts, late, now_ms))
		return false;
	a->let_in_ms = now_ms;
	return true;
}

/* A connection is closed only for a newcomer who has paid, so nobody is driven out faster than the
 * rates. */
enum node_gate_word node_gate_knock(struct node_gate *g, const struct node_gate_key *k,
				    int64_t now_ms, struct node_gate_conn **out)
{
	struct node_gate_addr *a;

	*out = NULL;
	if (is_in_vain(g, k, now_ms))
		return NODE_GATE_RATE;
	a = take_both(g, k, now_ms);
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
	c->from = take_both(g, k, now_ms);
	if (c->from == NULL)
		c->from = &g->rest;
	g->conns++;
	c->from->conns++;
	if (c->from->net != NULL)
		c->from->net->conns++;
	add_stranger(g, c);
}

static void leave_address(struct node_gate_conn *c, int64_t now_ms)
{
	c->from->conns--;
	c->from->seen_ms = now_ms;
	if (c->from->net != NULL)
		c->from->net->conns--;
	c->from = NULL;
}

/* Raise the limits of a network where a node of ours is: there may be thousands.  After a restart
 * the first one is enough. */
static void know_net(const struct node_gate *g, struct node_gate_addr *net, int64_t now_ms)
{
	if (net == NULL || net->known)
		return;
	net->known = true;
	share_init(&net->accepts, g->o.accepts_per_s - g->o.accepts_per_s / NET_REST, now_ms);
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
	know_net(g, c->from->net, now_ms);
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
	return c->from != NULL && bucket_take(&c->from->asks, now_ms) &&
	       (c->from->net == NULL || bucket_take(&c->from->net->asks, now_ms));
}

unsigned node_gate_conns(const struct node_gate *g)
{
	return g->conns;
}

unsigned node_gate_strangers(const struct node_gate *g)
{
	return g->nstrangers;
}
