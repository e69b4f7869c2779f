#include "jobs/rescue_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/journal_jobs.h"

/* Powers down the nodes that must go: reclaimed, vanished, dead, or by an admin's order.
 *
 * Before slurmctld is told, squeue shows which jobs are on the node, and that is written down.  It
 * is asked once the node is fenced, if it is to be: before, another job could start there.  If
 * squeue does not answer in time the node goes down all the same, and the jobs that squeue shows on
 * it later are followed from then on. */

enum {
	RESCUE_AGAIN_MS = 250, /* after squeue failed, or was too early */
};

/* The address of the node's instance; NULL: it is gone.  Then slurmctld has the node's name as its
 * address again, and when another node of the same job goes first it resolves that name for as long
 * as ten seconds, in which it does nothing else: for such nodes the order sets an address
 * before. */
static const char *addr_of(const struct fleet_name *nm)
{
	const struct fleet_node *fn = nm->newest;

	return fn != NULL && fn->n.state != NODE_GONE ? fn->n.addr : NULL;
}

/* Keep an admin's Reason, unless an admin orders this, or the node is dead: slurmctld wants a
 * reason for DOWN. */
static void force(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	bool stays = nm->by_admin && !dead && strcmp(why, ENGINE_WHY_TERMINATED) != 0;

	if (!slurm_power_down(e->slurm, nm->name, addr_of(nm), dead, stays ? "" : why) &&
	    nm->insist.ends && nm->insist.took_ms == 0)
		nm->insist.lost_ms = engine_now(e); /* insist.c gives it again */
}

bool rescue_may_ask(const struct job_lookup *d)
{
	return d->run == 0 && (!d->nm->fencing || d->late);
}

/* squeue's answer counts if squeue begins after the fence. */
static void ask_squeue(struct engine *e, struct job_lookup *d)
{
	if (!rescue_may_ask(d) || engine_now(e) < d->ask_ms)
		return;
	jobs_want(e, JOBS_FOR_RESCUE);
	d->run = e->jobs->runs + 1;
	d->anew = d->late && d->nm->obeyed_ms >= d->since_ms;
}

static void ask_again(const struct engine *e, struct job_lookup *d)
{
	d->run = 0;
	d->ask_ms = engine_now(e) + RESCUE_AGAIN_MS;
}

static struct job_lookup *look_up(struct engine *e, struct fleet_name *nm)
{
	struct job_lookup *d = nm->lookup;

	if (d != NULL)
		return d;
	d = mem_zalloc(sizeof(*d));
	d->nm = nm;
	d->since_ms = engine_now(e);
	d->next = e->jobs->lookups;
	e->jobs->lookups = d;
	nm->lookup = d;
	ask_squeue(e, d);
	return d;
}

/* Tell users of srun and salloc before their job ends. */
static void tell_loss(struct engine *e, uint64_t job, const char *node, const char *why)
{
	char text[SLURM_COMMENT_MAX + 1];

	(void)snprintf(text, sizeof(text), "burstd: the job loses node %.63s: %.120s", node,
		       engine_bare(why));
	srun_tell(e, job, text);
}

/* No job is on the node, but one may wait for it to boot, and ends with it.  About a refused node
 * it has been told (refuse.c). */
static void tell_waiting(struct engine *e, const struct fleet_name *nm, const char *why)
{
	const struct fleet_node *fn = fleet_live(nm);
	uint64_t job = fn != NULL ? fn->n.job : nm->waits_for;

	if (job != 0 && !nm->barred && (nm->flags & SLURM_POWERING_UP) != 0)
		tell_loss(e, job, nm->name, why);
}

void rescue_node(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	struct job_lookup *d;

	if (!fleet_may_work(nm)) {
		tell_waiting(e, nm, why);
		force(e, nm, dead, why);
		return;
	}
	d = look_up(e, nm);
	if (!d->force || d->late)
		d->since_ms = engine_now(e);
	d->force = true;
	d->late = false;
	d->dead = d->dead || dead;
	(void)snprintf(d->why, sizeof(d->why), "%s", why);
}

