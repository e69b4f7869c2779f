#include "jobs/rescue_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"

/* The jobs that are followed because a node of theirs goes, one row each: how it is made, kept over
 * a restart, and forgotten. */

struct rescue *rescue_find(const struct engine *e, uint64_t job)
{
	char key[FMT_U64_SIZE];

	return map_get(&e->jobs->rescues_map, fmt_u64(key, job));
}

struct rescue *rescue_get(struct engine *e, uint64_t job)
{
	struct rescue *r = rescue_find(e, job);

	if (r != NULL)
		return r;
	r = mem_zalloc(sizeof(*r));
	(void)fmt_u64(r->key, job);
	r->j.job = job;
	r->next = e->jobs->rescues;
	e->jobs->rescues = r;
	map_put(&e->jobs->rescues_map, r->key, r);
	return r;
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
	r->waits = r->j.signal == JOURNAL_SIGNAL_DUE; /* nobody knows what it does by now */
	r->commanded = r->j.hold_ms != 0;             /* a command that ran may have died with us */
	r->counted = true;
	rescue_watch(e, r);
}

void rescue_init(struct engine *e)
{
	map_init(&e->jobs->rescues_map);
}

void rescue_free(struct engine *e)
{
	while (e->jobs->doomed != NULL) {
		struct doomed *d = e->jobs->doomed;

		e->jobs->doomed = d->next;
		free(d);
	}
	while (e->jobs->rescues != NULL) {
		struct rescue *r = e->jobs->rescues;

		e->jobs->rescues = r->next;
		free(r);
	}
	map_fini(&e->jobs->rescues_map);
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
	r->j.at_ms = 0; /* rescue_forget() sees to the rest */
}

void rescue_forget(struct engine *e)
{
	struct rescue **link = &e->jobs->rescues;

	while (*link != NULL) {
		struct rescue *r = *link;

		if (r->j.at_ms != 0) {
			link = &r->next;
			continue;
		}
		*link = r->next;
		map_del(&e->jobs->rescues_map, r->key);
		free(r);
	}
}
