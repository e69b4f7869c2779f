#include <stdlib.h>

#include "base/mem.h"
#include "buy/buy.h"
#include "cloud/cloud.h"
#include "keys/vouchers.h"

/* Finds the WANTED rows that may be sent now, in order of arrival. */

enum { WANTED_FRESH_MS = 90000 };

/* --- one, and its gang -------------------------------------------------------------------------
 */

bool wanted_is_fresh(const struct engine *e, int64_t known_ms)
{
	if (known_ms < e->poll.snapshot_ms)
		known_ms = e->poll.snapshot_ms;
	return engine_now(e) - known_ms < WANTED_FRESH_MS;
}

bool wanted_is_told(const struct engine *e, const struct node *n)
{
	if (n->wanted_ms <= e->started_ms && e->poll.snapshot_ms == 0)
		return false;
	return wanted_is_fresh(e, n->wanted_ms);
}

/* May this row be sent, apart from its gang?  Not while slurmctld does not know the node, or the
 * node rests (which it may do since the row was wanted). */
static bool sendable(struct engine *e, const struct fleet_node *fn, const bool *keyless)
{
	unsigned tagged = cloud_of(e, &fn->n)->caps.flags & (PROVIDER_TOKENS | PROVIDER_TAGS);
	struct node_limits lim;

	if (!wanted_is_told(e, &fn->n))
		return false;
	if (engine_now(e) < fn->name->rests_ms)
		return false;
	if (pool_blocked(e, fn->n.pool) != NULL || !doubt_may_send(e, &fn->n))
		return false; /* in a blocked pool it will be refused soon */
	if (vouchers_waits(e, &fn->n) || keyless[fn->n.cloud])
		return false;
	return fn->next == NULL && !fn->busy && fn->name->missing_ms == 0 &&
	       fleet_clear(fn, tagged != 0) &&
	       node_want(&fn->n, engine_now(e), engine_limits(e, &fn->n, &lim)) == NODE_WANT_CREATE;
}

/* The size of the gang that begins at fn; 0: one of its rows may not be sent yet. */
static size_t gang(struct engine *e, const struct fleet_node *fn, const bool *keyless)
{
	const struct fleet_node *k = fn;
	size_t n = 0;

	if (!sendable(e, fn, keyless))
		return 0;
	if (fn->n.group == 0)
		return 1;
	for (; k != NULL && k->n.group == fn->n.group; k = k->state_next, n++)
		if (!sendable(e, k, keyless))
			return 0;
	return n;
}

static struct fleet_node *after_gang(struct fleet_node *fn)
{
	struct fleet_node *k = fn->state_next;

	while (k != NULL && fn->n.group != 0 && k->n.group == fn->n.group)
		k = k->state_next;
	return k;
}

/* --- all of them -------------------------------------------------------------------------------
 */

bool wanted_goes(struct cloud *c)
{
	return c->listed && cloud_ready(c, PROVIDER_CREATE);
}

struct sales {              /* the answer of each place, which is asked at most once */
	unsigned char *may; /* 1 + enum place_answer; 0: not asked */
	size_t *bases;      /* bases[p]: the first of pool p */
	bool *keyless;      /* of each provider */
};

static void sales_init(struct sales *s, const struct engine *e)
{
	const struct conf *conf = e->conf;
	size_t all = 0, rungs;

	s->bases = mem_zalloc((conf->npools + 1) * sizeof(*s->bases));
	for (size_t p = 0; p < conf->npools; p++, all += rungs) {
		s->bases[p] = all;
		(void)conf_rungs(&conf->pools[p], &rungs);
	}
	s->may = mem_zalloc(all + 1);
	s->keyless = mem_zalloc((conf->nproviders + 1) * sizeof(bool));
	for (uint32_t i = 0; i < conf->nproviders; i++)
		s->keyless[i] = engine_keyless(e, i) != NULL;
}

static void sales_fini(struct sales *s)
{
	free(s->may);
	free(s->keyless);
	free(s->bases);
}

/* Rows whose offer was removed from the configuration are collected, too: launch.c refuses them. */
static enum place_answer ask(struct engine *e, const struct sales *s, const struct node *n)
{
	const struct conf_pool *p = &e->conf->pools[n->pool];
	const struct conf_offer *o = engine_offer_of(e, n);
	unsigned char *may;

