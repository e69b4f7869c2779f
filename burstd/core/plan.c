#include "core/plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"

#define PLAN_WAITS UINT32_MAX /* group of a node that was decided to wait */

struct planner { /* the pools as they will be with what was decided so far */
	struct plan *plan;
	const struct conf *conf;
	const struct fleet *fleet;
	const int64_t *price;
	struct {
		uint64_t nodes;
		int64_t rate;
	} * used;
};

/* Does `more` nodes of pool i fit, given that `leaving` of its sums may be left out? */
static bool fits(const struct planner *pl, uint32_t i, uint64_t more, bool leaving)
{
	const struct conf_pool *c = &pl->conf->pools[i];
	const struct fleet_pool *fp = &pl->fleet->pools[i];
	uint64_t nodes = pl->used[i].nodes + more - (leaving ? fp->leaving : 0);
	int64_t rate = pl->used[i].rate - (leaving ? fp->leaving_nano_h : 0);

	if (nodes > c->max_nodes)
		return false;
	if (more > 0 && pl->price[i] > (c->max_rate_nano_h - rate) / (int64_t)more)
		return false;
	return true;
}

void plan_explain(const struct plan_node *pn, const struct conf *c, char *out, size_t size)
{
	const struct conf_pool *p = &c->pools[pn->full];
	char rate[FMT_MONEY_SIZE];

	if (pn->by_rate)
		(void)snprintf(out, size, "pool %s: max_rate %s %s/h reached", p->name,
			       fmt_money(rate, p->max_rate_nano_h), c->currency);
	else
		(void)snprintf(out, size, "pool %s: max_nodes %u reached", p->name, p->max_nodes);
}

/* What to do with `more[i]` new nodes in each pool, together; *full: the pool that refuses them. */
static enum plan_verdict judge(const struct planner *pl, const uint32_t *more, uint32_t *full)
{
	enum plan_verdict v = PLAN_BUY;

	for (uint32_t i = 0; i < pl->conf->npools; i++) {
		if (more[i] == 0)
			continue;
		if (!fits(pl, i, more[i], true)) {
			*full = i;
			return PLAN_REFUSE;
		}
		if (pl->price[i] == 0 || !fits(pl, i, more[i], false))
			v = PLAN_WAIT;
	}
	return v;
}

/* A set that shares a node with one that was decided shares its fate; *like: that node. */
static enum plan_verdict shared(const struct planner *pl, const uint32_t *nodes, size_t n,
				const struct plan_node **like)
{
	enum plan_verdict v = PLAN_BUY;

	for (size_t k = 0; k < n; k++) {
		const struct plan_node *pn = &pl->plan->nodes[nodes[k]];

		if (pn->verdict == PLAN_REFUSE) {
			*like = pn;
			return PLAN_REFUSE;
		}
		if (pn->verdict == PLAN_WAIT && pn->group == PLAN_WAITS)
			v = PLAN_WAIT;
	}
	return v;
}

/* Give all of a set that are undecided the verdict v, with what goes with it. */
static void apply(struct planner *pl, const uint32_t *nodes, size_t n, enum plan_verdict v,
		  const struct plan_node *with)
{
	for (size_t k = 0; k < n; k++) {
		struct plan_node *pn = &pl->plan->nodes[nodes[k]];

		if (pn->verdict != PLAN_WAIT || pn->group != 0)
			continue;
		pn->verdict = v;
		pn->full = with->full;
		pn->by_rate = with->by_rate;
		if (v == PLAN_BUY) {
			pl->used[pn->pool].nodes++;
			pl->used[pn->pool].rate += pl->price[pn->pool];
			pn->group = with->group;
		} else if (v == PLAN_WAIT) {
			pn->group = PLAN_WAITS;
		}
	}
}

/* Decide for one set of nodes, whole; `more` is scratch, one per pool, zero before and after. */
static void decide(struct planner *pl, const uint32_t *nodes, size_t n, uint32_t *more)
{
	struct plan_node *all = pl->plan->nodes, verdict = {0};
	const struct plan_node *like = NULL;
	enum plan_verdict v = shared(pl, nodes, n, &like);
	size_t lacking = 0;

	for (size_t k = 0; k < n; k++)
		if (all[nodes[k]].verdict == PLAN_WAIT && all[nodes[k]].group == 0) {
			more[all[nodes[k]].pool]++;
			lacking++;
		}
	if (v == PLAN_BUY && lacking > 0) {
		v = judge(pl, more, &verdict.full);
		verdict.by_rate =
			v == PLAN_REFUSE && pl->used[verdict.full].nodes + more[verdict.full] <=
						    pl->conf->pools[verdict.full].max_nodes;
	}
	if (v == PLAN_BUY && lacking > 1)
		verdict.group = ++pl->plan->groups;
	apply(pl, nodes, n, v, like != NULL ? like : &verdict);
	for (size_t k = 0; k < n; k++)
		more[all[nodes[k]].pool] = 0;
}

static void classify(struct planner *pl, const struct demand *d)
{
	for (size_t i = 0; i < pl->plan->n; i++) {
		struct plan_node *pn = &pl->plan->nodes[i];
		const char *name = demand_name(d, i);
		const struct conf_pool *pool = conf_pool_of(pl->conf, name);

		if (pool == NULL || (uintptr_t)map_get(&d->index, name) != i + 1)
			continue; /* SKIP: not ours, or a repeat */
		pn->pool = conf_pool_index(pl->conf, pool);
		pn->name = fleet_find(pl->fleet, name);
		pn->verdict =
			pn->name != NULL && fleet_live(pn->name) != NULL ? PLAN_HAVE : PLAN_WAIT;
	}
}

void plan_make(struct plan *p, const struct demand *d, const struct conf *c, const struct fleet *f,
	       const int64_t *price)
{
	struct planner pl = {.plan = p, .conf = c, .fleet = f, .price = price};
	uint32_t *more = mem_zalloc((c->npools + 1) * sizeof(*more));

	*p = (struct plan){.n = demand_count(d)};
	p->nodes = mem_zalloc((p->n + 1) * sizeof(*p->nodes));
	pl.used = mem_zalloc((c->npools + 1) * sizeof(*pl.used));
	for (size_t i = 0; i < c->npools; i++) {
		pl.used[i].nodes = f->pools[i].nodes;
		pl.used[i].rate = f->pools[i].rate_nano_h;
	}
	classify(&pl, d);
	for (size_t j = 0; j < d->njobs; j++)
		decide(&pl, d->jobs[j].nodes, d->jobs[j].n, more);
	for (uint32_t i = 0; i < p->n; i++) /* nodes of no job: an admin's POWER_UP */
		decide(&pl, &i, 1, more);
	free(more);
	free(pl.used);
}

void plan_fini(struct plan *p)
{
	free(p->nodes);
	*p = (struct plan){0};
}
