/* journal_budget.h - what budgets came to in each of their periods, and what finance and admins
 * changed of their amounts. */
#ifndef BURSTD_JOURNAL_BUDGET_H
#define BURSTD_JOURNAL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/budget.h"

struct journal_tx;

enum {
	JOURNAL_BUDGET_COUNTED_MAX = 250, /* bytes */
	JOURNAL_OVERRIDE_TEXT_MAX = 200,  /* bytes of a reason */
	JOURNAL_OVERRIDE_BY_MAX = 60      /* bytes of a name */
};

/* One budget, or one value of its `each`, in one period.  Of a rolling period there is one row, as
 * it was last: begin_ms is 0.  Borrowed. */
struct journal_budget {
	const char *budget, *value, *period;
	const char *counted; /* whose costs: budget_print_counted() */
	int64_t begin_ms, end_ms;
	int64_t amount, added, carried; /* as struct budget_line */
	int64_t spent, held;
	int64_t since_ms[BUDGET_NSTEPS]; /* when each step was reached; 0: it was not */
	int64_t at_ms;                   /* of this state */
};

/* Insert, or replace the row of that budget, value and period (by its name and its begin). */
void journal_put_budget(struct journal_tx *tx, const struct journal_budget *b);
/* Of the row of that budget, value and begin change since_ms alone; nothing, if there is none. */
void journal_put_budget_steps(struct journal_tx *tx, const struct journal_budget *b);
/* What a period that is over came to, and what is still held for it; at_ms is when that was so.  In
 * a row that is there nothing else changes.  Where there is none, none is made of nothing spent and
 * nothing held. */
void journal_put_budget_end(struct journal_tx *tx, const struct journal_budget *b);
/* Forget periods that ended before this. */
void journal_del_budgets(struct journal_tx *tx, int64_t end_ms);

/* The machine of this generation was drained since its budget was used up: it never is again. */
void journal_put_drained(struct journal_tx *tx, const char *node, uint64_t gen);
void journal_del_drained(struct journal_tx *tx, const char *node, uint64_t gen);

/* A budget was there in the period that began then, and this value of its `each` had this amount by
 * itself.  value "": so had all that have no row of their own.  Borrowed. */
struct journal_past {
	const char *budget, *value;
	struct budget_span span;
	int64_t amount; /* of value "" also -1: it is not known, as each value had one set */
};

/* What was added to the amount of one line, or set instead of it, from made_ms until until_ms.
 * Borrowed. */
struct journal_override {
	int64_t id; /* from 1 on, never used twice */
	const char *budget, *value;
	bool set;
	int64_t nano;              /* > 0; what is set may be 0 */
	int64_t made_ms, until_ms; /* until_ms INT64_MAX: without end */
	const char *by, *reason;
	/* It was revoked, or another one was set: until_ms is when. */
	const char *revoked_by, *revoked_why; /* "": it was not */
};

/* Insert; or of one that is there already, change until_ms, revoked_by and revoked_why alone. */
void journal_put_override(struct journal_tx *tx, const struct journal_override *o);

#endif
