#include "jobs/rescue_private.h"

#include <stdio.h>
#include <string.h>

/* A requeued job is held back by slurmctld, for two minutes if slurm.conf says no less: what is
 * left of its last run could meet the next one where a node comes back under its old name.  Once
 * the provider has confirmed that the machines of all nodes that it lost are gone, nothing is left,
 * and it may start at once. */

enum {
	RESCUE_DOUBT_MS = 10000, /* for slurmctld's settings */
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

void rescue_requeued(struct engine *e, struct rescue *r, const struct slurm_job_detail *d)
{
	const char *what = d->held ? "it was requeued, and is held" : "it was requeued";

	if (r->doubt_ms == 0) {
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

bool rescue_are_gone(const struct engine *e, const struct rescue *r)
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
