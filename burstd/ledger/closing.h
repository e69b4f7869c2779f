/* closing.h - closes a month: from then on nothing that is reported of it changes.
 *
 * What turns out later is a correction in the month after.  Months are closed in order, since a
 * correction must find one that is open; only the last that was closed can be opened again. */
#ifndef BURSTD_LEDGER_CLOSING_H
#define BURSTD_LEDGER_CLOSING_H

#include "base/str.h"
#include "ledger/book.h"
#include "store/ledger_periods.h"

enum closing_obstacle {
	CLOSING_NOT_OVER,
	CLOSING_CLOSED,  /* already */
	CLOSING_EARLIER, /* a month before it is open and has charges */
	CLOSING_BEHIND,  /* facts or jobs until an hour after it were not read yet */
	CLOSING_NEWS,    /* instances that the next pass computes again */
	CLOSING_CHAIN,   /* a booking is not as it was written */
	CLOSING_SUMS,    /* sums by day are not those of the postings */
	CLOSING_BROKEN,  /* instances that cannot be computed, or whose parts do not add up */
	CLOSING_DIFFERS, /* instances that are not the same when they are computed again */
	/* From here on somebody may say that it may be closed all the same. */
	CLOSING_UNPRICED,    /* instances in no sum */
	CLOSING_UNSETTLED,   /* they ended in it, and a job there is not known to have ended */
	CLOSING_UNENDED,     /* LEDGER_UNENDED */
	CLOSING_QUARANTINED, /* LEDGER_QUARANTINED */
	CLOSING_NOBSTACLES,
};

const char *closing_obstacle_str(enum closing_obstacle o); /* "unpriced" */
const char *closing_obstacle_text(enum closing_obstacle o);
bool closing_may_allow(enum closing_obstacle o);
/* "unpriced,unended": bits of 1 << enum closing_obstacle.  -1: a word is none that may be. */
int closing_parse_allowed(const char *words, unsigned *out, struct err *e);

struct closing_draft {
	int64_t month;
	int64_t start_s, end_s; /* end_s is outside */
	bool closed;
	unsigned revision;                 /* of the last close; 0: there was none */
	int64_t count[CLOSING_NOBSTACLES]; /* of instances, or 1 */
	int64_t instances;                 /* with a bill in it */
	int64_t go_on;                     /* of these, those that go on after it */
	int64_t estimated;                 /* likewise, whose end the provider did not tell */
	char *totals;                      /* "EUR 12.5, USD 3.0" */
};

/* What stands in the way of closing the month.  Reads all bookings, sums and bills in it; within a
 * transaction.  A line for each instance, up to VERIFY_SHOWN of a kind, is appended to *out. */
int closing_look(const struct book *b, int64_t month, struct closing_draft *d, struct str *out,
		 struct err *e);
void closing_draft_fini(struct closing_draft *d);
/* Is something in the way that is not allowed? */
bool closing_is_stopped(const struct closing_draft *d, unsigned allowed);

struct closing_by {
	const char *who, *reason;
	unsigned allowed; /* obstacles that do not count */
};

/* Close the month, after closing_look(), in the same transaction: book what of it is not booked,
 * write down what its lines say, and the record.  hash has DIGEST_SIZE.  -1: nothing is to be
 * committed. */
int closing_close(const struct book *b, const struct closing_draft *d, const struct closing_by *by,
		  char *hash, struct err *e);
/* Open it again, and bring corrections of it back to it, in a transaction.  -1: also if it is not
 * the last that was closed. */
int closing_reopen(const struct book *b, int64_t month, const struct closing_by *by, char *hash,
		   struct err *e);

/* How one month is. */
struct closing_state {
	bool closed;
	unsigned revision; /* of its last close; 0: none */
	int64_t at_ms;     /* of its last record */
	int64_t first_ms;  /* of its first record */
	int64_t invoice;   /* if it is closed: the last that counts */
	char hash[DIGEST_SIZE], digest[DIGEST_SIZE];
};
const char *closing_state_str(const struct closing_state *s); /* open, closed, reopened */
int closing_state(struct ledger *l, int64_t month, struct closing_state *s, struct err *e);

#endif
