/* slurm.h - talks to slurmctld: one snapshot a poll, updates in batches, never node by node.
 *
 * It runs scontrol and squeue, whose command lines have not changed from 22.05 to 26.05, while the
 * library and the REST API change with every release.  At most one question of a kind runs at a
 * time.  Commands wait in three queues, of which one command each runs at a time: those for nodes
 * and for the start of jobs; signals, requeues and cleared comments; and notifies.  Neighbours of
 * one kind are merged.  So an order to power a node down never waits for a thousand signals; it
 * waits at most a second for the text that srun and salloc print (slurm_talks()). */
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
#include "slurm/version.h"

struct loop;
struct proc;
struct slurm;

enum {
	SLURM_TIMEOUT_MS = 30000,
	SLURM_NOTIFY_MS = 1000,   /* timeout of a notify, and of an order that waits for notifies */
	SLURM_OUT_MAX = 64 << 20, /* 65,536 nodes print about 38 MB */
	SLURM_QUEUE_MAX = 4096,   /* waiting commands; more are dropped, and ordered again later */
	SLURM_BATCH_MAX = 1000,   /* nodes in one command */
	SLURM_ARG_MAX = 100000,   /* bytes of one argument; the kernel's limit is 131,071 */
	SLURM_ASK_MAX = 500,      /* jobs in one question */
	SLURM_CUTS_MAX = 64,      /* halvings of an order; one bad node in a thousand takes ten */
	SLURM_SIGNAL_MAX = 100,   /* jobs in one scancel, which has an argument for each */
	SLURM_COMMENT_MAX = 240,  /* bytes of a reason or comment by burstd */
	SLURM_REQUEUE_MS = 10000, /* a requeue that has waited longer is not run */
	SLURM_COMMENT_MS = 10000, /* likewise an order that overwrites a comment */
};

enum slurm_question {
	SLURM_SNAPSHOT,    /* all nodes: node() is called for each before answer() */
	SLURM_CONFIGURING, /* jobs that have nodes, up or not: slurm_job_parse() */
	SLURM_JOBS,        /* all jobs that have not ended: likewise */
	SLURM_DETAILS,     /* some jobs: slurm_job_parse_detail() */
	SLURM_FATES,       /* likewise, other jobs */
	SLURM_PLACED,      /* likewise, others */
	SLURM_WHO,         /* some jobs: slurm_job_parse_who() */
	SLURM_SOME_JOBS,   /* some jobs, ended or not: slurm_job_parse_words() */
	SLURM_ONE_JOB,     /* likewise */
	SLURM_CONFIG,      /* slurmctld's settings: slurm_require() */
	SLURM_PARTITIONS,  /* likewise */
	SLURM_ACCOUNTS,    /* slurm_account_parse() */
	SLURM_NQUESTIONS
};

struct slurm_order { /* a command as others see it; borrowed until it is run, or for a callback */
	/* address, down, power-down, drain, resume, power-up, keep, let-go, create-node, postpone,
	 * start, clear, requeue, cancel, signal, notify */
	const char *verb;
	const char *names;  /* nodes, or ids of jobs, comma-separated */
	const char *reason; /* "": none */
	const char *what;   /* the addresses, the wait, the signal, or what a node has; "" */
	bool of_jobs;
	bool again; /* for updated(): its names will come again, in two halves */
	bool given; /* for updated(): slurm_next() had given it */
};

struct slurm_callbacks {
	/* A node of SLURM_SNAPSHOT, some in a turn of the loop; *n is borrowed from the text of
	 * answer(), until slurm_seen().  The snapshot counts once answer() is called without e. */
	slurm_node_fn node;
	/* The answer to a question asked at began_ms; or text NULL and e set, ERR_INVALID if it
	 * cannot be read. */
	void (*answer)(void *ctx, enum slurm_question q, const char *text, size_t len,
		       int64_t began_ms, const struct err *e);
	/* A command ended; e is set if it failed.  ERR_NOTSENT: it was not run, since its job may
	 * have started meanwhile (slurm_postpone()), or somebody may have written the comment that
	 * it would overwrite.  A command with a node that slurmctld does not know comes again in
	 * two halves, which say what became of each node. */
	void (*updated)(void *ctx, const struct slurm_order *o, const struct err *e);
	void *ctx;
	/* The time zone for comments, reasons and notifies, in which times are local, as in all
	 * output of Slurm's commands.  NULL: UTC. */
	int64_t (*zone)(int64_t wall_ms);
};

/* lines: of a snapshot that are read in one turn, so that hooks are served in between. */
struct slurm *slurm_new(struct proc *proc, struct loop *loop, struct log *log, size_t lines,
			const struct slurm_callbacks *cb);
/* No callback comes after this. */
void slurm_free(struct slurm *s);
/* bin: directory of the commands; conf: SLURM_CONF, or NULL; both are copied. */
void slurm_configure(struct slurm *s, const char *bin, const char *conf);

/* Ask squeue only for columns of this release; before the first call, for those of all. */
void slurm_set_release(struct slurm *s, const struct slurm_version *v);

/* Ask, unless the same question is still unanswered. */
bool slurm_ask(struct slurm *s, enum slurm_question q);
/* Free the last snapshot. */
void slurm_seen(struct slurm *s);
/* Ask SLURM_CONFIGURING or SLURM_JOBS with the jobs' constraints, or with their comments, too,
 * which add a kilobyte to each line; and with who pays for them. */
