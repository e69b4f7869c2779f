#include "jobs/jobs.h"

#include <stdio.h>
#include <string.h>

/* Repeats orders about a node that no snapshot would lead to again: an admin drains or ends it, or
 * its keys are old.  slurmctld may not take such an order, because it is away, scontrol fails, or
 * too many wait.  Then it is given again as soon as a later snapshot still has the node as it was
 * (F48, F49).  An order that slurmctld heard and refused may be refused as long as its settings and
 * the node do not change: it is given again ever more seldom (I30).
 *
 * slurmctld may also forget an order that it took, if it ends before it has saved its state, or
 * another controller reads an older one (F50).  In that case it did not answer in between.  If it
 * did, somebody has taken the order back, and that stays (F51). */

enum {
	INSIST_SAVED_MS = 60000,     /* slurmctld writes its state every few seconds */
	INSIST_WAIT_MS = 10000,      /* until a refused order is given again; then twice that ... */
	INSIST_WAIT_MAX_MS = 600000, /* ... up to this */
};

/* slurmd does not answer there: slurmctld must not wait for it (slurm.md 2.2). */
static bool is_silent(const struct fleet_name *nm)
{
	return (nm->flags & SLURM_POWERING_UP) == 0 &&
	       (nm->flags & (SLURM_NOT_RESPONDING | SLURM_DOWN)) != 0;
}

static void give(struct engine *e, struct fleet_name *nm)
{
	nm->insist.lost_ms = nm->insist.took_ms = 0;
	nm->insist.refused = false;
	if (nm->insist.ends)
		rescue_power_down(e, nm, is_silent(nm), ENGINE_WHY_TERMINATED);
	else if (!slurm_drain(e->slurm, nm->name, nm->insist.why))
		nm->insist.lost_ms = engine_now(e);
}

static uint64_t newest(const struct fleet_name *nm)
{
	return nm->newest != NULL ? nm->newest->n.gen : 0;
}

static void insist(struct engine *e, struct fleet_name *nm, bool ends, const char *why)
{
	nm->insist = (struct fleet_insist){
		.why = why, .ends = ends, .gen = newest(nm), .wait_ms = INSIST_WAIT_MS};
	give(e, nm);
}

/* While an admin's order to end the machine is pending, a drain of burstd's own is sent besides it.
 * An admin's drain replaces that order: it is his last word, and jobs may end well by it. */
void insist_drain(struct engine *e, struct fleet_name *nm, const char *why)
{
	const struct fleet_insist *in = &nm->insist;

	if (in->why != NULL && in->ends && in->gen == newest(nm) &&
	    strcmp(why, ENGINE_WHY_DRAINED) != 0)
		(void)slurm_drain(e->slurm, nm->name, why);
	else
		insist(e, nm, false, why);
}

void insist_end(struct engine *e, struct fleet_name *nm)
{
	insist(e, nm, true, ENGINE_WHY_TERMINATED);
}

static bool is_of(const struct fleet_insist *in, const char *verb)
{
	if (!in->ends)
		return strcmp(verb, "drain") == 0;
	return strcmp(verb, "power-down") == 0 || strcmp(verb, "down") == 0;
}

/* The admin was told that it would be done: tell him once that it is not. */
static void tell_refused(struct engine *e, const struct fleet_name *nm, const char *why)
{
	char text[300];

	(void)snprintf(text, sizeof(text), "slurmctld refuses to %s, and is asked again: %.200s",
		       nm->insist.ends ? "power it down" : "drain it", why);
	engine_event(e, nm->name, nm->insist.gen, "order-refused", text);
}

/* May be called twice for a dead node: if its DOWN fails, and for the power-down behind it. */
static void answered(struct engine *e, struct fleet_name *nm, const struct err *err)
{
	struct fleet_insist *in = &nm->insist;
	bool first = !in->refused && in->wait_ms == INSIST_WAIT_MS;

	in->lost_ms = err != NULL ? engine_now(e) : 0;
	in->took_ms = err == NULL ? engine_now(e) : 0;
	in->refused = err != NULL && !slurm_unheard(err);
	if (in->refused && first)
		tell_refused(e, nm, err->msg);
}

void insist_told(struct engine *e, const struct slurm_order *o, const struct err *err)
{
	struct hostlist *h;

	if (o->of_jobs || hostlist_parse(&h, o->names, strlen(o->names), NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm == NULL || nm->insist.why == NULL || !is_of(&nm->insist, o->verb))
			continue;
		if (err == NULL && strcmp(o->verb, "down") == 0)
			continue; /* the answer is that of the power-down behind it */
		answered(e, nm, err);
	}
	hostlist_free(h);
}

/* The node is off, or has another machine now. */
static bool is_over(const struct fleet_name *nm)
{
	return slurm_is_off(nm->flags) || fleet_live(nm) == NULL ||
	       fleet_live(nm)->n.gen != nm->insist.gen;
}

/* The node is powering down; for a drain, it may also be drained or down. */
static bool is_done(const struct fleet_name *nm)
{
	uint32_t done = SLURM_POWER_DOWN | SLURM_POWERING_DOWN;
	uint32_t busy = SLURM_ALLOCATED | SLURM_COMPLETING | SLURM_POWERING_DOWN;

	/* POWER_DOWN may be of a drain, which lets jobs run. */
	if (nm->insist.ends && (nm->flags & busy) == SLURM_ALLOCATED)
		return false;
	if (!nm->insist.ends)
		done |= SLURM_DRAIN | SLURM_DOWN;
	return (nm->flags & done) != 0;
}

static void give_again(struct engine *e, struct fleet_name *nm, int64_t began_ms)
{
	struct fleet_insist *in = &nm->insist;

	if (in->refused && began_ms < in->lost_ms + in->wait_ms)
		return;
	if (in->refused)
		in->wait_ms =
			2 * in->wait_ms < INSIST_WAIT_MAX_MS ? 2 * in->wait_ms : INSIST_WAIT_MAX_MS;
	give(e, nm);
}

bool insist_look(struct engine *e, struct fleet_name *nm, int64_t began_ms)
{
	struct fleet_insist *in = &nm->insist;
	int64_t answered_ms = in->lost_ms != 0 ? in->lost_ms : in->took_ms;
	bool doubt = in->lost_ms != 0 || e->poll.failed_ms > in->took_ms;

	if (in->why == NULL || answered_ms == 0 || began_ms <= answered_ms)
		return in->why != NULL && !in->refused;
	if (!is_over(nm) && !is_done(nm) && doubt)
		give_again(e, nm, began_ms);
	else if (is_over(nm) || !is_done(nm) || doubt || began_ms > in->took_ms + INSIST_SAVED_MS)
		in->why = NULL;
	return in->why != NULL && !in->refused;
}
