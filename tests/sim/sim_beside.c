/* sim_beside.c - drill: one provider fails in one way, beside one that works (F26).
 *
 * What the one does must not harm the other: jobs get their nodes there as soon as ever, a machine
 * that is taken back there is noticed in time, and what is not wanted any more is deleted. */
#include "sim_cloud.h"
#include "sim_drill.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum {
	SEEN_MS = 10 * SIM_SECOND, /* burstd knows that a node is up */
	NOTICE_MS = 2 * SIM_MINUTE,
	ENDS_MS = 40 * SIM_SECOND, /* a call of SuspendProgram, a command, a delete */
};

static const char *const ways[SIM_BADS] = {
	[BAD_DENIES] = "denies all",       [BAD_THROTTLES] = "throttles all",
	[BAD_BREAKS] = "fails all",        [BAD_HANGS] = "answers nothing",
	[BAD_GARBAGE] = "answers rubbish", [BAD_LISTS] = "has no capacity, and its lists fail",
};

/* A job of one node that may be bought from both. */
static struct ctld_job *submit(struct world *w)
{
	for (uint32_t p = 0; p < w->set.npools; p++)
		if (w->set.pools[p].ladder && drill_has_room_for_doubt(w, p))
			return sim_ctld_submit(w->ctld, p, 1);
	return NULL;
}

/* The job's node is deleted soon after slurmctld lets it go. */
static void ends(struct world *w, step_fn step, struct ctld_job *j, const char *way)
{
	const struct inst *i = sim_cloud_find(w->cloud, w->ctld->nodes[j->nodes[0]].inst);
	const bool warm = w->set.pools[j->pool].warm > 0;
	int64_t idle = w->set.suspend_s * SIM_SECOND + ENDS_MS;

	sim_ctld_end_job(w->ctld, j);
	drill_pass(w, step, w->now + idle);
	if (!w->failed && !warm && inst_live(i) && !i->accepted)
		world_fail(w,
			   "F26: i-%u of %s is not deleted %d s after its job, and another "
			   "provider %s",
			   (unsigned)i->number, i->node, (int)(idle / SIM_SECOND), way);
}

/* Its machine is taken back: the next list, or a notice, says so. */
static void is_taken(struct world *w, step_fn step, const struct ctld_job *j, const char *way)
{
	struct ctld_node *n = &w->ctld->nodes[j->nodes[0]];
	struct inst *i = sim_cloud_find(w->cloud, n->inst);
	int64_t known = w->set.list_ms + LIST_MS;

	SIM_TRACE(w, "*** i-%u of %s is taken back", (unsigned)i->number, n->name);
	sim_cloud_reclaim(w->cloud, i, NOTICE_MS);
	drill_pass(w, step, w->now + known);
	if (!w->failed && !drill_fenced(n, i))
		world_fail(w,
			   "F26: slurmctld was not told in %d s that %s is taken back, and another "
			   "provider %s",
			   (int)(known / SIM_SECOND), n->name, way);
}

void drill_beside(struct world *w, step_fn step, enum sim_bad how)
{
	struct ctld_job *j = w->set.twins && w->absent == ABSENT_NOT ? submit(w) : NULL;

	if (w->failed || j == NULL)
		return;
	SIM_TRACE(w, "*** a provider %s", ways[how]);
	w->cloud->bad = how;
	drill_start(w, step, j, FAILS_MS);
	if (!w->failed)
		drill_pass(w, step, w->now + SEEN_MS);
	if (!w->failed)
		is_taken(w, step, j, ways[how]);
	sim_ctld_end_jobs(w->ctld); /* it may have ended by itself, told to save its work */
	j = w->failed ? NULL : submit(w);
	if (j != NULL)
		drill_start(w, step, j, FAILS_MS);
	if (!w->failed && j != NULL)
		ends(w, step, j, ways[how]);
	w->cloud->bad = BAD_NOT;
	sim_ctld_end_jobs(w->ctld);
	drill_pass(w, step, w->now + BACK_MS);
	sim_place_heal(w);
	drill_sleep_all(w, step);
}
