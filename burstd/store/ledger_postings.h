/* ledger_postings.h - the parts of each instance's bill, and their sums by day. */
#ifndef BURSTD_STORE_LEDGER_POSTINGS_H
#define BURSTD_STORE_LEDGER_POSTINGS_H

#include "store/digest.h"
#include "store/ledger.h"

enum { /* a posting's kind: its class, what it does to it, and whose it is */
       LEDGER_CLASS = 15,
       LEDGER_CREDIT = 16,
       LEDGER_OF_JOB = 32,
       LEDGER_OF_POOL = 64,
       LEDGER_OF_CLUSTER = 96,
       LEDGER_OWNER = 96,
       LEDGER_ADJUST = 128, /* makes of what was counted what the provider's invoice says */
       LEDGER_LATE = 256,   /* turned out when its month was closed: in the month after */
       LEDGER_KIND = 511,   /* all of these */
};

struct ledger_dims { /* who and where; "": not known, or nobody */
	const char *account, *user, *partition, *qos, *wckey;
	const char *provider, *market, *pool, *type, *currency;
};

enum { LEDGER_NDIMS = 10 };

struct ledger_posting {
	int64_t id, booking; /* booking 0: it may change */
	int64_t lifetime;
	int64_t day;     /* since 1970, of the report's zone */
	int64_t of_day;  /* the day that it is about: before `day` if it is late */
	unsigned kind;   /* above */
	int64_t dims;    /* ledger_dims_id() */
	int64_t attempt; /* of LEDGER_OF_JOB; else 0 */
	int64_t nano;
	int64_t gpu_s, cpu_s; /* that the owner had; of time that nobody had: that were free */
	int64_t from_s, to_s; /* it lies in there */
	int64_t time_s;       /* of the instance that it pays for a share of: ... */
	int64_t part, whole;  /* ... `part` of `whole` parts of all that time */
	int64_t list_nano; /* what its share costs on demand; of a difference it may be below 0 */
};

enum { LEDGER_UNLISTED = -1 }; /* list_nano: not known; only this one is */

/* Numbers of texts and of their combinations are given in a row, and readers have arrays by them.
 * A file with a larger one is damaged. */
enum { LEDGER_IDS_MAX = 1 << 27 };

/* The number of this combination, which is given it here if it has none. */
int ledger_dims_id(struct ledger *l, const struct ledger_dims *d, int64_t *id, struct err *e);
typedef int (*ledger_texts_fn)(void *ctx, const struct ledger_dims *d, struct err *e);
/* Its texts; nothing: no visit. */
int ledger_dims(struct ledger *l, int64_t id, ledger_texts_fn fn, void *ctx, struct err *e);
typedef int (*ledger_dims_fn)(void *ctx, int64_t id, const int64_t words[LEDGER_NDIMS],
			      struct err *e);
/* All of them, as numbers of words. */
int ledger_all_dims(struct ledger *l, ledger_dims_fn fn, void *ctx, struct err *e);
typedef int (*ledger_word_fn)(void *ctx, int64_t id, const char *text, struct err *e);
int ledger_all_words(struct ledger *l, ledger_word_fn fn, void *ctx, struct err *e);

/* From now on the postings of the lifetime are those of v (sorted here; their id, booking, lifetime
 * and day are ignored; of one of_day, kind, dims and attempt there is one at most).  Booked ones
 * stay, and what is new is the difference.  What is about a closed day is late: it is on the first
 * day that is open, ledger_open_day().  book: all that is not booked yet is, at_ms.  *changed: some
 * were written. */
struct ledger_change {
	int64_t lifetime;
	struct ledger_posting *v;
	size_t n;
	bool book;
	int64_t at_ms;
};
int ledger_set_postings(struct ledger *l, const struct ledger_change *ch, bool *changed,
			struct err *e);
/* Book what of the lifetime is not booked and is on a day before until_day. */
int ledger_book(struct ledger *l, int64_t lifetime, int64_t until_day, int64_t at_ms,
		struct err *e);

/* Order by what they are about: of_day, kind but for LEDGER_LATE, dims, attempt.  0: they are parts
 * of one. */
int ledger_posting_compare(const struct ledger_posting *a, const struct ledger_posting *b);

/* What a posting and a difference from it, written later, cost on demand together. */
int64_t ledger_list_add(int64_t list_nano, int64_t difference);

typedef int (*ledger_posting_fn)(void *ctx, const struct ledger_posting *p, struct err *e);
int ledger_postings_of(struct ledger *l, int64_t lifetime, ledger_posting_fn fn, void *ctx,
		       struct err *e);
int ledger_postings_for(struct ledger *l, int64_t attempt, ledger_posting_fn fn, void *ctx,
			struct err *e);
/* All in [from_day, to_day), in no order that means anything. */
int ledger_postings(struct ledger *l, int64_t from_day, int64_t to_day, ledger_posting_fn fn,
		    void *ctx, struct err *e);
/* Likewise, faster, without what a report does not add
 * up: their times, parts and list prices. */
int ledger_amounts(struct ledger *l, int64_t from_day, int64_t to_day, ledger_posting_fn fn,
		   void *ctx, struct err *e);
/* Likewise, summed by day, dims and kind: only those fields and the sums are set; time_s has how
 * many postings there are. */
int ledger_rollup(struct ledger *l, int64_t from_day, int64_t to_day, ledger_posting_fn fn,
		  void *ctx, struct err *e);

/* Do the sums differ from those of the postings?  *bad: in so many days, dims and kinds. */
int ledger_check_rollup(struct ledger *l, int64_t *bad, struct err *e);

struct ledger_chain {
	int64_t bookings;       /* that are as they were written */
	char hash[DIGEST_SIZE]; /* of the last of them */
	int64_t bad;            /* the first that is not; 0: none */
	const char *what;       /* changed, missing, cut */
};
/* Look through all bookings.  0: *c says what was found. */
int ledger_check_chain(struct ledger *l, struct ledger_chain *c, struct err *e);

#endif
