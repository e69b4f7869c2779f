/* fuzz_core.c - the core as a whole: bytes are events, and what must hold is asserted after each.
 *
 * Two pools of four nodes.  An event is an instance of a node that goes one step (node_step), a
 * call that is planned and bought (demand, plan, fleet), or a restart.  The cloud is not simulated:
 * any event may come in any state, as a cloud that lies would have it. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "core/demand.h"
#include "core/fleet.h"
#include "core/plan.h"
#include "tests/unit/core/two_pools.h"

enum { POOLS = 2, PER_POOL = 4, GENS_MAX = 64, TOKEN_MS = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	const uint8_t *p, *end;
	struct conf *conf;
	struct fleet fleet;
	int64_t now;
	uint64_t batch, gens;
	struct node_limits lim[POOLS];
};

static unsigned byte(struct world *w)
{
	return w->p < w->end ? *w->p++ : 0;
}

/* --- one node ----------------------------------------------------------------------------------
 */

static struct provider_instance make_instance(struct world *w, const struct node *n)
{
	struct provider_instance in = {.gen = n->gen};
	unsigned b = byte(w);

	in.state = (enum provider_state)(b % (PROVIDER_ENDED + 1));
	(void)snprintf(in.id, sizeof(in.id), "i-%s-%u", n->name, (unsigned)n->gen + (b >> 7));
	if (b & 0x40)
		(void)snprintf(in.addr, sizeof(in.addr), "10.0.0.%u", byte(w));
	if (b & 0x20)
		in.created_ms = w->now + (int64_t)byte(w) * 1000 - 100000;
	if (b & 0x10)
		in.ended_ms = w->now + (int64_t)byte(w) * 1000 - 100000;
	return in;
}

/* What no event may do to a generation, whatever it says. */
static void check_step(const struct node *a, const struct node *b, const struct node_event *ev)
{
	assert(strcmp(a->name, b->name) == 0 && a->gen == b->gen && a->pool == b->pool);
	assert(a->rate_nano_h == b->rate_nano_h && a->job == b->job);
	assert(!a->release || b->release);
	/* I5: the batch is fixed from the first sending on, until it is proved not sent. */
	assert(a->batch == 0 || a->batch == b->batch ||
	       (ev->type == NODE_EV_NOTSENT && b->state == NODE_WANTED && b->batch == 0));
	/* I9: gone is proved by an end, by absence from two lists, or was never anything. */
	if (b->state == NODE_GONE && a->state != NODE_GONE)
		assert((ev->type == NODE_EV_SEEN && ev->instance->state == PROVIDER_ENDED) ||
		       (ev->type == NODE_EV_CREATED && ev->instance->state == PROVIDER_ENDED) ||
		       (ev->type == NODE_EV_ABSENT && a->misses > 0) || a->state == NODE_WANTED ||
		       (a->state == NODE_CREATING &&
			(ev->type == NODE_EV_REFUSED || ev->type == NODE_EV_NOTSENT)));
	/* I18: a node that is up goes for a reason. */
	if (a->state == NODE_READY && b->state == NODE_DELETING)
		assert(b->release);
	if (a->state == NODE_GONE && b->state != NODE_GONE) /* F3 */
		assert(b->state == NODE_DELETING);
	assert(b->state != NODE_DELETING || b->release);
	assert(b->state != NODE_READY || b->instance[0] != '\0');
	assert(b->start_ms == 0 || b->end_ms == 0 || b->end_ms >= b->start_ms);
	assert(b->state == NODE_GONE || b->state == NODE_READY || b->state == NODE_CREATING ||
	       b->state == NODE_DRAINING || b->wake_ms != INT64_MAX);
}

static void check_want(const struct node *n, int64_t now, const struct node_limits *lim)
{
	enum node_want want = node_want(n, now, lim);

	assert(want == node_want(n, now, lim));
	if (want == NODE_WANT_CREATE) {
		assert(n->state == NODE_WANTED || n->state == NODE_INDOUBT);
		/* I6, I7: again only with a token that the provider still knows. */
		assert(n->state == NODE_WANTED ||
		       (lim->tokens && now - n->sent_ms <= lim->token_ms && !n->release));
	}
	assert(want != NODE_WANT_DELETE || (n->state == NODE_DELETING && n->instance[0] != '\0'));
}

