/* counted.h - checks that the ledger and burstd's budgets have the same figures.
 *
 * burstd counts what a machine cost when it has ended, by its own times and the rate of its
 * purchase; the ledger computes the bill from facts and prices.  So the sums of both, by day,
 * provider, market and pool, must be equal, but for what the ledger knows better: prices that
 * changed while the machine ran, and times that its provider told later.  What these explain is
 * told by counting once more as burstd did, from the facts. */
#ifndef BURSTD_LEDGER_COUNTED_H
#define BURSTD_LEDGER_COUNTED_H

#include "ledger/calendar.h"
#include "ledger/input.h"
#include "store/ledger_counted.h"
#include "store/ledger_postings.h"

/* The days of an instance that has ended, and has these postings: *out is the caller's (free()).
 * Returns how many; 0: it has cost nothing, or runs. */
size_t counted_days(const struct input *in, struct calendar *calendar,
		    const struct ledger_posting *v, size_t n, struct ledger_counted **out);

/* Compare all days of which something has changed; within a transaction. */
int counted_compare(struct ledger *l, struct calendar *calendar, struct err *e);

#endif
