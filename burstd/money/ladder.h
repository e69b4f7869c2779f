/* ladder.h - what ends when a budget is used up, in two halves: ladder.c finds the steps that
 * budgets have reached, and drains nodes; ladder_jobs.c ends jobs.  Only ladder*.c include it. */
#ifndef BURSTD_MONEY_LADDER_H
#define BURSTD_MONEY_LADDER_H

#include "money/money.h"

enum { LADDER_MS = 10000 }; /* between two looks at sums, and at jobs that are to end */

/* --- ladder.c --- */
/* The time since when a line of the hold has reached the step, the earliest; 0: none has.  at: the
 * line. */
int64_t ladder_since(const struct engine *e, const struct budget_hold *h, enum budget_step step,
		     struct budget_line *at);

/* --- ladder_jobs.c --- */
void ladder_jobs_says(struct engine *e, const char *text, size_t len, const struct err *err);
/* Budgets and pools are others now: what jobs lack names those of these names. */
void ladder_jobs_reload(struct engine *e);
/* Nothing ends them any more. */
void ladder_jobs_forget(struct engine *e);

#endif
