/* explain.h - prints how a job came to its cost: each attempt, each instance, each piece of it,
 * with the two readings of the meter, the job's share, and what the rounding made of it; for
 * people, or as JSON. */
#ifndef BURSTD_LEDGER_EXPLAIN_H
#define BURSTD_LEDGER_EXPLAIN_H

#include "base/jsonw.h"
#include "base/str.h"
#include "ledger/book.h"

struct explain_want {
	const char *id;   /* of a job, as people write it */
	const char *user; /* only attempts of this one's, and no word of others; NULL: all */
	bool arithmetic;  /* with each piece; else one line for each instance */
	/* Write members of this open object, as docs/protocol.md has them, and nothing to `out`;
	 * NULL: for people. */
	struct jsonw *json;
};

/* Within a transaction of b->ledger, which the caller takes back.  -1: *e; ERR_INVALID: the ledger
 * knows no such job, which says the same of one that is not there and of somebody else's. */
int explain_job(const struct book *b, const struct explain_want *want, struct str *out,
		struct err *e);

#endif
