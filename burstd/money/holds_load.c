/* Loads what is held, and what was spent, from the journal, and sets right what is not held for the
 * machines that there are: budgets are new, or the journal was put back. */
#include "money/hold.h"

int holds_load(struct engine *e, const struct journal_hold *h, struct err *err)
{
	struct budget_hold hold = h->hold;
	struct hold_node *g;

	(void)err;
	if (e->money->budgets == NULL)
		return 0;
	hold.spender = budgets_spender(e->money->budgets, &h->spender);
	g = hold_node_of(e, h->node, h->gen);
	g->written = false;                         /* it need not be written again */
	hold_add(e, g, h->job, &hold)->made_ms = 0; /* older than any squeue of this life */
	g->written = true;
	return 0;
}

int holds_load_day(struct engine *e, const struct journal_spent *s)
{
	struct budgets *b = e->money->budgets;

	if (b != NULL)
		(void)budgets_spent(b, budgets_spender(b, &s->spender), s->day, s->nano);
	return 0;
}

/* The machine is older than the budgets: its cost counts from its begin.  Whose jobs run there is
 * not known. */
static void hold_for(struct engine *e, struct fleet_node *fn)
{
	const struct budget_machine m = hold_machine(e, fn);
	struct hold_node *g = hold_node_of(e, fn->n.name, fn->n.gen);
	struct budget_want wants[BUDGET_WANTS_MAX];
	int64_t now = engine_now(e);

	g->written = true;
	(void)budget_wants(e->money->budgets, NULL, &m, &e->money->times, now, wants);
	if (fn->n.start_ms != 0 && fn->n.start_ms < now)
		wants[0].hold.from_ms = fn->n.start_ms;
	wants[0].hold.until_ms = now + HOLD_MORE_MS;
	(void)hold_add(e, g, 0, &wants[0].hold);
}

/* Nothing is held for what is not there. */
static void end_strangers(struct engine *e)
{
	for (struct hold_node *g = e->money->nodes, *next; g != NULL; g = next) {
		const struct fleet_name *nm = fleet_find(&e->fleet, g->node);
		const struct fleet_node *fn = nm != NULL ? fleet_gen(nm, g->gen) : NULL;

		next = g->next;
		if (fn == NULL || !node_counts(fn->next != NULL ? fn->next : &fn->n))
			hold_end(e, g);
	}
}

void holds_mend(struct engine *e)
{
	if (e->money->budgets == NULL)
		return;
	end_strangers(e);
	for (int s = 0; s < NODE_NSTATES && holds_budgets(e) != NULL; s++)
		for (struct fleet_node *fn = e->fleet.states[s]; fn != NULL; fn = fn->state_next)
			if (node_counts(fn->next != NULL ? fn->next : &fn->n) &&
			    fn->unwritten == NULL && hold_find(e, fn->n.name, fn->n.gen) == NULL)
				hold_for(e, fn);
	engine_commit(e);
}
