/* charges.h - the lines of the ledger, each with all that is known of it, for who writes statements
 * and exports. */
#ifndef BURSTD_LEDGER_CHARGES_H
#define BURSTD_LEDGER_CHARGES_H

#include "ledger/calendar.h"
#include "ledger/source.h"
#include "store/ledger.h"

/* Every line of days in [from_day, to_day), instance by instance, in order of day; texts are
 * borrowed for the visit.  What is booked later as a difference is a line of its own.  A visit that
 * returns -1 ends it. */
int charges_visit(struct ledger *l, int64_t from_day, int64_t to_day, source_fn fn, void *ctx,
		  struct err *e);

#endif
