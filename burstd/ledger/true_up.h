/* true_up.h - makes of what was counted what the provider's invoice says.
 *
 * The postings of an instance are what its facts come to.  If an invoice has another amount for it,
 * or, being the whole invoice of the month, has none, the difference is divided among those who had
 * the instance that month, by what each has of it, so that the month's postings add up to the
 * invoice, to the last nano-unit. */
#ifndef BURSTD_LEDGER_TRUE_UP_H
#define BURSTD_LEDGER_TRUE_UP_H

#include "ledger/book.h"

struct true_up {
	size_t months;     /* with a difference, or none, by an invoice */
	bool end_is_known; /* an invoice has an amount for the month of its end */
	bool all_is_known; /* an invoice has an amount for each month of its life */
};

/* Append the differences to the postings in r, and add them to its bill.  in: what these were made
 * of.  -1: *e of the ledger; ERR_LIMIT: sums are too large. */
int true_up(const struct book *b, const struct input *in, struct book_result *r, struct true_up *t,
	    struct err *e);

/* The postings of an invoice's lifetime: what it has for no machine. */
int true_up_shared(const struct book *b, const struct ledger_lifetime *t, struct book_result *r,
		   struct err *e);

#endif
