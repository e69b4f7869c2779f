/* journal_jobs.h - jobs that were refused, that are about to lose a node, and that end since a
 * budget is used up. */
#ifndef BURSTD_JOURNAL_JOBS_H
#define BURSTD_JOURNAL_JOBS_H

#include <stdint.h>

#include "base/hostlist.h"
#include "core/budget.h"
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

/* A job whose budget is used up (money/ladder_jobs.c), until it has gone from its nodes, or goes on
 * since there is money. */
struct journal_ending {
	uint64_t job;
	char id[JOURNAL_JOB_ID_MAX + 1];  /* as people write it */
	char pool[PROVIDER_WORD_MAX + 1]; /* of one of its nodes */
	int64_t first_ms;                 /* when that was seen first ... */
	int64_t at_ms;                    /* ... and of this state */
	struct journal_end {              /* of BUDGET_REQUEUES and BUDGET_KILLS */
		bool told;                /* its user, that it ends by this step */
		bool signalled;           /* it was told to save its work */
		bool crowded;             /* its command waited for those of others */
		int64_t put_off_ms;       /* it ends so much later, since its command waits */
	} at[BUDGET_NSTEPS];
	bool tried;                        /* slurmctld has answered its requeue */
	enum budget_step ordered, refused; /* the last order, and the last that was refused */
	/* The budget that it was told to save its work for, or requeued for, and that it waits for
	 * from then on; "": none. */
	char budget[PROVIDER_WORD_MAX + 1], value[BUDGET_VALUE_MAX + 1], period[PERIOD_NAME_SIZE];
};

void journal_put_refusal(struct journal_tx *tx, const struct journal_refusal *r);
void journal_del_refusal(struct journal_tx *tx, uint64_t job);
void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r); /* or replace */
void journal_del_rescue(struct journal_tx *tx, uint64_t job);
void journal_put_ending(struct journal_tx *tx, const struct journal_ending *x); /* or replace */
void journal_del_ending(struct journal_tx *tx, uint64_t job);

#endif
