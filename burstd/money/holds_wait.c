/* Jobs that wait for money: each is tried again when the budget that refused it has enough for it,
 * and not before, since a try in vain costs slurmctld a round of orders. */
#include "money/hold.h"

#include <stdlib.h>

#include "base/clamp.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "core/plan.h"
#include "jobs/jobs.h"

enum { HOLDS_AGAIN_MS = 2000 }; /* between two looks */

/* From the one that was refused first on: newer() of it is the next. */
static struct money_wait *oldest(const struct engine *e)
{
	return e->jobs->oldest[JOB_UNPAID];
}

static struct money_wait *newer(const struct money_wait *w)
{
	return (struct money_wait *)w->in.prev;
}

static void drop(struct engine *e, struct money_wait *w)
{
	job_drop(e, w);
	e->money->nwaits--;
}

/* --- what it lacks -------------------------------------------------------------------------------
 */

/* A machine that others have, too, is not given back with the job; nor is one that is up. */
static bool goes_with(const struct hold_node *g, const struct fleet_node *fn, uint64_t job)
{
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		if (h->job != 0 && h->job != job)
			return false;
	return fn->n.job == job && node_coming(&fn->n);
}

/* The row of g; NULL: its machine is being given up, and is no part of what its job has now. */
static const struct fleet_node *row_of(const struct engine *e, const struct hold_node *g)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, g->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, g->gen) : NULL;

	return fn != NULL && node_lives(&fn->n) ? fn : NULL;
}

void holds_whole_at(const struct engine *e, uint64_t job, const struct hostlist *nodes,
		    struct budget_no *no)
{
	for (size_t i = 0; i < nodes->n; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, nodes->names[i]);
		const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
		const struct hold_node *g = fn != NULL ? hold_find(e, fn->n.name, fn->n.gen) : NULL;

		for (const struct hold *h = g != NULL ? g->first : NULL; h != NULL; h = h->next)
			if (h->job == job || (h->job == 0 && goes_with(g, fn, job)))
				budgets_add_held(e->money->budgets, hold_of(e, h), no);
	}
}

static int by_job(const void *a, const void *b)
{
	const struct plan_no_budget *const *x = a, *const *y = b;

	return ((*x)->job > (*y)->job) - ((*x)->job < (*y)->job);
}

/* The first of those that are about the job; NULL: none is. */
static struct plan_no_budget **first_of(struct plan_no_budget **v, size_t n, uint64_t job)
{
	const struct plan_no_budget key = {.job = job}, *at = &key;
	struct plan_no_budget **x = bsearch(&at, v, n, sizeof(struct plan_no_budget *), by_job);

	while (x != NULL && x > v && x[-1]->job == job)
		x--;
	return x;
}

/* g's row is looked for once some of them may have something there. */
static void add_node(const struct engine *e, const struct hold_node *g, struct plan_no_budget **v,
		     size_t n)
{
	const struct fleet_node *fn = NULL;

	for (const struct hold *h = g->first; h != NULL; h = h->next) {
		struct plan_no_budget **x = h->job != 0 ? first_of(v, n, h->job) : NULL;

		if (h->job != 0 && x == NULL)
			continue;
		fn = fn != NULL ? fn : row_of(e, g);
		if (fn == NULL)
			return;
		if (h->job == 0 && goes_with(g, fn, fn->n.job))
			x = first_of(v, n, fn->n.job);
		for (; x != NULL && x < v + n && (*x)->job == (h->job != 0 ? h->job : fn->n.job);
		     x++)
			budgets_add_held(e->money->budgets, hold_of(e, h), &(*x)->no);
	}
}

void holds_whole(const struct engine *e, struct plan_no_budget *all, size_t n)
{
	struct plan_no_budget **v;
	size_t known = 0;

	if (n == 0)
		return;
	v = mem_zalloc(n * sizeof(struct plan_no_budget *));
	for (size_t i = 0; i < n; i++)
		if (all[i].job != 0)
			v[known++] = &all[i];
	qsort(v, known, sizeof(struct plan_no_budget *), by_job);
	for (const struct hold_node *g = known > 0 ? e->money->nodes : NULL; g != NULL; g = g->next)
		add_node(e, g, v, known);
	free(v);
}

