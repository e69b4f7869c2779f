/* slurm.h - talking to slurmctld: one snapshot a poll, updates in batches, nothing node by node.
 *
 * Through scontrol and squeue, whose command lines have not changed from 22.05 to 26.05, while the
 * library and the REST API change with every release.  At most one question of a kind runs at a
 * time, one command about nodes or when jobs may start, one of those that are only told to jobs,
 * and one notify: these three wait in order each, and neighbours of a kind become one command.  A
 * node that must go never waits for the words that each of a thousand jobs is told, but for a
 * second for those that their people hear (slurm_talks()). */
#ifndef BURSTD_SLURM_SLURM_H
#define BURSTD_SLURM_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "core/wish.h"
#include "slurm/job.h"
#include "slurm/parse.h"

struct loop;
struct proc;
struct slurm;

enum {
	SLURM_TIMEOUT_MS = 30000,
	SLURM_NOTIFY_MS = 1000,   /* of one notify; so long an order may wait for them, in all */
	SLURM_OUT_MAX = 64 << 20, /* 65,536 nodes print about 38 MB */
	SLURM_QUEUE_MAX = 4096,   /* commands waiting; more are dropped, and ordered again later */
	SLURM_BATCH_MAX = 1000,   /* nodes in one command */
	SLURM_ARG_MAX = 100000,   /* bytes of one argument; the kernel's limit is 131,071 */
	SLURM_ASK_MAX = 500,      /* jobs in one question */
	SLURM_CUTS_MAX = 64,      /* of one order: to find one node among a thousand takes ten */
	SLURM_SIGNAL_MAX = 100,   /* jobs in one scancel, which has an argument for each */
	SLURM_COMMENT_MAX = 240,  /* bytes of a reason or a comment of ours */
	SLURM_REQUEUE_MS = 10000, /* an order waits so long, at most, to requeue a job */
	SLURM_COMMENT_MS = 10000, /* an order waits so long, at most, to overwrite a comment */
};

enum slurm_question {
	SLURM_SNAPSHOT,    /* all nodes: of each node() is told before answer() */
	SLURM_CONFIGURING, /* the jobs that have nodes, up or not: slurm_job_parse() */
	SLURM_JOBS,        /* all jobs that have not ended: likewise */
	SLURM_DETAILS,     /* of some jobs: slurm_job_parse_detail() */
	SLURM_FATES,       /* likewise, of others */
	SLURM_WHO,         /* of some jobs: slurm_job_parse_who() */
	SLURM_SOME_JOBS,   /* of some, ended or not: slurm_job_parse_words() */
	SLURM_ONE_JOB,     /* likewise */
	SLURM_CONFIG,      /* slurmctld's settings: slurm_require() */
	SLURM_PARTITIONS,  /* likewise */
	SLURM_NQUESTIONS
};

struct slurm_order { /* a command; borrowed until it is run, or for a callback */
	/* address, down, power-down, drain, resume, power-up, keep, let-go, postpone, start,
	 * clear, requeue, signal, notify */
	const char *verb;
	const char *names;  /* of nodes, or ids of jobs, with commas */
	const char *reason; /* "": none */
	const char *what;   /* the addresses, or the wait, or the signal; "" */
	bool of_jobs;
	bool again; /* for updated(): these, and the others that were in it, come again by halves */
	bool given; /* likewise: slurm_next() gave it */
};

struct slurm_callbacks {
	/* Of SLURM_SNAPSHOT, some in a turn of the loop; *n lies in what answer() gets, which stays
	 * until slurm_seen().  No snapshot before that: an answer with e means that these were part
	 * of none. */
	slurm_node_fn node;
	/* The answer to a question asked at began_ms, or text NULL and e set; ERR_INVALID: it makes
	 * no sense. */
	void (*answer)(void *ctx, enum slurm_question q, const char *text, size_t len,
		       int64_t began_ms, const struct err *e);
	/* A command ended, this one; e is set if it failed.  ERR_NOTSENT: it was not run, for a job
	 * that it would make wait, or start, may have started since (slurm_postpone()), or somebody
	 * may have written there what it would overwrite.  One that named a node which slurmctld
	 * does not know comes again, in two: the next tell what became of its nodes. */
	void (*updated)(void *ctx, const struct slurm_order *o, const struct err *e);
	void *ctx;
	/* Of people who read comments, reasons and words in terminals: the times in them are local,
	 * as in all that Slurm's commands print.  NULL: they stay in UTC. */
	int64_t (*zone)(int64_t wall_ms);
};

/* lines: of a snapshot in one turn, so that hooks have theirs in between. */
struct slurm *slurm_new(struct proc *proc, struct loop *loop, struct log *log, size_t lines,
			const struct slurm_callbacks *cb);
/* No callback comes after this. */
void slurm_free(struct slurm *s);
/* Directory of the commands, and SLURM_CONF or NULL; copied. */
void slurm_configure(struct slurm *s, const char *bin, const char *conf);

/* Ask, unless the same question is being answered. */
bool slurm_ask(struct slurm *s, enum slurm_question q);
/* Nothing of the last snapshot is needed any more. */
void slurm_seen(struct slurm *s);
/* SLURM_CONFIGURING or SLURM_JOBS, with the jobs' constraints, or with their comments too: these
 * cost, as each line has a kilobyte for one. */
