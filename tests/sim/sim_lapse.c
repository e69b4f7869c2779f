/* What slurmctld forgets over a restart (F50), and what it does in parts (ResumeRate).
 *
 * It may come back without the addresses that it was told, with a state of some jobs ago, whose
 * numbers then come again, or with none at all, from job 1 on. */
#include <stdio.h>
#include <string.h>

#include "sim_cloud.h"
#include "sim_slurm.h"

void sim_lapse_begin(struct sim_ctld *c)
{
	c->loses = (enum ctld_loss)world_between(c->w, LOSS_ADDRESSES, LOSS_ALL);
	for (size_t i = 0; i + 1 < c->n; i++)
		world_met(c->w, SIM_CTLD_FORGETS, c->nodes[i].name, 0);
}

static bool is_up(const struct ctld_node *n)
{
	return !n->powered_down && !n->powering_down && !n->powering_up && !n->down;
}

/* Its name is no address: a slurmd that works is not heard any more. */
static void forget_addr(struct sim_ctld *c, struct ctld_node *n)
{
	if (strcmp(n->addr, n->name) != 0 && is_up(n) && n->inst != 0 && n->dead_at == 0)
		n->dead_at = n->lost_addr_at = c->w->now;
	(void)snprintf(n->addr, sizeof(n->addr), "%s", n->name);
	(void)snprintf(n->host, sizeof(n->host), "%s", n->name);
}

void sim_lapse_addr(struct sim_ctld *c, struct ctld_node *n)
{
	const struct inst *i = sim_cloud_find(c->w->cloud, n->inst);

	if (n->lost_addr_at == 0 || n->lost_addr_at != n->dead_at || i == NULL || !inst_live(i) ||
	    strcmp(n->addr, i->addr) != 0)
		return;
	SIM_TRACE(c->w, "  ctld: %s is heard again", n->name);
	n->lost_addr_at = n->dead_at = 0;
	n->not_responding = false;
}

void sim_lapse_missed(struct sim_ctld *c, struct ctld_node *n)
{
	const struct inst *i = sim_cloud_find(c->w->cloud, n->inst);

	if (n->lost_addr_at == n->dead_at && i != NULL)
		sim_fate_missed(c, n, i);
	n->lost_addr_at = 0;
}

/* Those that came after the last that it knows. */
static void forget_jobs(struct sim_ctld *c, uint32_t last)
{
	SIM_TRACE(c->w, "  ctld: knows no job after %u", (unsigned)last);
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (c->jobs[i].state != JOB_FREE && c->jobs[i].id > last)
			sim_ctld_end_job(c, &c->jobs[i]);
	c->last_job = last;
	c->forgot_at = c->w->now;
}

void sim_lapse_end(struct sim_ctld *c)
{
	enum ctld_loss what = c->loses;
	uint32_t back = (uint32_t)world_between(c->w, 1, 3);

	c->loses = LOSS_NONE;
	if (what == LOSS_JOBS)
		forget_jobs(c, c->last_job > back ? c->last_job - back : 0);
	if (what == LOSS_ALL)
		forget_jobs(c, 0);
	for (size_t i = 0; i < c->n && what != LOSS_NONE; i++) {
		struct ctld_node *n = &c->nodes[i];

		if (n->pool == SIM_POOLS_MAX || n->deleted)
			continue;
		if (what == LOSS_ALL)
			sim_ctld_unplug(c, n);
		if (what != LOSS_JOBS)
			forget_addr(c, n);
	}
}

void sim_lapse_split(struct sim_ctld *c, bool *up)
{
	uint32_t most = 0, called = 0, left = 0;

	if (c->w->set.chance[SIM_CALLS_SPLIT] == 0)
		return;
	if (c->w->now >= c->resume_at) {
		most = 1 + world_below(c->w, 2);
		c->resume_at = c->w->now + world_between(c->w, 1, 6) * SIM_SECOND;
	}
	for (size_t i = 0; i < c->n; i++) {
		left += up[i] && most == 0;
		up[i] = up[i] && most > 0;
		most -= up[i];
		called += up[i];
	}
	if (called > 0 && left > 0)
		c->w->totals->met[SIM_CALLS_SPLIT][NODE_NSTATES]++;
}
