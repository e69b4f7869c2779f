/* What is left of each budget. */
#include <assert.h>

#include "core/budget_private.h"

enum { PERCENT = 100 };

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
				.limited = c->b->amount_nano != 0,
				.own = budget_own(c),
				.set_id = c->set_id,
				.carried = budget_carried(c),
				.added = c->added,
				.spent = c->spent,
				.held = budget_narrow(c->held.now),
				.later = budget_narrow(budget_after(c)),
				.rate = budget_narrow(c->held.rate),
				.left = INT64_MAX,
				.has_last = c->has_last,
				.last = c->last,
				.last_amount = c->last_amount,
				.last_spent = c->last_spent,
				.last_held = budget_narrow(c->held.last)};

	assert(i < b->ncounts);
	if (!l.limited)
		return l;
	l.amount = budget_amount(c);
	l.left = budget_narrow(l.amount - budget_used(c));
	return l;
}

/* --- the ladder ---------------------------------------------------------------------------------
 */

static const char *const steps[BUDGET_NSTEPS] = {"", "drain", "requeue", "kill"};

const char *budget_step_str(enum budget_step s)
{
	assert(s < BUDGET_NSTEPS);
	return steps[s];
}

enum budget_step budget_step(const struct budget_line *l, int64_t used_nano)
{
	const uint32_t at[BUDGET_NSTEPS] = {0, l->budget->drain_at, l->budget->requeue_at,
					    l->budget->kill_at};
	enum budget_step step = BUDGET_GOES_ON;

	for (int s = BUDGET_DRAINS; s < BUDGET_NSTEPS; s++)
		if (at[s] != 0 && l->limited && used_nano > 0 && l->when == PERIOD_NOW &&
		    (budget_wide)used_nano * PERCENT >= (budget_wide)l->amount * at[s])
			step = (enum budget_step)s;
	return step;
}
