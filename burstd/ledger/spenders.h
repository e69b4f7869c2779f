/* spenders.h - checks that the ledger and burstd's budgets have the same figures for jobs.
 *
 * burstd puts down to a job: the whole machine from the begin of its bill until it is ready, or
 * gone, if it was bought for this job; and the job's share of the machine, by GPUs and CPUs, from
 * when the job was given the node, and that was ready, until the job has ended there, at the rate
 * of the purchase.  It learns of begins and ends from squeue, so each may be late.  From facts and
 * Slurm's records follow a least and a most for each (instance, job, day):
 *
 *	low   from SPENDERS_LATE_S after the begin of the attempt until SPENDERS_EARLY_S before its
 *	      end
 *	high  from SPENDERS_EARLY_S before the job was given its nodes until SPENDERS_LATE_S after
 *	      the end.  It was given them when the first machine was wanted for it, up to
 *	      INPUT_BEFORE_S before its begin; if none was and it has several nodes, perhaps as
 *	      soon as it was submitted, likewise; else at its begin
 *
 * A boot is exact, but for a machine that was bought for several jobs: burstd puts it down to one
 * of them, so low is 0 for each.  low is 0 also for what began before there were budgets, and on
 * instances that were seen again after their end.  What the sums of a day and spender must fulfil,
 * once both sides know all: low <= what budgets have <= high.
 *
 * The ledger's own figure differs where it means something else: it shares the boot of a machine
 * out over all jobs that it was bought for, has one that failed as nobody's, and the time in which
 * a job's node waits for the others as idle; it counts memory as well, and divides a machine of
 * which jobs have more than there is; it knows later prices and times.  So a figure that is not
 * between low and high is explained, if that of the budgets is. */
#ifndef BURSTD_LEDGER_SPENDERS_H
#define BURSTD_LEDGER_SPENDERS_H

#include "ledger/calendar.h"
#include "ledger/input.h"
#include "store/ledger_postings.h"
#include "store/ledger_spenders.h"

enum {
	/* Seconds from a job's begin or end until burstd has seen it in squeue: 30 s between two
	 * looks, another 30 s if one fails, 30 s for squeue's answer; and 5 s by which clocks
	 * differ (BOOK_SKEW_S). */
	SPENDERS_LATE_S = 95,
	/* Seconds by which an end may be earlier than Slurm's record has it, and a begin: clocks
	 * differ, and the record has whole seconds. */
	SPENDERS_EARLY_S = 6,
	/* Nano-units: the costs of a boot and a run, each of them the difference of two. */
	SPENDERS_ROUNDINGS = 4,
};

/* What jobs had of an instance with these postings, and is over: *out is the caller's (free()), by
 * day and spender, *n of them; none of one that ended before there were budgets.  Within a
 * transaction. */
int spenders_stays(const struct input *in, struct ledger *l, struct calendar *calendar,
		   const struct ledger_posting *v, size_t nv, struct ledger_stay **out, size_t *n,
		   struct err *e);

/* Compare all days of which something has changed, and those that wait; within a transaction.
 * What differs waits until BOOK_SETTLE_MS after the last of it was over, or has changed. */
int spenders_compare(struct ledger *l, struct calendar *calendar, struct err *e);

#endif
