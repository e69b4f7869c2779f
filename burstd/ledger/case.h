/* case.h - reads the records of some instances, or of a budget, from a text, and prints what they
 * come to: for people who check the arithmetic, and for tests.
 *
 * One record a line, fields separated by commas, times in seconds since 1970 UTC; "": none.
 *
 *	meta,ZONE,dominant|gpu
 *	policy,NAME,GRANULARITY_S,MINIMUM_S,instant|hour_start|launch,RECLAIM_FREE_S
 *	price,KEY,AT,NANO_PER_HOUR
 *	instance,ID,PARTITION,POLICY,PRICE,LIST_PRICE,GPUS,CPUS,MEMORY,BILL_START,READY,DRAIN,STOP_REQ,
 *	         BILL_END,END,ORPHAN_UNTIL
 *	trigger,INSTANCE,JOB,ATTEMPT,GPUS,CPUS,MEMORY
 *	job,ID,ATTEMPT,INSTANCE,START,END,GPUS,CPUS,MEMORY,OUTCOME,SAVED
 *
 * gives rows "period,instance,category,owner,attempt,nano"; and
 *
 *	budget,AMOUNT,SPENT,ACCRUED,COMMITTED,CEILING_NANO_PER_HOUR,BOOT_S,IDLE_S,TEARDOWN_S,GRANULARITY_S
 *	batch,N, and N of job,ID,NODES,LIMIT_S,PRIORITY
 *	settle,JOB,NANO
 *
 * gives "admit,JOB,RESERVED,LEFT", "refuse,JOB,NEEDED,SHORT", "settle,JOB,NANO,LEFT", as burstd's
 * own budgets (core/budget.h) decide on a budget of machines. */
#ifndef BURSTD_LEDGER_CASE_H
#define BURSTD_LEDGER_CASE_H

#include "base/err.h"
#include "base/str.h"

/* Append the rows to *out, which end as the lines of text do, and to *notes what in the records
 * cannot be as they say, each a line. name: of the text, for errors.  -1: *e has name and line. */
int case_run(const char *name, const char *text, struct str *out, struct str *notes, struct err *e);

#endif
