/* journal_jobs.h - jobs that were refused, and jobs that are about to lose a node. */
#ifndef BURSTD_JOURNAL_JOBS_H
#define BURSTD_JOURNAL_JOBS_H

#include <stdint.h>

#include "base/hostlist.h"
#include "core/refusal.h"

struct journal_tx;

enum {
	JOURNAL_JOB_ID_MAX = 31,
	JOURNAL_JOB_NODES_MAX = 4095, /* bytes of a job's node list; 500 names that do not fold */
};

struct journal_refusal { /* of a job: core/refusal.h */
	uint64_t job;
	struct refusal r;
};

enum journal_signal { /* a job and the word to save its work */
		      JOURNAL_SIGNAL_NONE,
		      JOURNAL_SIGNAL_DUE,  /* it is to have it */
		      JOURNAL_SIGNAL_SENT, /* it has had it, once */
		      JOURNAL_NSIGNALS
};

struct journal_rescue { /* a job that is about to lose a node, until it is known what became of it
			 */
	uint64_t job;
	char id[JOURNAL_JOB_ID_MAX + 1]; /* as people write it */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	int64_t at_ms;
	char why[200];                         /* for people */
	char nodes[JOURNAL_JOB_NODES_MAX + 1]; /* a list of all that it ran on; "": too long */
	enum journal_signal signal;
	/* It was requeued, and had this begin time when that was seen, by slurmctld's clock, which
	 * may be how long slurmctld holds it back; 0: not yet. */
	int64_t hold_ms;
};

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r);
void journal_del_refusal(struct journal_tx *tx, uint64_t job);
void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r); /* or replace */
void journal_del_rescue(struct journal_tx *tx, uint64_t job);

#endif
