/* What is left of each budget. */
#include <assert.h>

#include "core/budget_private.h"

size_t budgets_lines(struct budgets *b)
{
	budget_refresh(b);
	return b->ncounts;
}

struct budget_line budgets_line(const struct budgets *b, size_t i)
{
	const struct budget_count *c = b->counts[i];
	struct budget_line l = {.budget = c->b,
				.value = c->value,
				.period = c->period,
				.when = c->when,
				.spent = c->spent,
				.held = budget_narrow(c->held.now),
				.later = budget_narrow(c->held.later),
				.rate = budget_narrow(c->held.rate),
				.left = INT64_MAX};

	assert(i < b->ncounts);
	if (c->b->amount_nano != 0)
		l.left = budget_narrow(c->b->amount_nano - (budget_wide)c->spent - c->held.now);
	return l;
}
