/* Sets aside what machines and jobs may cost before anything is bought, in the transaction of the
 * purchase, and turns it into what they did cost when they end. */
#include "money/hold.h"
#include "money/line.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cloud/cloud.h"
#include "jobs/jobs.h"

enum {
	HOLDS_WATCH_MS = 30000, /* between two looks at holds that are about to end */
	HOLDS_DAYS = 800,       /* what was spent is kept so long: two years, and more */
};

struct budgets *holds_budgets(const struct engine *e)
{
	struct budgets *b = e->money->budgets;

	return b != NULL && budgets_any(b) ? b : NULL;
}

void holds_now(struct engine *e)
{
	struct money_state *m = e->money;

	if (m->budgets == NULL || engine_now(e) < budgets_turn_ms(m->budgets))
		return;
	if (budgets_now(m->budgets, engine_now(e)))
		m->freed = true;
}

static void configure(struct engine *e)
{
	budgets_configure(e->money->budgets, e->conf->budgets, e->conf->nbudgets);
	holds_waits_forget(e);
}

static void holds_init(struct engine *e)
{
	struct money_state *m = e->money;

	map_init(&m->held);
	money_lines_init(e);
	if (e->d.report_zone == NULL)
		return;
	m->budgets = budgets_new(e->d.report_zone, engine_now(e));
	m->times = (struct budget_times){
		.over_ms = HOLDS_OVER_MS, .idle_ms = HOLDS_IDLE_MS, .end_ms = HOLDS_END_MS};
	configure(e);
}

static void holds_free(struct engine *e)
{
	hold_free(e);
	holds_times_free(e);
	overrides_free(e);
	money_lines_free(e);
	budgets_free(e->money->budgets);
}

int holds_since_load(struct engine *e, struct err *err)
{
	return journal_get_number(e->d.journal, JOURNAL_BUDGETS_SINCE, &e->money->since_ms, err);
}

/* Note since when no machine's end is missed; anew: some ends may be, in a journal that is new or
 * an older copy. */
static void note_since(struct engine *e, bool anew)
{
	struct money_state *m = e->money;
	bool counts = budgets_any(m->budgets);

	if (counts == (m->since_ms != 0) && !(counts && anew))
		return;
	m->since_ms = counts ? engine_now(e) : 0;
	journal_put_number(engine_tx(e), JOURNAL_BUDGETS_SINCE, m->since_ms);
}

/* What jobs lacked before this start is not known any more: each is tried once. */
static void holds_start(struct engine *e)
{
	if (e->money->budgets == NULL)
		return;
	overrides_start(e);
	note_since(e, e->cloud->doubtful);
	holds_mend(e);
	postpone_money(e);
}

static void holds_reload(struct engine *e)
{
	if (e->money->budgets == NULL)
		return;
	configure(e);
	note_since(e, false);
	holds_mend(e);
	e->money->look_ms = 0; /* other budgets may want more to be held for jobs that run */
}

/* --- a purchase ----------------------------------------------------------------------------------
 */

void holds_bought(struct engine *e, struct fleet_node *fn, const struct payer *p)
{
	struct budget_want wants[BUDGET_WANTS_MAX];
	struct budget_machine m;
	struct hold_node *g;
	size_t n;

	if (holds_budgets(e) == NULL)
		return;
	m = hold_machine(e, fn);
	g = hold_node_of(e, fn->n.name, fn->n.gen);
	n = budget_wants(e->money->budgets, p, &m, &e->money->times, engine_now(e), wants);
	for (size_t i = 0; i < n; i++)
		(void)hold_add(e, g, wants[i].hold.kind == BUDGET_MACHINE ? 0 : fn->n.job,
			       &wants[i].hold);
	holds_waits_bought(e, fn->n.job);
}

/* The row is being written.  One that was found, or is older than the budgets, has no holds yet. */
static void on_written(struct engine *e, struct fleet_node *fn)
{
	if (holds_budgets(e) == NULL)
		return;
	if (hold_find(e, fn->n.name, fn->n.gen) == NULL)
		holds_bought(e, fn, NULL);
	hold_write(e, hold_node_of(e, fn->n.name, fn->n.gen));
}

/* --- a life --------------------------------------------------------------------------------------
 */

static struct hold *first_of(const struct engine *e, const struct hold_node *g,
			     enum budget_kind kind)
{
	for (struct hold *h = g->first; h != NULL; h = h->next)
		if (hold_of(e, h)->kind == kind)
			return h;
	return NULL;
}

