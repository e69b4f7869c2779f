#include "jobs/rescue_private.h"
#include "store/journal_jobs.h"

#include <stdio.h>
#include <stdlib.h>

/* One row for each job that is followed because a node of its goes down: how it is made, kept over
 * a restart, and forgotten. */

struct rescue *rescue_find(const struct engine *e, uint64_t job)
{
	return job_find(e, job, JOB_RESCUED);
}

struct rescue *rescue_get(struct engine *e, uint64_t job)
{
	struct rescue *r = job_get(e, job, JOB_RESCUED, sizeof(*r));

	r->j.job = job;
	return r;
}

/* After a requeue it knows no more of that. */
bool rescue_tells(const struct engine *e, uint64_t job)
{
	const struct rescue *r = rescue_find(e, job);

	return r != NULL && r->j.signal != JOURNAL_SIGNAL_NONE && r->j.hold_ms == 0;
}

void rescue_watch(struct engine *e, struct rescue *r)
{
	r->step_ms = RESCUE_LOOK_MS;
	r->look_ms = engine_now(e) + r->step_ms;
}

void rescue_load(struct engine *e, const struct journal_rescue *j)
{
	struct rescue *r = rescue_get(e, j->job);

	r->j = *j;
	if (r->j.at_ms > engine_now(e))
		r->j.at_ms = engine_now(e);           /* the clock has gone back (F57) */
	r->waits = r->j.signal == JOURNAL_SIGNAL_DUE; /* whether it is at work is not known */
	r->commanded = r->j.hold_ms != 0;             /* a command that ran may have died with us */
	r->counted = true;
	rescue_watch(e, r);
}

void rescue_free(struct engine *e)
{
	while (e->jobs->lookups != NULL) {
		struct job_lookup *d = e->jobs->lookups;

		e->jobs->lookups = d->next;
		free(d);
	}
	free(e->jobs->leaving.jobs);
}

void rescue_announce(struct engine *e, const struct rescue *r, const char *type, const char *what)
{
	char detail[400], job[SLURM_JOB_NAME_SIZE];

	(void)snprintf(detail, sizeof(detail), "job %s: %s", slurm_job_name(job, r->j.id, r->j.job),
		       what);
	engine_event(e, r->j.node, r->j.gen, type, detail);
}

void rescue_finish(struct engine *e, struct rescue *r)
{
	journal_del_rescue(engine_tx(e), r->j.job);
	r->j.at_ms = 0; /* rescue_forget() frees it */
}

static bool is_finished(struct engine *e, void *part)
{
	const struct rescue *r = part;

	(void)e;
	return r->j.at_ms == 0;
}

void rescue_forget(struct engine *e)
{
	job_forget(e, JOB_RESCUED, is_finished);
}
