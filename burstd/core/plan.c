#include "core/plan.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

#define PLAN_WAITS UINT32_MAX /* group of a node that was decided to wait */

struct use { /* a pool with all decisions so far */
	uint64_t nodes, spot, bought;
	int64_t rate;
};

struct choice {         /* for one set of nodes, in one pool */
	uint32_t more;  /* new nodes; 0 before and after */
	uint32_t have;  /* nodes of the set that there are ... */
	int64_t rate;   /* ... and what they cost */
	uint32_t tried; /* rungs that refused one of them a moment ago */
	uint32_t rung;
	int64_t price;
	const struct fleet_name *like; /* one of the new nodes, for its hardware; NULL: not known */
};

struct planner {
	struct plan *plan;
	const struct plan_ask *ask;
	struct use *used;                    /* of each pool */
	struct choice *choice;               /* likewise: scratch */
	uint32_t *first, *next_job, *job_of; /* the jobs of each node: a list, 0 at its end */
	struct ladder_wish *wishes;          /* scratch */
	size_t wishes_cap;
	bool several;              /* the wishes are of more than one job */
	const struct plan_job *of; /* being decided; NULL: no job, or nothing is known */
	uint64_t job;              /* its number; 0: none */
	bool goes_first;           /* likewise: plan_job.goes_first */
};

/* How many nodes of pool i are leaving and worth waiting for. */
static uint32_t leaving_of(const struct plan_ask *a, uint32_t i)
{
	return a->fleet->pools[i].leaving - a->pools[i].stays + a->pools[i].ends;
}

/* Do the chosen nodes fit pool i's limits at this price?  leaving: without those that leave. */
static bool fits(const struct planner *pl, uint32_t i, int64_t price, bool leaving)
{
	const struct plan_ask *a = pl->ask;
	const struct conf_pool *c = &a->conf->pools[i];
	int64_t gone = a->fleet->pools[i].leaving_nano_h - a->pools[i].stays_nano_h +
		       a->pools[i].ends_nano_h;
	uint64_t more = pl->choice[i].more;
	uint64_t nodes = pl->used[i].nodes + more - (leaving ? leaving_of(a, i) : 0);
	int64_t rate = pl->used[i].rate - (leaving ? gone : 0);

	if (nodes > c->max_nodes)
		return false;
	return price <= (c->max_rate_nano_h - rate) / (int64_t)more;
}

struct fate { /* the decision about a set of nodes */
	enum plan_verdict verdict;
	enum plan_cause cause;
	uint32_t group, full, no_rung, no_budget;
	uint64_t job;
	bool lasting; /* the job alone exceeds the limit */
	bool beside;  /* a limit that another job on one of the nodes can never meet */
	struct plan_need need;
	const struct fleet_name *stuck;
};

static struct fate refused_by(enum plan_cause cause, uint32_t pool)
{
	return (struct fate){.verdict = PLAN_REFUSE, .cause = cause, .full = pool};
}

/* --- the rung ----------------------------------------------------------------------------------
 */

/* The gravest cause among those that may change: it is told, and waited for. */
static enum ladder_cause worst(const struct ladder *l)
{
	static const enum ladder_cause order[] = {
		LADDER_OFF,     LADDER_DENIED,   LADDER_AWAY,    LADDER_KEYLESS, LADDER_QUOTA,
		LADDER_FAILING, LADDER_CAPACITY, LADDER_PROBING, LADDER_LATER,   LADDER_SPOT_FIRST,
		LADDER_TRIED,   LADDER_SHARE,    LADDER_DEAR};

	assert(l->nrungs > 0); /* as any pool that has nodes */
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < l->nrungs; i++)
			if (l->cause[i] == order[k])
				return order[k];
	return l->cause[l->nrungs - 1];
}

static struct fate no_rung(struct planner *pl, uint32_t i, const struct ladder *l,
			   const struct ladder_ask *a)
{
	struct fate f = refused_by(PLAN_LADDER, i);
	struct plan_no_rung *at;

	pl->plan->no_rungs = mem_realloc(pl->plan->no_rungs,
					 (pl->plan->nno_rungs + 1) * sizeof(*pl->plan->no_rungs));
	at = &pl->plan->no_rungs[pl->plan->nno_rungs];
	*at = (struct plan_no_rung){.worst = worst(l),
				    .hint = {.not_before_ms = l->next_ms,
					     .surely_ms = l->fallback_ms,
					     .lasting = l->lasting && !pl->several,
					     .clash = l->lasting && pl->several,
					     .job = pl->several ? pl->job : 0}};
	ladder_why(l, a, at->why, sizeof(at->why));
	f.no_rung = pl->plan->nno_rungs++;
	return f;
}

