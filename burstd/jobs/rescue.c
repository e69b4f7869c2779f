#include "engine/times.h"
#include "jobs/jobs.h"

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
 * (I16).  It is asked once the node is fenced, where it is to be: before, another job could start
 * there.  If it does not answer in time the node goes down all the same, and whoever squeue shows
 * on it then is followed from then on.  slurmctld itself requeues them when the node is forced
 * down, never before (I17); the researcher is told in the job's AdminComment.  Those that it cannot
 * requeue (srun, salloc,
 * --no-requeue) end, and it takes no comment on what has ended: an event says so.
 *
 * A requeued job is held back by slurmctld, for two minutes if slurm.conf says no less: what is
 * left of its last run could meet the next one where a node comes back under its old name.  Once
 * the provider has confirmed that the machines of all nodes that it lost are gone, nothing is left,
 * and it may start at once. */

enum {
	RESCUE_WAIT_MS = 2000, /* for squeue: then the node goes down all the same */
	RESCUE_AGAIN_MS = 250, /* squeue failed, or was too early */
	RESCUE_LOOK_MS = 1000, /* to the first look at what became of a job, then twice that ... */
	RESCUE_LOOK_MAX_MS = 30000, /* ... up to this */
	RESCUE_STUCK_MS = 300000,   /* a job that still runs after so long is told of, once */
	RESCUE_GONE_MS = 500,       /* between two looks whether its machines are gone */
	RESCUE_DOUBT_MS = 10000,    /* for slurmctld's settings */
	RESCUE_ROUND_MS = 2500,     /* slurmctld counts in seconds, and its own may be one more */
};

struct doomed { /* a node that slurmctld is about to be told of */
	struct doomed *next;
	struct fleet_name *nm;
	int64_t since_ms;
	uint64_t run;   /* the run of squeue that says who is on it; 0: it is to be asked ... */
	int64_t ask_ms; /* ... not before this time, and once the node is fenced */
	bool force;     /* it goes down; else its jobs are only to be told */
	bool dead;
	bool late; /* it was told to go down, and squeue is still to say who was on it ... */
	bool anew; /* ... and is asked since slurmctld did so: whoever has it then came later */
	char why[200];
};

static struct rescue *find(const struct engine *e, uint64_t job)
{
	char key[FMT_U64_SIZE];

	return map_get(&e->jobs->rescues_map, fmt_u64(key, job));
}

static struct rescue *get(struct engine *e, uint64_t job)
{
	struct rescue *r = find(e, job);

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
		r->j.at_ms = engine_now(e);           /* the clock has gone back (F57) */
	r->waits = r->j.signal == JOURNAL_SIGNAL_DUE; /* nobody knows what it does by now */
	r->commanded = r->j.hold_ms != 0;             /* a command that ran may have died with us */
	r->counted = true;
	watch(e, r);
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

/* --- nodes that go down ------------------------------------------------------------------------
 */

/* Where its instance is.  Of one that is gone slurmctld has the name again, and looks it up for as
 * long as ten seconds, in which it does nothing else, when another node of the same job goes first:
 * of such nodes the order sets the addresses before. */
static const char *addr_of(const struct fleet_name *nm)
{
	const struct fleet_node *fn = nm->newest;

	return fn != NULL && fn->n.state != NODE_GONE ? fn->n.addr : NULL;
}

/* An admin's reason stays, but by an admin's order; and slurmctld insists on ours for a dead one.
 */
static void force(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	bool stays = nm->theirs && !dead && strcmp(why, ENGINE_WHY_TERMINATED) != 0;

	if (!slurm_power_down(e->slurm, nm->name, addr_of(nm), dead, stays ? "" : why) &&
	    nm->insist.ends && nm->insist.took_ms == 0)
		nm->insist.lost_ms = engine_now(e); /* insist.c gives it again */
}

static bool may_ask(const struct doomed *d)
{
	return d->run == 0 && (!d->nm->fencing || d->late);
}

/* What it says counts if it begins after the fence. */
static void ask_squeue(struct engine *e, struct doomed *d)
{
	if (!may_ask(d) || engine_now(e) < d->ask_ms)
		return;
	jobs_want(e, JOBS_FOR_RESCUE);
	d->run = e->jobs->runs + 1;
	d->anew = d->late && d->nm->obeyed_ms >= d->since_ms;
}

static void ask_again(const struct engine *e, struct doomed *d)
{
	d->run = 0;
	d->ask_ms = engine_now(e) + RESCUE_AGAIN_MS;
}

static struct doomed *doom(struct engine *e, struct fleet_name *nm)
{
	struct doomed *d = nm->doomed;