void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	/* The machine may go while a job that ignores SIGTERM is still completing there, and old
	 * releases requeue such a job without its GPUs and its record (slurm.md 2.2). */
	if (nm->newest != NULL && nm->newest->n.state == NODE_DRAINING)
		dead = dead || prereq_may_have(e, SLURM_BUG_REQUEUE_LOST);
	nm->forced_ms = engine_now(e);
	fleet_tell(nm, engine_bare(why), engine_now(e));
	rescue_node(e, nm, dead, why);
}

void rescue_signal(struct engine *e, struct fleet_name *nm)
{
	struct job_lookup *d;

	if (!slurm_is_on(nm->flags) || nm->lookup != NULL || fleet_live(nm) == NULL)
		return;
	d = look_up(e, nm);
	notice_text(d->why, &fleet_live(nm)->n);
}

/* Has squeue shown which jobs are on the node? */
static bool is_known(const struct engine *e, const struct job_lookup *d)
{
	return d->run != 0 && d->run <= e->jobs->runs;
}

static void take_out(struct engine *e, struct job_lookup **link)
{
	struct job_lookup *d = *link;

	*link = d->next;
	d->nm->lookup = NULL;
	if (d->force && !d->late)
		force(e, d->nm, d->dead, d->why);
	free(d); /* if its jobs were not told, the next snapshot leads here again */
}

/* Power down the nodes whose jobs are written down. */
static void force_known(struct engine *e)
{
	struct job_lookup **link = &e->jobs->lookups;

	while (*link != NULL) {
		struct job_lookup *d = *link;

		if (is_known(e, d) && !(d->late && d->nm->fencing)) {
			take_out(e, link);
			continue;
		}
		if (is_known(e, d))
			ask_again(e, d); /* slurmctld may not have heard of the fence by then */
		link = &d->next;
	}
}

static void go_down_unknown(struct engine *e, struct job_lookup *d)
{
	engine_event(e, d->nm->name, d->nm->newest != NULL ? d->nm->newest->n.gen : 0,
		     "jobs-unknown",
		     "squeue did not show in time which jobs run on it; asked again");
	force(e, d->nm, d->dead, d->why);
	d->late = true;
}

/* The node's jobs were to be told already, so no snapshot leads here again (core/drift.c). */
static bool is_last_word(const struct job_lookup *d)
{
	const struct fleet_node *fn = fleet_live(d->nm);

	return fn != NULL && fn->n.state == NODE_DRAINING && fn->n.signal_ms != 0;
}

void rescue_force_late(struct engine *e)
{
	struct job_lookup **link = &e->jobs->lookups;
	int64_t now = engine_now(e);

	while (*link != NULL) {
		struct job_lookup *d = *link;

		if (!d->late && now >= d->since_ms + RESCUE_WAIT_MS) {
			if (!d->force && !is_last_word(d)) {
				take_out(e, link);
				continue;
			}
			if (d->force)
				go_down_unknown(e, d);
			else
				d->since_ms = now;
		}
		ask_squeue(e, d);
		link = &d->next;
	}
}

/* Has an earlier answer, after the node was ordered down, shown the job on it? */
static bool is_taken(const struct rescue *r, const struct job_lookup *d)
{
	return r != NULL && d->late && r->j.at_ms == d->since_ms &&
	       strcmp(r->j.node, d->nm->name) == 0;
}

