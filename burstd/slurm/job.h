/* job.h - parses squeue's output about jobs, trusting no more of it than needed.
 *
 * A job has two names: its number, unique and never a list, and the id that people and `scontrol
 * update` use ("7", "7_2" of an array, "7+1" of a heterogeneous job).  Updating the bare number of
 * an array's first task would update the whole array. */
#ifndef BURSTD_SLURM_JOB_H
#define BURSTD_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/fmt.h"
#include "slurm/parse.h"

/* For `squeue -t`: the states of slurm_job_placed() and slurm_job_leaving(). */
#define SLURM_JOB_PLACED "CONFIGURING,RUNNING,COMPLETING,SUSPENDED,STOPPED,SIGNALING,RESIZING"
/* For `squeue -h -a -O`: one line a job.  Nothing in it is a user's text.  A column of width 0 is
 * as wide as its text, which the characters behind the width follow.  The columns have these names
 * from 22.05 to 26.05. */
#define SLURM_JOB_FORMAT "JobID:0|,JobArrayID:0|,State:0|,Partition:0|,Reason:0|,NodeList:0"
/* Likewise with the constraint: operators, and names of features, which the admin chose. */
#define SLURM_CONSTRAINT_FORMAT SLURM_JOB_FORMAT "|,Feature:0"
/* Likewise with the comment.  That is a user's text, which squeue prints unchanged: with newlines,
 * followed by lines that look like other jobs.  So it has a fixed width, to which squeue cuts and
 * pads it in bytes (22.05 to 26.05), and nothing in it can end the line.  The width is one more
 * than the 1,024 bytes of a comment. */
#define SLURM_COMMENT_FORMAT SLURM_CONSTRAINT_FORMAT " ,Comment:1025"

/* Whether a job shares its nodes; in a format of its own, since it differs by release. */
#define SLURM_SHARES "OverSubscribe:0|"
/* In place of SLURM_SHARES for releases with SLURM_HAS_EXCLUSIVE_COLUMN: "NO/NODE".  There the
 * first only says whether the job itself wants to share.  An older squeue leaves the second empty.
 */
#define SLURM_SHARES_OR_OWNS "OverSubscribe:0/,Exclusive:0|"

/* Who pays, and how much of its nodes a job has: account, user, QOS, time limit, number of nodes
 * and CPUs, whether it shares them, what is allocated to it on all of them (while it waits: what it
 * asks for), its tasks, its sockets on each node; then the GPUs that it asks for by job, node,
 * socket and task, and its wckey.  These five and the account are users' texts: slurmctld takes any
 * type of a GPU from a job that is held, and any account unless AccountingStorageEnforce asks for
 * associations.  So they have a fixed width, as the comment.  All of it stands behind
 * SLURM_JOB_FORMAT, before the constraint, and begins with a blank, as no constraint does. */
#define SLURM_PAYER_COLUMNS                                                                        \
	"| |,Account:128|,UserName:0|,QOS:0|,TimeLimit:0|,NumNodes:0|,NumCPUs:0|," SLURM_SHARES    \
	","                                                                                        \
	"tres-alloc:0|,NumTasks:0|,Sockets:0|,tres-per-job:65|,tres-per-node:65|,"                 \
	"tres-per-socket:65|,tres-per-task:65|,WCKey:65|"
#define SLURM_PAYER_FORMAT         SLURM_JOB_FORMAT SLURM_PAYER_COLUMNS
#define SLURM_PAYER_WISHES_FORMAT  SLURM_PAYER_FORMAT ",Feature:0"
#define SLURM_PAYER_COMMENT_FORMAT SLURM_PAYER_WISHES_FORMAT " ,Comment:1025"

/* Likewise for one job, with who pays, its owner's uid and what it needs: number of nodes, required
 * nodes, planned nodes, excluded nodes.  The lists have only nodes that slurmctld knows. */
#define SLURM_WORDS_FORMAT                                                                         \
	SLURM_JOB_FORMAT "|,UserID:0|,NumNodes:0|,ReqNodes:0|,SchedNodes:0|,"                      \
			 "ExcNodes:0" SLURM_PAYER_COLUMNS ",Feature:0 ,Comment:1025"

/* The arguments of squeue for details, without the jobs' ids: one line a job, in columns.  No
 * column is a user's text, while `scontrol show job` prints the job's name, which may contain
 * anything.  The columns have these names from 22.05 to 26.05. */
#define SLURM_DETAIL_ARGS                                                                          \
	"-h", "-a", "-t", "all", "-O",                                                             \
		"JobID:24,State:24,PriorityLong:24,StartTime:24,admin_comment:300,"                \
		"NumTasks:24,NumCPUs:24,NumNodes:24,HetJobID:24,RestartCnt:24",                    \
		"-j"

/* Likewise, for whether a job has a batch script: those of srun and salloc have none. */
#define SLURM_WHO_ARGS "-h", "-a", "-O", "JobID:24,BatchFlag:24", "-j"

enum {
	SLURM_JOB_ID_MAX = 31,
	SLURM_COMMENT_WIDTH = 1025,
	SLURM_PAYER_WIDTH = 65,    /* a text that fills it may have been cut */
	SLURM_ACCOUNT_WIDTH = 128, /* one more than is kept of it */
};

