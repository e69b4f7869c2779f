#include "engine/private.h"

#include <string.h>

/* Orders about a node that no snapshot would repeat: an admin drains or ends it, or its keys are
 * old.  slurmctld may not take such an order, because it is away or scontrol fails.  Then it is
 * given again as soon as a later snapshot still has the node as it was (F48, F49). */

/* Nobody answers there: slurmctld must not wait for it (slurm.md 2.2). */
static bool is_silent(const struct fleet_name *nm)
{
	return (nm->flags & SLURM_POWERING_UP) == 0 &&
	       (nm->flags & (SLURM_NOT_RESPONDING | SLURM_DOWN)) != 0;
}

static void give(struct engine *e, struct fleet_name *nm)
{
	nm->insist.lost_ms = 0;
	if (nm->insist.ends)
		engine_power_down(e, nm, is_silent(nm), nm->insist.why);
	else
		slurm_drain(e->slurm, nm->name, nm->insist.why);
}

static void insist(struct engine *e, struct fleet_name *nm, bool ends, const char *why)
{
	nm->insist = (struct fleet_insist){
		.why = why, .ends = ends, .gen = nm->newest != NULL ? nm->newest->n.gen : 0};
	give(e, nm);
}

void insist_drain(struct engine *e, struct fleet_name *nm, const char *why)
{
	insist(e, nm, false, why);
}

void insist_end(struct engine *e, struct fleet_name *nm, const char *why)
{
	insist(e, nm, true, why);
}

static bool is_of(const struct fleet_insist *in, const char *verb)
{
	if (!in->ends)
		return strcmp(verb, "drain") == 0;
	return strcmp(verb, "power-down") == 0 || strcmp(verb, "down") == 0;
}

void insist_told(struct engine *e, const struct slurm_order *o, bool ok)
{
	struct hostlist *h;

	if (o->of_jobs || hostlist_parse(&h, o->names, strlen(o->names), NULL) != 0)
		return;
	for (size_t i = 0; i < h->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm == NULL || nm->insist.why == NULL || !is_of(&nm->insist, o->verb))
			continue;
		nm->insist.lost_ms = ok ? 0 : engine_now(e);
		if (ok)
			nm->insist.why = NULL;
	}
	hostlist_free(h);
}

/* It goes already, or somebody has taken it out, or its machine is another now. */
static bool is_over(const struct fleet_name *nm)
{
	uint32_t done = SLURM_POWER_DOWN | SLURM_POWERING_DOWN;

	if (!nm->insist.ends)
		done |= SLURM_DRAIN | SLURM_DOWN;
	return slurm_is_off(nm->flags) || (nm->flags & done) != 0 || fleet_live(nm) == NULL ||
	       fleet_live(nm)->n.gen != nm->insist.gen;
}

void insist_look(struct engine *e, struct fleet_name *nm, int64_t began_ms)
{
	if (nm->insist.why == NULL || nm->insist.lost_ms == 0 || began_ms <= nm->insist.lost_ms)
		return;
	if (is_over(nm))
		nm->insist.why = NULL;
	else
		give(e, nm);
}
