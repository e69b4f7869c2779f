/* explain.h - prints how a job came to its cost: each attempt, each instance, each piece of it,
 * with the two readings of the meter, the job's share, and what the rounding made of it. */
#ifndef BURSTD_LEDGER_EXPLAIN_H
#define BURSTD_LEDGER_EXPLAIN_H

#include "base/str.h"
#include "ledger/book.h"

/* id: of a job, as people write it.  arithmetic: with each piece; else one line for each instance.
 * Within a transaction of b->ledger, which the caller takes back.  -1: *e; ERR_INVALID: the ledger
 * knows no such job. */
int explain_job(const struct book *b, const char *id, bool arithmetic, struct str *out,
		struct err *e);

#endif
