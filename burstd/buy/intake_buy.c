/* A demand becomes rows and refusals: the plan decides about each of its nodes, and what it says is
 * done here. */
#include "buy/buy.h"
#include "jobs/jobs.h"
#include "money/money.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fnv.h"
#include "base/mem.h"

enum { INTAKE_ENDS_MS = 30000 }; /* jobs wait so long for the answer to a delete */

static int by_group(const void *a, const void *b)
{
	const struct plan_node *const *x = a, *const *y = b;
	uint32_t gx = (*x)->group != 0 ? (*x)->group : UINT32_MAX;
	uint32_t gy = (*y)->group != 0 ? (*y)->group : UINT32_MAX;

	if (gx != gy)
		return gx < gy ? -1 : 1;
	if ((*x)->pool != (*y)->pool) /* each pool's share goes out together */
		return (*x)->pool < (*y)->pool ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* What of a job's wishes counts for this node, in a number; 0: it is not known. */
static uint64_t wishes_of(const struct engine *e, const char *node, const struct demand_job *j)
{
	enum wish_need need = wish_need(e->conf, node);
	uint64_t h = FNV_BEGIN;

	if (j == NULL || (need >= WISH_CONSTRAINT && !j->wishes_known) ||
	    (need == WISH_COMMENT && !j->comment_known))
		return 0;
	if (need >= WISH_CONSTRAINT)
		h = fnv_text(h, j->constraint != NULL ? j->constraint : "");
	if (need == WISH_COMMENT)
		h = fnv_text(fnv_text(h, "|"), j->comment != NULL ? j->comment : "");
	return h;
}

static bool is_of_an_earlier(const struct engine *e, const struct fleet_node *fn, struct demand *d)
{
	uint64_t wishes = wishes_of(e, fn->n.name, demand_get_job(d, fn->n.job));

	return fn->wishes != 0 && wishes != 0 && fn->wishes != wishes;
}

/* A slurmctld that has lost its state gives the numbers of jobs once more (F50).  What was not sent
 * yet for a job of this number with other wishes, named here or not, was for an earlier one, and is
 * decided anew. */
static void drop_earlier(struct engine *e, struct demand *d)
{
	struct fleet_node *fn = e->fleet.states[NODE_WANTED];

	for (; fn != NULL; fn = fn->state_next) {
		struct node_event ev = {.type = NODE_EV_RELEASE,
					.reason = NODE_BECAUSE_REPLACED,
					.now_ms = engine_now(e)};

		if (!fn->busy && is_of_an_earlier(e, fn, d))
			engine_post(e, fn, &ev);
	}
	engine_commit(e);
}

static const struct payer *payer_of(struct demand *d, uint64_t job)
{
	const struct demand_job *j = job != 0 ? demand_get_job(d, job) : NULL;

	return j != NULL ? j->payer : NULL;
}

static void buy(struct engine *e, struct demand *d, const struct plan_node *pn, const char *name,
		const char *why)
{
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pn->pool], NULL);
	struct fleet_name *nm = fleet_name(&e->fleet, name, pn->pool);
	uint64_t floor = (uint64_t)e->d.gen_floor;
	struct node n;

	node_init(&n, name, (nm->last_gen > floor ? nm->last_gen : floor) + 1, engine_now(e));
	n.pool = pn->pool;
	n.job = pn->job;
	n.group = pn->group != 0 ? e->buy->last_group + pn->group : 0;
	if (nm->addr != NULL)
		(void)snprintf(n.stale_addr, sizeof(n.stale_addr), "%s", nm->addr);
	place_set(e, &n, &rungs[pn->rung], pn->price);
	nm->why[0] = '\0';
	fleet_forget_refusal(nm);
	fleet_wait_for_none(nm);
	nm->useless_ms = 0; /* it was an earlier job that nobody saw any more */
	engine_want(e, &n, why);
	holds_bought(e, nm->newest, payer_of(d, pn->job));
	nm->newest->wishes = wishes_of(e, name, demand_get_job(d, pn->job));
	if (pn->goes_first) {
		nm->newest->goes_first = true;
		postpone_went_first(e, pn->job);
	}
	if (pn->job != 0)
		postpone_bought(e, pn->job);
}

