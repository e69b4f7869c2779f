/* ledger_booking.h - bookings, the chain of what does not change any more; only store/ includes it.
 */
#ifndef BURSTD_STORE_LEDGER_BOOKING_H
#define BURSTD_STORE_LEDGER_BOOKING_H

#include "store/ledger_postings.h"
#include "store/ledger_private.h"

/* The last booking: its number and hash; 0 and 64 zeros before the first. */
int booking_last(struct ledger *l, int64_t *seq, char hash[DIGEST_SIZE], struct err *e);

/* Give the rows of a statement that selects all columns of posting, in the order of the table. */
int booking_visit(struct ledger *l, struct db_cursor *c, ledger_posting_fn fn, void *ctx,
		  struct err *e);

#endif
