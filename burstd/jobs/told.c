#include "jobs/jobs.h"

#include <stdio.h>

/* Remembers which jobs had the signal to save their work a moment ago, whoever wanted that: a
 * reclaim of their machine, or a budget.  In memory: a job may be told twice if burstd dies. */

struct told { /* a job that had the signal, or is about to */
	struct job_part in;
	char id[SLURM_JOB_ID_MAX + 1];
	int64_t at_ms;
};

static bool is_over(struct engine *e, void *part)
{
	return engine_now(e) - ((const struct told *)part)->at_ms >= RECLAIM_LEAD_MS;
}

bool told_is(struct engine *e, uint64_t job)
{
	struct told *t = job_find(e, job, JOB_TOLD);

	return t != NULL && !is_over(e, t);
}

void told_note(struct engine *e, uint64_t job, const char *id)
{
	struct told *t = job_get(e, job, JOB_TOLD, sizeof(*t));

	(void)snprintf(t->id, sizeof(t->id), "%s", id);
	t->at_ms = engine_now(e);
}

void told_unheard(struct engine *e, const char *names)
{
	for (struct told *t = e->jobs->parts[JOB_TOLD], *next; t != NULL; t = next) {
		next = t->in.next;
		if (slurm_job_among(names, t->id))
			job_drop(e, t);
	}
}

void told_forget(struct engine *e, uint64_t job)
{
	struct told *t = job_find(e, job, JOB_TOLD);

	if (t != NULL)
		job_drop(e, t);
}

void told_tidy(struct engine *e)
{
	job_forget(e, JOB_TOLD, is_over);
}
