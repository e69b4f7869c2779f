/* ledger_shown.h - what the lines of closed months say beyond their postings: where the machine
 * was, what it had, its price, and what its job was called.
 *
 * All that comes from facts, which may be completed later; a closed month's lines go on to say what
 * they said when it was closed. */
#ifndef BURSTD_STORE_LEDGER_SHOWN_H
#define BURSTD_STORE_LEDGER_SHOWN_H

#include "store/digest.h"
#include "store/ledger.h"

struct ledger_shown { /* texts are borrowed; "": not known */
	int64_t lifetime, posting;
	const char *offer, *region, *zone;
	int64_t gpus, cpus, memory_mb;
	bool estimated;
	int64_t rate_nano_h, list_nano_h;
	int64_t job, number; /* its attempt, among those of the job: 1 is the first */
	const char *job_id, *name;
};

int ledger_put_shown(struct ledger *l, int64_t closing, const struct ledger_shown *s,
		     struct err *e);

typedef int (*ledger_shown_fn)(void *ctx, const struct ledger_shown *s, struct err *e);
/* All of a lifetime that were written for that closing, by posting. */
int ledger_shown_of(struct ledger *l, int64_t closing, int64_t lifetime, ledger_shown_fn fn,
		    void *ctx, struct err *e);

/* Add all of a closing to the digest; *n: how many. */
int ledger_digest_shown(struct ledger *l, int64_t closing, struct digest *d, int64_t *n,
			struct err *e);

#endif