/* Note the job in each new row that is for it; returns whether there is one. */
static bool is_buyer(struct engine *e, const struct demand *d, const struct plan *plan,
		     const struct demand_job *j)
{
	bool some = false;

	for (size_t k = 0; k < j->n; k++) {
		struct fleet_name *nm;

		if (plan->nodes[j->nodes[k]].verdict != PLAN_BUY)
			continue;
		nm = fleet_find(&e->fleet, demand_name(d, j->nodes[k]));
		if (nm == NULL || nm->newest == NULL || nm->newest->unwritten == NULL)
			continue;
		fleet_buyer(nm->newest, j->id);
		some = true;
	}
	return some;
}

/* Note all jobs that machines are bought for, of which there may be several for one, and who pays
 * for them. */
static void note_buyers(struct engine *e, const struct demand *d, const struct plan *plan)
{
	for (size_t i = 0; i < d->njobs; i++) {
		const struct demand_job *j = &d->jobs[i];

		if (!is_buyer(e, d, plan, j))
			continue;
		if (j->payer != NULL)
			facts_said(e, j->id, j->payer);
		else
			facts_ask(e, j->id);
	}
}

/* Rows whose delete was decided a moment ago, and is neither accepted yet nor denied. */
static void count_ends(const struct engine *e, struct plan_pool *pools)
{
	const struct fleet_node *fn = e->fleet.states[NODE_DELETING];

	for (; fn != NULL; fn = fn->state_next) {
		struct plan_pool *p = &pools[fn->n.pool];

		if (fn->n.accepted || fn->n.attempts > 0 || fn->unreached ||
		    engine_now(e) - fn->n.since_ms >= INTAKE_ENDS_MS)
			continue;
		p->ends++;
		p->ends_nano_h += fn->n.rate_nano_h;
	}
}

struct plan_pool *intake_pools(struct engine *e)
{
	struct plan_pool *pools = mem_zalloc((e->conf->npools + 1) * sizeof(*pools));

	holds_now(e); /* the plan asks budgets, too */
	for (uint32_t i = 0; i < e->conf->npools; i++) {
		pools[i].known = place_known(e, i);
		pools[i].blocked = pool_blocked(e, i);
		pools[i].probes = pool_probes(e, i);
		if (pools[i].blocked == NULL && pool_is_probed(e, i)) {
			pools[i].blocked = pools[i].probes;
			pools[i].tried_for = pool_tried_for(e, i);
		}
	}
	away_count(e, pools);
	count_ends(e, pools);
	return pools;
}

void intake_free_pools(const struct engine *e, struct plan_pool *pools)
{
	for (size_t i = 0; i < e->conf->npools; i++)
		free(pools[i].known);
	free(pools);
}

static struct plan_pool *look_at_pools(struct engine *e)
{
	(void)pool_look(e);
	pool_rested(e);
	return intake_pools(e);
}

/* What one job wants; constraint_ask() is asked for each alone, as a malformed text of one must not
 * void the other. */
struct wishes {
	struct wish comment;
	struct ladder_wish w[2];
};

/* What is known of the jobs besides their nodes. */
struct known_jobs {
	struct plan_job *jobs;
	struct wishes *wishes;
	size_t n;
};

static void know_wishes(const struct engine *e, const struct demand *d, size_t i,
			struct known_jobs *k)
{
	const struct demand_job *dj = &d->jobs[i];
	struct plan_job *pj = &k->jobs[i];
	struct wishes *w = &k->wishes[i];
	enum wish_need need = WISH_NOTHING;
	struct err err;