static void take(struct engine *e, const struct slurm_job *j, const struct job_lookup *d)
{
	const struct node *n = d->nm->newest != NULL ? &d->nm->newest->n : NULL;
	struct rescue *r = rescue_get(e, j->number);
	char detail[320], job[SLURM_JOB_NAME_SIZE];

	/* A job that was told, and has not ended since, is not told again. */
	if (r->j.at_ms == 0 || r->j.hold_ms != 0) {
		r->j.signal = JOURNAL_SIGNAL_NONE;
		r->commanded = r->counted = r->telling = false;
	}
	if (!d->force && r->j.signal == JOURNAL_SIGNAL_NONE)
		r->j.signal = JOURNAL_SIGNAL_DUE;
	r->j.hold_ms = 0;
	r->back = RESCUE_AWAY;
	r->waits = !slurm_job_running(j);
	r->doubt_ms = 0;
	e->count.jobs_taken += !r->counted && (d->force || !r->waits);
	r->counted = r->counted || d->force || !r->waits;
	(void)snprintf(r->j.nodes, sizeof(r->j.nodes), "%.*s",
		       j->nodes.n < sizeof(r->j.nodes) ? (int)j->nodes.n : 0, j->nodes.p);
	r->j.gen = n != NULL ? n->gen : 0;
	/* What the job did after a late node was ordered down is its next run, if slurmctld took
	 * the order. */
	r->j.at_ms = d->late && !d->nm->unheard ? d->since_ms : engine_now(e);
	(void)snprintf(r->j.id, sizeof(r->j.id), "%s", j->id);
	(void)snprintf(r->j.node, sizeof(r->j.node), "%s", d->nm->name);
	(void)snprintf(r->j.why, sizeof(r->j.why), "%s", engine_bare(d->why));
	r->asked = r->stuck = false; /* an answer that is on its way is older */
	r->returns = false;
	rescue_watch(e, r);
	journal_put_rescue(engine_tx(e), &r->j);
	if (!d->force)
		return; /* the event comes when the job is told */
	(void)snprintf(detail, sizeof(detail), "job %s loses this node: %s",
		       slurm_job_name(job, r->j.id, r->j.job), r->j.why);
	engine_event(e, r->j.node, r->j.gen, "job-taken", detail);
	tell_loss(e, r->j.job, r->j.node, r->j.why);
}

/* Does this answer show that the job is on the node?  For a node that goes down already any answer
 * may, and a job that is still leaving counts, too; a job that works there once slurmctld has
 * powered the node down is on its next machine (P3).  A job that lacks its nodes loses none:
 * postpone.c tells it. */
static bool shows(const struct engine *e, const struct job_lookup *d, const struct slurm_job *j)
{
	if (d->nm->barred && slurm_job_configuring(j))
		return false;
	if (d->late)
		return !d->anew || !is_known(e, d) || slurm_job_leaving(j);
	return is_known(e, d) && slurm_job_placed(j);
}

/* Take the job for the first of its nodes that goes down, else for one whose jobs are only to be
 * told. */
static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	const struct job_lookup *d = NULL;
	struct hostlist *h;
	struct err err;

	if (j->id[0] == '\0' || !(slurm_job_placed(j) || slurm_job_leaving(j)) ||
	    hostlist_parse(&h, j->nodes.p, j->nodes.n, &err) != 0)
		return;
	for (size_t i = 0; i < h->n && (d == NULL || !d->force); i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm != NULL && nm->lookup != NULL && shows(e, nm->lookup, j) &&
		    (d == NULL || nm->lookup->force))
			d = nm->lookup;
	}
	if (d != NULL && !is_taken(rescue_find(e, j->number), d))
		take(e, j, d);
	hostlist_free(h);
}

/* Mark the nodes whose jobs are about to be told, in the commit that writes these jobs down. */
static void mark_signalled(struct engine *e)
{
	struct node_event ev = {.type = NODE_EV_SIGNALLED, .now_ms = engine_now(e)};

	for (const struct job_lookup *d = e->jobs->lookups; d != NULL; d = d->next) {
		struct fleet_node *fn = fleet_live(d->nm);

		if (!d->force && is_known(e, d) && fn != NULL && fn->n.state == NODE_DRAINING)
			engine_post(e, fn, &ev);
	}
}

/* Stop following jobs that came to work (begins_work()), but are not on their node in squeue. */
static void finish_moved(struct engine *e)
{
	for (struct rescue *r = e->jobs->parts[JOB_RESCUED]; r != NULL; r = r->in.next) {
		const struct fleet_name *nm = r->returns ? fleet_find(&e->fleet, r->j.node) : NULL;

		if (nm != NULL && nm->lookup != NULL && is_known(e, nm->lookup))
			rescue_finish(e, r);
	}
	rescue_forget(e);
}

void rescue_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (e->jobs->lookups == NULL)
		return;
	if (err != NULL) {
		for (struct job_lookup *d = e->jobs->lookups; d != NULL; d = d->next)
			if (is_known(e, d))
				ask_again(e, d);
		return;
	}
	slurm_job_parse(text, len, on_job, e);
	finish_moved(e);
	mark_signalled(e);
	engine_commit(e); /* written down before it is done (I16) */
	if (!e->dead)
		force_known(e);
}
