/* sacct.h - what sacct and squeue print of jobs, read without trust: names of jobs, accounts and
 * wckeys are users' texts, and may have any bytes.
 *
 * Each field ends with a delimiter that is drawn by lot for each run, so that no text can pretend
 * to be the end of its field.  Times are seconds since 1970 (SLURM_TIME_FORMAT=%s).  Pure. */
#ifndef BURSTD_LEDGER_SACCT_H
#define BURSTD_LEDGER_SACCT_H

#include "base/err.h"
#include "base/str.h"
#include "store/ledger_attempts.h"

enum {
	SACCT_DELIMITER_MAX = 32, /* bytes, without the NUL */
	SACCT_TEXT_MAX = 255,     /* bytes of a user's text that are kept */
	SACCT_ARGS = 16,
};

#define SACCT  "sacct"  /* attempt.source */
#define SQUEUE "squeue" /* likewise: there is no accounting */

struct sacct_args { /* a command line; texts are in `text` */
	const char *argv[SACCT_ARGS];
	struct str text[4];
};

/* All jobs that had, or have, nodes in [from_s, to_s).  program: path of sacct.  The delimiter has
 * no '%', ',' or NUL, and begins with no digit.  sacct_args_fini() frees. */
void sacct_args(struct sacct_args *a, const char *program, const char *delimiter, int64_t from_s,
		int64_t to_s);
/* All jobs that slurmctld still remembers. */
void sacct_args_of_squeue(struct sacct_args *a, const char *program, const char *delimiter);
void sacct_args_fini(struct sacct_args *a);

struct sacct_count {
	size_t records; /* in all: also of jobs that never had nodes */
	size_t bad;     /* with a field that cannot be read; left out */
	char why[128];  /* of the first of them */
};

/* Called for each attempt that has, or had, nodes; nodes: its node list, as Slurm writes it.  A
 * visit that returns -1 ends the call. */
typedef int (*sacct_fn)(void *ctx, const struct ledger_attempt *a, const char *nodes,
			struct err *e);

struct sacct_text { /* what was printed; changed by reading it */
	char *p;
	size_t len;
	const char *delimiter;
	int64_t seen_ms; /* when it was asked for */
};

/* -1: *e: this is not what was asked for, such as cut in the middle, or a visit failed. */
int sacct_parse(const struct sacct_text *t, sacct_fn fn, void *ctx, struct sacct_count *n,
		struct err *e);
int sacct_parse_squeue(const struct sacct_text *t, sacct_fn fn, void *ctx, struct sacct_count *n,
		       struct err *e);

/* A wckey by its name, part of the text: Slurm puts a "*" before the user's default if a job names
 * none, and that is the same project, as to budgets. */
const char *sacct_wckey(const char *wckey);

/* Does this complaint say that the cluster has no accounting? */
bool sacct_is_disabled(const char *errors);

#endif
