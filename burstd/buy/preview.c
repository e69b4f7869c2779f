#include "buy/buy.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "money/money.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "slurm/unknown.h"

/* Shows what burstd would buy for a job, where, and why not elsewhere: it asks core/plan.h and
 * core/ladder.h as intake_buy.c does, for a job that need not exist, and does not act on the
 * answer. */

/* --- a ladder ----------------------------------------------------------------------------------
 */

/* The index of the rung that a row is bought from; n: the configuration does not have it any more.
 */
static size_t rung_of(const struct conf_offer *rungs, size_t n, const struct node *row)
{
	size_t i = 0;

	while (i < n && strcmp(rungs[i].name, row->offer) != 0)
		i++;
	return i;
}

/* Count the nodes of the pool by rung; counts[n]: those of removed offers. */
static void count(const struct engine *e, size_t pool, uint32_t counts[CONF_OFFERS_MAX + 1])
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	memset(counts, 0, (CONF_OFFERS_MAX + 1) * sizeof(*counts));
	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn != NULL;
		     fn = fn->state_next)
			if (fn->n.pool == pool && s != NODE_GONE)
				counts[rung_of(rungs, n, &fn->n)]++;
}

/* Say that the rung would pass a limit, so that the plan takes the next one. */
static void say_limit(const struct engine *e, size_t pool, const struct ladder_ask *a,
		      struct engine_rung *r)
{
	const struct conf_pool *p = &e->conf->pools[pool];
	int64_t left = p->max_rate_nano_h - e->fleet.pools[pool].rate_nano_h;
	char most[FMT_MONEY_SIZE], now[FMT_MONEY_SIZE], price[FMT_MONEY_SIZE];

	if (a->job.nodes == 0 || r->price <= left / (int64_t)a->job.nodes)
		return;
	r->limited = true;
	(void)snprintf(r->why, sizeof(r->why), "max_rate %s: %s is spent per hour, and this is %s",
		       fmt_money(most, p->max_rate_nano_h),
		       fmt_money(now, e->fleet.pools[pool].rate_nano_h),
		       fmt_money(price, r->price));
	if (a->job.nodes > 1)
		(void)snprintf(r->why + strlen(r->why), sizeof(r->why) - strlen(r->why),
			       " for each of %" PRIu32 " nodes", a->job.nodes);
}

/* Say that all other rungs are tried before this one. */
static void say_wrong(const struct engine *e, const struct ladder_ask *a, uint32_t i,
		      struct engine_rung *r)
{
	char at[FMT_TIME_SIZE];

	if (a->known[i].wrong_until_ms != 0 && r->why[0] == '\0')
		(void)snprintf(r->why, sizeof(r->why),
			       "a machine from there came up wrong: behind the others until %.19sZ",
			       engine_time(e, at, a->known[i].wrong_until_ms));
	else if (a->known[i].dry && r->why[0] == '\0')
		(void)snprintf(r->why, sizeof(r->why),
			       "the provider says that none is free: behind the others");
}

static void fill_rung(const struct engine *e, const struct ladder *l, const struct ladder_ask *a,
		      uint32_t i, struct engine_rung *r)
{
	size_t n;

	*r = (struct engine_rung){.offer = &conf_rungs(a->pool, &n)[i],
				  .price = ladder_price(a, i),
				  .cool = a->known[i].cool,
				  .cause = l->cause[i]};
	ladder_explain(l, a, i, r->why, sizeof(r->why));
	r->nsaid = place_unsold(e, r->offer, r->said);
	r->terms = quote_terms(e, r->offer);
}

/* Make a pool's ladder.  Returns l->waits: something is not known yet. */
static bool make_ladder(struct engine *e, size_t pool, const struct ladder_job *job,
			struct engine_ladder *out)
{
	struct ladder_known *known = place_known(e, (uint32_t)pool);
	const struct fleet_pool *sums = &e->fleet.pools[pool];
	const struct ladder_ask a = {.conf = e->conf,
				     .pool = &e->conf->pools[pool],
				     .known = known,
				     .nodes = sums->nodes,
				     .spot = sums->spot,
				     .job = *job,
				     .now_ms = engine_now(e),
				     .ahead_ms = e->ahead_ms};
	uint32_t counts[CONF_OFFERS_MAX + 1];
	struct ladder l;

