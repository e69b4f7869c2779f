/* job.h - one job of slurmctld's that burstd has to remember, in one table of them all.
 *
 * Several concerns have to remember jobs, each for a reason of its own.  What a concern knows of a
 * job is a structure that only its files write, and that begins with a struct job_part.  A job is
 * in the table while any concern has a part in it, and goes with the last one.
 *
 * Parts share nothing but the number: slurmctld may give it to another job (F50), and each concern
 * decides for itself when what it knows is about a job of the past.  Each task of an array and each
 * component of a heterogeneous job has a number.  The id that people write ("7_2", "8+1") belongs
 * to the concern that heard it. */
#ifndef BURSTD_JOBS_JOB_H
#define BURSTD_JOBS_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fmt.h"

struct engine;

enum job_concern {
	JOB_POSTPONED, /* struct postponed: refused, made to wait, or written to */
	JOB_RESCUED,   /* struct rescue: loses a node */
	JOB_SRUN,      /* struct srun: may have a terminal where it says why it ends */
	JOB_GATED,     /* struct gated: waits in burst-prolog for its nodes */
	JOB_BOOKED,    /* struct booked: nodes boot for it and are idle */
	JOB_ENDING,    /* struct ending: its budget is used up, and ends it */
	JOB_TOLD,      /* struct told: had the signal to save its work a moment ago */
	JOB_UNPAID,    /* struct money_wait: was refused for want of money, and waits for it */
	JOB_PLACED,    /* struct placed: its comment says how close together its nodes are */
	JOB_PROMISED,  /* struct money_promise: may try again, and money is kept for it */
	JOB_NCONCERNS
};

struct job {
	uint64_t number;
	char key[FMT_U64_SIZE]; /* the same as text, as squeue takes it */
	unsigned nparts;
	void *parts[JOB_NCONCERNS]; /* NULL: the concern has none */
};

/* What each part begins with. */
struct job_part {
	struct job *job;
	enum job_concern concern;
	/* The parts of one concern, the newest first, from jobs_state.parts on; jobs_state.oldest
	 * is the last of them. */
	void *next;
	struct job_part *prev;
};

extern const struct engine_part job_table_part;

/* The concern's part in the job with this number; NULL: there is none. */
void *job_find(const struct engine *e, uint64_t number, enum job_concern c);
/* Likewise, but made if there is none: `size` bytes, zero but for the struct job_part. */
void *job_get(struct engine *e, uint64_t number, enum job_concern c, size_t size);
void job_drop(struct engine *e, void *part);
/* Drop the parts for which over() says so; NULL: all. */
void job_forget(struct engine *e, enum job_concern c, bool (*over)(struct engine *e, void *part));

#endif
