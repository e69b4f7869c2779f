#include "jobs/rescue_private.h"
#include "store/journal_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Lets a requeued job start once its machines are gone.  slurmctld holds a requeued job back, for
 * two minutes if slurm.conf says no less, since what is left of its last run could meet the next
 * one where a node comes back under its old name.  Once the provider has confirmed that the
 * machines of all nodes that the job lost are gone, nothing is left, and it may start at once. */

enum {
	RESCUE_DOUBT_MS = 10000, /* how long to wait for slurmctld's settings */
	RESCUE_ROUND_MS = 2500,  /* slurmctld counts in seconds, and its own may be one more */
};

static void comment(struct engine *e, const struct rescue *r, const struct slurm_job_detail *d,
		    const char *what)
{
	char text[SLURM_COMMENT_MAX + 1];

	(void)snprintf(text, sizeof(text), "burstd: lost node %.63s: %.90s; %.64s", r->j.node,
		       r->j.why, what);
	postpone_say(e, d, r->j.id, text);
}

/* Did the job lack other nodes besides, so that burstd makes it wait? */
static bool is_postponed(const struct engine *e, const struct rescue *r)
{
	struct refusal refused = postpone_look(e, r->j.job);

	return refused.count > 0 && refused.last_ms >= r->j.at_ms - RESCUE_WAIT_MS;
}

/* Does slurmctld hold the job back, rather than somebody who wants it to begin later?  slurmctld
 * counts from the requeue, which came after the job was taken and before now: a begin time that
 * fits that is its own.  Any other is somebody's wish, and so is one that differs from the first
 * that was seen.  If it is not known for how long slurmctld holds jobs, or its clock is another,
 * none fits. */
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

/* The job waits for a time that does not fit: slurmctld may have been restarted with other settings
 * a moment ago.  Then look at the job again when they are known. */
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

void rescue_requeued(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	const char *what = d->held ? "it was requeued, and is held" : "it was requeued";

	if (r->doubt_ms == 0) {
		told_forget(e, r->j.job);
		e->count.jobs_requeued++;
		rescue_announce(e, r, "job-requeued", what);
		if (d->pending && !is_postponed(e, r))
			comment(e, r, d, what);
	}
	r->fits = fits(e, r, d);
	if (!r->fits && !in_doubt(e, r, d)) {
		rescue_finish(e, r);
		return;
	}
	if (r->j.hold_ms == 0) { /* in doubt, too: a later change is a wish, crash or not */
		r->j.hold_ms = d->begin_ms;
		journal_put_rescue(engine_tx(e), &r->j);
	}
	if (r->fits) {
		r->doubt_ms = 0;
		r->look_ms = engine_now(e) + RESCUE_GONE_MS;
	}
}

/* Has the provider confirmed that the node's machines that the job lost are gone? */
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

/* slurmctld powers the node down, or is told to, and burstd has not released it yet. */
static bool is_ordered_down(const struct fleet_node *fn)
{
	const struct fleet_name *nm = fn->name;

	return nm->forced_ms >= fn->n.wanted_ms || (nm->flags & SLURM_POWER_DOWN) != 0 ||
	       (!node_coming(&fn->n) && slurm_is_off(nm->flags));
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Note the jobs that were given machines which are on their way out.  In one pass over all rows,
 * since many jobs may lose their machines together. */
static void find_leaving(const struct engine *e)
{
	struct rescue_leaving *l = &e->jobs->leaving;

	l->known = true;
	l->n = 0;
	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn != NULL && s != NODE_GONE;
		     fn = fn->state_next) {
			bool stays =
				node_lives(&fn->n) && s != NODE_DRAINING && !is_ordered_down(fn);

			if (fn->n.job == 0 || stays)
				continue;
			if (l->n == l->cap) {
				l->cap = l->cap == 0 ? 64 : 2 * l->cap;
				l->jobs = mem_realloc(l->jobs, l->cap * sizeof(*l->jobs));
			}
			l->jobs[l->n++] = fn->n.job;
		}
	if (l->n > 0)
		qsort(l->jobs, l->n, sizeof(*l->jobs), by_number);
}

void rescue_forget_leaving(struct engine *e)
{
	e->jobs->leaving.known = false;
}

/* Has the job since been given another machine, which is on its way out, too? */
static bool leaves_others(const struct engine *e, const struct rescue *r)
{
	const struct rescue_leaving *l = &e->jobs->leaving;

	if (!l->known)
		find_leaving(e);
	return l->n > 0 && bsearch(&r->j.job, l->jobs, l->n, sizeof(*l->jobs), by_number) != NULL;
}

bool rescue_are_gone(const struct engine *e, const struct rescue *r)
{
	struct hostlist *h;
	bool gone = true;

	if (hostlist_parse(&h, r->j.nodes, strlen(r->j.nodes), NULL) != 0)
		return false;
	for (size_t i = 0; i < h->n && gone; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		gone = nm == NULL || is_gone(r, nm);
	}
	hostlist_free(h);
	return gone && !leaves_others(e, r);
}

/* Let the job start, since the machines that it lost are gone.  A begin time that somebody has set
 * since stays.  One from before a restart may have been in doubt, so it is checked again.  A
 * component of a heterogeneous job starts with the others, which slurmctld holds back as well. */
void rescue_lift(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	if (d->pending && !d->held && d->begin_ms == r->j.hold_ms && d->het == 0 &&
	    !is_postponed(e, r) && (r->fits || fits(e, r, d))) {
		if (!slurm_start_now(e->slurm, r->j.id, engine_from_wall(e, d->begin_ms)))
			return; /* it is looked at again */
		e->count.jobs_lifted++;
		rescue_announce(e, r, "job-lifted",
				"it may start at once: the machines that it lost are gone");
	}
	rescue_finish(e, r);
}
