/* jobs.h - reads from Slurm which jobs ran where, and keeps it in the ledger.
 *
 * By sacct, from slurmdbd, which forgets nothing: what ended while nobody looked is read later, and
 * the last days are read again once a day, for what slurmctld told slurmdbd late.  A cluster
 * without accounting is asked by squeue, which shows jobs for MinJobAge after their end: what was
 * seen is kept. */
#ifndef BURSTD_LEDGER_JOBS_H
#define BURSTD_LEDGER_JOBS_H

#include "base/log.h"
#include "store/ledger.h"

enum {
	/* A window begins so long before the last one ended: clocks differ, and slurmctld tells
	 * slurmdbd a moment later. */
	JOBS_OVERLAP_MS = 3600000,
	JOBS_DEEP_EVERY_MS = 24 * 3600000, /* how often the last days are read again, ... */
	JOBS_DEEP_MS = 72 * 3600000,       /* ... and how many of them */
	JOBS_WINDOW_MS = 24 * 3600000,     /* of one sacct; half of that if it prints too much */
	JOBS_WINDOW_MIN_MS = 60000,
	/* A job that runs is in the last window.  One that is not any more has ended longer ago
	 * than is read again, such as one that Slurm had lost: it is asked for by its begin, with
	 * the last days, and so many of them. */
	JOBS_AGAIN_MAX = 50,
	JOBS_TIMEOUT_MS = 300000, /* of one sacct */
	JOBS_OUT_MAX = 256 << 20, /* bytes: half a million jobs, and memory is given back */
	/* squeue: a job not seen for so long, twice the usual MinJobAge, has ended. */
	JOBS_UNSEEN_MS = 600000,
};

struct jobs {
	struct ledger *ledger;
	struct log *log;
	const char *slurm_bin;  /* directory of sacct and squeue */
	const char *slurm_conf; /* SLURM_CONF for them; NULL: Slurm's default */
	bool (*stops)(void);    /* as child.h */
};

/* Read all that is new until now_ms.  That Slurm does not answer is no error: the ledger's notes
 * say so, and the next call begins where this one ended.  -1: the ledger failed. */
int jobs_read(const struct jobs *j, int64_t now_ms, struct err *e);

#endif
