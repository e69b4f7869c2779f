/* budget_forecast.h - what a budget will have spent when its period ends, if jobs go on as they did
 * lately.
 *
 * The pace is what was spent per hour in the last seven days and today, or since the first of these
 * days on which anything was.  The bounds are the quietest and the busiest whole day of them: half
 * of a week tells no more. */
#ifndef BURSTD_BUDGET_FORECAST_H
#define BURSTD_BUDGET_FORECAST_H

#include "core/budget.h"

enum { BUDGET_PACE_DAYS = 8 }; /* today, and seven whole days before it */

/* What was spent on each of these days, by what still runs too; the last one is today. */
struct budget_days {
	int64_t nano[BUDGET_PACE_DAYS];
};

/* Of each line, in the order of budgets_line(): the caller's (free()). */
struct budget_days *budgets_days(const struct budgets *b);
/* Add what a hold has cost until now.  all: as budgets_days() gave them. */
void budget_days_add(const struct budgets *b, struct budget_days *all, const struct budget_hold *h);

struct budget_forecast {
	int64_t pace_nano_h;
	int64_t least, expected, most; /* spent when the period ends */
	int64_t used_up_ms; /* when the amount is spent, at that pace; 0: not in this period */
};

/* used_nano: spent in the period up to now, by what runs too.  false: nothing can be said, for the
 * period is not the one that is now, or never ends (a rolling one), or there is no amount. */
bool budget_forecast(const struct budgets *b, const struct budget_line *l, int64_t used_nano,
		     const struct budget_days *days, struct budget_forecast *out);

#endif
