#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/refusal.h"
#include "core/warm.h"
#include "slurm/exclude.h"

/* Keeps nodes up without jobs (core/warm.h decides which).  slurmctld is asked to power them up;
 * then they are bought like any others, with plan, limits and refusals.  slurmctld must also keep
 * them: nodes that it powers down after SuspendTime would be bought again and again, so burstd only
 * wakes nodes that slurmctld will keep.
 *
 * slurmctld keeps the nodes in SuspendExcNodes.  Either burstd adds their names, which slurmctld
 * forgets when it reads slurm.conf, so that burstd adds them again when it next sees the settings.
 * Or slurm.conf has a count after the list of the pool's nodes: then names cannot be added, and
 * slurmctld itself keeps that number.
 *
 * burstd adds and removes the names of nodes in pools with `warm` or `quantum`.  Nothing of this is
 * durable: it follows from slurmctld's settings and the configuration. */

struct warm_try {
	struct refusal asked; /* how often slurmctld was asked lately */
	int64_t next_ms;      /* not before */
	uint32_t fixed;       /* the count in slurm.conf */
	bool ours;            /* burstd manages its nodes' names in SuspendExcNodes */
	struct warm_sum sum;
};

struct warm {
	struct warm_try *pools;
	size_t npools;
	bool known;               /* SuspendExcNodes is known */
	bool can;                 /* names can be added and removed there */
	bool due;                 /* something has changed */
	int64_t seen_ms, next_ms; /* the last snapshot looked at; when to look again */
};

static void warm_init(struct engine *e)
{
	e->buy->warm = mem_zalloc(sizeof(*e->buy->warm));
	e->buy->warm->next_ms = INT64_MAX;
}

static void warm_free(struct engine *e)
{
	if (e->buy->warm == NULL)
		return;
	free(e->buy->warm->pools);
	free(e->buy->warm);
}

/* The configuration or an order has changed: decide anew. */
static void warm_hurry(struct engine *e)
{
	e->buy->warm->due = true;
}

static int64_t warm_next_ms(const struct engine *e)
{
	return e->buy->warm->next_ms;
}

static void grow(struct warm *w, size_t npools)
{
	if (w->npools >= npools)
		return;
	w->pools = mem_realloc(w->pools, npools * sizeof(*w->pools));
	memset(w->pools + w->npools, 0, (npools - w->npools) * sizeof(*w->pools));
	w->npools = npools;
}

/* --- what slurmctld keeps ----------------------------------------------------------------------
 */

/* The pool of all nodes in this list; NULL: none, or several, so that it is not known whose nodes
 * slurmctld keeps. */
static struct warm_try *pool_of(struct engine *e, const struct hostlist *h)
{
	const struct fleet_name *first = fleet_find(&e->fleet, h->names[0]);

	for (size_t i = 0; i < h->n; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm == NULL || !nm->listed || nm->pool != first->pool)
			return NULL;
	}
	return &e->buy->warm->pools[first->pool];
}

static void take_entry(struct engine *e, const struct hostlist *h, int64_t count)
{
	struct warm_try *t = pool_of(e, h);

	for (size_t i = 0; i < h->n && count < 0; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm != NULL)
			nm->kept = true;
	}
	if (count >= 0 && t != NULL)
		t->fixed += (uint32_t)(count < (int64_t)h->n ? count : (int64_t)h->n);
}

static bool keeps(const struct engine *e, size_t i)
{
	return e->conf->pools[i].warm > 0 || e->conf->pools[i].quantum_ms > 0;
}

/* Stop managing a pool that keeps no nodes any more, once slurmctld has none of its names: an
 * update may fail. */
static void disown(struct engine *e, size_t i)
{
	const struct hostlist *h = e->conf->pools[i].nodes;

	if (keeps(e, i) || !e->buy->warm->pools[i].ours)
		return;
	e->buy->warm->pools[i].ours = false;
	for (size_t k = 0; k < h->n; k++)
		if (fleet_find(&e->fleet, h->names[k])->kept)
			e->buy->warm->pools[i].ours = true;
}

/* settings(): read SuspendExcNodes from `scontrol show config`, begun at asked_ms. */
static void warm_config(struct engine *e, const char *text, size_t len, int64_t asked_ms)
{
	struct slurm_text rest = slurm_exclude_setting((struct slurm_text){text, len});
	struct warm *w = e->buy->warm;
	struct hostlist *h;
	int64_t count;

	/* Settings that were read before the last update was run are outdated. */
	if (rest.p == NULL || asked_ms < slurm_settled_ms(e->slurm))
		return;
	grow(w, e->conf->npools);
	w->known = true;
	w->can = prereq_has(e, SLURM_EXCLUDES_BY_UPDATE) && !slurm_exclude_is_fixed(rest);
	w->due = true;
	for (size_t i = 0; i < w->npools; i++)
		w->pools[i].fixed = 0;
	for (size_t i = 0; i < e->fleet.nall; i++)
		e->fleet.all[i]->kept = false;
	while (slurm_exclude_next(&rest, &h, &count)) {
		if (h != NULL && h->n > 0)
			take_entry(e, h, count);
		hostlist_free(h);
	}
	for (size_t i = 0; i < e->conf->npools; i++)
		disown(e, i);
}

/* --- what is to be -----------------------------------------------------------------------------
 */

