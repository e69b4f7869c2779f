/* rescue_private.h - what the files rescue*.c share; nobody else includes it. */
#ifndef BURSTD_JOBS_RESCUE_PRIVATE_H
#define BURSTD_JOBS_RESCUE_PRIVATE_H

#include "jobs/jobs.h"

enum {
	RESCUE_WAIT_MS = 2000, /* for squeue: then the node goes down all the same */
	RESCUE_LOOK_MS = 1000, /* to the first look at what became of a job, then twice that ... */
	RESCUE_LOOK_MAX_MS = 30000, /* ... up to this */
	RESCUE_GONE_MS = 500,       /* between two looks whether its machines are gone */
};

struct job_lookup { /* a node whose jobs squeue names before they are told, or lose it */
	struct job_lookup *next;
	struct fleet_name *nm;
	int64_t since_ms;
	uint64_t run;   /* the run of squeue that says who is on it; 0: it is to be asked ... */
	int64_t ask_ms; /* ... not before this time, and once the node is fenced */
	bool force;     /* the node is forced down then; else its jobs are only told */
	bool dead;
	bool late; /* it was told to go down, and squeue is still to say who was on it ... */
	bool anew; /* ... and is asked since slurmctld did so: whoever has it then came later */
	char why[200];
};

/* --- rescue_table.c --- */
struct rescue *rescue_find(const struct engine *e, uint64_t job); /* NULL: there is none */
struct rescue *rescue_get(struct engine *e, uint64_t job);        /* a new one, if there is none */
void rescue_watch(struct engine *e, struct rescue *r);            /* it is looked at in a moment */
/* An event about the job. */
void rescue_announce(struct engine *e, const struct rescue *r, const char *type, const char *what);
/* It is followed no more: r lives until rescue_forget(). */
void rescue_finish(struct engine *e, struct rescue *r);
void rescue_forget(struct engine *e); /* those that are finished */

/* --- rescue_node.c --- */
bool rescue_may_ask(const struct job_lookup *d); /* is squeue to be asked, from d->ask_ms on? */
/* Those that have waited long enough for squeue. */
void rescue_force_late(struct engine *e);

/* --- rescue_hold.c --- */
/* slurmctld has requeued it: that is told once; then it is seen whether slurmctld holds it back. */
void rescue_requeued(struct engine *e, struct rescue *r, const struct slurm_job_detail *d);
/* Has the provider confirmed that nothing is left of the machines that it lost? */
bool rescue_are_gone(const struct engine *e, const struct rescue *r);
/* Before a pass over jobs: what is known of machines on their way out is old. */
void rescue_forget_leaving(struct engine *e);
/* Then it may start at once, unless somebody wants otherwise; it is followed no more. */
void rescue_lift(struct engine *e, struct rescue *r, const struct slurm_job_detail *d);

#endif