	if (d != NULL)
		return d;
	d = mem_zalloc(sizeof(*d));
	d->nm = nm;
	d->since_ms = engine_now(e);
	d->next = e->jobs->doomed;
	e->jobs->doomed = d;
	nm->doomed = d;
	ask_squeue(e, d);
	return d;
}

/* Whoever waits at a terminal hears it before the job ends. */
static void tell_loss(struct engine *e, uint64_t job, const char *node, const char *why)
{
	char text[SLURM_COMMENT_MAX + 1];

	(void)snprintf(text, sizeof(text), "burstd: the job loses node %.63s: %.120s", node,
		       engine_bare(why));
	srun_tell(e, job, text);
}

/* No job is on it, but one may wait for it to boot, and ends with it.  Of a refused node it has
 * been told (refuse.c). */
static void tell_waiting(struct engine *e, const struct fleet_name *nm, const char *why)
{
	const struct fleet_node *fn = fleet_live(nm);
	uint64_t job = fn != NULL ? fn->n.job : nm->waits_for;

	if (job != 0 && !nm->barred && (nm->flags & SLURM_POWERING_UP) != 0)
		tell_loss(e, job, nm->name, why);
}

void rescue_node(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	struct doomed *d;

	if (!fleet_may_work(nm)) {
		tell_waiting(e, nm, why);
		force(e, nm, dead, why);
		return;
	}
	d = doom(e, nm);
	if (!d->force || d->late)
		d->since_ms = engine_now(e);
	d->force = true;
	d->late = false;
	d->dead = d->dead || dead;
	(void)snprintf(d->why, sizeof(d->why), "%s", why);
}

void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	/* Its machine may go while a job that ignores SIGTERM is still completing there, and old
	 * releases requeue such a job without its GPUs and its record (slurm.md 2.2). */
	if (nm->newest != NULL && nm->newest->n.state == NODE_DRAINING)
		dead = dead || prereq_may_have(e, SLURM_BUG_REQUEUE_LOST);
	nm->forced_ms = engine_now(e);
	fleet_tell(nm, engine_bare(why), engine_now(e));
	rescue_node(e, nm, dead, why);
}

void rescue_signal(struct engine *e, struct fleet_name *nm)
{
	struct doomed *d;

	if (!slurm_is_on(nm->flags) || nm->doomed != NULL || fleet_live(nm) == NULL)
		return;
	d = doom(e, nm);
	notice_text(d->why, &fleet_live(nm)->n);
}

/* Has squeue said who is on it? */
static bool is_known(const struct engine *e, const struct doomed *d)
{
	return d->run != 0 && d->run <= e->jobs->runs;
}

static void take_out(struct engine *e, struct doomed **link)
{
	struct doomed *d = *link;

	*link = d->next;
	d->nm->doomed = NULL;
	if (d->force && !d->late)
		force(e, d->nm, d->dead, d->why);
	free(d); /* whose jobs were not told: the next snapshot says so again */
}

/* Those whose jobs are written down. */
static void force_known(struct engine *e)
{
	struct doomed **link = &e->jobs->doomed;

	while (*link != NULL) {
		struct doomed *d = *link;

		if (is_known(e, d) && !(d->late && d->nm->fencing)) {
			take_out(e, link);
			continue;
		}
		if (is_known(e, d))
			ask_again(e, d); /* slurmctld may not have heard of the fence by then */
		link = &d->next;
	}
}

static void go_down_unknown(struct engine *e, struct doomed *d)
{
	engine_event(e, d->nm->name, d->nm->newest != NULL ? d->nm->newest->n.gen : 0,
		     "jobs-unknown",
		     "squeue has not said in time which jobs are on it; it is asked again");
	force(e, d->nm, d->dead, d->why);
	d->late = true;
}

/* Its node was told of already: no snapshot says so again (core/drift.c). */
static bool is_last_word(const struct doomed *d)
{
	const struct fleet_node *fn = fleet_live(d->nm);

	return fn != NULL && fn->n.state == NODE_DRAINING && fn->n.signal_ms != 0;
}