bool slurm_ask_wishes(struct slurm *s, enum slurm_question q, enum wish_need need, bool payers);
/* Ask SLURM_DETAILS, SLURM_FATES, SLURM_PLACED, SLURM_WHO or SLURM_SOME_JOBS about these jobs, at
 * most SLURM_ASK_MAX ids, or SLURM_ONE_JOB about one; the answer lacks jobs that slurmctld does not
 * know. */
bool slurm_ask_jobs(struct slurm *s, enum slurm_question q, const char *const *ids, size_t n);

/* Queue a node's address and host name.  addr NULL: back to its own name. */
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
/* Queue POWER_DOWN_ASAP: no more jobs start, and the node is powered down after the running ones.
 * false: too many wait. */
bool slurm_drain(struct slurm *s, const char *node, const char *reason);
/* Queue DOWN for a node that is powered down, so that no job gets it. */
void slurm_down(struct slurm *s, const char *node, const char *reason);
/* Queue RESUME for a node that is down after ResumeTimeout. */
void slurm_resume(struct slurm *s, const char *node);
/* Queue POWER_UP for a node that is powered down: slurmctld calls ResumeProgram without a job. */
void slurm_wake(struct slurm *s, const char *node);
/* Queue: add the node to SuspendExcNodes, so that slurmctld does not power it down when idle, or
 * remove it.  For releases with SLURM_EXCLUDES_BY_UPDATE; slurmctld refuses it while a list there
 * has a count. */
void slurm_keep(struct slurm *s, const char *node, bool keep);
/* Queue: create this node in slurmctld, of a pool by its number, with the words of
 * slurm_node_words() and State=CLOUD.  Never one that slurmctld knows: 25.11 dies of that soon
 * after.  false: too many wait. */
bool slurm_create(struct slurm *s, const char *node, uint32_t pool, const char *spec);
/* Queue for a pending job, by its id: it starts no sooner than in wait_ms (0: do not change that),
 * and gets this AdminComment (NULL: do not change it).  begin_ms: the job's present begin time (0:
 * any time).  After that time the job may have started and been requeued by an update of nodes that
 * runs before this command, so that slurmctld has set another begin time: the command is not run
 * then.  Nor is one with a comment that has waited for SLURM_COMMENT_MS, since the job's comment
 * may have changed.  false: too many wait. */
bool slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, int64_t begin_ms,
		    const char *comment);
/* Convert a comment to the text that slurmctld will have, to compare it with squeue's. */
void slurm_words(const struct slurm *s, char *out, size_t size, const char *text);
/* Queue: clear the job's AdminComment; the limit of SLURM_COMMENT_MS applies. */
void slurm_clear_comment(struct slurm *s, const char *job);
/* Queue, in a queue of its own: the srun or salloc of this job, by number, prints the text.  Never
 * for a batch job, which would get it in its output (slurm.md). */
void slurm_notify(struct slurm *s, const char *job, const char *text);
/* Does any notify wait or run? */
bool slurm_notifies(const struct slurm *s);
/* While set, orders that end jobs wait for notifies, each order for SLURM_NOTIFY_MS at most. */
void slurm_talks(struct slurm *s, bool talks);
/* When the order that waits for notifies goes out at the latest; INT64_MAX: none waits. */
int64_t slurm_held_until(const struct slurm *s);
/* Queue: the job may start at once rather than at begin_ms; not run after begin_ms, as
 * slurm_postpone().  false: too many wait. */
bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms);
/* Queue: requeue the job, even if it has ended, with all its components; not run after a wait of
 * SLURM_REQUEUE_MS.  why: for the audit record; "": it has ended.  false: too many wait. */
bool slurm_requeue(struct slurm *s, const char *job, const char *why);
/* Queue: end the job for good (scancel), with all its components; not run after a wait of
 * SLURM_REQUEUE_MS.  why: for the audit record.  false: too many wait. */
bool slurm_cancel(struct slurm *s, const char *job, const char *why);
/* Did slurmctld perhaps not hear of the order that failed like this?  false: it refused it. */
static inline bool slurm_unheard(const struct err *e)
{
	return e->code != ERR_NET || strstr(e->msg, "contact") != NULL ||
	       strstr(e->msg, "timed out") != NULL || strstr(e->msg, "stopped after") != NULL;
}
/* Queue, before requeues and cleared comments: send this signal, by name, to the job's batch
 * script, its steps or both.  false: too many wait. */
enum slurm_signal_to { SLURM_TO_BATCH, SLURM_TO_STEPS, SLURM_TO_BOTH };
bool slurm_signal(struct slurm *s, const char *job, const char *signal, enum slurm_signal_to to);

/* Give a command that may run now: no nodes or jobs are added to it any more, and slurm_flush() may
 * start it.  false: every such command was given before. */
bool slurm_next(struct slurm *s, struct slurm_order *out);
/* Start the commands that slurm_next() gave.  A command may be too late by now, since its record
 * may have taken long to write: it is not run, and slurm_next() gives no other before updated() has
 * said so. */
void slurm_flush(struct slurm *s);

/* A snapshot begun before this time may not show the last updates of nodes; INT64_MAX while some
 * wait. */
int64_t slurm_settled_ms(const struct slurm *s);
/* How many updates of nodes were ever queued. */
uint64_t slurm_orders(const struct slurm *s);
/* Have all updates of nodes run that were queued before slurm_mark() returned this? */
uint64_t slurm_mark(const struct slurm *s);
bool slurm_past(const struct slurm *s, uint64_t mark);

#endif
