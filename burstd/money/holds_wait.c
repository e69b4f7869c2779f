/* Jobs that wait for money: each is tried again when the budget that refused it has enough for it,
 * and not before, since a try in vain costs slurmctld a round of orders. */
#include "money/hold.h"

#include <stdlib.h>

#include "base/mem.h"
#include "jobs/jobs.h"

enum { HOLDS_AGAIN_MS = 2000 }; /* between two looks */

/* A machine that others have, too, is not given back with the job; nor is one that is up. */
static bool goes_with(const struct hold_node *g, const struct fleet_node *fn, uint64_t job)
{
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		if (h->job != 0 && h->job != job)
			return false;
	return fn->n.job == job && node_coming(&fn->n);
}

/* What is held for a machine that is being given up is no part of what the job has now. */
static void add_node(const struct engine *e, const struct hold_node *g, uint64_t job,
		     struct budget_no *no)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, g->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, g->gen) : NULL;

	if (fn == NULL || !node_lives(&fn->n))
		return;
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		if (h->job == job || (h->job == 0 && goes_with(g, fn, job)))
			budgets_add_held(e->money->budgets, hold_of(e, h), no);
}

void holds_whole(const struct engine *e, uint64_t job, struct budget_no *no)
{
	for (const struct hold_node *g = e->money->nodes; job != 0 && g != NULL; g = g->next)
		add_node(e, g, job, no);
}

void holds_refused(struct engine *e, uint64_t job, const struct budget_no *no)
{
	struct money_state *m = e->money;
	size_t i = 0;

	while (i < m->nwaits && m->waits[i].job != job)
		i++;
	if (i == MONEY_WAITS || job == 0)
		return;
	if (i == m->waits_cap) {
		m->waits_cap = m->waits_cap == 0 ? 16 : 2 * m->waits_cap;
		m->waits = mem_realloc(m->waits, m->waits_cap * sizeof(*m->waits));
	}
	promises_expire(e);
	promises_end(e, job);
	m->waits[i] = (struct money_wait){.job = job, .at_ms = engine_now(e), .no = *no};
	m->nwaits += i == m->nwaits;
	/* The money may have come since it was refused, and no more may ever come. */
	m->freed = m->freed || !budgets_lack(m->budgets, no);
}

void holds_waits_bought(struct engine *e, uint64_t job)
{
	struct money_state *m = e->money;

	promises_end(e, job);
	for (size_t i = 0; job != 0 && i < m->nwaits; i++)
		if (m->waits[i].job == job)
			m->waits[i].bought = true;
}

/* The job is sent back some time after it was refused, or again by the same refusal, and slurmctld
 * is told to have it wait a moment after that. */
static bool is_kept(const struct engine *e, const struct money_wait *w)
{
	const int64_t last_ms = postpone_look(e, w->job).last_ms;
	const int64_t since_ms = last_ms > w->at_ms ? last_ms : w->at_ms;

	return postpone_left_ms(e, w->job) > 0 || postpone_is_untold(e, w->job) ||
	       engine_now(e) - since_ms < MONEY_UNSENT_MS;
}

bool holds_waits_is(const struct engine *e, const struct money_wait *w)
{
	const int64_t last_ms = postpone_look(e, w->job).last_ms;

	if (w->bought || (last_ms >= w->at_ms && engine_now(e) - last_ms >= MONEY_UNTOLD_MS))
		return postpone_left_ms(e, w->job) > 0;
	return is_kept(e, w);
}

void holds_waits_forget(struct engine *e)
{
	e->money->nwaits = 0;
	promises_forget(e);
}

/* A job may be told to wait by an old refusal once more, since slurmctld had not taken that it
 * leaves its nodes, when it was found here that there is money.  Nobody else would let it go. */
static void free_forgotten(struct engine *e)
{
	const struct money_state *m = e->money;
	uint64_t *jobs;

	if (m->nwaits == MONEY_WAITS)
		return;
	jobs = mem_zalloc((m->nwaits + 1) * sizeof(*jobs));
	for (size_t i = 0; i < m->nwaits; i++)
		jobs[i] = m->waits[i].job;
	postpone_money_but(e, jobs, m->nwaits);
	free(jobs);
}

void holds_waits_tidy(struct engine *e)
{
	struct money_state *m = e->money;
	size_t n = 0;

	for (size_t i = 0; i < m->nwaits; i++)
		if (is_kept(e, &m->waits[i]))
			m->waits[n++] = m->waits[i];
	m->nwaits = n;
	free_forgotten(e);
}

/* Was it sent back by this refusal, and not only by an older one? */
static bool is_sent(const struct engine *e, const struct money_wait *w)
{
	return postpone_look(e, w->job).last_ms >= w->at_ms;
}

/* Was slurmctld told since that it waits, be it by an older refusal?  One that is about to be
 * replaced is none: there is nothing to be undone yet.  It counts once that should have happened:
 * the job had left its nodes before they were refused once more, or slurmctld is slow. */
static bool is_told(const struct engine *e, const struct money_wait *w)
{
	return postpone_left_ms(e, w->job) > 0 &&
	       (is_sent(e, w) || postpone_told_ms(e, w->job) >= w->at_ms ||
		engine_now(e) - w->at_ms >= MONEY_UNTOLD_MS);
}

/* Those that were refused first go first.  One that needs more than there is waits on, and those
 * after it may go: what comes next is not theirs while it is promised, and its own turn is before
 * theirs. */
void holds_waits_turn(struct engine *e)
{
	struct money_state *m = e->money;
	bool more = false;
	size_t n = 0;

	m->freed = m->freed || engine_now(e) >= promises_next_ms(e);
	if (!m->freed || m->nwaits == 0 || engine_now(e) < m->freed_ms + HOLDS_AGAIN_MS)
		return;
	promises_expire(e);
	m->freed = false;
	m->freed_ms = engine_now(e);
	for (size_t i = 0; i < m->nwaits; i++) {
		struct money_wait *w = &m->waits[i];
		bool lacks = budgets_lack(m->budgets, &w->no), told = is_told(e, w);

		more = more || (!lacks && !w->paid);
		w->paid = !lacks;
		if (!lacks && told)
			postpone_paid(e, w->job);
		if (!lacks && told && is_sent(e, w)) {
			promises_make(e, w->job, &w->no);
			continue;
		}
		/* It is still to be told, or may be told once more. */
		if (is_kept(e, w)) {
			m->freed = m->freed || !lacks;
			if (!lacks) /* it goes before the next ones */
				budgets_promise(m->budgets, &w->no, 1);
			m->waits[n++] = *w;
		}
	}
	m->nwaits = n;
	for (size_t i = 0; i < n; i++)
		if (m->waits[i].paid)
			budgets_promise(m->budgets, &m->waits[i].no, -1);
	if (more)
		refuse_money(e);
}

int64_t holds_waits_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;

	if (m->nwaits == 0)
		return INT64_MAX;
	return m->freed ? m->freed_ms + HOLDS_AGAIN_MS : promises_next_ms(e);
}