/* Those that have waited long enough for squeue. */
static void force_late(struct engine *e)
{
	struct doomed **link = &e->jobs->doomed;
	int64_t now = engine_now(e);

	while (*link != NULL) {
		struct doomed *d = *link;

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

/* By an answer that did not settle it. */
static bool is_taken(const struct rescue *r, const struct doomed *d)
{
	return r != NULL && d->late && r->j.at_ms == d->since_ms &&
	       strcmp(r->j.node, d->nm->name) == 0;
}

static void take(struct engine *e, const struct slurm_job *j, const struct doomed *d)
{
	const struct node *n = d->nm->newest != NULL ? &d->nm->newest->n : NULL;
	struct rescue *r = get(e, j->number);
	char detail[320], job[SLURM_JOB_NAME_SIZE];

	/* Told before, and it has not ended since: it is not told again. */
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
	/* What it did after a late node was told to go is its next run, if that was heard. */
	r->j.at_ms = d->late && !d->nm->unheard ? d->since_ms : engine_now(e);
	(void)snprintf(r->j.id, sizeof(r->j.id), "%s", j->id);
	(void)snprintf(r->j.node, sizeof(r->j.node), "%s", d->nm->name);
	(void)snprintf(r->j.why, sizeof(r->j.why), "%s", engine_bare(d->why));
	r->asked = r->stuck = false; /* an answer that is on its way is about another time */
	r->returns = false;
	watch(e, r);
	journal_put_rescue(engine_tx(e), &r->j);
	if (!d->force)
		return; /* what is done about it is told when it is done */
	(void)snprintf(detail, sizeof(detail), "job %s loses this node: %s",
		       slurm_job_name(job, r->j.id, r->j.job), r->j.why);
	engine_event(e, r->j.node, r->j.gen, "job-taken", detail);
	tell_loss(e, r->j.job, r->j.node, r->j.why);
}

/* Does this answer say who is on the node?  Of one that goes down already any answer may, and one
 * that still leaves it is on it, too; who works there once slurmctld has powered it down does so on
 * its next machine (P3).  A job that lacks its nodes loses none: postpone.c tells it. */
static bool shows(const struct engine *e, const struct doomed *d, const struct slurm_job *j)
{
	if (d->nm->barred && slurm_job_configuring(j))
		return false;
	if (d->late)
		return !d->anew || !is_known(e, d) || slurm_job_leaving(j);
	return is_known(e, d) && slurm_job_placed(j);
}

/* The first of its nodes that goes says enough; one that is only to be told waits for no other. */
static void on_job(void *ctx, const struct slurm_job *j)
{
	struct engine *e = ctx;
	const struct doomed *d = NULL;
	struct hostlist *h;
	struct err err;

	if (j->id[0] == '\0' || !(slurm_job_placed(j) || slurm_job_leaving(j)) ||
	    hostlist_parse(&h, j->nodes.p, j->nodes.n, &err) != 0)
		return;
	for (size_t i = 0; i < h->n && (d == NULL || !d->force); i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm != NULL && nm->doomed != NULL && shows(e, nm->doomed, j) &&
		    (d == NULL || nm->doomed->force))
			d = nm->doomed;
	}
	if (d != NULL && !is_taken(find(e, j->number), d))
		take(e, j, d);
	hostlist_free(h);
}

/* All nodes whose jobs are about to be told: with the same commit as those jobs. */
static void mark_signalled(struct engine *e)
{
	struct node_event ev = {.type = NODE_EV_SIGNALLED, .now_ms = engine_now(e)};

	for (const struct doomed *d = e->jobs->doomed; d != NULL; d = d->next) {
		struct fleet_node *fn = fleet_live(d->nm);

		if (!d->force && is_known(e, d) && fn != NULL && fn->n.state == NODE_DRAINING)
			engine_post(e, fn, &ev);
	}
}

static void finish_moved(struct engine *e);

void rescue_jobs(struct engine *e, const char *text, size_t len, const struct err *err)
{
	if (e->jobs->doomed == NULL)
		return;
	if (err != NULL) {
		for (struct doomed *d = e->jobs->doomed; d != NULL; d = d->next)
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

/* --- what became of the jobs -------------------------------------------------------------------
 */

static void announce(struct engine *e, const struct rescue *r, const char *type, const char *what)
{
	char detail[400], job[SLURM_JOB_NAME_SIZE];

	(void)snprintf(detail, sizeof(detail), "job %s: %s", slurm_job_name(job, r->j.id, r->j.job),
		       what);
	engine_event(e, r->j.node, r->j.gen, type, detail);
}

static void comment(struct engine *e, const struct rescue *r, const struct slurm_job_detail *d,
		    const char *what)
{
	char text[SLURM_COMMENT_MAX + 1];

	(void)snprintf(text, sizeof(text), "burstd: lost node %.63s: %.90s; %.64s", r->j.node,
		       r->j.why, what);
	postpone_say(e, d, r->j.id, text);
}

static void finish(struct engine *e, struct rescue *r)
{
	journal_del_rescue(engine_tx(e), r->j.job);
	r->j.at_ms = 0; /* forget() sees to the rest */
}

/* Told, and over. */
static void conclude(struct engine *e, struct rescue *r, const char *type, const char *what)
{
	announce(e, r, type, what);
	finish(e, r);
}

void rescue_signalled(struct engine *e, struct rescue *r, const char *how)
{
	char what[96];

	r->j.signal = JOURNAL_SIGNAL_SENT;
	r->telling = false;
	journal_put_rescue(engine_tx(e), &r->j);
	e->count.jobs_signalled++;
	(void)snprintf(what, sizeof(what), "it was told to save its work (%.60s)", how);
	announce(e, r, "job-signalled", what);
}

static void conclude_ended(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	char what[96];
	bool done = slurm_text_is(d->state, "COMPLETED");

	(void)snprintf(what, sizeof(what), "it ended as %.*s%s", (int)d->state.n, d->state.p,
		       done ? "" : " and was not requeued");
	e->count.jobs_ended++;
	conclude(e, r, "job-ended", what);
}

/* A job that was told, saved its work and ended in any way but well is not done: it is to go on
 * elsewhere.  So is one that knows no such signal, which killed it. */
static void on_end(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	if (r->back == RESCUE_ASKED)
		return; /* slurmctld is still to be told */
	if (r->j.signal != JOURNAL_SIGNAL_SENT || r->back == RESCUE_TOLD ||
	    (!slurm_text_is(d->state, "FAILED") && !slurm_text_is(d->state, "OUT_OF_MEMORY"))) {
		conclude_ended(e, r, d);
		return;
	}
	r->j.at_ms = engine_now(e);
	journal_put_rescue(engine_tx(e), &r->j);
	r->back = slurm_requeue(e->slurm, r->j.id, "") ? RESCUE_ASKED : RESCUE_AWAY;
}

/* One that was not heard is asked for again when the job is looked at next. */
void rescue_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	bool lost = err != NULL && slurm_unheard(err);

	if (strcmp(o->verb, "requeue") != 0)
		return;
	for (struct rescue *r = e->jobs->rescues; r != NULL; r = r->next)
		if (r->back == RESCUE_ASKED && slurm_job_requeued_by(o->names, r->j.id)) {
			r->back = lost ? RESCUE_AWAY : RESCUE_TOLD;
			r->asked = false; /* an answer that is on its way is about another time */
		}
}

/* It was not at work when its node was fenced, and now is: it can be told, if it still has that
 * node, which squeue knows.  Its row stays until that has answered: a crash in between asks again.
 */
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
	if (nm->doomed == NULL)
		finish(e, r); /* slurmctld has the node off: no job is on it */
	return true;
}

/* It still runs, as it did when its node went.  A job that may lose nodes (--no-kill) does; one
 * that was only told has its time. */
static void still_runs(struct engine *e, struct rescue *r)
{
	const struct fleet_name *nm = fleet_find(&e->fleet, r->j.node);

	if (engine_now(e) - r->j.at_ms < RESCUE_STUCK_MS || nm == NULL || nm->doomed != NULL ||
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

/* Did it lack other nodes besides, so that we make it wait ourselves? */
static bool is_postponed(const struct engine *e, const struct rescue *r)
{
	struct refusal refused = postpone_look(e, r->j.job);

	return refused.count > 0 && refused.last_ms >= r->j.at_ms - RESCUE_WAIT_MS;
}

/* Is it slurmctld that holds it back, and nobody who wants it to begin later?  slurmctld counts
 * from when it requeued it, which was since it was taken and before now; a begin time that fits
 * that is its own, any other is somebody's wish, and so is one that is not the first that was seen.
 * If it is not known for how long it does that, or its clock is another, none fits. */
static bool fits(const struct engine *e, const struct rescue *r, const struct slurm_job_detail *d)
{
	int64_t hold_ms = prereq_hold_ms(e), now = engine_now(e);
	int64_t seen_ms = r->doubt_ms != 0 ? r->doubt_ms : now;
	int64_t begin_ms = engine_from_wall(e, d->begin_ms);

	return hold_ms > 0 && d->pending && !d->held && begin_ms > now &&
	       (r->j.hold_ms == 0 || r->j.hold_ms == d->begin_ms) &&
	       begin_ms >= r->j.at_ms + hold_ms - RESCUE_ROUND_MS &&
	       begin_ms <= seen_ms + hold_ms + RESCUE_ROUND_MS && r->j.nodes[0] != '\0' &&
	       !is_postponed(e, r);
}

/* It waits for what does not fit: was slurmctld restarted with other settings, a moment ago?  Then
 * the job is looked at again when they are known. */
static bool in_doubt(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	int64_t now = engine_now(e);

	if (!d->pending || d->held || engine_from_wall(e, d->begin_ms) <= now || is_postponed(e, r))
		return false;
	if (r->doubt_ms == 0) {
		r->doubt_ms = now;
		prereq_hurry(e);
	}
	return prereq_known_ms(e) < r->doubt_ms && now < r->doubt_ms + RESCUE_DOUBT_MS;
}

static void requeued(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	const char *what = d->held ? "it was requeued, and is held" : "it was requeued";

	if (r->doubt_ms == 0) {
		e->count.jobs_requeued++;
		announce(e, r, "job-requeued", what);
		if (d->pending && !is_postponed(e, r))
			comment(e, r, d, what);
	}
	r->fits = fits(e, r, d);
	if (!r->fits && !in_doubt(e, r, d)) {
		finish(e, r);
		return;
	}
	if (r->j.hold_ms == 0) { /* in doubt, too: who changes it then wants that, crash or not */
		r->j.hold_ms = d->begin_ms;
		journal_put_rescue(engine_tx(e), &r->j);
	}
	if (r->fits) {
		r->doubt_ms = 0;
		r->look_ms = engine_now(e) + RESCUE_GONE_MS;
	}
}

/* Has the provider confirmed that nothing is left of the machines of this node that the job lost?
 */
static bool is_gone(const struct rescue *r, const struct fleet_name *nm)
{
	bool off = !slurm_is_on(nm->flags) ||
		   (nm->flags & (SLURM_POWER_DOWN | SLURM_DRAIN | SLURM_DOWN)) != 0;

	for (const struct fleet_node *fn = nm->newest; fn != NULL; fn = fn->older) {
		bool works = node_lives(&fn->n) && fn->n.state != NODE_DRAINING;

		if (!node_counts(&fn->n))
			continue;
		if (strcmp(nm->name, r->j.node) == 0
			    ? fn->n.gen <= r->j.gen
			    : fn->n.wanted_ms <= r->j.at_ms && (off || !works))
			return false;
	}
	return true;
}

/* Since then it may have been on its way to another, which is on its way out. */
static bool leaves_others(const struct engine *e, const struct rescue *r)
{
	static const enum node_state states[] = {NODE_DRAINING, NODE_DELETING, NODE_QUARANTINED};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		for (const struct fleet_node *fn = e->fleet.states[states[i]]; fn != NULL;
		     fn = fn->state_next)
			if (fn->n.job == r->j.job)
				return true;
	return false;
}

static bool are_gone(const struct engine *e, const struct rescue *r)
{
	struct hostlist *h;
	bool gone = true;

	if (leaves_others(e, r) || hostlist_parse(&h, r->j.nodes, strlen(r->j.nodes), NULL) != 0)
		return false;
	for (size_t i = 0; i < h->n && gone; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		gone = nm == NULL || is_gone(r, nm);
	}
	hostlist_free(h);
	return gone;
}

/* The machines that it lost are gone.  Whoever has changed its begin time since has his will.  What
 * was written down before a restart may have been in doubt then.  A component of a heterogeneous
 * job starts with the others, which slurmctld holds back as well. */
static void lift(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	if (d->pending && !d->held && d->begin_ms == r->j.hold_ms && d->het == 0 &&
	    !is_postponed(e, r) && (r->fits || fits(e, r, d))) {
		if (!slurm_start_now(e->slurm, r->j.id, engine_from_wall(e, d->begin_ms)))
			return; /* it is looked at again */
		e->count.jobs_lifted++;
		announce(e, r, "job-lifted",
			 "it may start at once: the machines that it lost are gone");
	}
	finish(e, r);
}

static void on_fate(void *ctx, const struct slurm_job_detail *d)
{
	struct engine *e = ctx;
	struct rescue *r = find(e, d->number);

	if (r == NULL || !r->asked)
		return;
	r->asked = false; /* seen */
	if (begins_work(e, r, d))
		return;
	if (r->j.hold_ms != 0 && r->doubt_ms == 0) {
		if (are_gone(e, r)) /* as when it was asked about */
			lift(e, r, d);
	} else if (d->pending || times_since(e, d->begin_ms, r->j.at_ms) || r->doubt_ms != 0) {
		requeued(e, r, d);
	} else if (d->ended) {
		on_end(e, r, d);
	} else if (d->placed) {
		still_runs(e, r);
	}
}

static void forget(struct engine *e)
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

/* Those that squeue no longer has on the node where they came to work: it was to say just that. */
static void finish_moved(struct engine *e)
{
	for (struct rescue *r = e->jobs->rescues; r != NULL; r = r->next) {
		const struct fleet_name *nm = r->returns ? fleet_find(&e->fleet, r->j.node) : NULL;

		if (nm != NULL && nm->doomed != NULL && is_known(e, nm->doomed))
			finish(e, r);
	}
	forget(e);
}

void rescue_fates(struct engine *e, const char *text, size_t len, const struct err *err)
{
	int64_t now = engine_now(e);

	if (err == NULL)
		slurm_job_parse_detail(text, len, on_fate, e);
	for (struct rescue *r = e->jobs->rescues; r != NULL; r = r->next) {
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
	forget(e);
}

/* It is asked about one that slurmctld holds back only to let it go. */
static bool is_due(struct engine *e, struct rescue *r)
{
	int64_t now = engine_now(e);

	if (r->j.at_ms == 0 || r->look_ms == 0 || r->look_ms > now)
		return false;
	if (r->j.hold_ms == 0 || r->doubt_ms != 0)
		return true;
	if (are_gone(e, r))
		return true;
	if (engine_wall(e, now) >= r->j.hold_ms)
		finish(e, r); /* it starts by itself now */
	else
		r->look_ms = now + RESCUE_GONE_MS;
	return false;
}

static bool is_any_doomed(const struct engine *e)
{
	for (const struct doomed *d = e->jobs->doomed; d != NULL; d = d->next)
		if (!d->late)
			return true;
	return false;
}

/* Those that are due.  Not before slurmctld knows all that it was told. */
static void ask(struct engine *e)
{
	struct rescue *asked[SLURM_ASK_MAX];
	const char *ids[SLURM_ASK_MAX];
	size_t n = 0;

	for (struct rescue *r = e->jobs->rescues; r != NULL && n < SLURM_ASK_MAX; r = r->next)
		if (is_due(e, r))
			asked[n++] = r;
	for (size_t i = 0; i < n; i++)
		ids[i] = asked[i]->j.id;
	if (n == 0 || is_any_doomed(e) || slurm_settled_ms(e->slurm) == INT64_MAX ||
	    !slurm_ask_jobs(e->slurm, SLURM_FATES, ids, n))
		return;
	for (size_t i = 0; i < n; i++) {
		asked[i]->asked = true;
		asked[i]->look_ms = 0; /* until the answer comes */
	}
}

void rescue_run(struct engine *e)
{
	force_late(e);
	ask(e);
	forget(e);
}

int64_t rescue_next_ms(const struct engine *e)
{
	int64_t next = INT64_MAX, now = engine_now(e);

	for (const struct doomed *d = e->jobs->doomed; d != NULL; d = d->next) {
		if (!d->late && d->since_ms + RESCUE_WAIT_MS < next)
			next = d->since_ms + RESCUE_WAIT_MS;
		if (may_ask(d) && d->ask_ms < next)
			next = d->ask_ms;
	}
	for (const struct rescue *r = e->jobs->rescues; r != NULL; r = r->next)
		if (r->look_ms > now && r->look_ms < next)
			next = r->look_ms;
	return next;
}
