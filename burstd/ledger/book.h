/* book.h - computes what an instance cost and who caused it, from all that the ledger knows of it,
 * and writes that down as postings.
 *
 * An instance that runs is computed again in each pass.  Once it has ended and all its jobs are
 * known its postings are booked, and what turns out later is booked as the difference. */
#ifndef BURSTD_LEDGER_BOOK_H
#define BURSTD_LEDGER_BOOK_H

#include "ledger/calendar.h"
#include "ledger/input.h"
#include "store/ledger_counted.h"
#include "store/ledger_postings.h"
#include "store/ledger_spenders.h"

enum {
	/* slurmctld tells slurmdbd of a job's end a moment later, and its clock may be off: jobs
	 * that were read so long after an instance ended are all. */
	BOOK_SETTLE_MS = 3600000,
	/* So late nothing more is expected: a job that still runs there is one that Slurm has
	 * lost, or there is no accounting. */
	BOOK_LATE_MS = 72 * 3600000,
	BOOK_SKEW_S = 5,       /* by so much clocks differ, and nobody needs to know */
	BOOK_SKEW_MAX_S = 300, /* and by more than this none does */
	/* A longer life is a wrong time, and each day of it would be a posting. */
	BOOK_LIFE_MAX_S = 631152000,
};

struct book {
	struct ledger *ledger;
	struct calendar *calendar;
	int64_t now_ms;
	int64_t jobs_ms;      /* all jobs until then have been read; 0: none */
	const char *currency; /* where the facts name none */
	/* For those who want to see the arithmetic; NULL: nobody does. */
	void (*detail)(void *ctx, const struct input *in, const struct allocate_detail *d);
	void *ctx;
};

/* What it comes to, in memory only. */
struct book_result {
	struct ledger_lifetime lifetime; /* its new state; texts are borrowed, or in `why` */
	struct ledger_posting *v;
	size_t n;
	struct ledger_counted *counted; /* what budgets are compared with */
	size_t ncounted;
	struct ledger_stay *stays; /* likewise, what jobs had of it */
	size_t nstays;
	char *provider, *market, *pool;
	char why[256]; /* as lifetime.why */
	bool final;    /* nothing more is expected */
	/* If its end is estimated: when the last list began that showed it; FACTS_NEVER: not known
	 */
	int64_t shown_ms;
};

/* Compute.  as_of_s: the end so far, of one that has not ended.  Problems of the instance are
 * results, not errors: flags and why.  -1: the ledger cannot be read. */
int book_compute(const struct book *b, const struct ledger_lifetime *t, int64_t as_of_s,
		 struct book_result *r, struct err *e);
void book_result_fini(struct book_result *r);

/* book_write() all that have news, within a transaction. */
int book_write_news(const struct book *b, struct err *e);

/* Compute, and write, within a transaction.  *changed: something is not as it was. */
int book_write(const struct book *b, const struct ledger_lifetime *t, bool *changed, struct err *e);

#endif