	if (o == NULL)
		return PLACE_SELLS;
	may = &s->may[s->bases[n->pool] + (size_t)(o - conf_rungs(p, NULL))];
	if (*may == 0)
		*may = (unsigned char)(1 + place_would(e, o));
	return (enum place_answer)(*may - 1);
}

static bool any_goes(struct engine *e)
{
	for (size_t i = 0; i < e->conf->nproviders; i++)
		if (wanted_goes(&e->cloud->all[i]))
			return true;
	return false;
}

static struct fleet_node **room_for_all(const struct engine *e)
{
	size_t max = 1;

	for (size_t p = 0; p < e->fleet.npools; p++)
		max += e->fleet.pools[p].count[NODE_WANTED];
	return mem_zalloc(max * sizeof(struct fleet_node *));
}

struct collected {
	struct fleet_node **v;
	size_t n, refused;
};

/* Of the rows that go first, or of the others. */
static void collect(struct engine *e, const struct sales *sales, bool first, struct collected *to)
{
	struct fleet_node *fn = e->fleet.states[NODE_WANTED];

	while (fn != NULL && to->n - to->refused < e->slice.send) {
		size_t g = fn->goes_first == first ? gang(e, fn, sales->keyless) : 0;

		if (g == 0) /* a row of the gang may not be sent yet: the others wait */
			fn = after_gang(fn);
		for (; g > 0; g--, fn = fn->state_next) {
			enum place_answer may = ask(e, sales, &fn->n);

			if (!wanted_goes(cloud_of(e, &fn->n)) || may == PLACE_TELLS_SOON ||
			    (may == PLACE_SOLD_OUT && to->refused == e->slice.send))
				continue;
			to->v[to->n++] = fn;
			to->refused += may == PLACE_SOLD_OUT;
		}
	}
}

static bool any_first(const struct engine *e)
{
	const struct fleet_node *fn = e->fleet.states[NODE_WANTED];

	while (fn != NULL && !fn->goes_first)
		fn = fn->state_next;
	return fn != NULL;
}

size_t wanted_collect(struct engine *e, struct fleet_node ***out)
{
	struct collected to = {0};
	struct sales sales;

	*out = NULL;
	if (!any_goes(e))
		return 0;
	*out = to.v = room_for_all(e);
	sales_init(&sales, e);
	if (any_first(e))
		collect(e, &sales, true, &to);
	collect(e, &sales, false, &to);
	sales_fini(&sales);
	return to.n;
}

/* --- for people --------------------------------------------------------------------------------
 */

/* Creates that have begun: to be repeated, or with a fabric that is made. */
static size_t begun_queue(struct cloud *c, int64_t *oldest_ms)
{
	struct engine *e = c->e;
	size_t n = 0;

	for (const struct batch *b = e->buy->batches; b != NULL; b = b->next)
		if (b->made && &e->cloud->all[b->cloud] == c) {
			n += b->n;
			*oldest_ms = sooner(*oldest_ms, b->sent_ms);
		}
	for (const struct fleet_node *fn = e->fleet.states[NODE_INDOUBT]; fn; fn = fn->state_next) {
		struct node_limits lim;

		if (cloud_of(e, &fn->n) != c || fn->busy ||
		    node_want(&fn->n, engine_now(e), engine_limits(e, &fn->n, &lim)) !=
			    NODE_WANT_CREATE)
			continue;
		n++;
		*oldest_ms = sooner(*oldest_ms, fn->n.wanted_ms);
	}
	return n;
}

size_t wanted_queue(struct cloud *c, int64_t *oldest_ms)
{
	struct engine *e = c->e;
	struct fleet_node *fn = e->fleet.states[NODE_WANTED];
	size_t n = begun_queue(c, oldest_ms);
	struct sales sales;

	sales_init(&sales, e);
	while (fn != NULL) {
		size_t g = gang(e, fn, sales.keyless);

		if (g == 0)
			fn = after_gang(fn);
		for (; g > 0; g--, fn = fn->state_next)
			if (cloud_of(e, &fn->n) == c && ask(e, &sales, &fn->n) == PLACE_SELLS) {
				n++;
				*oldest_ms = sooner(*oldest_ms, fn->n.wanted_ms);
			}
	}
	sales_fini(&sales);
	return n;
}
