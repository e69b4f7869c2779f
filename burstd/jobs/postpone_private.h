/* postpone_private.h - what the files postpone*.c share; nobody else includes it. */
#ifndef BURSTD_JOBS_POSTPONE_PRIVATE_H
#define BURSTD_JOBS_POSTPONE_PRIVATE_H

#include "jobs/jobs.h"

enum {
	POSTPONE_HEARD_MS = 45000,  /* what it was told it shows by then, or not at all */
	POSTPONE_WATCH_MS = 60000,  /* between two looks at one that was told */
	POSTPONE_PASSED = 3,        /* so often passed over, a job goes first */
	POSTPONE_STALE_MS = 300000, /* a comment whose time is over stands so long */
};

/* Any comment of ours: nobody knows which was the last. */
#define POSTPONE_ANY_OF_OURS "burstd:"

struct postponed { /* one job */
	struct job_part in;
	/* As durable.  last_ms 0: it has no row; count 0: that is for our words alone. */
	struct refusal refusal;
	char id[SLURM_JOB_ID_MAX + 1]; /* as people write it */
	int64_t until_ms;              /* what it was told to wait for; 0: nothing */
	int64_t told_wall_ms;          /* ... as slurmctld has it; 0: not by us */
	int64_t had_wall_ms;           /* ... or has it still, should it not have taken that */
	bool untold;                   /* slurmctld is still to be told: */
	char why[160];
	enum node_reason reason; /* NODE_BECAUSE_NONE: not known, since before burstd started */
	uint32_t nodes;          /* of the job; 0: not known, likewise */
	int64_t look_ms;
	int64_t first_ms; /* when it was looked at first; 0: not yet */
	bool asked;       /* in the question on the wire */
	uint64_t mark;    /* its nodes are sent back when slurm_past() says so */
	unsigned tells;   /* how often it was told */
	int64_t told_ms;  /* when, the last time, in this life; 0: it was not */
	bool unheard;     /* slurmctld does not show yet what it was told */
	bool shown;       /* slurmctld knows it still, and it has not ended */
	bool unnamed;     /* id is its number: after a restart no more is known */
	bool worded;      /* what it wishes was asked in this round */
	bool wording;     /* ... by the question on the wire */
	/* What we wrote into its AdminComment last, and what of ours stood there before, should
	 * slurmctld not have taken that. */
	char said[SLURM_COMMENT_MAX + 1], was[SLURM_COMMENT_MAX + 1];
	bool words;   /* one of them may stand there */
	bool foreign; /* the comment is by somebody else, and could pass for burstd's */
	int64_t said_ms;
	int64_t good_ms; /* what it says is over then; before, if the job has its nodes */
	/* Of one that no wait can mend: */
	uint32_t pool;                  /* that it is about */
	int64_t costs[CONF_OFFERS_MAX]; /* of its rungs, then */
	uint64_t wishes;                /* what it asked for; 0: not looked at yet */
	uint64_t counts;                /* likewise, in tasks, processors and nodes */
	int64_t least_ms;               /* not before: slurmctld's own time, or somebody's */
	bool loaded;                    /* ... which is not known: it was told before our start */
	bool anew;                      /* something has changed since: it may start */
	bool lifting;                   /* ... and slurmctld is being told so */
	unsigned late;                  /* so many answers in a row were overtaken before that */
	unsigned passed;                /* how often it was passed over since its last turn */
	bool settled;                   /* it was seen with its nodes since it was told */
};

/* --- postpone_table.c --- */
struct postponed *postpone_find(const struct engine *e, uint64_t number); /* NULL: there is none */
struct postponed *postpone_get(struct engine *e, uint64_t number); /* a new one, if there is none */
void postpone_put_row(struct engine *e, struct postponed *p); /* durable with the next commit */
/* As long as its refusals count, too: when it is over its number may be another job's next (F50).
 */
bool postpone_is_watched(const struct engine *e, const struct postponed *p);
/* It waits no more: it has its nodes, or it has ended. */
void postpone_settle(struct engine *e, struct postponed *p, bool ended);
void postpone_forget(struct engine *e); /* those that are not to be told, and are not watched */

/* --- postpone_comment.c --- */
/* Is its comment empty, or ours? */
bool postpone_may_say(const struct postponed *p, const struct slurm_job_detail *d);
/* slurmctld is being told to write this there. */
void postpone_note_said(struct engine *e, struct postponed *p, const struct slurm_job_detail *d,
			const char *text);
/* What is over is cleared. */
void postpone_look_at_words(struct engine *e, struct postponed *p,
			    const struct slurm_job_detail *d);

/* --- postpone_anew.c --- */
void postpone_ask_words(struct engine *e); /* who has changed the job? */

#endif
