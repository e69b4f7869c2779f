/* allocate.h - says who caused which part of what an instance cost.
 *
 * The life of the instance is cut wherever something changes: a job begins, ends or saves its work
 * on it, the instance is ready, drained or stopped, its price changes, a month begins.  Each piece
 * costs the difference of two readings of the meter, and is divided among the jobs on it by their
 * share of the machine; what no job has is the node's own time, by what the node did then.  So the
 * rows of an instance add up to its bill, to the last nano-unit, which is checked.
 *
 * Pure: the same input gives the same rows, in whatever order it comes. */
#ifndef BURSTD_LEDGER_ALLOCATE_H
#define BURSTD_LEDGER_ALLOCATE_H

#include <stdbool.h>

#include "ledger/meter.h"

#define ALLOCATE_NEVER INT64_MIN /* a moment that there was not */

enum allocate_class {
	ALLOCATE_RUN,         /* a job had it */
	ALLOCATE_LOST,        /* likewise, and the provider or a fault took the work */
	ALLOCATE_BOOT,        /* until the node was ready, for the jobs that it was bought for */
	ALLOCATE_BOOT_FAILED, /* it never was */
	ALLOCATE_IDLE,        /* ready, and no job had it, or this part of it */
	ALLOCATE_DRAIN,       /* no new job was let on it */
	ALLOCATE_TEARDOWN,    /* it was being ended */
	ALLOCATE_PAD,         /* billed beyond its end: the provider's steps and minimum */
	ALLOCATE_ORPHAN,      /* it ran, and Slurm did not know it */
	/* Of no machine, and of invoices alone: allocate() reports none. */
	ALLOCATE_SHARED,
	ALLOCATE_TAX,
	ALLOCATE_NCLASSES,
};

struct allocate_part { /* of a machine: what it has, or what a job has of it */
	uint64_t gpus, cpus, memory;
};

enum allocate_share {                    /* how large a job's part of a machine is */
		      ALLOCATE_DOMINANT, /* the largest of its shares of GPUs, CPUs and memory */
		      ALLOCATE_GPU,      /* its share of the GPUs */
};

struct allocate_trigger { /* a job that the instance was bought for */
	uint64_t job, attempt;
	struct allocate_part wants;
};

struct allocate_run { /* a job's time on the instance, by Slurm */
	uint64_t job, attempt;
	int64_t start_s, end_s;
	struct allocate_part uses;
	bool lost;       /* the attempt was ended by a reclaim or a fault, on whichever node */
	int64_t saved_s; /* what it did until then is kept; ALLOCATE_NEVER: nothing is */
};

struct allocate_instance {
	struct meter_bill bill;
	struct allocate_part has;
	enum allocate_share share;
	/* Each may be ALLOCATE_NEVER. */
	int64_t ready_s, drain_s, stop_s, orphan_until_s;
	bool reclaimed; /* the provider took it */
	const struct allocate_trigger *triggers;
	size_t ntriggers;
	const struct allocate_run *runs;
	size_t nruns;
};

enum allocate_owner { ALLOCATE_JOB, ALLOCATE_POOL, ALLOCATE_CLUSTER };

struct allocate_row {
	int64_t month; /* by the calendar: a month, or a day */
	enum allocate_class class;
	bool credit; /* the provider gives it back: nano is negative */
	enum allocate_owner owner;
	uint64_t job, attempt; /* of ALLOCATE_JOB; else 0 */
	int64_t nano;
};

/* Something in the records cannot be as it says; it changes who pays, never how much in all. */
enum allocate_flag {
	ALLOCATE_CLIPPED,  /* a job's time is longer than the node was ready, by so many seconds */
	ALLOCATE_NEGATIVE, /* it ended before it began, by so many seconds: it has no time */
};

/* Of the zone in which is reported.  Its months may be days: more cuts change no total. */
struct allocate_calendar {
	int64_t (*month)(void *ctx, int64_t t_s); /* any number that grows with time */
	int64_t (*next)(void *ctx, int64_t t_s);  /* begin of the month after that of t_s */
	void *ctx;
};

/* How one owner came to its part of one piece, for those who want to see the arithmetic.  The piece
 * cost after - before, two readings of the meter, of which the owner has `nano`, by its weight. */
struct allocate_detail {
	int64_t from_s, to_s, before, after;
	uint64_t weight, whole;         /* whole: the sum of all weights */
	uint64_t gpus, cpus;            /* the owner had; of what nobody had: were free */
	const struct allocate_row *row; /* month, class, owner, job, attempt, and nano of it */
};

struct allocate_report {
	void (*row)(void *ctx, const struct allocate_row *row);
	void (*flag)(void *ctx, enum allocate_flag flag, const struct allocate_run *run, int64_t s);
	void *ctx;
	/* NULL: nobody wants them.  They come before the rows, and also if no rows follow. */
	void (*detail)(void *ctx, const struct allocate_detail *d);
};

/* Report the rows, merged, in order of month, class, owner, job and attempt; a credit follows what
 * it gives back.  A row of nothing is reported only if it is all that a job has.  -1: a price is
 * missing (ERR_INVALID), an amount is too large or shares are too fine (ERR_LIMIT), or the parts do
 * not add up to the bill (ERR_DAMAGED); no row is reported then. */
int allocate(const struct allocate_instance *in, const struct allocate_calendar *cal,
	     const struct allocate_report *to, struct err *e);

const char *allocate_class_str(enum allocate_class c); /* "run", "boot_failed", ... */
/* One sentence for a reader who does not know Slurm. */
const char *allocate_class_text(enum allocate_class c);

#endif