/* --- who waits -----------------------------------------------------------------------------------
 */

void holds_refused(struct engine *e, uint64_t job, const struct budget_no *no)
{
	struct money_state *m = e->money;
	struct money_wait *w = job_find(e, job, JOB_UNPAID);

	if (job == 0 || (w == NULL && m->nwaits == MONEY_WAITS))
		return;
	promises_expire(e);
	promises_end(e, job);
	m->nwaits += w == NULL;
	w = job_get(e, job, JOB_UNPAID, sizeof(*w));
	w->at_ms = engine_now(e);
	w->bought = w->paid = false;
	w->nwith = w->ncounted = 0;
	w->no = *no;
	/* The money may have come since it was refused, and no more may ever come. */
	m->freed = m->freed || !budgets_lack(m->budgets, no);
}

void holds_waits_bought(struct engine *e, uint64_t job)
{
	struct money_wait *w = job_find(e, job, JOB_UNPAID);

	promises_end(e, job);
	if (w != NULL)
		w->bought = true;
}

void holds_waits_ended(struct engine *e, uint64_t job)
{
	struct money_wait *w = job_find(e, job, JOB_UNPAID);

	promises_end(e, job);
	if (w != NULL)
		drop(e, w);
}

/* --- other components of its heterogeneous job ---------------------------------------------------
 *
 * They start together or not at all, so the one that lacks money waits for what the others have now
 * as well, which these give back.  Else there would be enough for it at once, and all would try
 * again in vain. */

static bool is_with(const struct money_wait *w, uint64_t other)
{
	size_t i = 0;

	while (i < w->nwith && w->with[i] != other)
		i++;
	return i < w->nwith;
}

void holds_waits_beside(struct engine *e, uint64_t job, uint64_t other)
{
	struct money_wait *w = job_find(e, job, JOB_UNPAID);

	if (w == NULL || w->nwith == MONEY_WITH || is_with(w, other))
		return;
	w->with[w->nwith++] = other;
	e->money->beside++;
}

/* All that were noted since the last time, in one pass over what is held. */
static void count_beside(struct engine *e)
{
	struct plan_no_budget *v = mem_zalloc((e->money->beside + 1) * sizeof(*v));
	size_t n = 0, at = 0;

	for (const struct money_wait *w = oldest(e); w != NULL; w = newer(w))
		for (size_t i = w->ncounted; i < w->nwith; i++) {
			v[n] = (struct plan_no_budget){.no = w->no, .job = w->with[i]};
			v[n].no.needs = v[n].no.left = 0;
			n++;
		}
	holds_whole(e, v, n);
	for (struct money_wait *w = oldest(e); w != NULL; w = newer(w))
		for (; w->ncounted < w->nwith; w->ncounted++, at++) {
			w->no.needs = clamp_add(w->no.needs, v[at].no.needs);
			w->no.left = clamp_add(w->no.left, v[at].no.left);
		}
	e->money->beside = 0;
	free(v);
}

/* The job is sent back some time after it was refused, or again by the same refusal, and slurmctld
 * is told to have it wait a moment after that. */
static bool is_kept(const struct engine *e, const struct money_wait *w)
{
	const uint64_t job = w->in.job->number;
	const int64_t last_ms = postpone_look(e, job).last_ms;
	const int64_t since_ms = last_ms > w->at_ms ? last_ms : w->at_ms;

	return postpone_left_ms(e, job) > 0 || postpone_is_untold(e, job) ||
	       engine_now(e) - since_ms < MONEY_UNSENT_MS;
}

bool holds_waits_is(const struct engine *e, const struct money_wait *w)
{
	const uint64_t job = w->in.job->number;
	const int64_t last_ms = postpone_look(e, job).last_ms;

	if (w->bought || (last_ms >= w->at_ms && engine_now(e) - last_ms >= MONEY_UNTOLD_MS))
		return postpone_left_ms(e, job) > 0;
	return is_kept(e, w);
}

void holds_waits_forget(struct engine *e)
{
	job_forget(e, JOB_UNPAID, NULL);
	e->money->nwaits = 0;
	promises_forget(e);
}

/* A job that was let go here may be told to wait after all: by the order of an older refusal, which
 * slurmctld takes late.  It is none of these any more, so nobody else would let it go. */