/* The hold begins at from_ms and is as long as before, at least: what follows comes later, too. */
static void begin_at(struct engine *e, struct hold_node *g, struct hold *h, int64_t from_ms)
{
	const struct budget_hold *hold = hold_of(e, h);
	int64_t until = hold->until_ms;

	if (from_ms > hold->from_ms && until < INT64_MAX - (from_ms - hold->from_ms))
		until += from_ms - hold->from_ms;
	hold_change(e, g, h, from_ms, until);
}

/* The begin of the bill is known, or corrected. */
static void on_begun(struct engine *e, struct hold_node *g, const struct node *is)
{
	for (struct hold *h = g->first; h != NULL; h = h->next)
		if (hold_of(e, h)->kind != BUDGET_RUN)
			begin_at(e, g, h, is->start_ms);
}

bool holds_boots(const struct engine *e, const struct node *n)
{
	const struct hold_node *g =
		e->money->budgets != NULL ? hold_find(e, n->name, n->gen) : NULL;

	return g != NULL && first_of(e, g, BUDGET_BOOT) != NULL;
}

/* The node is up: the boot is over, and the job has it from now on.  When it starts is not known,
 * for it may wait for other nodes, so it is held for until as late as before: holds_jobs.c. */
static void on_ready(struct engine *e, struct hold_node *g)
{
	int64_t now = engine_now(e);
	struct hold *boot;

	while ((boot = first_of(e, g, BUDGET_BOOT)) != NULL)
		hold_settle(e, g, boot, now);
	for (struct hold *h = g->first; h != NULL; h = h->next) {
		const struct budget_hold *hold = hold_of(e, h);
		int64_t span = hold->until_ms - hold->from_ms, until = hold->until_ms;

		if (until < now || until - now < span)
			until = span < INT64_MAX - now ? now + span : INT64_MAX;
		if (hold->kind == BUDGET_RUN)
			hold_change(e, g, h, now, until);
	}
}

/* The end of the time that is billed. */
static int64_t billed_until(const struct engine *e, const struct fleet_node *fn,
			    const struct node *is)
{
	const struct budget_machine m = hold_machine(e, fn);
	int64_t ms = is->end_ms - is->start_ms;

	if (ms < m.minimum_ms)
		ms = m.minimum_ms;
	if (m.quantum_ms > 0)
		ms = (ms + m.quantum_ms - 1) / m.quantum_ms * m.quantum_ms;
	return is->start_ms + ms;
}

static void drop_runs(struct engine *e, struct hold_node *g)
{
	struct hold *run;

	while ((run = first_of(e, g, BUDGET_RUN)) != NULL)
		hold_drop(e, g, run);
}

static void settle_all(struct engine *e, struct hold_node *g, struct fleet_node *fn,
		       const struct node *is)
{
	int64_t billed = billed_until(e, fn, is);

	if (first_of(e, g, BUDGET_BOOT) != NULL) /* it was never up, so nothing ran there */
		drop_runs(e, g);
	while (g->first != NULL)
		hold_settle(e, g, g->first,
			    hold_of(e, g->first)->kind == BUDGET_MACHINE ? billed : is->end_ms);
}

static void on_gone(struct engine *e, struct fleet_node *fn, const struct node *is)
{
	struct hold_node *g = hold_find(e, is->name, is->gen);

	if (g == NULL)
		return;
	if (is->start_ms != 0)
		settle_all(e, g, fn, is);
	hold_end(e, g);
}

/* It is there after all: its bill goes on where it ended, or begins. */
static void on_seen_again(struct engine *e, struct fleet_node *fn, const struct node *is)
{
	const struct budget_machine m = hold_machine(e, fn);
	struct budget_want wants[BUDGET_WANTS_MAX];
	struct hold_node *g = hold_node_of(e, is->name, is->gen);

	g->written = true;
	(void)budget_wants(e->money->budgets, NULL, &m, &e->money->times, engine_now(e), wants);
	wants[0].hold.from_ms = is->end_ms != 0 ? billed_until(e, fn, is) : is->start_ms;
	wants[0].hold.until_ms = engine_now(e) + HOLD_MORE_MS;
	if (wants[0].hold.until_ms < wants[0].hold.from_ms) /* its time is paid for */
		wants[0].hold.until_ms = wants[0].hold.from_ms;
	(void)hold_add(e, g, 0, &wants[0].hold);
}

/* Has the node come up?  One whose machine will be taken away runs its jobs until then, and never
 * is READY. */
static bool comes_up(const struct engine *e, const struct node *was, const struct node_event *ev)
{
	return ev->type == NODE_EV_REGISTERED &&
	       (was->state == NODE_BOOTING || (was->state == NODE_DRAINING && holds_boots(e, was)));
}