	for (size_t n = 0; n < dj->n; n++) {
		enum wish_need of = wish_need(e->conf, demand_name(d, dj->nodes[n]));

		need = of > need ? of : need;
	}
	/* Not in squeue's answer either: it is over, most likely, and no promise is broken for it.
	 */
	pj->unknown = (need >= WISH_CONSTRAINT && !dj->wishes_known) ||
		      (need == WISH_COMMENT && !dj->comment_known);
	pj->wishes = w->w;
	if (need >= WISH_CONSTRAINT)
		w->w[pj->nwishes++] = (struct ladder_wish){.constraint = dj->constraint};
	if (need < WISH_COMMENT)
		return;
	wish_init(&w->comment, dj->comment, e->conf, &err);
	w->w[pj->nwishes++] =
		(struct ladder_wish){.constraint = w->comment.constraint,
				     .jurisdictions = (const char *const *)w->comment.jurisdictions,
				     .max_price_nano_h = w->comment.max_price_nano_h};
}

/* Of whose budgets it must be known to ask them. */
static bool lacks_payer(struct engine *e, const struct payer *p)
{
	return p == NULL || accounts_lack_place(e, p->account);
}

static struct known_jobs know_jobs(struct engine *e, const struct demand *d)
{
	struct known_jobs k = {.n = d->njobs};
	const bool wishes = wish_most(e->conf) != WISH_NOTHING;
	const bool budgets = holds_budgets(e) != NULL;
	const bool lack = budgets && accounts_lack(e); /* looks at all budgets */

	k.jobs = mem_zalloc((d->njobs + 1) * sizeof(*k.jobs));
	k.wishes = mem_zalloc((d->njobs + 1) * sizeof(*k.wishes));
	for (size_t i = 0; i < d->njobs; i++) {
		struct refusal r = postpone_look(e, d->jobs[i].id);

		k.jobs[i].refusals = r.count;
		k.jobs[i].since_ms = r.first_ms;
		k.jobs[i].goes_first = postpone_goes_first(e, d->jobs[i].id);
		k.jobs[i].payer = d->jobs[i].payer;
		if (wishes)
			know_wishes(e, d, i, &k);
		if (budgets && (lack || lacks_payer(e, d->jobs[i].payer)))
			k.jobs[i].unknown = true;
	}
	return k;
}

static void free_known(struct known_jobs *k)
{
	for (size_t i = 0; i < k->n; i++)
		wish_fini(&k->wishes[i].comment);
	free(k->wishes);
	free(k->jobs);
}

static void wait_for(struct engine *e, const struct plan_node *pn, const char *name)
{
	struct fleet_name *nm;

	e->poll.moving = true;
	if (pn->job == 0)
		return;
	nm = fleet_name(&e->fleet, name, pn->pool);
	fleet_wait_for(nm, pn->job, engine_now(e));
}

/* It waited to be bought, and its job has ended meanwhile: cancel.c sends it back. */
static bool is_late(const struct plan_node *pn)
{
	return pn->job == 0 && pn->name != NULL && pn->name->waits_for != 0;
}

static enum node_reason ladder_because(enum ladder_cause worst)
{
	static const enum node_reason of[LADDER_NCAUSES] = {
		[LADDER_OFF] = NODE_BECAUSE_DENIED,
		[LADDER_DENIED] = NODE_BECAUSE_DENIED,
		[LADDER_AWAY] = NODE_BECAUSE_UNREACHABLE,
		[LADDER_KEYLESS] = NODE_BECAUSE_UNREACHABLE,
		[LADDER_QUOTA] = NODE_BECAUSE_QUOTA,
		[LADDER_FAILING] = NODE_BECAUSE_UNREACHABLE,
		[LADDER_CAPACITY] = NODE_BECAUSE_CAPACITY,
		[LADDER_PROBING] = NODE_BECAUSE_CAPACITY,
		[LADDER_LATER] = NODE_BECAUSE_CAPACITY,
		[LADDER_SPOT_FIRST] = NODE_BECAUSE_CAPACITY,
		[LADDER_TRIED] = NODE_BECAUSE_CAPACITY,
		[LADDER_SHARE] = NODE_BECAUSE_LIMIT,
		[LADDER_DEAR] = NODE_BECAUSE_LIMIT,
	};

	return of[worst] != NODE_BECAUSE_NONE ? of[worst] : NODE_BECAUSE_INVALID;
}

