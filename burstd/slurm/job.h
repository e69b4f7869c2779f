/* job.h - what squeue prints about jobs, read without believing more than needed.
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
/* For `squeue -h -a -o`: one line a job.  Nothing in it is a user's text. */
#define SLURM_JOB_FORMAT "%A|%i|%T|%P|%r|%N"
/* ... and with the constraint: names of features, which are the admin's words, and operators. */
#define SLURM_CONSTRAINT_FORMAT SLURM_JOB_FORMAT "|%f"
/* ... and with the comment.  That is anybody's text, which squeue prints as it is: with newlines,
 * and lines behind them that look like those of other jobs.  So it has a width, to which squeue
 * cuts and fills it in bytes (22.05 to 26.05), and what is in it cannot end a line.  It is one more
 * than a comment's 1,024 bytes. */
#define SLURM_COMMENT_FORMAT SLURM_CONSTRAINT_FORMAT " %1025k"

/* ... and for one job whose it is, and all that says what it needs: how many nodes, which it wants,
 * which slurmctld means to give it, and which it does not want.  The owner is a number; the others
 * are lists of nodes that slurmctld knows. */
#define SLURM_WORDS_FORMAT "%A|%i|%T|%P|%r|%N|%U|%D|%n|%Y|%x|%f %1025k"

/* The arguments of squeue for details, but for the ids of the jobs: one line a job, in columns.
 * Nothing in it is a user's text: `scontrol show job` prints the job's name among what Slurm says,
 * and a name may say anything.  Called admin_comment from 22.05 to 26.05. */
#define SLURM_DETAIL_ARGS                                                                          \
	"-h", "-a", "-t", "all", "-O",                                                             \
		"JobID:24,State:24,PriorityLong:24,StartTime:24,admin_comment:300,"                \
		"NumTasks:24,NumCPUs:24,NumNodes:24,HetJobID:24",                                  \
		"-j"

/* Likewise, and whether it has a script: srun's and salloc's have none. */
#define SLURM_WHO_ARGS "-h", "-a", "-O", "JobID:24,BatchFlag:24", "-j"

enum { SLURM_JOB_ID_MAX = 31, SLURM_COMMENT_WIDTH = 1025 };

struct slurm_job { /* the texts are borrowed */
	uint64_t number;
	char id[SLURM_JOB_ID_MAX + 1];
	struct slurm_text state, partition, reason, nodes; /* nodes: empty unless allocated */
	struct slurm_text constraint, comment; /* "(null)": none; p NULL: was not asked for */
};

typedef void (*slurm_job_row_fn)(void *ctx, const struct slurm_job *j);
/* Lines that are not of these formats are skipped. */
void slurm_job_parse(const char *text, size_t len, slurm_job_row_fn fn, void *ctx);
/* Can it be read to its end?  false: where a comment should end it does not, so that what follows
 * may be anybody's, and slurm_job_parse() stops before it. */
bool slurm_job_whole(const char *text, size_t len);

struct slurm_job_words { /* the texts are borrowed; a list is empty where there is none */
	struct slurm_job job;
	int64_t uid;    /* of its owner; -1: not said */
	uint64_t count; /* of nodes that it has, or needs at least */
	struct slurm_text required, planned, excluded;
};

typedef void (*slurm_job_words_fn)(void *ctx, const struct slurm_job_words *w);
/* What squeue prints for SLURM_WORDS_FORMAT; other lines are skipped.  false: as of
 * slurm_job_whole(). */
bool slurm_job_parse_words(const char *text, size_t len, slurm_job_words_fn fn, void *ctx);
/* May this be given to squeue as the id of one job? */
bool slurm_job_is_id(const char *text);
bool slurm_job_ended(const struct slurm_job *j); /* and will not run again */

bool slurm_job_configuring(const struct slurm_job *j); /* has nodes, and waits for them */
bool slurm_job_running(const struct slurm_job *j);     /* works on its nodes */
/* It has nodes: works on them, waits for them, or is suspended or stopped there. */
bool slurm_job_placed(const struct slurm_job *j);
bool slurm_job_leaving(const struct slurm_job *j); /* it has ended, and not left its nodes yet */
/* It waits in the queue for nodes of a partition and for nothing else: not held, not for another
 * job, not for a later time. */
bool slurm_job_may_start(const struct slurm_job *j);
/* Is any of the comma-separated names of a in b? */
bool slurm_names_meet(struct slurm_text a, struct slurm_text b);

/* Is this one of those ids, which commas part? */
bool slurm_job_among(const char *ids, const char *id);
/* What `scontrol requeue` takes for this one: of a component the number of the first, by which
 * slurmctld requeues all of that job ("7" of "7+1"); it takes no other (22.05 to 25.11). */
void slurm_job_to_requeue(char out[SLURM_JOB_ID_MAX + 1], const char *id);
/* Does an order with these ids requeue it? */
bool slurm_job_requeued_by(const char *ids, const char *id);
/* For an event: "4711", or "4711_3 (job 4712)", as a purchase knows a job by its number alone, and
 * who looks for one may have either. */
enum { SLURM_JOB_NAME_SIZE = SLURM_JOB_ID_MAX + FMT_U64_SIZE + 8 };
const char *slurm_job_name(char out[SLURM_JOB_NAME_SIZE], const char *id, uint64_t number);

struct slurm_job_detail {
	uint64_t number;
	uint64_t het; /* of a component: the number of the first; 0: it is none ("N/A") */
	struct slurm_text state; /* borrowed */
	bool pending, held;      /* held: an admin's or the user's, until they release it */
	bool ended;              /* and will not run again */
	bool placed;             /* as slurm_job_placed() */
	bool running;            /* ... and works there */
	int64_t begin_ms;        /* pending: not before this time; else its last start; 0: not said.
				  * By slurmctld's clock, which is the wall clock */
	struct slurm_text comment; /* AdminComment, as much as the column holds; borrowed */
	struct slurm_text counts;  /* what it asks for, as it is printed: to be compared */
};

typedef void (*slurm_job_detail_fn)(void *ctx, const struct slurm_job_detail *d);
/* What squeue prints for SLURM_DETAIL_ARGS with SLURM_TIME_FORMAT=%s; other lines are skipped. */
void slurm_job_parse_detail(const char *text, size_t len, slurm_job_detail_fn fn, void *ctx);

typedef void (*slurm_job_who_fn)(void *ctx, uint64_t number, bool batch);
/* What squeue prints for SLURM_WHO_ARGS; other lines are skipped. */
void slurm_job_parse_who(const char *text, size_t len, slurm_job_who_fn fn, void *ctx);

#endif