static void holds_stepped(struct engine *e, struct fleet_node *fn, const struct node *was,
			  const struct node_event *ev)
{
	const struct node *is = fn->next != NULL ? fn->next : &fn->n;
	struct hold_node *g;

	if (was == NULL && is->end_ms != 0 && holds_budgets(e) != NULL)
		on_seen_again(e, fn, is);
	else if (was == NULL)
		on_written(e, fn);
	if (was == NULL || e->money->budgets == NULL)
		return;
	g = hold_find(e, is->name, is->gen);
	if (g != NULL && is->start_ms != was->start_ms && is->start_ms != 0)
		on_begun(e, g, is);
	if (g != NULL && comes_up(e, was, ev))
		on_ready(e, g);
	if (was->state == is->state)
		return;
	if (is->state == NODE_GONE)
		on_gone(e, fn, is);
	else if (was->state == NODE_GONE && holds_budgets(e) != NULL)
		on_seen_again(e, fn, is);
}

/* --- holds that end ---------------------------------------------------------------------------
 */

/* How long a lease of this hold is; 0: it has none. */
static int64_t lease_of(const struct engine *e, const struct budget_hold *h)
{
	int64_t ms = budgets_reserve_ms(e->money->budgets, h->spender, -1, 0);

	return h->kind != BUDGET_BOOT && ms > 0 && h->until_ms - h->from_ms >= ms ? ms : 0;
}

/* A boot takes longer than it may: the jobs that wait for the node have not begun. */
static void put_off(struct engine *e, struct hold_node *g, int64_t now)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, g->node);
	const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, g->gen) : NULL;

	if (first_of(e, g, BUDGET_BOOT) == NULL && (fn == NULL || !node_coming(&fn->n)))
		return;
	for (struct hold *h = g->first; h != NULL; h = h->next)
		if (hold_of(e, h)->kind == BUDGET_RUN &&
		    hold_of(e, h)->from_ms <= now + HOLDS_WATCH_MS)
			begin_at(e, g, h, now + HOLD_MORE_MS);
}

/* A lease is renewed when half of it is over.  What else outlives its hold is held for longer: that
 * is beyond the budget, and counts against what others may have. */
static void extend(struct engine *e, struct hold_node *g, int64_t now)
{
	for (struct hold *h = g->first; h != NULL; h = h->next) {
		const struct budget_hold *hold = hold_of(e, h);
		int64_t lease = lease_of(e, hold);

		if (lease > 0 && hold->until_ms <= now + lease / 2)
			hold_change(e, g, h, hold->from_ms, now + lease);
		else if (hold->until_ms <= now + HOLDS_WATCH_MS)
			hold_change(e, g, h, hold->from_ms, now + HOLD_MORE_MS);
	}
}

static void watch(struct engine *e)
{
	struct money_state *m = e->money;
	int64_t now = engine_now(e), day;

	if (m->budgets == NULL || now < m->watch_ms)
		return;
	m->watch_ms = now + HOLDS_WATCH_MS;
	for (struct hold_node *g = m->nodes; g != NULL; g = g->next) {
		put_off(e, g, now);
		extend(e, g, now);
	}
	holds_waits_tidy(e);
	if (budgets_now(m->budgets, now)) /* before rows are written: else one is of the last */
		m->freed = true;
	money_lines_watch(e);
	day = budgets_day(m->budgets, now) - HOLDS_DAYS;
	if (day <= m->forget_day)
		return;
	day = budgets_forget(m->budgets, day);
	if (day > m->forget_day)
		journal_del_spent(engine_tx(e), day);
	m->forget_day = day;
}

/* --- the turn ---------------------------------------------------------------------------------
 */

static void holds_run(struct engine *e)
{
	if (e->money->budgets == NULL)
		return;
	holds_now(e);
	watch(e);
	holds_waits_turn(e);
}

static int64_t holds_next_ms(const struct engine *e)
{
	const struct money_state *m = e->money;
	int64_t next = m->nodes != NULL ? m->watch_ms : INT64_MAX;

	if (m->budgets == NULL)
		return INT64_MAX;
	if (budgets_turn_ms(m->budgets) < next)
		next = budgets_turn_ms(m->budgets);
	return next < holds_waits_next_ms(e) ? next : holds_waits_next_ms(e);
}

const struct engine_part holds_part = {
	.name = "money that is set aside",
	.at = {[PART_INIT] = holds_init,
	       [PART_START] = holds_start,
	       [PART_RELOAD] = holds_reload,
	       [PART_RUN] = holds_run,
	       [PART_FREE] = holds_free},
	.next_ms = holds_next_ms,
	.settings = holds_settings,
	.job_ended = holds_waits_ended,
	.job_beside = holds_waits_beside,
	.stepped = holds_stepped,
};