	ladder_make(&l, &a);
	count(e, pool, counts);
	*out = (struct engine_ladder){.n = l.nrungs,
				      .others = counts[l.nrungs],
				      .probes = pool_probes(e, pool),
				      .listed = doubt_listed(e, (uint32_t)pool)};
	for (uint32_t k = 0; k < l.n; k++) {
		fill_rung(e, &l, &a, l.order[k], &out->rungs[k]);
		out->rungs[k].place = k + 1;
		say_limit(e, pool, &a, &out->rungs[k]);
		if (l.n > 1)
			say_wrong(e, &a, l.order[k], &out->rungs[k]);
	}
	for (uint32_t i = 0, k = (uint32_t)l.n; i < l.nrungs; i++)
		if (l.cause[i] != LADDER_TRY)
			fill_rung(e, &l, &a, i, &out->rungs[k++]);
	for (size_t k = 0; k < out->n; k++)
		out->rungs[k].nodes = counts[out->rungs[k].offer - conf_rungs(a.pool, NULL)];
	free(known);
	return l.n == 0 && l.waits;
}

void engine_ladder(struct engine *e, size_t pool, struct engine_ladder *out)
{
	const struct ladder_job job = {.nodes = 1, .since_ms = engine_now(e)};

	(void)make_ladder(e, pool, &job, out);
}

/* --- the nodes ---------------------------------------------------------------------------------
 */

/* Does slurmctld not know the node, by the last complete snapshot? */
static bool is_unknown(const struct engine *e, const char *name)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, name);

	return nm != NULL && nm->missing_ms != 0;
}

/* Would Slurm have this node powered up for a job? */
static bool is_free(const struct engine *e, const char *name)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, name);

	if (nm == NULL)
		return true;
	return fleet_live(nm) == NULL && !fleet_stuck(nm) && nm->rests_ms == 0 &&
	       (nm->flags & (SLURM_DOWN | SLURM_DRAIN | SLURM_FAIL | SLURM_VANISHED)) == 0;
}

/* Would Slurm start a job on it now?  It takes such nodes before it has others powered up. */
static bool is_idle(const struct engine *e, const char *name)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, name);

	return nm != NULL && fleet_live(nm) != NULL && slurm_is_on(nm->flags) &&
	       !slurm_is_silent(nm->flags) && (nm->flags & SLURM_IDLE) != 0 &&
	       (nm->flags &
		(SLURM_ALLOCATED | SLURM_DRAIN | SLURM_FAIL | SLURM_COMPLETING | SLURM_REBOOT |
		 SLURM_MAINT | SLURM_RESERVED | SLURM_POWER_DOWN | SLURM_INVALID_REG)) == 0;
}

struct chosen {
	struct str list;
	uint32_t n, all;  /* nodes chosen; all: nodes that could be chosen, up or not */
	uint32_t unknown; /* nodes that slurmctld does not know, so no job can have them */
	char *unnamed;    /* these nodes, folded, or the first; NULL: none */
	uint32_t idle;    /* of the chosen nodes */
};

struct names { /* the nodes of a list, by name */
	struct map index;
	struct hostlist *list; /* NULL: none */
};

static int names_init(struct names *n, const char *text, struct err *err)
{
	n->list = NULL;
	map_init(&n->index);
	if (text != NULL && hostlist_parse(&n->list, text, strlen(text), err) != 0)
		return -1;
	for (size_t i = 0; n->list != NULL && i < n->list->n; i++)
		map_put(&n->index, n->list->names[i], n->list);
	return 0;
}

static void names_fini(struct names *n)
{
	map_fini(&n->index);
	hostlist_free(n->list);
}

static void take(const struct engine_plan_ask *ask, const char *name, struct chosen *to)
{
	if (to->n == ask->nodes)
		return;
	str_addf(&to->list, "%s%s", to->n > 0 ? "," : "", name);
	to->n++;
}

struct choosing {
	const struct engine *e;
	const struct engine_plan_ask *ask;
	const struct names *without;
};

static bool is_asked_for(const struct choosing *c, const char *name)
{
	return (c->ask->within == NULL || map_get(c->ask->within, name) != NULL) &&
	       map_get(&c->without->index, name) == NULL;
}

static bool is_no_lack(void *ctx, const char *name)
{
	const struct choosing *c = ctx;

	return !is_asked_for(c, name) || !is_unknown(c->e, name);
}