/* --- what no wait can mend ---------------------------------------------------------------------
 */

/* The price of the cheapest rung that the job may have some day, of which there is one; <= 0: a
 * price is not known. */
static int64_t cheapest(const struct ladder *l, const struct ladder_ask *a)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < l->nrungs; i++) {
		int64_t price = ladder_price(a, i);

		if (!ladder_is_for_good(l, a, i) && price < least)
			least = price;
	}
	return least;
}

static struct fate too_many(const struct planner *pl, uint32_t i)
{
	const struct choice *ch = &pl->choice[i];
	struct fate f = refused_by(PLAN_MAX_NODES, i);

	f.need.nodes = ch->more + ch->have;
	f.lasting = f.need.nodes > pl->ask->conf->pools[i].max_nodes;
	return f;
}

/* lasting: the job does not fit even if the pool had no other nodes, and its own that are there
 * were bought anew where that is cheaper. */
static struct fate too_dear(const struct planner *pl, uint32_t i, const struct ladder *l,
			    const struct ladder_ask *a)
{
	const struct choice *ch = &pl->choice[i];
	struct fate f = refused_by(PLAN_MAX_RATE, i);
	const int64_t nodes = (int64_t)ch->have + ch->more;
	int64_t price = cheapest(l, a), most = a->pool->max_rate_nano_h, anew;

	if (price <= 0 || price > INT64_MAX / 2 / nodes)
		return f;
	anew = price * (int64_t)ch->have;
	f.need.rate = (ch->rate < anew ? ch->rate : anew) + price * (int64_t)ch->more;
	f.need.most =
		most / price < a->pool->max_nodes ? (uint32_t)(most / price) : a->pool->max_nodes;
	f.lasting = f.need.rate > most;
	return f;
}

/* --- money -------------------------------------------------------------------------------------
 */

static struct fate no_money(struct planner *pl, uint32_t i, const struct budget_no *no)
{
	struct fate f = refused_by(PLAN_BUDGET, i);
	const struct payer *p = pl->of != NULL ? pl->of->payer : NULL;
	struct plan *plan = pl->plan;

	plan->no_budgets =
		mem_realloc(plan->no_budgets, (plan->nno_budgets + 1) * sizeof(*plan->no_budgets));
	plan->no_budgets[plan->nno_budgets] = (struct plan_no_budget){
		.no = *no,
		.job = pl->job,
		.limit_ms = p != NULL && p->limit_s >= 0 ? 1000 * p->limit_s : -1};
	f.no_budget = plan->nno_budgets++;
	f.lasting = true; /* no wait of its own helps: it is tried anew when money is there */
	return f;
}

struct budget_machine plan_machine(const struct plan_ask *a, uint32_t pool, uint32_t rung,
				   int64_t price, const struct fleet_name *like)
{
	const struct conf_pool *p = &a->conf->pools[pool];
	const struct conf_offer *o = &conf_rungs(p, NULL)[rung];

	return (struct budget_machine){
		.pool = p->name,
		.provider = o->provider,
		.market = (enum provider_market)o->market,
		.rate_nano_h = price,
		.boot_ms = p->boot_ms,
		.unmount_ms = p->unmount_wait_ms,
		.quantum_ms = a->terms != NULL ? a->terms[pool].quantum_ms[rung] : 0,
		.minimum_ms = a->terms != NULL ? a->terms[pool].minimum_ms[rung] : 0,
		.gpus = like != NULL ? like->gpus : 0,
		.cpus = like != NULL ? like->cpus : 0};
}

/* What the new nodes of pool i want set aside, bought from the chosen rung. */
static size_t wants_of(const struct planner *pl, uint32_t i,
		       struct budget_want out[BUDGET_WANTS_MAX])
{
	const struct plan_ask *a = pl->ask;
	const struct choice *ch = &pl->choice[i];
	const struct budget_machine m = plan_machine(a, i, ch->rung, ch->price, ch->like);
	size_t n = budget_wants(a->budgets, pl->of != NULL ? pl->of->payer : NULL, &m, &a->times,
				a->now_ms, out);

	for (size_t k = 0; k < n; k++)
		out[k].n = ch->more;
	return n;
}

