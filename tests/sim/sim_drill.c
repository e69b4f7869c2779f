/* sim_drill.c - drills: without faults, how soon does burstd do what it should?  Where slurmctld
 * would do it by itself in the end, only a time limit shows that burstd did. */
#include <string.h>

#include "buy/buy_api.h"
#include "sim_cloud.h"
#include "sim_drill.h"
#include "sim_journal.h"
#include "sim_slurm.h"

void drill_pass(struct world *w, step_fn step, int64_t until)
{
	while (!w->failed && w->now < until)
		step(w);
}

/* A job of one node, where slurmctld still has one, not of that pool; NULL: nowhere. */
struct ctld_job *drill_submit_elsewhere(struct world *w, uint32_t pool)
{
	for (size_t i = 0; i < w->ctld->n; i++) {
		const struct ctld_node *n = &w->ctld->nodes[i];

		if (n->pool != SIM_POOLS_MAX && n->pool != pool && !n->deleted)
			return sim_ctld_submit(w->ctld, n->pool, 1);
	}
	return NULL;
}

struct ctld_job *drill_submit(struct world *w)
{
	return drill_submit_elsewhere(w, SIM_POOLS_MAX);
}

struct ctld_job *drill_submit_two(struct world *w)
{
	uint32_t free_nodes[SIM_POOLS_MAX + 1] = {0};

	for (size_t i = 0; i < w->ctld->n; i++)
		free_nodes[w->ctld->nodes[i].pool] += !w->ctld->nodes[i].deleted;
	for (uint32_t p = 0; p < w->set.npools; p++) {
		const struct sim_pool *sp = &w->set.pools[p];

		if (free_nodes[p] >= 2 && sp->max_nodes >= 2 && sp->max_rate >= 2 * sp->price)
			return sim_ctld_submit(w->ctld, p, 2);
	}
	return NULL;
}

bool drill_boots(const struct sim_ctld *c, const struct ctld_job *j)
{
	return j->state == JOB_CONFIGURING && c->nodes[j->nodes[0]].powering_up;
}

/* The place where it could be bought may be left alone for a while yet. */
void drill_start(struct world *w, step_fn step, const struct ctld_job *j, int64_t ms)
{
	int64_t end = w->now + ms, last = end + CLOSED_MS;

	while (!w->failed && j->state != JOB_RUNNING && w->now < end && w->now < last) {
		if (sim_place_cools(w))
			end = w->now + ms;
		step(w);
	}
	if (j->state != JOB_RUNNING)
		world_fail(w, "I24: a job does not start in %d minutes", (int)(ms / SIM_MINUTE));
}

/* Do all nodes sleep, and is nothing of them left that a new one would have to wait for? */
static bool all_sleep(const struct world *w)
{
	const struct sim_ctld *c = w->ctld;
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t i = 0; i < c->n; i++)
		if (c->nodes[i].pool != SIM_POOLS_MAX && !c->nodes[i].powered_down)
			return false;
	for (size_t k = 0; k < n; k++)
		if (r[k].n.state != NODE_GONE)
			return false;
	return !sim_gate_waits(c, 0);
}

void drill_sleep_all(struct world *w, step_fn step)
{
	drill_pass(w, step, sim_place_calm_at(w));
	int64_t end = w->now + START_MS;

	while (!w->failed && !all_sleep(w) && w->now < end)
		step(w);
}

static void some_drill(struct world *w, step_fn step)
{
	static const char *const codes[] = {"capacity", "quota", "rate"};
	uint32_t which = world_below(w, 13);

	if (which < 3)
		drill_none(w, step, codes[which]);
	else if (which == 3)
		drill_hook(w, step);
	else if (which == 4)
		drill_gang(w, step);
	else if (which == 5)
		drill_gate(w, step);
	else if (which == 8)
		drill_ghost(w, step);
	else if (which == 9)
		drill_lists(w, step);
	else if (which == 10)
		drill_twin(w, step);
	else if (which == 11)
		drill_replace(w, step);
	else if (which == 12)
		drill_away(w, step);
	else
		drill_reclaim(w, step, which == 6 ? 2 * SIM_MINUTE : 0);
}

void sim_drill(struct world *w, step_fn step)
{
	SIM_TRACE(w, "*** drills");
	for (uint32_t p = 0; p < w->set.npools; p++)
		sim_pool_forgive(w, p);
	(void)engine_pause(w->engine, NULL, false, "root", NULL);
	for (int next = 0; next < 2; next++) {
		drill_sleep_all(w, step);
		drill_cancel(w, step, next == 1);
	}
	drill_sleep_all(w, step);
	drill_mute(w, step);
	drill_sleep_all(w, step);
	drill_terminate(w, step);
	for (int n = 0; n < 3 && !w->failed; n++) { /* they cost time: some in each world */
		drill_sleep_all(w, step);
		some_drill(w, step);
	}
	drill_sleep_all(w, step);
	drill_right(w, step);
	if (w->seed % 4 == 3 && !w->set.twins) /* both would list it as theirs */
		drill_stray(w, step);
	if (w->seed % 6 == 4) /* by no dice, as it came later */
		drill_fails(w, step);
	if (w->seed % 6 == 2)
		drill_stillborn(w, step, (enum sim_makes)(MAKES_AN_END + w->seed / 6 % 3));
	if (w->seed % 6 == 0)
		drill_full(w, step, w->seed % 4 == 0 ? "capacity" : "quota");
	if (w->seed % 6 == 1)
		drill_beside(w, step,
			     (enum sim_bad)(BAD_DENIES + w->seed / 6 % (SIM_BADS - BAD_DENIES)));
	if (w->set.pools[0].dynamic) {
		drill_sleep_all(w, step);
		drill_lost(w, step);
		drill_sleep_all(w, step);
	}
	if (world_one_in(w, 4))
		drill_next(w, step);
	drill_sleep_all(w, step);
	if (world_one_in(w, 4)) /* the last: its node comes up wrong, and rests */
		drill_late(w, step);
}