static void choose_of(const struct engine *e, const struct engine_plan_ask *ask,
		      const struct names *without, struct chosen *to)
{
	const struct hostlist *names = e->conf->pools[ask->pool].nodes;
	struct choosing c = {e, ask, without};
	const char **some = mem_zalloc((names->n + 1) * sizeof(*some));
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		if (!is_asked_for(&c, names->names[i]))
			continue;
		if (is_unknown(e, names->names[i]))
			to->unknown++;
		else
			some[n++] = names->names[i];
	}
	to->all += (uint32_t)n;
	to->unnamed = slurm_unknown(names, is_no_lack, &c);
	for (size_t i = 0; i < n; i++)
		if (is_idle(e, some[i]))
			take(ask, some[i], to);
	to->idle = to->n;
	for (size_t i = 0; i < n; i++)
		if (is_free(e, some[i]))
			take(ask, some[i], to);
	free(some);
}

/* Choose the pool's first idle nodes, then nodes that are off. */
static int choose(const struct engine *e, const struct engine_plan_ask *ask, struct chosen *to,
		  struct err *err)
{
	struct names without;
	int rc = names_init(&without, ask->without, err);

	if (rc == 0)
		choose_of(e, ask, &without, to);
	names_fini(&without);
	return rc;
}

/* --- what the job says -------------------------------------------------------------------------
 */

struct words {
	struct plan_job job; /* borrows the wishes below */
	struct ladder_wish wishes[2];
	struct wish comment;
	struct refusal refused; /* so far */
};

/* Which wishes burstd reads of a job with these nodes, as intake_buy.c does. */
static enum wish_need need_of(const struct engine *e, const struct engine_plan_ask *ask)
{
	enum wish_need most = WISH_NOTHING;
	struct hostlist *h;

	if (ask->list == NULL)
		return wish_need(e->conf, e->conf->pools[ask->pool].nodes->names[0]);
	if (hostlist_parse(&h, ask->list, strlen(ask->list), NULL) != 0)
		return most;
	for (size_t i = 0; i < h->n; i++) {
		enum wish_need of = wish_need(e->conf, h->names[i]);

		most = of > most ? of : most;
	}
	hostlist_free(h);
	return most;
}

static void words_init(const struct engine *e, const struct engine_plan_ask *ask, struct words *w,
		       struct engine_plan *out)
{
	const struct engine_job *j = ask->job;
	const char *comment = j != NULL ? j->comment : ask->comment;
	enum wish_need need;
	struct err err;

	*w = (struct words){.wishes[0] = ask->wish};
	w->job = (struct plan_job){.wishes = w->wishes, .nwishes = 1};
	if (j == NULL && comment == NULL)
		return;
	need = need_of(e, ask);
	if (j != NULL) {
		w->job.payer = j->payer;
		w->refused = postpone_look(e, j->number);
		w->job.refusals = w->refused.count;
		w->job.since_ms = w->refused.first_ms;
		w->wishes[0].constraint = need >= WISH_CONSTRAINT ? j->constraint : NULL;
	}
	if (need < WISH_COMMENT)
		return;
	wish_init(&w->comment, comment, e->conf, &err);
	if (err.code != 0)
		(void)snprintf(out->note, sizeof(out->note), "%.199s", err.msg);
	w->job.nwishes = 2;
	w->wishes[1] =
		(struct ladder_wish){.constraint = w->comment.constraint,
				     .jurisdictions = (const char *const *)w->comment.jurisdictions,
				     .max_price_nano_h = w->comment.max_price_nano_h};
}

/* --- the verdict -------------------------------------------------------------------------------
 */

static struct engine_plan_pool *part_of(struct engine_plan *p, uint32_t pool)
{
	for (size_t i = 0; i < p->npools; i++)
		if (p->pools[i].pool == pool)
			return &p->pools[i];
	p->pools = mem_realloc(p->pools, (p->npools + 1) * sizeof(*p->pools));
	p->pools[p->npools] = (struct engine_plan_pool){.pool = pool, .rung = -1};
	return &p->pools[p->npools++];
}

/* Make the ladder of each pool for this job; true: one of them waits for a price. */
static bool add_ladders(struct engine *e, const struct words *w, struct engine_plan *p)
{
	struct ladder_job job = {.wishes = w->job.wishes,
				 .nwishes = w->job.nwishes,
				 .refusals = w->job.refusals,
				 .since_ms =
					 w->job.since_ms != 0 ? w->job.since_ms : engine_now(e)};
	bool waits = false;

	for (size_t i = 0; i < p->npools; i++) {
		job.nodes = p->pools[i].nodes;
		if (make_ladder(e, p->pools[i].pool, &job, &p->pools[i].ladder))
			waits = true;
	}
	return waits;
}