/* Is there money for the new nodes of the first n pools, by the chosen rungs? */
static bool affords(const struct planner *pl, size_t n, struct budget_no *no)
{
	struct budget_want *wants;
	size_t nwants = 0;
	bool ok;

	if (pl->ask->budgets == NULL)
		return true;
	wants = mem_zalloc((n + 1) * BUDGET_WANTS_MAX * sizeof(*wants));
	for (uint32_t i = 0; i < n; i++)
		if (pl->choice[i].more > 0)
			nwants += wants_of(pl, i, wants + nwants);
	ok = budgets_try(pl->ask->budgets, wants, nwants, false, no);
	free(wants);
	return ok;
}

/* Take the first rung that fits now; else wait if one will fit once leaving nodes have left. */
static struct fate choose(struct planner *pl, uint32_t i, const struct ladder_job *job)
{
	const struct plan_ask *a = pl->ask;
	struct choice *ch = &pl->choice[i];
	struct ladder_ask la = {.conf = a->conf,
				.pool = &a->conf->pools[i],
				.known = a->pools[i].known,
				.nodes = (uint32_t)pl->used[i].nodes,
				.spot = (uint32_t)pl->used[i].spot,
				.job = *job,
				.now_ms = a->now_ms,
				.ahead_ms = a->ahead_ms};
	struct budget_no lack = {.budget = NULL}, here;
	struct ladder l;
	bool later = false;

	if (pl->used[i].nodes + ch->more - leaving_of(a, i) > la.pool->max_nodes)
		return too_many(pl, i);
	la.job.nodes = ch->more;
	la.job.tried = ch->tried;
	ladder_make(&l, &la);
	for (size_t k = 0; k < l.n; k++) {
		ch->rung = l.order[k];
		ch->price = ladder_price(&la, ch->rung);
		if (!affords(pl, i + 1, &here)) {
			lack = lack.budget == NULL ? here : lack;
			continue;
		}
		if (fits(pl, i, ch->price, false))
			return (struct fate){.verdict = PLAN_BUY};
		later = later || fits(pl, i, ch->price, true);
	}
	if (later || l.waits)
		return (struct fate){.verdict = PLAN_WAIT};
	if (l.n == 0)
		return no_rung(pl, i, &l, &la);
	if (lack.budget != NULL)
		return no_money(pl, i, &lack);
	return too_dear(pl, i, &l, &la);
}

/* Decide about the new nodes of all pools together. */
static struct fate judge(struct planner *pl, const struct ladder_job *job)
{
	const struct plan_ask *a = pl->ask;
	struct fate f = {.verdict = PLAN_BUY};

	for (uint32_t i = 0; i < a->conf->npools; i++) {
		struct fate here;

		if (pl->choice[i].more == 0)
			continue;
		if (a->pools[i].blocked != NULL &&
		    (pl->job == 0 || pl->job != a->pools[i].tried_for))
			return refused_by(PLAN_BLOCKED, i);
		if (a->pools[i].probes != NULL && pl->used[i].bought > 0)
			return refused_by(PLAN_PROBES, i);
		here = choose(pl, i, job);
		if (here.verdict == PLAN_REFUSE)
			return here;
		if (here.verdict == PLAN_WAIT)
			f.verdict = PLAN_WAIT;
	}
	/* The last of the pools was tried with all before it. */
	if (f.verdict == PLAN_BUY && a->budgets != NULL)
		budgets_take(a->budgets);
	return f;
}

/* A set that shares a node with one that was decided shares its fate. */
static struct fate shared(const struct planner *pl, const uint32_t *nodes, size_t n)
{
	struct fate f = {.verdict = PLAN_BUY};