static void step(struct world *w, struct fleet_node *fn, enum node_event_type type)
{
	struct node before = fn->n, *next = fleet_stage(fn);
	struct provider_instance in;
	struct node_event ev = {.type = type, .now_ms = w->now};
	const struct node_limits *lim = &w->lim[fn->n.pool];
	bool changed;

	if (type == NODE_EV_START) {
		if (node_want(&fn->n, w->now, lim) != NODE_WANT_CREATE ||
		    !fleet_clear(fn, lim->tokens))
			type = ev.type = NODE_EV_TIMER; /* the engine sends only what is wanted */
		ev.batch = ++w->batch;
	}
	if (type == NODE_EV_CREATED || type == NODE_EV_SEEN) {
		in = make_instance(w, &fn->n);
		ev.instance = &in;
	}
	if (type == NODE_EV_ABSENT)
		ev.list_ms = w->now - (int64_t)byte(w) * 100;
	if (type == NODE_EV_REFUSED || type == NODE_EV_RELEASE)
		ev.reason = (enum node_reason)(1 + byte(w) % (NODE_NREASONS - 1));
	if (type == NODE_EV_NOTSENT || type == NODE_EV_DELETE_FAILED)
		ev.retry_ms = byte(w) & 1 ? w->now + (int64_t)byte(w) * 1000 : 0;
	changed = node_step(next, &ev, lim);
	assert(changed || memcmp(&before, next, sizeof(before)) == 0);
	check_step(&before, next, &ev);
	fleet_publish(&w->fleet, fn);
	for (int64_t later = 0; later <= 200000; later += 50000)
		check_want(&fn->n, w->now + later, lim);
}

/* --- all of them -------------------------------------------------------------------------------
 */

/* The sums are those of the rows, and the lists hold every row once. */
static void check_fleet(const struct fleet *f)
{
	struct fleet_pool sum[POOLS];
	size_t listed = 0, rows = 0;

	memset(sum, 0, sizeof(sum));
	for (size_t i = 0; i < f->nall; i++)
		for (const struct fleet_node *fn = f->all[i]->newest; fn != NULL; fn = fn->older) {
			struct fleet_pool *p = &sum[fn->n.pool];

			rows++;
			p->count[fn->n.state]++;
			assert(fn->n.gen <= f->all[i]->last_gen && fn->n.wake_ms >= f->wake_ms);
			assert(fn->older == NULL || fn->older->n.gen < fn->n.gen);
			if (!node_counts(&fn->n))
				continue;
			p->nodes++;
			p->rate_nano_h += fn->n.rate_nano_h;
			p->leaving += fn->n.state == NODE_DELETING && fn->n.accepted;
		}
	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = f->states[s]; fn != NULL; fn = fn->state_next) {
			listed++;
			assert(fn->n.state == (enum node_state)s && *fn->state_prev == fn);
		}
	assert(listed == rows);
	for (size_t i = 0; i < POOLS; i++) {
		assert(memcmp(sum[i].count, f->pools[i].count, sizeof(sum[i].count)) == 0);
		assert(sum[i].nodes == f->pools[i].nodes && sum[i].leaving == f->pools[i].leaving);
		assert(sum[i].rate_nano_h == f->pools[i].rate_nano_h);
	}
}

static struct fleet_node *pick(struct world *w)
{
	size_t rows = 0, k;

	for (size_t i = 0; i < w->fleet.nall; i++)
		for (struct fleet_node *fn = w->fleet.all[i]->newest; fn != NULL; fn = fn->older)
			rows++;
	if (rows == 0)
		return NULL;
	k = byte(w) % rows;
	for (size_t i = 0; i < w->fleet.nall; i++)
		for (struct fleet_node *fn = w->fleet.all[i]->newest; fn != NULL; fn = fn->older)
			if (k-- == 0)
				return fn;
	return NULL;
}

/* --- a call ------------------------------------------------------------------------------------
 */

/* A job whole or not at all: what it lacks has one verdict. */
static void check_jobs(const struct demand *d, const struct plan *p)
{
	for (size_t j = 0; j < d->njobs; j++) {
		bool buys = false, lacks = false;

		for (size_t k = 0; k < d->jobs[j].n; k++) {
			enum plan_verdict v = p->nodes[d->jobs[j].nodes[k]].verdict;

			/* Another job that has the node too may have had it decided. */
			buys = buys || (v == PLAN_BUY &&
					p->nodes[d->jobs[j].nodes[k]].job == d->jobs[j].id);
			lacks = lacks || v == PLAN_REFUSE || v == PLAN_WAIT;
		}
		assert(!buys || !lacks);
	}
}

