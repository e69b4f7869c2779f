/* ledger_attempts.h - attempts: each run of a job on nodes, as Slurm tells of it.
 *
 * An attempt is known by its job and its begin; a job that is requeued has several.  Numbers of
 * jobs begin anew when slurmctld has lost its state, and an attempt of a new job does not begin
 * when one of an old job did.  One that runs is provisional: what is told of it later replaces it,
 * its begin too, which Slurm sets anew when the nodes are up. */
#ifndef BURSTD_STORE_LEDGER_ATTEMPTS_H
#define BURSTD_STORE_LEDGER_ATTEMPTS_H

#include "store/journal_facts.h"
#include "store/ledger.h"

enum { LEDGER_TAKEN_S = 120 }; /* see ledger_was_taken() */

#define LEDGER_SAID "said" /* source: only burstd tells of the job, which has not run yet */

struct ledger_attempt {         /* texts are borrowed */
	int64_t id;             /* its own number here; ignored by ledger_put_attempt() */
	uint64_t job;           /* Slurm's number, of array tasks and components, too */
	int64_t start_s, end_s; /* end_s: of one that runs its begin */
	int64_t submit_s;
	uint64_t dbindex;   /* slurmdbd's number, all 64 bits; 0: not known */
	const char *job_id; /* as people write it: "7", "7_2", "7+1" */
	const char *name;   /* a user's text: anything */
	const char *state, *account, *user, *partition, *qos, *wckey, *source;
	int64_t cpus, gpus, memory_mb; /* of one of its nodes */
	int64_t nnodes;
	bool running;
	int64_t seen_ms;
};

/* Write what is told of an attempt on these nodes, which replaces what was told of the same before;
 * if that says something else, the lifetimes of its nodes are computed again.  *id: its number. */
int ledger_put_attempt(struct ledger *l, const struct ledger_attempt *a, const char *const *nodes,
		       size_t n, int64_t *id, struct err *e);
/* Attempts of that source that ran and were not seen since before_ms have ended when they were last
 * seen: slurmctld has forgotten them. */
int ledger_end_unseen(struct ledger *l, const char *source, int64_t before_ms, struct err *e);

typedef int (*ledger_time_fn)(void *ctx, int64_t s, struct err *e);
/* When attempts of that source began that ran, and were not seen since before_ms: those that were
 * not seen for longest, at most limit, each second once. */
int ledger_unseen(struct ledger *l, const char *source, int64_t before_ms, unsigned limit,
		  ledger_time_fn fn, void *ctx, struct err *e);

typedef int (*ledger_attempt_fn)(void *ctx, const struct ledger_attempt *a, struct err *e);
/* Attempts on that node that began in [from_s, to_s), by begin. */
int ledger_attempts_on(struct ledger *l, const char *node, int64_t from_s, int64_t to_s,
		       ledger_attempt_fn fn, void *ctx, struct err *e);
/* All attempts of the job of that number, by begin. */
int ledger_attempts_of(struct ledger *l, uint64_t job, ledger_attempt_fn fn, void *ctx,
		       struct err *e);
/* All of that id, as people write it ("7_2"); reads all attempts. */
int ledger_attempts_named(struct ledger *l, const char *job_id, ledger_attempt_fn fn, void *ctx,
			  struct err *e);
int ledger_attempt(struct ledger *l, int64_t id, ledger_attempt_fn fn, void *ctx, struct err *e);

/* The job's id, as people write it: the caller's (free()), "" if there is no such attempt. */
int ledger_job_id(struct ledger *l, int64_t attempt, char **out, struct err *e);
/* Likewise of all attempts in [first, last], in order; the text is borrowed for the visit. */
typedef int (*ledger_job_id_fn)(void *ctx, int64_t attempt, const char *id, struct err *e);
int ledger_job_ids(struct ledger *l, int64_t first, int64_t last, ledger_job_id_fn fn, void *ctx,
		   struct err *e);

/* Did the provider take a node of this attempt, or give notice of it, while it ran, or at most
 * LEDGER_TAKEN_S later: slurmctld notices that a machine is gone, and burstd requeues its jobs. */
int ledger_was_taken(struct ledger *l, int64_t attempt, int64_t start_s, int64_t end_s, bool *taken,
		     struct err *e);
/* If this fact is that its node was taken, or that notice was given of it: let the bills of all
 * nodes of attempts that lost it (ledger_was_taken()) be computed again. */
int ledger_touch_beside(struct ledger *l, const struct fact_life *life, struct err *e);
/* How many runs of jobs there are; what was told of jobs before they ran (LEDGER_SAID) is none. */
int ledger_count_attempts(struct ledger *l, int64_t *n, struct err *e);

#endif
