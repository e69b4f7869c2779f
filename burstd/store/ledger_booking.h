/* ledger_booking.h - bookings, the chain of what does not change any more; only store/ includes it.
 */
#ifndef BURSTD_STORE_LEDGER_BOOKING_H
#define BURSTD_STORE_LEDGER_BOOKING_H

#include "store/ledger_postings.h"
#include "store/ledger_private.h"

/* Book all postings of the lifetime that are not; none: no booking is made. */
int booking_make(struct ledger *l, int64_t lifetime, int64_t at_ms, struct err *e);

/* Give the rows of a statement that selects all columns of posting, in the order of the table. */
int booking_visit(struct ledger *l, struct db_cursor *c, ledger_posting_fn fn, void *ctx,
		  struct err *e);

#endif
