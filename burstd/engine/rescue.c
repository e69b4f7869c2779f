#include "engine/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"

/* The jobs of a node that must go down: reclaimed, vanished, dead, or by an admin's order.
 *
 * Before slurmctld is told, squeue says who is on it, and that is written down: from then on each
 * of these jobs is followed until slurmctld shows what became of it, through any crash of ours
 * (I16).  slurmctld itself requeues them when the node is forced down, never before (I17); the
 * researcher is told in the job's AdminComment.  Those that it cannot requeue (srun, salloc,
 * --no-requeue) end, and it takes no comment on what has ended: an event says so. */

enum {
	RESCUE_WAIT_MS = 2000, /* for squeue: then the node goes down all the same */
	RESCUE_LOOK_MS = 1000, /* to the first look at what became of a job, then twice that ... */
	RESCUE_LOOK_MAX_MS = 30000, /* ... up to this */
	RESCUE_STUCK_MS = 300000,   /* a job that still runs after so long is told of, once */
};

struct doomed { /* a node that slurmctld is about to be told of */
	struct doomed *next;
	struct fleet_name *nm;
	int64_t since_ms;
	bool dead;
	char why[200];
};

struct rescue { /* one job */
	struct rescue *next;
	char key[FMT_U64_SIZE];
	struct journal_rescue j; /* as durable */
	int64_t look_ms, step_ms;
	bool asked, stuck; /* in the question on the wire; told of */
};

static struct rescue *find(const struct engine *e, uint64_t job)
{
	char key[FMT_U64_SIZE];

	return map_get(&e->rescues_map, fmt_u64(key, job));
}

static struct rescue *get(struct engine *e, uint64_t job)
{
	struct rescue *r = find(e, job);

	if (r != NULL)
		return r;
	r = mem_zalloc(sizeof(*r));
	(void)fmt_u64(r->key, job);
	r->j.job = job;
	r->next = e->rescues;
	e->rescues = r;
	map_put(&e->rescues_map, r->key, r);
	return r;
}

static void watch(struct engine *e, struct rescue *r)
{
	r->step_ms = RESCUE_LOOK_MS;
	r->look_ms = engine_now(e) + r->step_ms;
}

void rescue_load(struct engine *e, const struct journal_rescue *j)
{
	struct rescue *r = get(e, j->job);

	r->j = *j;
	if (r->j.at_ms > engine_now(e))
		r->j.at_ms = engine_now(e); /* the clock has gone back (F57) */
	watch(e, r);
}

void rescue_free(struct engine *e)
{
	while (e->doomed != NULL) {
		struct doomed *d = e->doomed;

		e->doomed = d->next;
		free(d);
	}
	while (e->rescues != NULL) {
		struct rescue *r = e->rescues;

		e->rescues = r->next;
		free(r);
	}
	map_fini(&e->rescues_map);
}

/* --- nodes that go down ------------------------------------------------------------------------
 */

static void force(struct engine *e, const struct fleet_name *nm, bool dead, const char *why)
{
	slurm_power_down(e->slurm, nm->name, nm->newest != NULL ? nm->newest->n.addr : NULL, dead,
			 why);
}

void rescue_node(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	struct doomed *d = nm->doomed;

	if (!slurm_is_on(nm->flags)) {
		force(e, nm, dead, why); /* no job is on it */
		return;
	}
	if (d == NULL) {
		d = mem_zalloc(sizeof(*d));
		d->nm = nm;
		d->since_ms = engine_now(e);
		d->next = e->doomed;
		e->doomed = d;
		nm->doomed = d;
		jobs_want(e, JOBS_FOR_RESCUE);
	}
	d->dead = d->dead || dead;
	(void)snprintf(d->why, sizeof(d->why), "%s", why);
}

/* All of them, or those that have waited long enough for squeue. */
static void force_all(struct engine *e, int64_t until_ms)
{
	struct doomed **link = &e->doomed;

	while (*link != NULL) {
		struct doomed *d = *link;

		if (d->since_ms > until_ms) {
			link = &d->next;
			continue;
		}
		*link = d->next;
		d->nm->doomed = NULL;
		force(e, d->nm, d->dead, d->why);
		free(d);
	}
}

static void take(struct engine *e, const struct slurm_job *j, const struct doomed *d)
{
	const struct node *n = d->nm->newest != NULL ? &d->nm->newest->n : NULL;
	struct rescue *r = get(e, j->number);
	char detail[320];

	r->j.gen = n != NULL ? n->gen : 0;
	r->j.at_ms = engine_now(e);
	(void)snprintf(r->j.id, sizeof(r->j.id), "%s", j->id);
	(void)snprintf(r->j.node, sizeof(r->j.node), "%s", d->nm->name);
	(void)snprintf(r->j.why, sizeof(r->j.why), "%s", engine_bare(d->why));
	r->asked = r->stuck = false; /* an answer that is on its way is about another time */
	watch(e, r);
	journal_put_rescue(engine_tx(e), &r->j);
	e->count.jobs_taken++;
	(void)snprintf(detail, sizeof(detail), "job %s loses this node: %s", r->j.id, r->j.why);
	engine_event(e, r->j.node, r->j.gen, "job-taken", detail);
}

static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	struct hostlist *h;
	struct err err;

	if (j->id[0] == '\0' || !slurm_job_running(j) ||
	    hostlist_parse(&h, j->nodes.p, j->nodes.n, &err) != 0)
		return;
	for (size_t i = 0; i < h->n; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm == NULL || nm->doomed == NULL)
			continue;
		take(e, j, nm->doomed); /* the first says enough */
		break;
	}
	hostlist_free(h);
}

