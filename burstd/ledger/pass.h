/* pass.h - one pass of the ledger: copy burstd's new facts, read Slurm's new jobs, and compute what
 * may have changed.  A pass that ends in the middle is completed by the next. */
#ifndef BURSTD_LEDGER_PASS_H
#define BURSTD_LEDGER_PASS_H

#include "ledger/book.h"
#include "ledger/jobs.h"

/* Facts copied in one transaction: some milliseconds of the journal. */
enum { PASS_ROWS = 2000 };

struct pass {
	struct ledger *ledger;
	struct calendar *calendar;
	struct log *log;
	const char *journal;  /* its file */
	const char *currency; /* where the facts name none */
	struct jobs jobs;
	bool (*stops)(void); /* true: end soon; NULL: never */
};

/* -1: the ledger failed, or the journal is from a newer burstd (ERR_INVALID) or damaged. */
int pass_run(const struct pass *p, int64_t now_ms, struct err *e);
/* Its two halves that need no Slurm. */
int pass_facts(const struct pass *p, int64_t now_ms, struct err *e);
int pass_compute(const struct pass *p, int64_t now_ms, struct err *e);

#endif
