#include "engine/times.h"
#include "jobs/rescue_private.h"
#include "store/journal_jobs.h"

#include <stdio.h>
#include <string.h>

/* Follows the jobs of a node that must go down: reclaimed, vanished, dead, or by an admin's order.
 *
 * Its jobs are written down before slurmctld is told (rescue_node.c): from then on each is followed
 * until slurmctld shows what became of it, through any crash of ours (I16).  slurmctld itself
 * requeues them when the node is forced down, never before (I17); the job's AdminComment tells the
 * researcher.  Jobs that it cannot requeue (srun, salloc, --no-requeue) end, and it takes no
 * comment on what has ended: an event says so.
 *
 * A requeued job may start sooner than slurmctld would have it: rescue_hold.c. */

enum {
	RESCUE_STUCK_MS = 300000, /* a job that still runs after so long is reported, once */
};

/* Report the job's fate, and follow it no more. */
static void conclude(struct engine *e, struct rescue *r, const char *type, const char *what)
{
	rescue_announce(e, r, type, what);
	rescue_finish(e, r);
}

void rescue_signalled(struct engine *e, struct rescue *r, const char *how)
{
	char what[96];

	r->j.signal = JOURNAL_SIGNAL_SENT;
	r->telling = false;
	journal_put_rescue(engine_tx(e), &r->j);
	e->count.jobs_signalled++;
	(void)snprintf(what, sizeof(what), "it was told to save its work (%.60s)", how);
	rescue_announce(e, r, "job-signalled", what);
}

void rescue_ended_text(char out[RESCUE_ENDED_SIZE], const struct slurm_job_detail *d)
{
	bool done = slurm_text_is(d->state, "COMPLETED");

	(void)snprintf(out, RESCUE_ENDED_SIZE, "it ended as %.*s%s", (int)d->state.n, d->state.p,
		       done ? "" : " and was not requeued");
}

static void conclude_ended(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	char what[RESCUE_ENDED_SIZE];

	rescue_ended_text(what, d);
	e->count.jobs_ended++;
	conclude(e, r, "job-ended", what);
}

/* Requeue a job that was told to save its work and then failed: it is to go on elsewhere.  So is a
 * job that the signal killed, because it does not handle it. */
static void on_end(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	if (r->back == RESCUE_ASKED)
		return; /* slurmctld is still to be told */
	if (r->j.signal != JOURNAL_SIGNAL_SENT || r->back == RESCUE_TOLD || !slurm_job_failed(d)) {
		conclude_ended(e, r, d);
		return;
	}
	r->j.at_ms = engine_now(e);
	journal_put_rescue(engine_tx(e), &r->j);
	r->back = slurm_requeue(e->slurm, r->j.id, "") ? RESCUE_ASKED : RESCUE_AWAY;
}

/* A requeue that slurmctld did not hear is repeated at the next look at the job. */
void rescue_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool lost = err != NULL && slurm_unheard(err);

	if (strcmp(o->verb, "requeue") != 0)
		return;
	for (struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next)
		if (r->back == RESCUE_ASKED && slurm_job_requeued_by(o->names, r->j.id)) {
			r->back = lost ? RESCUE_AWAY : RESCUE_TOLD;
			r->asked = false; /* an answer that is on its way is older */
		}
}

/* The job was not at work when its node was fenced, and now is: it can be told, if it still has
 * that node, which squeue knows.  Its row stays until squeue has answered, so that a crash in
 * between asks again. */
static bool begins_work(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);
	const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;

	if (!r->waits || r->j.signal != JOURNAL_SIGNAL_DUE || !d->running)
		return false;
	if (fn == NULL || fn->n.gen != r->j.gen || fn->n.state != NODE_DRAINING) {
		r->waits = false;
		return false;
	}
	rescue_signal(e, nm);
	r->returns = true;
	if (nm->lookup == NULL)
		rescue_finish(e, r); /* slurmctld has the node off: no job is on it */
	return true;
}

/* The job still runs after its node went down.  One with --no-kill goes on without the node; one
 * that was only told to save its work has its time. */
static void still_runs(struct engine *e, struct rescue *r)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);

	if (engine_now(e) - r->j.at_ms < RESCUE_STUCK_MS || nm == NULL || nm->lookup != NULL ||
	    e->poll.snapshot_ms < r->j.at_ms + RESCUE_STUCK_MS)
		return;
	if (!slurm_is_on(nm->flags) || (nm->newest != NULL && nm->newest->n.gen != r->j.gen)) {
		conclude(e, r, "job-goes-on", "it runs on without that node");
	} else if (!r->stuck && r->j.signal == JOURNAL_SIGNAL_NONE) {
		r->stuck = true;
		engine_event(e, r->j.node, r->j.gen, "job-stuck",
			     "slurmctld still has a job on it");
	}
}