	for (size_t k = 0; k < n; k++) {
		const struct plan_node *pn = &pl->plan->nodes[nodes[k]];

		if (pn->verdict == PLAN_REFUSE) {
			f = refused_by(pn->cause, pn->full);
			f.no_rung = pn->no_rung;
			f.no_budget = pn->no_budget;
			f.stuck = pn->stuck;
			f.beside = pn->lasting || pn->beside;
			return f; /* `lasting` is not shared: alone, this job may fit */
		}
		if (pn->group == PLAN_WAITS)
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
	const struct choice *ch = &pl->choice[pn->pool];
	const struct conf_offer *rungs = conf_rungs(&pl->ask->conf->pools[pn->pool], NULL);
	struct cooldown_view *cool = &pl->ask->pools[pn->pool].known[ch->rung].cool;

	pn->verdict = f.verdict;
	pn->full = f.full;
	pn->no_rung = f.no_rung;
	pn->no_budget = f.no_budget;
	pn->stuck = f.stuck;
	pn->job = f.job;
	pn->cause = f.cause;
	pn->lasting = f.lasting;
	pn->beside = f.beside;
	pn->need = f.need;
	pn->group = f.verdict == PLAN_WAIT ? PLAN_WAITS : f.group;
	if (f.verdict != PLAN_BUY)
		return;
	pn->rung = ch->rung;
	pn->price = ch->price;
	pn->goes_first = pl->goes_first;
	pl->used[pn->pool].nodes++;
	pl->used[pn->pool].bought++;
	pl->used[pn->pool].spot += rungs[ch->rung].market == PROVIDER_SPOT;
	pl->used[pn->pool].rate += ch->price;
	if (cool->state == COOLDOWN_HALF || pl->goes_first)
		*cool = (struct cooldown_view){COOLDOWN_PROBING,
					       pl->ask->now_ms + COOLDOWN_WAIT_MS};
}

/* --- what the jobs want ------------------------------------------------------------------------
 */

static void add_wishes(struct planner *pl, struct ladder_job *job, uint32_t j)
{
	const struct plan_job *from = &pl->ask->jobs[j];

	if (job->nwishes + from->nwishes > pl->wishes_cap) {
		pl->wishes_cap = 2 * (job->nwishes + from->nwishes);
		pl->wishes = mem_realloc(pl->wishes, pl->wishes_cap * sizeof(*pl->wishes));
	}
	for (size_t i = 0; i < from->nwishes; i++)
		pl->wishes[job->nwishes++] = from->wishes[i];
	job->wishes = pl->wishes;
}

/* The wishes of job j and of all jobs that will share a node with it: a node is bought once. */
static void collect_wishes(struct planner *pl, struct ladder_job *job, uint32_t j)
{
	const struct demand_job *dj = &pl->ask->demand->jobs[j];

	pl->several = false;
	add_wishes(pl, job, j);
	for (size_t k = 0; k < dj->n; k++) {
		uint32_t at =
			undecided(&pl->plan->nodes[dj->nodes[k]]) ? pl->first[dj->nodes[k]] : 0;

		for (; at != 0; at = pl->next_job[at])
			if (pl->job_of[at] != j && pl->ask->jobs[pl->job_of[at]].nwishes > 0) {
				add_wishes(pl, job, pl->job_of[at]);
				pl->several = true;
			}
	}
}

/* List the jobs of each node. */
static void index_jobs(struct planner *pl)
{
	const struct demand *d = pl->ask->demand;
	uint32_t at = 0;

	pl->first = mem_zalloc((pl->plan->n + 1) * sizeof(*pl->first));
	pl->next_job = mem_zalloc((d->members + 1) * sizeof(*pl->next_job));
	pl->job_of = mem_zalloc((d->members + 1) * sizeof(*pl->job_of));
	for (uint32_t j = 0; j < d->njobs; j++)
		for (size_t k = 0; k < d->jobs[j].n; k++) {
			uint32_t node = d->jobs[j].nodes[k];

			pl->job_of[++at] = j;
			pl->next_job[at] = pl->first[node];
			pl->first[node] = at;
		}
}

/* --- set by set --------------------------------------------------------------------------------
 */

static void count_had(struct planner *pl, const uint32_t *nodes, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		const struct plan_node *pn = &pl->plan->nodes[nodes[k]];

		if (pn->verdict != PLAN_HAVE)
			continue;
		pl->choice[pn->pool].have++;
		pl->choice[pn->pool].rate += fleet_live(pn->name)->n.rate_nano_h;
	}
}

/* Decide for one set of nodes, whole. */
static void decide(struct planner *pl, const uint32_t *nodes, size_t n, uint64_t id,
		   const struct ladder_job *job, bool unknown)
{
	struct plan_node *all = pl->plan->nodes;
	struct fate f = shared(pl, nodes, n);
	size_t lacking = 0;

	if (f.verdict == PLAN_BUY && unknown)
		f.verdict = PLAN_WAIT;
	for (size_t k = 0; k < n; k++) {
		struct plan_node *pn = &all[nodes[k]];

		if (!undecided(pn))
			continue;
		pl->choice[pn->pool].more++;
		pl->choice[pn->pool].like = pn->name;
		if (pn->name != NULL && !pl->ask->anew)
			pl->choice[pn->pool].tried |= pn->name->tried;
		lacking++;
	}
	if (lacking == 0)
		return;
	count_had(pl, nodes, n);
	pl->job = id;
	if (f.verdict == PLAN_BUY)
		f = judge(pl, job);
	f.job = id;
	if (f.verdict == PLAN_BUY && lacking > 1)
		f.group = ++pl->plan->groups;
	for (size_t k = 0; k < n; k++)
		if (undecided(&all[nodes[k]]))
			apply(pl, &all[nodes[k]], f);
	for (size_t k = 0; k < n; k++)
		pl->choice[all[nodes[k]].pool] = (struct choice){0};
}

