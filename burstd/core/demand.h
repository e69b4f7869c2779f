/* demand.h - which nodes are asked for, and which of them belong to one job.
 *
 * Built from what slurmctld gave ResumeProgram (node list and resume file) or from squeue's answer.
 * Knows every schema of the resume file from 22.05 (`all_nodes`, `nodes`) to 26.05; unknown keys
 * are ignored, since `extra` is in users' hands.
 *
 * A job's constraint and comment are kept as written; constraint.h and wish.h say what they mean.
 * The file of 22.05 has no constraints, and no release's has comments: squeue is asked for what is
 * not known. */
#ifndef BURSTD_DEMAND_H
#define BURSTD_DEMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "base/map.h"
#include "core/payer.h"

enum {
	DEMAND_JOBS_MAX = 100000,
	DEMAND_MEMBERS_MAX = 4 << 20, /* nodes of all jobs together: a short text can name 65,536 */
	DEMAND_TEXT_MAX = 4096,       /* bytes of a constraint or comment; Slurm takes 1,024 */
};

struct demand_job {
	uint64_t id;
	uint32_t *nodes; /* indices into the nodes of struct demand, each once */
	size_t n;
	char *constraint;    /* of --constraint; NULL: none, not known, or too long */
	char *comment;       /* of --comment; likewise */
	bool wishes_known;   /* the constraint is known, so NULL is none */
	bool comment_known;  /* likewise the comment */
	struct payer *payer; /* NULL: not known */
};

struct demand {
	struct hostlist *list;
	struct map index; /* name -> 1 + index */
	struct demand_job *jobs;
	size_t njobs, cap, members;
	struct demand_ref *by_id; /* of all jobs; NULL: not sorted yet */
	uint32_t *seen;           /* of each node: the last look at a job that had it */
	uint32_t looks;
	bool has_jobs; /* jobs are known (even if there are none) */
};

/* Expand a node list, in its order, with repetitions: a job has the first of equal names, and the
 * plan skips the others.  -1: the list is bad (*e says where) and *d is empty. */
int demand_init(struct demand *d, const char *list, size_t len, struct err *e);
void demand_fini(struct demand *d);

/* Add the jobs of a resume file; nodes it names that are not asked for are left out.
 * -1: not a resume file; *d has no jobs then and has_jobs stays false. */
int demand_add_file(struct demand *d, const char *file, size_t len, struct err *e);

/* Add one job with the nodes it is allocated; a bad list is ignored and -1 is returned. */
int demand_add_job(struct demand *d, uint64_t id, const char *list, size_t len, struct err *e);

/* Note the constraint, or the comment, that slurmctld has for this job; "(null)" and "" are none.
 * A job that is not in *d is ignored.  The text is copied. */
void demand_set_constraint(struct demand *d, uint64_t id, const char *text, size_t len);
void demand_set_comment(struct demand *d, uint64_t id, const char *text, size_t len);

/* Likewise who pays for it. */
void demand_set_payer(struct demand *d, uint64_t id, const struct payer *p);

/* The job with this number; NULL: there is none. */
const struct demand_job *demand_get_job(struct demand *d, uint64_t id);

size_t demand_count(const struct demand *d);
const char *demand_name(const struct demand *d, size_t i);

#endif
