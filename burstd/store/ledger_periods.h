/* ledger_periods.h - which months are closed, and who closed them: records that nobody can change
 * unnoticed, as bookings are.
 *
 * Months are closed in order, so one number says all: every day before ledger_open_day() is closed.
 * Nothing is written on a closed day any more; the tables see to it themselves. */
#ifndef BURSTD_STORE_LEDGER_PERIODS_H
#define BURSTD_STORE_LEDGER_PERIODS_H

#include "store/digest.h"
#include "store/ledger.h"

struct ledger_closing { /* texts are borrowed */
	int64_t seq;
	int64_t month; /* date_month() */
	unsigned revision;
	bool closed; /* else it was opened again */
	int64_t at_ms;
	const char *who, *reason;
	const char
		*allowed; /* what stood in the way and was passed over: "unpriced"; "": nothing */
	const char *zone;
	const char *totals; /* "EUR 12.5"; of several: "EUR 12.5, USD 3.0" */
	int64_t invoice;    /* the last that there was */
	int64_t booking;    /* likewise, and its hash */
	const char *chain;  /* ... */
	int64_t n;          /* postings in the month, all booked ... */
	const char *digest; /* ... and of them, with what their lines say, and of its invoices */
	/* Of what the statement has of budgets: see ledger_periods.c; "": the record is from before
	 * that was in it, or its month was opened again. */
	const char *budgets;
	const char *hash; /* of all this, and of the record before */
};

/* The first day that is not closed; 0: none is. */
int ledger_open_day(struct ledger *l, int64_t *day, struct err *e);

/* Is there a posting on days in [from_day, to_day), be it of nothing? */
int ledger_has_postings(struct ledger *l, int64_t from_day, int64_t to_day, bool *has,
			struct err *e);

/* Write that a month is closed (given->closed) or open again, within a transaction.  Of a close,
 * all its postings are booked and what they say is written (ledger_shown.h) for *seq, which is
 * ledger_next_closing().  The caller sets month to totals; the rest is found here.  hash has
 * DIGEST_SIZE: the new record's. */
int ledger_put_closing(struct ledger *l, const struct ledger_closing *given, char *hash,
		       struct err *e);
int ledger_next_closing(struct ledger *l, int64_t *seq, struct err *e);

typedef int (*ledger_closing_fn)(void *ctx, const struct ledger_closing *c, struct err *e);
/* All, in the order in which they were written. */
int ledger_closings(struct ledger *l, ledger_closing_fn fn, void *ctx, struct err *e);

struct ledger_period_check {
	int64_t closings; /* records that are as they were written ... */
	int64_t bare;     /* ... and of these, of months that are closed, those without budgets */
	int64_t bad;      /* the first that is not; 0: none */
	const char *what; /* changed, missing, cut; or its postings, or the days that are closed */
};
/* Look through all records, and all postings that they speak for.  0: *c says what was found. */
int ledger_check_periods(struct ledger *l, struct ledger_period_check *c, struct err *e);

#endif
