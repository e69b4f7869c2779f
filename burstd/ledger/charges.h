/* charges.h - the lines of the ledger, each with all that is known of it, for who writes statements
 * and exports. */
#ifndef BURSTD_LEDGER_CHARGES_H
#define BURSTD_LEDGER_CHARGES_H

#include "ledger/calendar.h"
#include "ledger/source.h"
#include "store/ledger.h"

/* Every line of days in [from_day, to_day), instance by instance, in order of day; texts are
 * borrowed for the visit.  What is booked later as a difference is part of the line that it
 * changes, but if it came when the month was closed, a line of its own in a later one.  Lines of
 * closed months say what they said when these were closed.  A visit that returns -1 ends it. */
int charges_visit(struct ledger *l, int64_t from_day, int64_t to_day, source_fn fn, void *ctx,
		  struct err *e);

/* Write down what the lines of that month say, for the closing of that number (ledger_shown.h). */
int charges_freeze(struct ledger *l, int64_t closing, int64_t month, struct err *e);

#endif
