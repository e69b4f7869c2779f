/* Finds out which budgets are used up, and how far: then the nodes of their machines are drained
 * (drain_at), and the jobs that they count for are requeued (requeue_at) or cancelled (kill_at),
 * `grace` after the step was reached: ladder_jobs.c.
 *
 * What counts is what was really spent, not what is set aside.  When a step was reached is in the
 * journal, so the grace does not begin anew with burstd. */
#include "money/ladder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "jobs/jobs.h"
#include "money/hold.h"
#include "money/line.h"

enum { LADDER_CROWD_MS = 2000 }; /* between two looks at jobs while some wait for a command */

static bool ends_jobs(const struct conf_budget *b)
{
	return b->drain_at != 0 || b->requeue_at != 0 || b->kill_at != 0;
}

static void configure(struct engine *e)
{
	struct ladders *l = &e->money->ladders;

	l->any = l->due = l->jobs_end = false;
	for (size_t i = 0; i < e->conf->nbudgets; i++)
		l->any = l->any || ends_jobs(&e->conf->budgets[i]);
	l->look_ms = engine_now(e);
}

/* --- which step ----------------------------------------------------------------------------------
 */

/* What was spent of each line up to now. */
static int64_t *used_of(struct engine *e, size_t n)
{
	struct budgets *b = e->money->budgets;
	int64_t *used = mem_zalloc((n + 1) * sizeof(*used)), now = engine_now(e);

	for (size_t i = 0; i < n; i++)
		used[i] = budgets_line(b, i).spent;
	for (const struct hold_node *g = e->money->nodes; g != NULL; g = g->next)
		for (const struct hold *h = g->first; h != NULL; h = h->next) {
			const struct budget_hold *hold = hold_of(e, h);
			const uint32_t *at;
			size_t lines = budgets_lines_of(b, hold->spender, &at);

			for (size_t k = 0; k < lines; k++)
				used[at[k]] = clamp_add(used[at[k]],
							budgets_accrued(b, at[k], hold, now));
		}
	return used;
}

/* The percent of the amount from which on the step is taken; 0: never. */
static uint32_t percent_of(const struct conf_budget *b, enum budget_step s)
{
	const uint32_t at[BUDGET_NSTEPS] = {0, b->drain_at, b->requeue_at, b->kill_at};

	return at[s];
}

static void announce(struct engine *e, const struct budget_line *l, enum budget_step step)
{
	static const char *const what[BUDGET_NSTEPS] = {
		"it has room again: nothing more is ended for it",
		"the nodes of its machines are drained", "its jobs are requeued",
		"its jobs are cancelled"};
	const bool waits = step >= BUDGET_REQUEUES && l->budget->grace_ms > 0;
	char text[320], used[32] = "", grace[FMT_DUR_SIZE]; /* for the longest names */

	if (step != BUDGET_GOES_ON)
		(void)snprintf(used, sizeof(used), "%u %% used up: ", percent_of(l->budget, step));
	(void)snprintf(text, sizeof(text), "budget %s%s%s: %s%s%s%s", l->budget->name,
		       l->value[0] != '\0' ? "/" : "", l->value, used, what[step],
		       waits ? " in " : "", waits ? fmt_duration(grace, l->budget->grace_ms) : "");
	engine_event(e, "", 0, "budget-step", text);
}

/* Note which of the budget's steps are reached; true: some has just been, or is not any more. */
static bool note_steps(const struct engine *e, struct money_line *m, const struct conf_budget *b,
		       enum budget_step now_at)
{
	bool changed = false;

	for (int s = BUDGET_NSTEPS - 1; s > BUDGET_GOES_ON; s--) {
		bool is = s <= (int)now_at && percent_of(b, (enum budget_step)s) != 0;
		bool was = m->since_ms[s] != 0;

		if (is == was)
			continue;
		m->since_ms[s] = is ? engine_now(e) : 0;
		changed = true;
	}
	return changed;
}

/* Is it the time that the line is about?  Holds are looked at less often than jobs are. */
static bool is_now(const struct engine *e, const struct budget_line *l)
{
	return l->when == PERIOD_NOW && engine_now(e) < l->period.end_ms;
}

