/* money_api.h - what burstd's API shows about money. */
#ifndef BURSTD_MONEY_API_H
#define BURSTD_MONEY_API_H

#include "core/budget.h"
#include "core/stages.h"
#include "engine/engine.h"

/* How long nodes took, by offer; valid until control returns to the loop. */
const struct stages *engine_stages(const struct engine *e);

struct engine_budget { /* one budget, or one value of `each` */
	struct budget_line line;
	int64_t accrued; /* what is held has cost so much so far, in the period; part of line.held
			  */
	/* How much more than the amount may be spent, if all that it pays for is ended when it is
	 * used up: the sum, over its holds that have begun, of rate x (150 s + the machine's
	 * billing quantum), rounded up; 150 s are from the order to delete a machine until it
	 * bills no more.  In mode `full` the end is in what is held, so only machines count there
	 * whose deletes their provider does not take: then each further hour of that costs their
	 * rate again.  In the other modes nothing ends a job for want of money yet, so each
	 * further hour of those jobs costs their rate again, too. */
	int64_t beyond;
	size_t waiting; /* jobs that were refused for want of it, and wait; since burstd started */
};

struct engine_budgets { /* in the order of the file, those of one budget by value */
	struct engine_budget *v;
	size_t n;
};

/* All lines; user not NULL: those that this user may see (budgets_lines_for()).  Their texts are
 * valid until control returns to the loop.  out is the caller's (engine_budgets_fini()). */
void engine_budgets(const struct engine *e, const char *user, struct engine_budgets *out);
void engine_budgets_fini(struct engine_budgets *all);

#endif
