/* journal_money.h - money that is set aside, and what was spent on each day. */
#ifndef BURSTD_JOURNAL_MONEY_H
#define BURSTD_JOURNAL_MONEY_H

#include <stdint.h>

#include "core/budget.h"

struct journal_tx;

/* A number of the journal (journal_get_number()): since when, in ms, all that machines cost is in
 * `spent` once they have ended, without a gap; 0: it is not, as there are no budgets. */
#define JOURNAL_BUDGETS_SINCE "budgets_since"

struct journal_hold { /* borrowed */
	const char *node;
	uint64_t gen, job;       /* job: 0 for the machine itself */
	struct budget_hold hold; /* but for its spender: */
	struct budget_spender spender;
};

struct journal_spent { /* borrowed */
	int64_t day;   /* base/zone.h */
	struct budget_spender spender;
	int64_t nano; /* in all, on that day */
};

/* Insert, or replace the one of that node, generation, job and kind. */
void journal_put_hold(struct journal_tx *tx, const struct journal_hold *h);
void journal_del_hold(struct journal_tx *tx, const struct journal_hold *h);
/* Insert, or replace that spender's day. */
void journal_put_spent(struct journal_tx *tx, const struct journal_spent *s);
/* Forget all days before this one. */
void journal_del_spent(struct journal_tx *tx, int64_t day);

#endif