static void decide_job(struct planner *pl, uint32_t j)
{
	const struct demand_job *dj = &pl->ask->demand->jobs[j];
	struct ladder_job job = {.since_ms = pl->ask->now_ms};
	bool unknown = false;

	if (pl->ask->jobs != NULL) {
		const struct plan_job *pj = &pl->ask->jobs[j];

		pl->of = pj;
		collect_wishes(pl, &job, j);
		unknown = pj->unknown || (pl->ask->budgets != NULL && pj->payer == NULL);
		job.refusals = pj->refusals;
		if (pj->since_ms != 0)
			job.since_ms = pj->since_ms;
	}
	decide(pl, dj->nodes, dj->n, dj->id, &job, unknown);
	pl->of = NULL;
}

static void decide_jobs(struct planner *pl, bool first)
{
	const struct plan_job *jobs = pl->ask->jobs;

	pl->goes_first = first;
	for (uint32_t j = 0; j < pl->ask->demand->njobs; j++)
		if ((jobs != NULL && jobs[j].goes_first) == first)
			decide_job(pl, j);
}

static void classify(struct planner *pl)
{
	const struct demand *d = pl->ask->demand;

	for (size_t i = 0; i < pl->plan->n; i++) {
		struct plan_node *pn = &pl->plan->nodes[i];
		const char *name = demand_name(d, i);
		const struct conf_pool *pool = conf_pool_of(pl->ask->conf, name);

		if (pool == NULL || (uintptr_t)map_get(&d->index, name) != i + 1)
			continue; /* SKIP: not ours, or a repeat */
		pn->pool = conf_pool_index(pl->ask->conf, pool);
		pn->name = fleet_find(pl->ask->fleet, name);
		pn->verdict =
			pn->name != NULL && fleet_live(pn->name) != NULL ? PLAN_HAVE : PLAN_WAIT;
		if (pn->verdict != PLAN_WAIT || pn->name == NULL ||
		    (!fleet_stuck(pn->name) && pn->name->rests_ms == 0))
			continue;
		pn->verdict = PLAN_REFUSE;
		pn->full = pn->pool;
		pn->cause = fleet_stuck(pn->name) ? PLAN_STUCK : PLAN_RESTS;
		pn->stuck = pn->name;
	}
}

void plan_make(struct plan *p, const struct plan_ask *a)
{
	struct planner pl = {.plan = p, .ask = a};

	*p = (struct plan){.n = demand_count(a->demand)};
	p->nodes = mem_zalloc((p->n + 1) * sizeof(*p->nodes));
	pl.used = mem_zalloc((a->conf->npools + 1) * sizeof(*pl.used));
	pl.choice = mem_zalloc((a->conf->npools + 1) * sizeof(*pl.choice));
	for (size_t i = 0; i < a->conf->npools; i++)
		pl.used[i] = (struct use){.nodes = a->fleet->pools[i].nodes,
					  .spot = a->fleet->pools[i].spot,
					  .rate = a->fleet->pools[i].rate_nano_h};
	if (a->budgets != NULL)
		budgets_forget_tries(a->budgets);
	index_jobs(&pl);
	classify(&pl);
	decide_jobs(&pl, true);
	decide_jobs(&pl, false);
	for (uint32_t i = 0; i < p->n; i++) /* nodes of no job: an admin's POWER_UP */
		decide(&pl, &i, 1, 0, &(struct ladder_job){.since_ms = a->now_ms, .none = true},
		       false);
	if (a->budgets != NULL)
		budgets_forget_tries(a->budgets);
	free(pl.used);
	free(pl.choice);
	free(pl.first);
	free(pl.next_job);
	free(pl.job_of);
	free(pl.wishes);
}

void plan_fini(struct plan *p)
{
	free(p->nodes);
	free(p->no_rungs);
	free(p->no_budgets);
	*p = (struct plan){0};
}