bool slurm_ask_wishes(struct slurm *s, enum slurm_question q, enum wish_need need);
/* SLURM_DETAILS, SLURM_FATES, SLURM_WHO or SLURM_SOME_JOBS of these jobs, at most SLURM_ASK_MAX, by
 * their ids, or SLURM_ONE_JOB of one; the answer leaves out those that slurmctld does not know. */
bool slurm_ask_jobs(struct slurm *s, enum slurm_question q, const char *const *ids, size_t n);

/* Queue: where the node is reached.  addr NULL: back to its own name. */
void slurm_set_addr(struct slurm *s, const char *node, const char *addr, const char *host);
/* Queue POWER_DOWN_FORCE; if dead, DOWN before it (slurm.md 2.2: a dead node that is only forced
 * hangs its job and corrupts its accounting on old versions).  addr: where its instance is, or NULL
 * when it never had one: a ping that comes in between makes slurmctld resolve the node's name under
 * its locks, on Debian with ten tries of a second, so such a node is given an address that leads
 * nowhere until it is down.  Several nodes are given theirs by a command of its own, before any of
 * them goes down: slurmctld writes to the rest of a job as soon as one node of it does.
 * false: too many wait. */
bool slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason);
/* Queue POWER_DOWN_ASAP: no more jobs, and down when those on it are done.
 * false: too many wait. */
bool slurm_drain(struct slurm *s, const char *node, const char *reason);
/* Queue DOWN, for one that is powered down: no job gets it. */
void slurm_down(struct slurm *s, const char *node, const char *reason);
/* Queue: bring back a node that ResumeTimeout left down. */
void slurm_resume(struct slurm *s, const char *node);
/* Queue POWER_UP, for one that is powered down: ResumeProgram will be called for it, for no job. */
void slurm_wake(struct slurm *s, const char *node);
/* Queue: slurmctld does not power it down when it is idle, or does again.  For releases with
 * SLURM_EXCLUDES_BY_UPDATE; refused while a list of SuspendExcNodes has a count. */
void slurm_keep(struct slurm *s, const char *node, bool keep);
/* Queue: the job, by its id, starts no sooner than in wait_ms (0: leave that), and its AdminComment
 * becomes this one (NULL: leave it).  It is pending, and may start at begin_ms (0: any time).  From
 * then on it may start, and be requeued by an update of nodes that runs before this command:
 * slurmctld has then set it a begin time that nobody has seen, and the command is not run.  Nor is
 * one with a comment that has waited for SLURM_COMMENT_MS: what was seen there was that long ago.
 * false: too many wait. */
bool slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, int64_t begin_ms,
		    const char *comment);
/* As slurmctld will have this comment: what squeue shows is compared with that. */
void slurm_words(const struct slurm *s, char *out, size_t size, const char *text);
/* Queue: the job's AdminComment is empty from then on; likewise. */
void slurm_clear_comment(struct slurm *s, const char *job);
/* Queue, beside all else: the job's srun or salloc prints this, by the job's number.  Never for a
 * batch job, which would have it in its output (slurm.md). */
void slurm_notify(struct slurm *s, const char *job, const char *text);
/* Some of these wait, or run. */
bool slurm_notifies(const struct slurm *s);
/* While this is so, orders that end jobs wait for words that are on their way; each of them for
 * SLURM_NOTIFY_MS at most. */
void slurm_talks(struct slurm *s, bool talks);
/* When the order that waits so goes out at the latest; INT64_MAX: none does. */
int64_t slurm_held_until(const struct slurm *s);
/* Queue: the job may start at once, and not at begin_ms only; not run, as above.
 * false: too many wait. */
bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms);
/* Queue: the job goes back into the queue, though it has ended; with all of its components, if it
 * has any; not run when it has waited for SLURM_REQUEUE_MS.  why: for
 * the record; "": it has ended.  false: too many wait. */
bool slurm_requeue(struct slurm *s, const char *job, const char *why);
/* May an order that failed so not have been heard at all?  Else slurmctld said no. */
static inline bool slurm_unheard(const struct err *e)
{
	return e->code != ERR_NET || strstr(e->msg, "contact") != NULL ||
	       strstr(e->msg, "timed out") != NULL || strstr(e->msg, "stopped after") != NULL;
}
/* Queue, before all else that is for jobs: the signal, by its name, to the job's batch script, to
 * its steps or to both.  false: too many wait. */
enum slurm_signal_to { SLURM_TO_BATCH, SLURM_TO_STEPS, SLURM_TO_BOTH };
bool slurm_signal(struct slurm *s, const char *job, const char *signal, enum slurm_signal_to to);

/* A command that may be run now: from now on it takes no more nodes or jobs, and slurm_flush() may
 * start it.  false: there is none that was not given before. */
bool slurm_next(struct slurm *s, struct slurm_order *out);
/* Start the commands that slurm_next() gave.  What was good then may be late by now, for a record
 * may take long to be written: it is not run, as above, and none is given before updated() has said
 * so.
 */
void slurm_flush(struct slurm *s);

/* A snapshot begun before this time may not show our last updates of nodes yet; INT64_MAX while
 * some wait. */
int64_t slurm_settled_ms(const struct slurm *s);
/* How many updates of nodes were ever queued: is there one more than a moment ago? */
uint64_t slurm_orders(const struct slurm *s);
/* Have all updates of nodes been run that were queued before slurm_mark() said this? */
uint64_t slurm_mark(const struct slurm *s);
bool slurm_past(const struct slurm *s, uint64_t mark);

#endif