static void set_rungs(const struct engine *e, const struct plan *plan, struct engine_plan *p)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_node *pn = &plan->nodes[i];
		struct engine_plan_pool *part;
		const struct conf_offer *o;

		if (pn->verdict != PLAN_BUY)
			continue;
		part = part_of(p, pn->pool);
		o = &conf_rungs(&e->conf->pools[pn->pool], NULL)[pn->rung];
		for (size_t k = 0; k < part->ladder.n; k++)
			if (part->ladder.rungs[k].offer == o)
				part->rung = (int)k;
	}
}

static void refuse(const struct engine *e, const struct plan *plan, const struct plan_node *pn,
		   const struct plan_ask *a, const struct words *w, struct engine_plan *p)
{
	struct refusal r = w->refused;
	struct refusal_hint hint = plan_hint(plan, pn);

	p->verdict = PLAN_REFUSE;
	p->no_offer = pn->cause == PLAN_LADDER;
	p->again_ms = engine_now(e) + refusal_add(&r, hint, engine_now(e));
	plan_explain(plan, pn, a, p->why, sizeof(p->why));
}

/* Make the verdict: if one node is refused, the job is. */
static void judge(struct engine *e, const struct plan *plan, const struct plan_ask *a,
		  const struct words *w, struct engine_plan *p)
{
	const struct plan_node *no = NULL;
	bool wait = false;

	for (size_t i = 0; i < plan->n; i++) {
		const struct plan_node *pn = &plan->nodes[i];

		p->have += pn->verdict == PLAN_HAVE;
		p->nodes += pn->verdict != PLAN_SKIP;
		if (pn->verdict == PLAN_BUY || pn->verdict == PLAN_WAIT ||
		    pn->verdict == PLAN_REFUSE)
			part_of(p, pn->pool)->nodes++;
		if (pn->verdict == PLAN_REFUSE && no == NULL)
			no = pn;
		wait = wait || pn->verdict == PLAN_WAIT;
	}
	p->verdict = wait ? PLAN_WAIT : p->npools > 0 ? PLAN_BUY : PLAN_HAVE;
	if (add_ladders(e, w, p))
		(void)snprintf(p->why, sizeof(p->why), "a price is not known yet");
	else if (wait)
		(void)snprintf(p->why, sizeof(p->why),
			       "the limits have no room before the nodes that are being deleted "
			       "have gone");
	if (no != NULL)
		refuse(e, plan, no, a, w, p);
	else
		set_rungs(e, plan, p);
}

/* Refuse a node that slurmctld does not know: it will never ask for it. */
static void refuse_unknown(const struct engine *e, const struct demand *d, struct engine_plan *out)
{
	for (size_t i = 0; i < demand_count(d); i++) {
		if (!is_unknown(e, demand_name(d, i)))
			continue;
		out->verdict = PLAN_REFUSE;
		(void)snprintf(out->why, sizeof(out->why),
			       "slurmctld does not know node %.63s: a NodeName line is missing in "
			       "slurm.conf, or nodes = of its pool has it by mistake",
			       demand_name(d, i));
		return;
	}
}

static int make_plan(struct engine *e, const char *list, const struct words *w,
		     struct engine_plan *out, struct err *err)
{
	struct plan_terms *terms = NULL;
	struct demand d;
	struct plan plan;
	struct plan_ask ask = {.demand = &d,
			       .conf = e->conf,
			       .fleet = &e->fleet,
			       .jobs = &w->job,
			       .anew = true,
			       .now_ms = engine_now(e),
			       .ahead_ms = e->ahead_ms};

	if (demand_init(&d, list, strlen(list), err) != 0)
		return -1;
	for (size_t i = 0; i < demand_count(&d); i++)
		if (conf_pool_of(e->conf, demand_name(&d, i)) == NULL) {
			(void)err_set(err, ERR_INVALID, "no pool names a node \"%.63s\"",
				      demand_name(&d, i));
			demand_fini(&d);
			return -1;
		}
	(void)demand_add_job(&d, 1, list, strlen(list), NULL);
	if (w->job.payer != NULL) { /* of one that is not known no budget can be told */
		ask.budgets = holds_budgets(e);
		ask.times = e->money->times;
		ask.terms = terms = intake_terms(e);
	}
	ask.pools = intake_pools(e);
	plan_make(&plan, &ask);
	judge(e, &plan, &ask, w, out);
	if (ask.budgets != NULL)
		preview_wait_for_accounts(e, w->job.payer, out);
	if (out->verdict == PLAN_BUY)
		preview_set_aside(e, &ask, &plan, w->job.payer, out);
	free(terms);
	refuse_unknown(e, &d, out);
	plan_fini(&plan);
	intake_free_pools(e, ask.pools);
	demand_fini(&d);
	return 0;
}

