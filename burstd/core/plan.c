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
	const struct plan_pool *pools;
	struct {
		uint64_t nodes, bought;
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
	if (more > 0 && pl->pools[i].price > (c->max_rate_nano_h - rate) / (int64_t)more)
		return false;
	return true;
}

void plan_explain(const struct plan_node *pn, const struct conf *c, const struct plan_pool *pools,
		  char *out, size_t size)
{
	const struct conf_pool *p = &c->pools[pn->full];
	char rate[FMT_MONEY_SIZE];

	switch (pn->cause) {
	case PLAN_STUCK:
		(void)snprintf(out, size, "pool %s: an earlier instance of the node is quarantined",
			       p->name);
		break;
	case PLAN_MAX_RATE:
		(void)snprintf(out, size, "pool %s: max_rate %s %s/h reached", p->name,
			       fmt_money(rate, p->max_rate_nano_h), c->currency);
		break;
	case PLAN_RESTS:
		(void)snprintf(out, size, "pool %s: a node of the job did not come up, and rests",
			       p->name);
		break;
	case PLAN_CLOSED:
		(void)snprintf(out, size, "pool %s: %s", p->name, pools[pn->full].closed);
		break;
	case PLAN_PROBES:
		(void)snprintf(out, size, "pool %s: %s", p->name, pools[pn->full].probes);
		break;
	default:
		(void)snprintf(out, size, "pool %s: max_nodes %u reached", p->name, p->max_nodes);
		break;
	}
}

struct fate { /* what is decided for a set of nodes, whole */
	enum plan_verdict verdict;
	enum plan_cause cause;
	uint32_t group, full;
	uint64_t job;
};

static struct fate no(enum plan_cause cause, uint32_t pool)
{
	return (struct fate){.verdict = PLAN_REFUSE, .cause = cause, .full = pool};
}

/* What to do with `more[i]` new nodes in each pool, together. */
static struct fate judge(const struct planner *pl, const uint32_t *more)
{
	struct fate f = {.verdict = PLAN_BUY};

	for (uint32_t i = 0; i < pl->conf->npools; i++) {
		if (more[i] == 0)
			continue;
		if (pl->pools[i].closed != NULL)
			return no(PLAN_CLOSED, i);
		if (pl->pools[i].probes != NULL && pl->used[i].bought > 0)
			return no(PLAN_PROBES, i);
		if (!fits(pl, i, more[i], true))
			return no(pl->used[i].nodes + more[i] <= pl->conf->pools[i].max_nodes
					  ? PLAN_MAX_RATE
					  : PLAN_MAX_NODES,
				  i);
		if (pl->pools[i].price == 0 || !fits(pl, i, more[i], false))
			f.verdict = PLAN_WAIT;
	}
	return f;
}

/* A set that shares a node with one that was decided shares its fate. */
static struct fate shared(const struct planner *pl, const uint32_t *nodes, size_t n)
{
	struct fate f = {.verdict = PLAN_BUY};

	for (size_t k = 0; k < n; k++) {
		const struct plan_node *pn = &pl->plan->nodes[nodes[k]];

		if (pn->verdict == PLAN_REFUSE)
			return no(pn->cause, pn->full);
		if (pn->verdict == PLAN_WAIT && pn->group == PLAN_WAITS)
			f.verdict = PLAN_WAIT;
	}
	return f;
}

static bool undecided(const struct plan_node *pn)
{
	return pn->verdict == PLAN_WAIT && pn->group == 0;
}

static void apply(struct planner *pl, struct plan_node *pn, struct fate f)
{
	pn->verdict = f.verdict;
	pn->full = f.full;
	pn->job = f.job;
	pn->cause = f.cause;
	pn->group = f.verdict == PLAN_WAIT ? PLAN_WAITS : f.group;
	if (f.verdict != PLAN_BUY)
		return;
	pl->used[pn->pool].nodes++;
	pl->used[pn->pool].bought++;
	pl->used[pn->pool].rate += pl->pools[pn->pool].price;
}

/* Decide for one set of nodes, whole; `more` is scratch, one per pool, zero before and after. */
static void decide(struct planner *pl, const uint32_t *nodes, size_t n, uint64_t job,
		   uint32_t *more)
{
	struct plan_node *all = pl->plan->nodes;
	struct fate f = shared(pl, nodes, n);
	size_t lacking = 0;

	for (size_t k = 0; k < n; k++)
		if (undecided(&all[nodes[k]])) {
			more[all[nodes[k]].pool]++;
			lacking++;
		}
	if (lacking == 0)
		return;
	if (f.verdict == PLAN_BUY)
		f = judge(pl, more);
	f.job = job;
	if (f.verdict == PLAN_BUY && lacking > 1)
		f.group = ++pl->plan->groups;
	for (size_t k = 0; k < n; k++) {
		more[all[nodes[k]].pool] = 0;
		if (undecided(&all[nodes[k]]))
			apply(pl, &all[nodes[k]], f);
	}
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
		if (pn->verdict != PLAN_WAIT || pn->name == NULL ||
		    (!fleet_stuck(pn->name) && pn->name->rests_ms == 0))
			continue;
		pn->verdict = PLAN_REFUSE;
		pn->full = pn->pool;
		pn->cause = fleet_stuck(pn->name) ? PLAN_STUCK : PLAN_RESTS;
	}
}

void plan_make(struct plan *p, const struct demand *d, const struct conf *c, const struct fleet *f,
	       const struct plan_pool *pools)
{
	struct planner pl = {.plan = p, .conf = c, .fleet = f, .pools = pools};
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
		decide(&pl, d->jobs[j].nodes, d->jobs[j].n, d->jobs[j].id, more);
	for (uint32_t i = 0; i < p->n; i++) /* nodes of no job: an admin's POWER_UP */
		decide(&pl, &i, 1, 0, more);
	free(more);
	free(pl.used);
}

void plan_fini(struct plan *p)
{
	free(p->nodes);
	*p = (struct plan){0};
}