static uint32_t wanted(const struct engine *e, size_t i)
{
	const struct warm *w = e->buy->warm;
	uint32_t warm = e->conf->pools[i].warm;

	if (engine_paused(e, i))
		return 0;
	return w->can || w->pools[i].fixed >= warm ? warm : w->pools[i].fixed;
}

/* How many nodes may be bought: the plan would refuse others, and slurmctld power them down again.
 */
static uint32_t room(struct engine *e, size_t i)
{
	const struct fleet_pool *f = &e->fleet.pools[i];
	const struct conf_pool *p = &e->conf->pools[i];
	int64_t price = place_next_price(e, (uint32_t)i), left;

	if (price <= 0 || !doubt_looked(e, (uint32_t)i) || pool_blocked(e, i) != NULL ||
	    pool_is_probed(e, (uint32_t)i) || f->nodes >= p->max_nodes)
		return 0;
	/* The last snapshot may not show the effect of the last orders. */
	if (engine_now(e) < e->buy->warm->pools[i].next_ms ||
	    e->poll.snapshot_ms < slurm_settled_ms(e->slurm))
		return 0;
	left = (p->max_rate_nano_h - f->rate_nano_h) / price;
	if (left > p->max_nodes - f->nodes)
		left = p->max_nodes - f->nodes;
	if (left > 1 && pool_probes(e, i) != NULL)
		left = 1;
	return left > 0 ? (uint32_t)left : 0;
}

static void look_at(const struct engine *e, const struct fleet_name *nm, struct warm_node *d)
{
	const struct fleet_node *fn = fleet_live(nm);

	*d = (struct warm_node){.state = warm_state(nm, engine_now(e)),
				.busy = (nm->flags & (SLURM_ALLOCATED | SLURM_COMPLETING)) != 0,
				.kept = nm->kept,
				.start_ms = fn != NULL ? fn->n.start_ms : 0};
}

static void carry_out(struct engine *e, struct fleet_name *nm, const struct warm_node *d)
{
	nm->warm = d->counted;
	if (e->buy->warm->can && nm->kept != d->keep) {
		nm->kept = d->keep;
		slurm_keep(e->slurm, nm->name, d->keep);
	}
	if (!d->wake)
		return;
	slurm_wake(e->slurm, nm->name);
	engine_event(e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0, "woken",
		     "its pool keeps nodes warm");
	e->poll.moving = true;
}

/* Wake all missing nodes at once, and then pause, longer after each failure. */
static void decide(struct engine *e, size_t i)
{
	const struct conf_pool *p = &e->conf->pools[i];
	const struct warm_pool wp = {.want = wanted(e, i),
				     .room = room(e, i),
				     .quantum_ms = e->buy->warm->can ? p->quantum_ms : 0,
				     .unmount_ms = p->unmount_wait_ms};
	struct warm_node *nodes = mem_zalloc((p->nodes->n + 1) * sizeof(*nodes));
	struct warm_try *t = &e->buy->warm->pools[i];
	bool woken = false;

	for (size_t k = 0; k < p->nodes->n; k++)
		look_at(e, fleet_find(&e->fleet, p->nodes->names[k]), &nodes[k]);
	warm_decide(nodes, p->nodes->n, &wp, engine_now(e), &t->sum);
	for (size_t k = 0; k < p->nodes->n; k++) {
		carry_out(e, fleet_find(&e->fleet, p->nodes->names[k]), &nodes[k]);
		woken = woken || nodes[k].wake;
	}
	if (t->sum.up >= wp.want) /* it works: begin with a short pause next time */
		t->asked.count = 0;
	if (woken)
		t->next_ms = engine_now(e) +
			     refusal_add(&t->asked, (struct refusal_hint){0}, engine_now(e));
	free(nodes);
}

static void warm_run(struct engine *e)
{
	struct warm *w = e->buy->warm;
	int64_t now = engine_now(e);

	if (!w->known || e->poll.snapshot_ms == 0 ||
	    (!w->due && w->seen_ms == e->poll.snapshot_ms && now < w->next_ms))
		return;
	/* A quantum is about to end: ask slurmctld whether the node still has a job. */
	if (now >= w->next_ms)
		e->poll.next_ms = now;
	w->due = false;
	w->seen_ms = e->poll.snapshot_ms;
	w->next_ms = INT64_MAX;
	grow(w, e->conf->npools);
	for (size_t i = 0; i < e->conf->npools; i++) {
		struct warm_try *t = &w->pools[i];

		t->ours = t->ours || keeps(e, i);
		if (!t->ours)
			continue;
		decide(e, i);
		if (t->sum.next_ms < w->next_ms)
			w->next_ms = t->sum.next_ms;
		if (t->next_ms > now && t->next_ms < w->next_ms)
			w->next_ms = t->next_ms;
	}
}

struct engine_warm engine_warm(const struct engine *e, size_t pool)
{
	struct engine_warm out = {.wanted = e->conf->pools[pool].warm};

	if (pool < e->buy->warm->npools) {
		out.up = e->buy->warm->pools[pool].sum.up;
		out.coming = e->buy->warm->pools[pool].sum.coming;
		out.paid = e->buy->warm->pools[pool].sum.paid;
	}
	return out;
}

const struct engine_part warm_part = {
	.name = "warm nodes",
	.at = {[PART_INIT] = warm_init,
	       [PART_RELOAD] = warm_hurry,
	       [PART_PAUSE] = warm_hurry,
	       [PART_RUN] = warm_run,
	       [PART_FREE] = warm_free},
	.next_ms = warm_next_ms,
	.settings = warm_config,
};