static enum node_reason because(const struct engine *e, const struct plan *p,
				const struct plan_node *pn)
{
	if (pn->cause == PLAN_LADDER)
		return ladder_because(p->no_rungs[pn->no_rung].worst);
	if (pn->cause == PLAN_STUCK && fleet_unreached(pn->stuck) != NULL)
		return NODE_BECAUSE_UNREACHABLE;
	if (pn->cause == PLAN_BUDGET)
		return NODE_BECAUSE_BUDGET;
	return pn->cause == PLAN_BLOCKED ? pool_blocked_because(e, pn->full) : NODE_BECAUSE_LIMIT;
}

static void refuse(struct engine *e, const struct plan *p, const struct plan_node *pn,
		   const struct plan_ask *a)
{
	const char *name = demand_name(a->demand, (size_t)(pn - p->nodes));
	struct fleet_name *nm = fleet_name(&e->fleet, name, pn->pool);
	char why[160];

	plan_explain(p, pn, a, why, sizeof(why));
	if (pn->cause == PLAN_BUDGET)
		holds_refused(e, pn->job, &p->no_budgets[pn->no_budget].no);
	if (pn->cause == PLAN_LADDER && p->no_rungs[pn->no_rung].worst == LADDER_TRIED &&
	    nm->tried != 0 && nm->newest != NULL)
		refuse_mark(e, nm, nm->newest->n.reason, NULL); /* the provider's words say more */
	else
		refuse_mark(e, nm, because(e, p, pn), why);
	nm->hint = plan_hint(p, pn);
}

struct plan_terms *intake_terms(struct engine *e)
{
	struct plan_terms *all;
	size_t n;

	if (holds_budgets(e) == NULL)
		return NULL;
	all = mem_zalloc((e->conf->npools + 1) * sizeof(*all));
	for (size_t i = 0; i < e->conf->npools; i++) {
		const struct conf_offer *rungs = conf_rungs(&e->conf->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			const struct provider_terms t = quote_terms(e, &rungs[k]);

			all[i].quantum_ms[k] =
				t.quantum_ms != 0 ? t.quantum_ms : e->conf->pools[i].quantum_ms;
			all[i].minimum_ms[k] = t.minimum_ms > 0 ? t.minimum_ms : 0;
		}
	}
	return all;
}

void intake_act_on(struct engine *e, struct demand *d, const char *why)
{
	drop_earlier(e, d);

	struct plan_pool *pools = look_at_pools(e);
	struct known_jobs known = know_jobs(e, d);
	struct plan_terms *terms = intake_terms(e);
	const struct plan_ask ask = {.demand = d,
				     .conf = e->conf,
				     .fleet = &e->fleet,
				     .pools = pools,
				     .jobs = known.jobs,
				     .budgets = holds_budgets(e),
				     .times = e->money->times,
				     .terms = terms,
				     .now_ms = engine_now(e),
				     .ahead_ms = e->ahead_ms};
	const struct plan_node **order;
	struct plan plan;
	size_t n = 0;

	plan_make(&plan, &ask);
	holds_whole(e, plan.no_budgets, plan.nno_budgets);
	order = mem_zalloc((plan.n + 1) * sizeof(struct plan_node *));
	for (size_t i = 0; i < plan.n; i++) {
		const struct plan_node *pn = &plan.nodes[i];

		if (pn->verdict == PLAN_BUY && !is_late(pn))
			order[n++] = pn;
		else if (pn->verdict == PLAN_REFUSE)
			refuse(e, &plan, pn, &ask);
		else if (pn->verdict == PLAN_WAIT)
			wait_for(e, pn, demand_name(d, i));
	}
	qsort(order, n, sizeof(struct plan_node *), by_group);
	for (size_t i = 0; i < n; i++)
		buy(e, d, order[i], demand_name(d, (size_t)(order[i] - plan.nodes)), why);
	note_buyers(e, d, &plan);
	e->buy->last_group += plan.groups;
	engine_spend(e, plan.n);
	free(order);
	free(terms);
	free_known(&known);
	intake_free_pools(e, pools);
	plan_fini(&plan);
	engine_commit(e);
}
