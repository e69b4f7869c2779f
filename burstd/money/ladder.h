/* ladder.h - what ends when a budget is used up: ladder.c finds the steps that budgets have
 * reached, and drains nodes; ladder_jobs.c ends jobs; ladder_fate.c requeues those that ended by
 * themselves when they were told to save their work.  Only ladder*.c include it. */
#ifndef BURSTD_MONEY_LADDER_H
#define BURSTD_MONEY_LADDER_H

#include "jobs/jobs.h"
#include "money/money.h"
#include "store/journal_jobs.h"

enum {
	LADDER_MS = 10000, /* between two looks at sums, and at jobs that are to end */
	LADDER_WHY_SIZE = 192,
};

struct ending { /* a job whose budget is used up */
	struct job_part in;
	struct journal_ending j;
	bool changed;  /* since it was written */
	bool loaded;   /* from the journal, and squeue has not shown it yet */
	bool seen;     /* squeue shows it on its nodes */
	bool waits;    /* ... or in the queue */
	uint32_t pool; /* as j.pool */
	struct ending_step {
		bool signalling; /* slurmctld is being told to signal it */
		bool commanded;  /* the site's command runs, or has, or had no time */
	} at[BUDGET_NSTEPS];
	bool alone;       /* slurmctld refused a requeue of several: it is asked for this one */
	int64_t again_ms; /* then the last order is repeated */
	struct budget_no no;
	bool gone;       /* squeue showed it no more: it has ended, or is back in the queue */
	bool over;       /* nothing ends it any more, but it was told to save its work */
	int64_t look_ms; /* then slurmctld is asked what became of it; 0: it is not */
	bool asked;      /* in the question on the wire */
};

/* --- ladder.c --- */
/* The time since when a line of the hold has reached the step, the earliest; 0: none has.  at: the
 * line. */
int64_t ladder_since(const struct engine *e, const struct budget_hold *h, enum budget_step step,
		     struct budget_line *at);

/* --- ladder_jobs.c --- */
void ladder_jobs_says(struct engine *e, const char *text, size_t len, const struct err *err);
/* Budgets and pools are others now: what jobs lack names those of these names. */
void ladder_jobs_reload(struct engine *e);
/* Nothing ends them any more.  Those that were told to save their work are followed until it is
 * known that they did not end of that. */
void ladder_jobs_forget(struct engine *e);
void ladder_say(struct engine *e, const struct ending *x, const char *type, const char *what);
/* Requeue or cancel it; true: that is its first such order.  It is not written yet. */
bool ladder_order(struct engine *e, struct ending *x, enum budget_step s, const char *because);
void ladder_write_row(struct engine *e, struct ending *x); /* if it has changed */
/* It is back in the queue, or has ended: if it was requeued for its budget it waits for money.
 * Frees x, as does ladder_drop(). */
void ladder_back(struct engine *e, struct ending *x);
void ladder_drop(struct engine *e, struct ending *x);

/* --- ladder_fate.c --- */
/* Was it told to save its work before it is requeued, so that it is requeued, too, if it ends of
 * that? */
bool ladder_may_fail(const struct ending *x);
void ladder_follow(struct engine *e, struct ending *x); /* ask slurmctld soon what became of it */
void ladder_fates_run(struct engine *e);
int64_t ladder_fates_next_ms(const struct engine *e);

#endif