/* slurmctld has requeued the job, or is said to have: it waits, or has begun anew. */
static bool is_back(const struct engine *e, const struct rescue *r,
		    const struct slurm_job_detail *d)
{
	return r->doubt_ms != 0 ||
	       (d->requeues != 0 && (d->pending || times_since(e, d->begin_ms, r->j.at_ms)));
}

static void on_fate(void *ctx, const struct slurm_job_detail *d)
{
	struct engine *e = ctx;
	struct rescue *r = rescue_find(e, d->number);

	if (r == NULL || !r->asked)
		return;
	r->asked = false; /* seen */
	if (begins_work(e, r, d))
		return;
	if (r->j.hold_ms != 0 && r->doubt_ms == 0) {
		if (rescue_are_gone(e, r)) /* still, as when squeue was asked */
			rescue_lift(e, r, d);
	} else if (is_back(e, r, d)) {
		rescue_requeued(e, r, d);
	} else if (d->pending) { /* never requeued: it has begun nowhere, or is another (F50) */
		conclude(e, r, "job-forgotten", "slurmctld has forgotten that it ran");
	} else if (d->ended) {
		on_end(e, r, d);
	} else if (d->placed) {
		still_runs(e, r);
	}
}

void rescue_fates(struct engine *e, const char *text, size_t len, const struct err *err)
{
	int64_t now = engine_now(e);

	rescue_forget_leaving(e);
	if (err == NULL)
		slurm_job_parse_detail(text, len, on_fate, e);
	for (struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next) {
		if (r->look_ms != 0)
			continue;
		if (r->asked && err == NULL && r->j.at_ms != 0) {
			e->count.jobs_ended++;
			conclude(e, r, "job-ended", "slurmctld has forgotten it");
		}
		r->asked = false;
		if (r->j.signal == JOURNAL_SIGNAL_NONE) /* else it may end any moment */
			r->step_ms = 2 * r->step_ms < RESCUE_LOOK_MAX_MS ? 2 * r->step_ms
									 : RESCUE_LOOK_MAX_MS;
		r->look_ms = now + r->step_ms;
	}
	rescue_forget(e);
}

/* Is squeue to be asked about the job?  About one that slurmctld holds back only to let it go. */
static bool is_due(struct engine *e, struct rescue *r)
{
	int64_t now = engine_now(e);

	if (r->j.at_ms == 0 || r->look_ms == 0 || r->look_ms > now)
		return false;
	if (r->j.hold_ms == 0 || r->doubt_ms != 0)
		return true;
	if (rescue_are_gone(e, r))
		return true;
	if (engine_wall(e, now) >= r->j.hold_ms)
		rescue_finish(e, r); /* it starts by itself now */
	else
		r->look_ms = now + RESCUE_GONE_MS;
	return false;
}

static bool is_any_looked_up(const struct engine *e)
{
	for (const struct job_lookup *d = e->jobs->lookups; d != NULL; d = d->next)
		if (!d->late)
			return true;
	return false;
}

/* Ask about the jobs that are due, but not before slurmctld has all orders about nodes. */
static void ask(struct engine *e)
{
	struct rescue *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	size_t n = 0;

	if (is_any_looked_up(e) || slurm_settled_ms(e->slurm) == INT64_MAX)
		return;
	rescue_forget_leaving(e);
	for (struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL && n < SLURM_ASK_MAX;
	     r = r->in.next)
		if (is_due(e, r))
			asked[n++] = r;
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->j.id;
	if (n == 0 || !slurm_ask_jobs(e->slurm, SLURM_FATES, ids, n))
		return;
	for (size_t i = 0; i < n; i++) {
		asked[i]->asked = true;
		asked[i]->look_ms = 0; /* until the answer comes */
	}
}

static void rescue_run(struct engine *e)
{
	rescue_force_late(e);
	ask(e);
	rescue_forget(e);
}

static int64_t rescue_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX, now = engine_now(e);

	for (const struct job_lookup *d = e->jobs->lookups; d != NULL; d = d->next) {
		if (!d->late && d->since_ms + RESCUE_WAIT_MS < next)
			next = d->since_ms + RESCUE_WAIT_MS;
		if (rescue_may_ask(d) && d->ask_ms < next)
			next = d->ask_ms;
	}
	for (const struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next)
		if (r->look_ms > now && r->look_ms < next)
			next = r->look_ms;
	return next;
}

const struct engine_part rescue_part = {
	.name = "jobs that lose a node",
	.at = {[PART_RUN] = rescue_run, [PART_FREE] = rescue_free},
	.next_ms = rescue_next_ms,
	.reads = JOBS_FOR_RESCUE,
	.squeue_says = rescue_jobs,
};
