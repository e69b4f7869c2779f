#include "jobs/jobs.h"

/* Coalesces concurrent squeue requests.  A request made while squeue runs gets the next answer,
 * since the running squeue may have read the jobs before. */

void jobs_want(struct engine *e, enum jobs_for who)
{
	e->jobs->wanted |= (unsigned)who;
}

void jobs_want_wishes(struct engine *e, enum wish_need need)
{
	jobs_want(e, JOBS_FOR_INTAKE);
	if (need > e->jobs->wishes_wanted)
		e->jobs->wishes_wanted = need;
}

bool jobs_coming(const struct engine *e, enum jobs_for who)
{
	return ((e->jobs->wanted | e->jobs->running) & (unsigned)who) != 0;
}

void jobs_answer(struct engine *e, const char *text, size_t len, const struct err *err)
{
	unsigned who = e->jobs->running;
	struct err broken;

	e->jobs->running = 0;
	if (err == NULL && !slurm_job_whole(text, len)) {
		(void)err_set(&broken, ERR_INVALID,
			      "cannot parse squeue's output: a comment has the wrong width");
		err = &broken;
	}
	for (size_t i = 0; i < e->d.parts.n; i++)
		if ((who & e->d.parts.row[i].part->reads) != 0)
			e->d.parts.row[i].part->squeue_says(e, text, len, err);
}

/* Start squeue if it is due. */
static void jobs_run(struct engine *e)
{
	enum wish_need need = e->jobs->wishes_wanted;
	struct err err;

	if (e->jobs->wanted == 0 || e->jobs->running != 0)
		return;
	e->jobs->running = e->jobs->wanted;
	e->jobs->wanted = 0;
	e->jobs->runs++;
	e->jobs->wishes_wanted = WISH_NOTHING;
	for (size_t i = 0; i < e->d.parts.n; i++) {
		const struct engine_part *p = e->d.parts.row[i].part;

		if ((e->jobs->running & p->reads) != 0 && p->squeue_begins != NULL)
			p->squeue_begins(e);
	}
	if (slurm_ask_wishes(e->slurm,
			     (e->jobs->running & JOBS_FOR_CANCEL) != 0 ? SLURM_JOBS
								       : SLURM_CONFIGURING,
			     need, (e->jobs->running & JOBS_WITH_PAYERS) != 0))
		return;
	(void)err_set(&err, ERR_NOTSENT, "squeue cannot be started");
	jobs_answer(e, NULL, 0, &err);
}

const struct engine_part jobs_part = {
	.name = "squeue",
	.at = {[PART_SEND] = jobs_run},
};