static void look_at_sums(struct engine *e)
{
	struct budgets *b = e->money->budgets;
	size_t n = budgets_lines(b);
	int64_t *used = used_of(e, n);

	e->money->ladders.due = e->money->ladders.jobs_end = false;
	for (size_t i = 0; i < n; i++) {
		const struct budget_line l = budgets_line(b, i);
		struct money_line *m;
		enum budget_step step;

		if (!ends_jobs(l.budget) || !is_now(e, &l))
			continue;
		step = budget_step(&l, used[i]);
		m = money_line_of(e, &l);
		if (note_steps(e, m, l.budget, step)) {
			announce(e, &l, step);
			money_line_write(e, m, &l);
			e->money->ladders.squeue_ms = engine_now(e); /* its jobs are warned now */
		}
		e->money->ladders.due = e->money->ladders.due || step != BUDGET_GOES_ON;
		e->money->ladders.jobs_end = e->money->ladders.jobs_end || step >= BUDGET_REQUEUES;
	}
	free(used);
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

int64_t ladder_since(const struct engine *e, const struct budget_hold *h, enum budget_step step,
		     struct budget_line *at)
{
	struct budgets *b = e->money->budgets;
	int64_t first = 0;
	const uint32_t *lines;
	size_t n = budgets_lines_of(b, h->spender, &lines);

	for (size_t i = 0; i < n; i++) {
		const struct budget_line l = budgets_line(b, lines[i]);
		const struct money_line *m =
			ends_jobs(l.budget) && is_now(e, &l) ? money_line_find(e, &l) : NULL;

		if (m == NULL || m->since_ms[step] == 0 ||
		    (first != 0 && first <= m->since_ms[step]))
			continue;
		first = m->since_ms[step];
		*at = l;
	}
	return first;
}

/* Drain the node, once: if an admin resumes it, that is the last word. */
static void drain(struct engine *e, struct hold_node *g)
{
	struct fleet_name *nm = fleet_find(&e->fleet, g->node);
	const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;
	const uint32_t goes = SLURM_DRAIN | SLURM_DOWN | SLURM_POWER_DOWN | SLURM_POWERING_DOWN;
	struct budget_line l;
	bool used_up = false;

	if (g->drained)
		return;
	for (const struct hold *h = g->first; h != NULL; h = h->next)
		used_up = used_up || (hold_of(e, h)->kind == BUDGET_MACHINE &&
				      ladder_since(e, hold_of(e, h), BUDGET_DRAINS, &l) != 0);
	if (!used_up || fn == NULL || fn->n.gen != g->gen || fn->n.state != NODE_READY ||
	    !slurm_is_on(nm->flags))
		return;
	g->drained = true;
	journal_put_drained(engine_tx(e), g->node, g->gen);
	if ((nm->flags & goes) == 0)
		insist_drain(e, nm, ENGINE_WHY_USED_UP);
}

/* One of a machine that nothing is held for any more is forgotten. */
void ladder_drained_load(struct engine *e, const char *node, uint64_t gen)
{
	struct hold_node *g = hold_find(e, node, gen);

	if (g != NULL)
		g->drained = true;
	else
		journal_del_drained(engine_tx(e), node, gen);
}

/* --- life ----------------------------------------------------------------------------------------
 */

/* At a start, too: the configuration may have changed meanwhile. */
static void ladder_reload(struct engine *e)
{
	struct ladders *l = &e->money->ladders;

	money_lines_configure(e);
	configure(e);
	ladder_jobs_reload(e);
	if (!l->any || holds_budgets(e) == NULL)
		ladder_jobs_forget(
			e); /* else they would end, and be acted upon when budgets come back */
}

/* Without the tree of accounts sums are too low: no step is over by them, nor is any reached. */
static bool has_sums(const struct engine *e)
{
	return e->money->ladders.any && holds_budgets(e) != NULL && !accounts_lack(e);
}

static void ladder_run(struct engine *e)
{
	struct ladders *l = &e->money->ladders;

	ladder_fates_run(e);
	if (!has_sums(e))
		return;
	if (engine_now(e) >= l->look_ms) {
		l->look_ms = engine_now(e) + LADDER_MS;
		look_at_sums(e);
		for (struct hold_node *g = l->due ? e->money->nodes : NULL; g != NULL; g = g->next)
			drain(e, g);
		if (!l->jobs_end) /* nothing ends by it: what was said of jobs is over */
			ladder_jobs_forget(e);
	}
	if (!l->jobs_end)
		return;
	if (l->crowded && checkpoint_room(e, CHECKPOINT_MONEY) &&
	    l->squeue_ms > l->asked_ms + LADDER_CROWD_MS)
		l->squeue_ms = l->asked_ms + LADDER_CROWD_MS;
	if (engine_now(e) < l->squeue_ms || jobs_coming(e, JOBS_FOR_LADDER))
		return;
	l->asked_ms = engine_now(e);
	l->squeue_ms = l->asked_ms + LADDER_MS;
	jobs_want(e, JOBS_FOR_LADDER);
}

static int64_t ladder_next_ms(const struct engine *e)
{
	const struct ladders *l = &e->money->ladders;
	const int64_t fates_ms = ladder_fates_next_ms(e);
	int64_t next_ms = l->look_ms;

	if (!has_sums(e) || e->money->nodes == NULL)
		return fates_ms;
	if (l->jobs_end && l->squeue_ms < next_ms && !jobs_coming(e, JOBS_FOR_LADDER))
		next_ms = l->squeue_ms;
	return next_ms < fates_ms ? next_ms : fates_ms;
}

const struct engine_part ladder_part = {
	.name = "budgets that are used up",
	.at = {[PART_INIT] = configure,
	       [PART_START] = ladder_reload,
	       [PART_RELOAD] = ladder_reload,
	       [PART_RUN] = ladder_run},
	.next_ms = ladder_next_ms,
	.reads = JOBS_FOR_LADDER,
	.squeue_says = ladder_jobs_says,
};
