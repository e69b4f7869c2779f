#include "jobs/postpone_private.h"
#include "store/journal_jobs.h"

#include <stdio.h>

/* One row for each job that was refused its nodes or has a comment of ours: how it is made, kept
 * over a restart, shown to others, and forgotten. */

struct postponed *postpone_find(const struct engine *e, uint64_t number)
{
	return job_find(e, number, JOB_POSTPONED);
}

struct postponed *postpone_get(struct engine *e, uint64_t number)
{
	struct postponed *p = job_get(e, number, JOB_POSTPONED, sizeof(*p));

	if (p->said[0] == '\0') { /* it is new */
		(void)snprintf(p->id, sizeof(p->id), "%s", p->in.job->key);
		(void)snprintf(p->said, sizeof(p->said), "%s", POSTPONE_ANY_OF_OURS);
	}
	return p;
}

void postpone_put_row(struct engine *e, struct postponed *p)
{
	p->refusal.told_wall_ms = p->told_wall_ms;
	p->refusal.had_wall_ms = p->had_wall_ms;
	journal_put_refusal(engine_tx(e), &(struct journal_refusal){p->in.job->number, p->refusal});
}

void postpone_load(struct engine *e, const struct journal_refusal *r)
{
	struct postponed *p = postpone_get(e, r->job);

	p->refusal = r->r;
	if (p->refusal.last_ms > engine_now(e))
		p->refusal.last_ms = engine_now(e); /* the clock has gone back (F57) */
	if (p->refusal.first_ms > p->refusal.last_ms || p->refusal.first_ms == 0) /* an older row */
		p->refusal.first_ms = p->refusal.last_ms;
	p->until_ms = p->refusal.last_ms + refusal_wait_ms(&p->refusal);
	p->told_wall_ms = p->refusal.told_wall_ms;
	p->had_wall_ms = p->refusal.had_wall_ms;
	if (p->told_wall_ms != 0) /* the clock may have been set while we were away */
		p->until_ms = engine_from_wall(e, p->told_wall_ms);
	p->unnamed = true;
	/* The configuration may have changed. */
	p->anew = refusal_lasts(&p->refusal) && p->until_ms > engine_now(e);
	p->words = p->loaded = true;
	p->good_ms = r->r.count > 0 ? p->until_ms + POSTPONE_STALE_MS : INT64_MAX;
	p->said_ms = p->look_ms = engine_now(e);
	e->jobs->postpone_words_ms = 0;
}

void postpone_init(struct engine *e)
{
	e->jobs->postpone_next = INT64_MAX;
}

struct refusal postpone_look(const struct engine *e, uint64_t number)
{
	const struct postponed *p = postpone_find(e, number);

	if (p == NULL || p->refusal.count == 0 || refusal_over(&p->refusal, engine_now(e)))
		return (struct refusal){0};
	return p->refusal;
}

bool postpone_goes_first(const struct engine *e, uint64_t number)
{
	const struct postponed *p = postpone_find(e, number);

	return p != NULL && p->passed >= POSTPONE_PASSED;
}

void postpone_went_first(struct engine *e, uint64_t number)
{
	struct postponed *p = postpone_find(e, number);
	char what[SLURM_JOB_ID_MAX + 100];

	if (p == NULL || p->passed == 0)
		return;
	(void)snprintf(what, sizeof(what),
		       "job %s was passed over %u times: it is bought for before others", p->id,
		       p->passed);
	engine_event(e, "", 0, "job-first", what);
	p->passed = 0;
}

int64_t postpone_left_ms(const struct engine *e, uint64_t number)
{
	const struct postponed *p = postpone_find(e, number);

	return p != NULL && !p->untold && !p->lifting && p->until_ms > engine_now(e)
		       ? p->until_ms - engine_now(e)
		       : 0;
}

bool postpone_is_untold(const struct engine *e, uint64_t number)
{
	const struct postponed *p = postpone_find(e, number);

	return p != NULL && p->untold;
}

int64_t postpone_told_ms(const struct engine *e, uint64_t number)
{
	const struct postponed *p = postpone_find(e, number);

	return p != NULL ? p->told_ms : 0;
}

bool postpone_is_watched(const struct engine *e, const struct postponed *p)
{
	return p->until_ms > engine_now(e) || p->refusal.count > 0 || p->words || p->foreign;
}

static void drop_refusal(struct engine *e, struct postponed *p)
{
	if (p->refusal.last_ms != 0)
		journal_del_refusal(engine_tx(e), p->in.job->number);
	p->refusal = (struct refusal){0};
}

void postpone_settle(struct engine *e, struct postponed *p, bool ended)
{
	uint64_t job = p->in.job->number;

	p->until_ms = p->told_wall_ms = 0;
	p->anew = p->lifting = false;
	p->settled = true;
	if (ended) {
		p->passed = 0;
		p->words = p->foreign = false; /* slurmctld takes no other comment */
		drop_refusal(e, p);
		engine_job_ended(e, job);
	}
	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];

		if (nm->refused_for != job || nm->barred) /* if barred, refused anew */
			continue;
		nm->refused_for = 0;
		fleet_forget_refusal(nm);
	}
}

/* Forget a refusal that is over, with the begin times told for it; but not while our comment may
 * stand there, which nobody would know of after a restart. */
static void forget_refusal(struct engine *e, struct postponed *p)
{
	if (!p->untold && !p->words && refusal_over(&p->refusal, engine_now(e)))
		drop_refusal(e, p);
}

static bool is_over(struct engine *e, void *part)
{
	struct postponed *p = part;

	forget_refusal(e, p);
	return !p->untold && !postpone_is_watched(e, p);
}

void postpone_forget(struct engine *e)
{
	job_forget(e, JOB_POSTPONED, is_over);
}

bool postpone_each(const struct engine *e, const void **at, struct engine_joblist_job *out)
{
	const struct postponed *p = *at;

	do
		p = p != NULL ? p->in.next : e->jobs->parts[JOB_POSTPONED];
	while (p != NULL && p->until_ms <= engine_now(e));
	*at = p;
	if (p != NULL)
		*out = (struct engine_joblist_job){.number = p->in.job->number,
						   .id = p->id,
						   .partition = "",
						   .state = ENGINE_JOBLIST_WAITS,
						   .reason = p->reason,
						   .pool = p->pool,
						   .nodes = p->nodes,
						   .refusals = p->refusal.count,
						   .since_ms = p->refusal.first_ms,
						   .until_ms = p->until_ms};
	return p != NULL;
}

void engine_waiting(const struct engine *e, size_t n[NODE_NREASONS])
{
	for (size_t i = 0; i < NODE_NREASONS; i++)
		n[i] = 0;
	for (const struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next)
		n[p->reason] += p->until_ms > engine_now(e);
}

size_t engine_postponed(const struct engine *e, struct engine_postponed *soonest)
{
	size_t n = 0;

	for (const struct postponed *p = e->jobs->parts[JOB_POSTPONED]; p != NULL; p = p->in.next) {
		if (p->until_ms <= engine_now(e))
			continue;
		if (n++ == 0 || p->until_ms < soonest->until_ms)
			*soonest = (struct engine_postponed){p->id, p->refusal.count, p->until_ms};
	}
	return n;
}