static void free_forgotten(struct engine *e)
{
	const struct money_state *m = e->money;
	uint64_t *jobs;
	size_t n = 0;

	if (m->nwaits == MONEY_WAITS)
		return;
	jobs = mem_zalloc((m->nwaits + 1) * sizeof(*jobs));
	for (const struct money_wait *w = oldest(e); w != NULL; w = newer(w))
		jobs[n++] = w->in.job->number;
	postpone_money_but(e, jobs, n);
	free(jobs);
}

void holds_waits_tidy(struct engine *e)
{
	struct money_wait *w = oldest(e), *next;

	for (; w != NULL; w = next) {
		next = newer(w);
		if (!is_kept(e, w))
			drop(e, w);
	}
	free_forgotten(e);
}

/* Was it sent back by this refusal, and not only by an older one? */
static bool is_sent(const struct engine *e, const struct money_wait *w)
{
	return postpone_look(e, w->in.job->number).last_ms >= w->at_ms;
}

/* Was slurmctld told since the refusal that the job waits, if only by an order of an older refusal?
 * One that a newer order is about to replace does not count: there is nothing to take back yet.  It
 * does when MONEY_UNTOLD_MS have passed: no newer order follows where the job had left its nodes
 * before these were refused once more, or slurmctld is slow. */
static bool is_told(const struct engine *e, const struct money_wait *w)
{
	const uint64_t job = w->in.job->number;

	return postpone_left_ms(e, job) > 0 &&
	       (is_sent(e, w) || postpone_told_ms(e, job) >= w->at_ms ||
		engine_now(e) - w->at_ms >= MONEY_UNTOLD_MS);
}

/* Does it wait, or is slurmctld to be told so?  Not if it is held, or was let go by hand and has
 * bought. */
static bool waits_or_will(const struct engine *e, const struct money_wait *w)
{
	return holds_waits_is(e, w) || postpone_is_untold(e, w->in.job->number);
}

/* Let this job try again if there is money for it.  What it needs is promised then, or, if it
 * cannot be told yet that it may go, set aside during this look at all of them.  true: there is
 * enough now, and was not before. */
static bool look_at(struct engine *e, struct money_wait *w)
{
	struct money_state *m = e->money;
	const bool lacks = budgets_lack(m->budgets, &w->no), told = is_told(e, w);
	const bool more = !lacks && !w->paid;

	w->paid = !lacks;
	if (!lacks && told)
		postpone_paid(e, w->in.job->number);
	if (!lacks && told && is_sent(e, w)) {
		promises_make(e, w->in.job->number, &w->no);
		drop(e, w);
	} else if (!is_kept(e, w)) {
		drop(e, w);
	} else if (!lacks) { /* it is still to be told, or may be told once more */
		m->freed = true;
		w->first = waits_or_will(e, w);
		if (w->first)
			budgets_promise(m->budgets, &w->no, 1);
	}
	return more;
}

/* Those that were refused first go first.  One that needs more than there is waits on, and those
 * after it may go: what comes next is not theirs while it is promised, and its own turn is before
 * theirs. */
void holds_waits_turn(struct engine *e)
{
	struct money_state *m = e->money;
	struct money_wait *w, *next;
	bool more = false;

	if (m->beside > 0)
		count_beside(e);
	m->freed = m->freed || engine_now(e) >= promises_next_ms(e);
	if (!m->freed || m->nwaits == 0 || engine_now(e) < m->freed_ms + HOLDS_AGAIN_MS)
		return;
	promises_expire(e);
	m->freed = false;
	m->freed_ms = engine_now(e);
	for (w = oldest(e); w != NULL; w = next) {
		next = newer(w);
		more = look_at(e, w) || more;
	}
	for (w = oldest(e); w != NULL; w = newer(w)) {
		if (w->first)
			budgets_promise(m->budgets, &w->no, -1);
		w->first = false;
	}
	if (more)
		refuse_money(e);
}

int64_t holds_waits_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;

	if (m->nwaits == 0)
		return INT64_MAX;
	if (m->beside > 0)
		return engine_now(e);
	return m->freed ? m->freed_ms + HOLDS_AGAIN_MS : promises_next_ms(e);
}
