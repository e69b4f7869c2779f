/* What can be said of a budget before a job is there: the most that it can ever pay for, and whose
 * jobs it pays for. */
#include "base/clamp.h"
#include "core/budget_private.h"

enum { PERCENT = 100 };

static budget_wide with_rollover(const struct conf_budget *of, int64_t own, int64_t added)
{
	return (budget_wide)own * (PERCENT + of->rollover) / PERCENT + added;
}

static bool limits(const struct conf_budget *of)
{
	return of->amount_nano != 0 && of->stop_at != 0;
}

/* What there is until it takes no new jobs. */
static int64_t usable(const struct conf_budget *of, budget_wide amount)
{
	return budget_narrow(amount * of->stop_at / PERCENT);
}

void budgets_most(const struct budgets *b, int64_t *out)
{
	for (size_t i = 0; i < b->nlist; i++)
		out[i] = limits(&b->list[i])
				 ? usable(&b->list[i],
					  with_rollover(&b->list[i], b->list[i].amount_nano, 0))
				 : 0;
	for (size_t i = 0; i < b->ncounts; i++) {
		const struct budget_count *c = b->counts[i];
		int64_t own = budget_own(c), next = budget_next_own(c), most;

		if (!limits(c->b))
			continue;
		most = usable(c->b, with_rollover(c->b, own > next ? own : next, c->added));
		out[c->order] = most > out[c->order] ? most : out[c->order];
	}
}

/* A pair of texts for each time that an account was put below another; the last one counts. */
void budgets_each_account(const struct budgets *b, budget_account_fn fn, void *ctx)
{
	for (size_t i = 0; i + 1 < b->nparents; i += 2)
		if (map_get(&b->parents, b->parent_texts[i]) == b->parent_texts[i + 1])
			fn(ctx, b->parent_texts[i], b->parent_texts[i + 1]);
}
