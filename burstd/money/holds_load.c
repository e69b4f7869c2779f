/* Loads what is held, and what was spent, from the journal. */
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
	g->written = false; /* it need not be written again */
	(void)hold_add(e, g, h->job, &hold);
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