void rescue_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (e->doomed == NULL)
		return;
	if (err != NULL) {
		jobs_want(e, JOBS_FOR_RESCUE); /* again, for as long as that is worth it */
		return;
	}
	slurm_job_parse(text, len, on_job, e);
	engine_commit(e); /* written down before it is done (I16) */
	if (!e->dead)
		force_all(e, INT64_MAX);
}

/* --- what became of the jobs -------------------------------------------------------------------
 */

/* Told, and over. */
static void conclude(struct engine *e, struct rescue *r, const char *type, const char *what,
		     bool comment)
{
	char detail[400];

	if (comment) {
		char text[SLURM_COMMENT_MAX + 1];

		(void)snprintf(text, sizeof(text), "burstd: lost node %.63s: %.90s; %.64s",
			       r->j.node, r->j.why, what);
		slurm_postpone(e->slurm, r->j.id, 0, text);
	}
	(void)snprintf(detail, sizeof(detail), "job %s: %s", r->j.id, what);
	engine_event(e, r->j.node, r->j.gen, type, detail);
	journal_del_rescue(engine_tx(e), r->j.job);
	r->j.at_ms = 0; /* forget() sees to the rest */
}

static void conclude_ended(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	char what[96];
	bool done = slurm_text_is(d->state, "COMPLETED");

	(void)snprintf(what, sizeof(what), "it ended as %.*s%s", (int)d->state.n, d->state.p,
		       done ? "" : " and was not requeued");
	e->count.jobs_ended++;
	conclude(e, r, "job-ended", what, false);
}

/* It still runs, as it did when its node went.  A job that may lose nodes (--no-kill) does. */
static void still_runs(struct engine *e, struct rescue *r)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);

	if (engine_now(e) - r->j.at_ms < RESCUE_STUCK_MS || nm == NULL || nm->doomed != NULL ||
	    e->snapshot_ms < r->j.at_ms + RESCUE_STUCK_MS)
		return;
	if (!slurm_is_on(nm->flags) || (nm->newest != NULL && nm->newest->n.gen != r->j.gen)) {
		conclude(e, r, "job-goes-on", "it runs on without that node", false);
	} else if (!r->stuck) {
		r->stuck = true;
		engine_event(e, r->j.node, r->j.gen, "job-stuck",
			     "slurmctld still has a job on it");
	}
}

static void on_fate(void *ctx, const struct slurm_job_detail *d)
{
	struct engine *e = ctx;
	struct rescue *r = find(e, d->number);

	if (r == NULL || !r->asked)
		return;
	r->asked = false; /* seen */
	if (d->pending || d->begin_ms > r->j.at_ms) {
		e->count.jobs_requeued++;
		conclude(e, r, "job-requeued",
			 d->held ? "it was requeued, and is held" : "it was requeued",
			 d->pending && d->comment_free);
	} else if (d->ended) {
		conclude_ended(e, r, d);
	} else if (slurm_text_is(d->state, "RUNNING")) {
		still_runs(e, r);
	}
}

static void forget(struct engine *e)
{
	struct rescue **link = &e->rescues;

	while (*link != NULL) {
		struct rescue *r = *link;

		if (r->j.at_ms != 0) {
			link = &r->next;
			continue;
		}
		*link = r->next;
		map_del(&e->rescues_map, r->key);
		free(r);
	}
}

void rescue_fates(struct engine *e, const char *text, size_t len, const struct err *err)
{
	int64_t now = engine_now(e);

	if (err == NULL)
		slurm_job_parse_detail(text, len, on_fate, e);
	for (struct rescue *r = e->rescues; r != NULL; r = r->next) {
		if (r->look_ms != 0)
			continue;
		if (r->asked && err == NULL && r->j.at_ms != 0) {
			e->count.jobs_ended++;
			conclude(e, r, "job-ended", "slurmctld has forgotten it", false);
		}
		r->asked = false;
		r->step_ms =
			2 * r->step_ms < RESCUE_LOOK_MAX_MS ? 2 * r->step_ms : RESCUE_LOOK_MAX_MS;
		r->look_ms = now + r->step_ms;
	}
	forget(e);
}

/* Those that are due.  Not before slurmctld knows all that it was told. */
static void ask(struct engine *e)
{
	struct rescue *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	int64_t now = engine_now(e);
	size_t n = 0;

	for (struct rescue *r = e->rescues; r != NULL && n < SLURM_ASK_MAX; r = r->next)
		if (r->look_ms != 0 && r->look_ms <= now)
			asked[n++] = r;
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->j.id;
	if (n == 0 || e->doomed != NULL || slurm_settled_ms(e->slurm) == INT64_MAX ||
	    !slurm_ask_jobs(e->slurm, SLURM_FATES, ids, n))
		return;
	for (size_t i = 0; i < n; i++) {
		asked[i]->asked = true;
		asked[i]->look_ms = 0; /* until the answer comes */
	}
}

void rescue_run(struct engine *e)
{
	force_all(e, engine_now(e) - RESCUE_WAIT_MS);
	ask(e);
}

int64_t rescue_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX, now = engine_now(e);

	for (const struct doomed *d = e->doomed; d != NULL; d = d->next)
		next = d->since_ms + RESCUE_WAIT_MS < next ? d->since_ms + RESCUE_WAIT_MS : next;
	for (const struct rescue *r = e->rescues; r != NULL; r = r->next)
		if (r->look_ms > now && r->look_ms < next)
			next = r->look_ms;
	return next;
}
