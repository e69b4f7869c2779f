/* demand.h - which nodes are asked for, and which of them belong to one job.
 *
 * Built from what slurmctld gave ResumeProgram (node list and resume file) or from squeue's answer.
 * Knows every schema of the resume file from 22.05 (`all_nodes`, `nodes`) to 26.05; unknown keys
 * are ignored, since `extra` is in users' hands.
 *
 * What a job wishes is kept as it is written, and who may believe how much of it is said in
 * constraint.h and wish.h: 22.05's file says nothing of constraints, and none of comments, so that
 * squeue is asked for what is not known. */
#ifndef BURSTD_DEMAND_H
#define BURSTD_DEMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "base/map.h"

enum {
	DEMAND_JOBS_MAX = 100000,
	DEMAND_MEMBERS_MAX = 4 << 20, /* nodes of all jobs together: a short text can name 65,536 */
	DEMAND_TEXT_MAX = 4096,       /* bytes of a constraint or comment; Slurm takes 1,024 */
};

struct demand_job {
	uint64_t id;
	uint32_t *nodes; /* indices in struct demand; nodes that are asked for, each once */
	size_t n;
	char *constraint;   /* of --constraint; NULL: none, or not known, or longer than can be */
	char *comment;      /* of --comment; likewise */
	bool wishes_known;  /* the constraint is what Slurm has, none if NULL ... */
	bool comment_known; /* ... and so is the comment */
};

struct demand {
	struct hostlist *list;
	struct map index; /* name -> 1 + index */
	struct demand_job *jobs;
	size_t njobs, cap, members;
	struct demand_ref *by_id; /* of all jobs; NULL: not sorted yet */
	uint32_t *seen;           /* of each node: in which look at a job it was, last */
	uint32_t looks;
	bool has_jobs; /* jobs are known (even if there are none) */
};

/* The nodes of a node list, in its order, repeats kept: a job has the first of them, and the plan
 * skips the others.  -1: the list is bad (*e says where) and *d is empty. */
int demand_init(struct demand *d, const char *list, size_t len, struct err *e);
void demand_fini(struct demand *d);

/* Add the jobs of a resume file; nodes it names that are not asked for are left out.
 * -1: not a resume file; *d has no jobs then and has_jobs stays false. */
int demand_add_file(struct demand *d, const char *file, size_t len, struct err *e);

/* Add one job with the nodes it is allocated; a bad list is ignored and -1 is returned. */
int demand_add_job(struct demand *d, uint64_t id, const char *list, size_t len, struct err *e);

/* What slurmctld has as the constraint, or comment, of the job with this number; "(null)" and ""
 * are none.  A job that is not in *d has none either.  The text is copied. */
void demand_set_constraint(struct demand *d, uint64_t id, const char *text, size_t len);
void demand_set_comment(struct demand *d, uint64_t id, const char *text, size_t len);

/* The job with this number; NULL: there is none. */
const struct demand_job *demand_get_job(struct demand *d, uint64_t id);

size_t demand_count(const struct demand *d);
const char *demand_name(const struct demand *d, size_t i);

#endif