/* Plan for each partition in which the job may start with these nodes, as each may have budgets of
 * its own, and take the worst: which of them slurmctld will choose is not known. */
static int plan_partitions(struct engine *e, const char *list, const struct words *w,
			   const char *names, struct engine_plan *out, struct err *err)
{
	struct payer payer = *w->job.payer;
	struct words of = *w;
	bool some = false;

	of.job.payer = &payer;
	for (int all = 0; all < 2 && !some; all++) {
		const char *at = names;

		while (preview_next_partition(e, &at, all == 0 ? list : NULL, payer.partition)) {
			struct engine_plan one = {.verdict = PLAN_HAVE}, last = *out;

			memcpy(one.note, out->note, sizeof(one.note));
			if (make_plan(e, list, &of, &one, err) != 0) {
				engine_plan_fini(&one);
				return -1;
			}
			if (!some || preview_is_worse(&one, &last)) {
				*out = one;
				one = last;
			}
			engine_plan_fini(&one);
			some = true;
		}
	}
	return 0;
}

static int plan_nodes(struct engine *e, const char *list, const struct engine_plan_ask *ask,
		      const struct words *w, struct engine_plan *out, struct err *err)
{
	const char *names = ask->job != NULL ? ask->job->partition : NULL;

	if (w->job.payer == NULL || holds_budgets(e) == NULL || names == NULL ||
	    strchr(names, ',') == NULL)
		return make_plan(e, list, w, out, err);
	return plan_partitions(e, list, w, names, out, err);
}

/* Refuse if there are not enough nodes: Slurm would not even ask. */
static void too_few(struct engine *e, const struct engine_plan_ask *ask, const struct chosen *c,
		    const struct words *w, struct engine_plan *out)
{
	const char *pool = e->conf->pools[ask->pool].name;

	out->nodes = ask->nodes;
	part_of(out, ask->pool)->nodes = ask->nodes;
	(void)add_ladders(e, w, out);
	if (c->all < ask->nodes) {
		out->verdict = PLAN_REFUSE;
		(void)snprintf(out->why, sizeof(out->why),
			       "pool %.40s has %" PRIu32 " nodes %s: Slurm refuses such a job",
			       pool, c->all, ask->within != NULL ? "in that partition" : "in all");
		if (c->unknown > 0)
			(void)snprintf(out->why, sizeof(out->why),
				       "slurmctld knows only %" PRIu32 " nodes of pool %.40s and "
				       "not the other %" PRIu32 " (%.100s): NodeName lines are "
				       "missing in slurm.conf",
				       c->all, pool, c->unknown, c->unnamed);
		return;
	}
	out->verdict = PLAN_WAIT;
	(void)snprintf(out->why, sizeof(out->why),
		       "%" PRIu32 " of the %" PRIu32 " nodes of pool %.40s %s %soff and can be "
		       "bought: Slurm starts the job when others are idle",
		       c->n, c->all, pool, c->n == 1 ? "is" : "are",
		       c->idle > 0 ? "idle, or " : "");
}

int engine_plan(struct engine *e, const struct engine_plan_ask *ask, struct engine_plan *out,
		struct err *err)
{
	struct chosen c = {.n = 0};
	struct words w;
	int rc;

	*out = (struct engine_plan){.verdict = PLAN_HAVE};
	words_init(e, ask, &w, out);
	if (ask->list != NULL) {
		rc = plan_nodes(e, ask->list, ask, &w, out, err);
	} else {
		str_init(&c.list, (size_t)HOSTLIST_NAMES_MAX * (HOSTLIST_NAME_MAX + 1));
		rc = choose(e, ask, &c, err);
		if (rc == 0 && c.n < ask->nodes)
			too_few(e, ask, &c, &w, out);
		else if (rc == 0)
			rc = plan_nodes(e, c.list.p, ask, &w, out, err);
		str_fini(&c.list);
		free(c.unnamed);
	}
	wish_fini(&w.comment);
	preview_units(e, ask, out);
	if (rc != 0)
		engine_plan_fini(out);
	return rc;
}

void engine_plan_fini(struct engine_plan *p)
{
	/* Of two plans one has it.  NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	free(p->pools);
	*p = (struct engine_plan){0};
}

char *engine_partition(const struct engine *e, const char *name)
{
	const struct slurm_text list = prereq_partition(e, name);

	return list.p != NULL ? memcpy(mem_zalloc(list.n + 1), list.p, list.n) : NULL;
}