struct slurm_payer { /* as printed; account.p NULL: not in the format */
	struct slurm_text account, user, qos, limit, nodes, cpus, shares;
	struct slurm_text allocated, tasks, sockets;           /* sockets: of each node */
	struct slurm_text by_job, by_node, by_socket, by_task; /* GPUs that it asks for */
	struct slurm_text wckey;
};

struct slurm_job { /* its texts are borrowed */
	uint64_t number;
	char id[SLURM_JOB_ID_MAX + 1];
	struct slurm_text state, partition, reason, nodes; /* nodes: empty unless allocated */
	struct slurm_text constraint, comment; /* "(null)": none; p NULL: not in the format */
	struct slurm_payer payer;              /* for slurm_payer_read() */
};

typedef void (*slurm_job_row_fn)(void *ctx, const struct slurm_job *j);
/* Lines that are not of these formats are skipped. */
void slurm_job_parse(const char *text, size_t len, slurm_job_row_fn fn, void *ctx);
/* Can the text be read to its end?  false: a comment does not end at its width, so the rest may be
 * a user's text, and slurm_job_parse() stops before it. */
bool slurm_job_whole(const char *text, size_t len);

struct slurm_job_words { /* its texts are borrowed; an empty list: none */
	struct slurm_job job;
	int64_t uid;    /* of its owner; -1: not said */
	uint64_t count; /* nodes that it has, or needs at least */
	struct slurm_text required, planned, excluded;
};

typedef void (*slurm_job_words_fn)(void *ctx, const struct slurm_job_words *w);
/* Parse squeue's output for SLURM_WORDS_FORMAT, with who pays or without; other lines are skipped.
 * false: as slurm_job_whole(). */
bool slurm_job_parse_words(const char *text, size_t len, slurm_job_words_fn fn, void *ctx);
/* Is the text the id of one job, which squeue can be given? */
bool slurm_job_is_id(const char *text);
bool slurm_job_ended(const struct slurm_job *j); /* and will not run again */

bool slurm_job_configuring(const struct slurm_job *j); /* it has nodes that are not up yet */
bool slurm_job_running(const struct slurm_job *j);     /* it runs on its nodes */
/* It has nodes: it runs, waits for them, or is suspended or stopped. */
bool slurm_job_placed(const struct slurm_job *j);
bool slurm_job_leaving(const struct slurm_job *j); /* it has ended, but still has its nodes */
/* It is pending for nothing but nodes: not held, not for another job or a later time. */
bool slurm_job_may_start(const struct slurm_job *j);
/* Is any of the comma-separated names of a in b? */
bool slurm_names_meet(struct slurm_text a, struct slurm_text b);

/* Is id among the comma-separated ids? */
bool slurm_job_among(const char *ids, const char *id);
/* For many such questions about the same ids, which are borrowed. */
struct slurm_job_ids {
	struct slurm_text *v; /* sorted */
	size_t n;
};
void slurm_job_ids_init(struct slurm_job_ids *x, const char *ids);
void slurm_job_ids_fini(struct slurm_job_ids *x);
bool slurm_job_ids_have(const struct slurm_job_ids *x, const char *id);
/* The id that `scontrol requeue` takes for this job: for a component of a heterogeneous job the
 * number of the first ("7" for "7+1"), which requeues all components; slurmctld takes no other
 * (22.05 to 25.11). */
void slurm_job_to_requeue(char out[SLURM_JOB_ID_MAX + 1], const char *id);
/* Does a requeue, or a cancel, of these ids also concern this job? */
bool slurm_job_requeued_by(const char *ids, const char *id);
/* The job's name in an event: "4711", or "4711_3 (job 4712)", since people may look for either. */
enum { SLURM_JOB_NAME_SIZE = SLURM_JOB_ID_MAX + FMT_U64_SIZE + 8 };
const char *slurm_job_name(char out[SLURM_JOB_NAME_SIZE], const char *id, uint64_t number);

struct slurm_job_detail {
	uint64_t number;
	uint64_t het; /* number of the first component of its het job; 0: it has no components
			 ("N/A") */
	struct slurm_text state;   /* borrowed */
	bool pending, held;        /* held: by an admin or the user */
	bool ended;                /* and will not run again */
	bool placed;               /* as slurm_job_placed() */
	bool running;              /* as slurm_job_running() */
	int64_t begin_ms;          /* pending: its begin time; else its last start; 0: not said.  By
				      slurmctld's clock, the wall clock */
	struct slurm_text comment; /* AdminComment, cut to the column; borrowed */
	struct slurm_text counts;  /* tasks, CPUs and nodes as printed, to compare */
	int64_t requeues;          /* how often slurmctld has requeued it; -1: not said */
};

/* Has it ended by itself, and not well, rather than by an order or its time limit? */
bool slurm_job_failed(const struct slurm_job_detail *d);

typedef void (*slurm_job_detail_fn)(void *ctx, const struct slurm_job_detail *d);
/* Parse squeue's output for SLURM_DETAIL_ARGS with SLURM_TIME_FORMAT=%s; other lines are skipped.
 */
void slurm_job_parse_detail(const char *text, size_t len, slurm_job_detail_fn fn, void *ctx);

typedef void (*slurm_job_who_fn)(void *ctx, uint64_t number, bool batch);
/* Parse squeue's output for SLURM_WHO_ARGS; other lines are skipped. */
void slurm_job_parse_who(const char *text, size_t len, slurm_job_who_fn fn, void *ctx);

#endif