static void buy(struct world *w, const struct demand *d, const struct plan *p,
		const struct plan_pool *pools)
{
	bool bought[POOLS] = {false};

	for (size_t i = 0; i < p->n; i++) {
		const struct plan_node *pn = &p->nodes[i];
		struct fleet_name *nm;
		struct node n;

		if (pn->verdict != PLAN_BUY)
			continue;
		bought[pn->pool] = true;
		assert(pools[pn->pool].blocked == NULL && pn->price > 0);
		assert(pn->group <= p->groups);
		if (++w->gens > GENS_MAX)
			continue;
		nm = fleet_name(&w->fleet, demand_name(d, i), pn->pool);
		assert(fleet_live(nm) == NULL); /* I3, F46 */
		node_init(&n, nm->name, nm->last_gen + 1, w->now);
		n.pool = pn->pool;
		n.group = pn->group;
		n.rate_nano_h = pn->price;
		(void)fleet_add(&w->fleet, &n);
	}
	for (size_t i = 0; i < POOLS; i++) { /* I21; what comes back from the dead is not bought */
		const struct fleet_pool *fp = &w->fleet.pools[i];

		if (!bought[i])
			continue;
		assert(fp->nodes <= w->conf->pools[i].max_nodes);
		assert(fp->rate_nano_h <= w->conf->pools[i].max_rate_nano_h);
	}
}

static void call(struct world *w)
{
	static const char *const lists[] = {"a[1-4]", "a1",       "a[1-2],b[3-4]",
					    "b[1-4]", "b2,c1,a3", "a[1-4],b[1-4]"};
	const char *list = lists[byte(w) % 6];
	const int64_t prices[] = {10 * FMT_NANO, 0, 30 * FMT_NANO, 10 * FMT_NANO};
	unsigned how = byte(w);
	struct ladder_known known[POOLS] = {{.price = prices[how & 3]},
					    {.price = prices[how >> 2 & 3]}};
	struct plan_pool pools[POOLS] = {{.known = &known[0],
					  .blocked = how & 0x40 ? "paused" : NULL,
					  .probes = how & 0x10 ? "one" : NULL},
					 {.known = &known[1],
					  .blocked = how & 0x80 ? "paused" : NULL,
					  .probes = how & 0x20 ? "one" : NULL}};
	struct demand d;
	struct plan p;

	if (demand_init(&d, list, strlen(list), NULL) != 0)
		abort();
	for (unsigned j = how >> 4 & 3; j > 0; j--) {
		const char *job = lists[byte(w) % 6];

		(void)demand_add_job(&d, j, job, strlen(job), NULL);
	}
	known[0].cool.state = (enum cooldown_state)(how % 7 % (COOLDOWN_DENIED + 1));
	plan_make(&p, &(struct plan_ask){.demand = &d,
					 .conf = w->conf,
					 .fleet = &w->fleet,
					 .pools = pools,
					 .now_ms = w->now});
	for (size_t i = 0; i < p.n; i++)
		assert((p.nodes[i].verdict == PLAN_SKIP) ==
		       (conf_pool_of(w->conf, demand_name(&d, i)) == NULL));
	check_jobs(&d, &p);
	buy(w, &d, &p, pools);
	plan_fini(&p);
	demand_fini(&d);
}

static void forget(struct world *w)
{
	struct fleet_node *fn = pick(w);

	if (fn != NULL && fn->n.state == NODE_GONE)
		fleet_del(&w->fleet, fn);
}

static void restart(struct world *w)
{
	w->now += (int64_t)byte(w) * 1000 - 20000; /* a clock may have been set back (F57) */
	for (size_t i = 0; i < w->fleet.nall; i++)
		for (struct fleet_node *fn = w->fleet.all[i]->newest; fn != NULL; fn = fn->older) {
			step(w, fn, NODE_EV_RESTART);
			assert(fn->n.state != NODE_CREATING);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nodes[POOLS] = {"a[1-4]", "b[1-4]"};
	struct world w = {.p = data, .end = data + size, .now = 1000000};
	unsigned how = byte(&w);

	w.conf = two_pools(nodes, 1 + (how & 7), 10 * (1 + (how >> 3 & 7)));
	fleet_init(&w.fleet, POOLS);
	for (size_t i = 0; i < POOLS; i++)
		w.lim[i] = (struct node_limits){.tokens = (how >> (6 + i) & 1) != 0,
						.settle_ms = i == 0 ? 60000 : 0,
						.token_ms = TOKEN_MS,
						.boot_ms = 600000};
	while (w.p < w.end) {
		unsigned what = byte(&w);
		struct fleet_node *fn;

		w.now += (int64_t)(what >> 4) * (what >> 4) * 500;
		switch (what & 15) {
		case 14:
			call(&w);
			break;
		case 15:
			if (byte(&w) & 1)
				restart(&w);
			else
				forget(&w);
			break;
		default:
			fn = pick(&w);
			if (fn != NULL)
				step(&w, fn, (enum node_event_type)((what & 15) % NODE_EV_NTYPES));
			break;
		}
		check_fleet(&w.fleet);
	}
	fleet_fini(&w.fleet);
	conf_free(w.conf);
	return 0;
}
