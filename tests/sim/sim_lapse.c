/* sim_lapse.c - what slurmctld forgets over a restart (F50), and what it does in parts
 * (ResumeRate).
 *
 * slurmctld may come back without the addresses that it was told, with an older state, so that job
 * numbers come again, or with none at all, from job 1 on.  Or it was killed, and the state that it
 * saved seconds to a minute before lacks the last that scontrol set: a node is up that was drained
 * or down, or the other way round, and a waiting job has its former begin time and comment. */
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

/* --- what scontrol set -------------------------------------------------------------------------
 */

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_lapse_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->rng = rng ^ 0x1f50;
	if (world_one_in(w, 4))
		w->set.chance[SIM_CTLD_REVERTS] = sim_faults[SIM_CTLD_REVERTS].per_mille;
	w->rng = rng;
}

/* Up on the same machine, then and now: all else is said to slurmctld again by who knows it. */
static bool is_same(const struct ctld_node *n, const struct ctld_node *o)
{
	bool moves = n->powered_down || n->powering_down || n->powering_up || o->powered_down ||
		     o->powering_down || o->powering_up;

	return !moves && n->inst != 0 && n->inst == o->inst && n->up_at == o->up_at &&
	       n->pool != SIM_POOLS_MAX && !n->deleted && !n->reboot && !o->reboot &&
	       n->invalid == o->invalid;
}

/* ... and not what it was. */
static bool is_changed(const struct ctld_node *n, const struct ctld_node *o)
{
	return is_same(n, o) &&
	       (n->drain != o->drain || n->down != o->down || n->power_down != o->power_down ||
		strcmp(n->reason, o->reason) != 0);
}

/* One that has waited since. */
static bool is_waiting(const struct ctld_job *j, const struct ctld_job *o)
{
	return j->state == JOB_PENDING && o->state == JOB_PENDING && j->id == o->id &&
	       j->submitted == o->submitted && j->back_to == o->back_to;
}

static bool has_new(const struct sim_ctld *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_changed(&c->nodes[i], &c->saved[i]))
			return true;
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (is_waiting(&c->jobs[i], &c->saved_jobs[i]) &&
		    (c->jobs[i].begin_at != c->saved_jobs[i].begin_at ||
		     strcmp(c->jobs[i].comment, c->saved_jobs[i].comment) != 0))
			return true;
	return false;
}

bool sim_lapse_save(struct sim_ctld *c)
{
	if (c->w->set.chance[SIM_CTLD_REVERTS] == 0)
		return false;
	if (world_one_in(c->w, 20)) {
		memcpy(c->saved, c->nodes, sizeof(c->saved));
		memcpy(c->saved_jobs, c->jobs, sizeof(c->saved_jobs));
	}
	return has_new(c) && world_fault(c->w, SIM_CTLD_REVERTS);
}

/* Killed, and started again at once, as a rule. */
void sim_lapse_revert(struct sim_ctld *c)
{
	c->loses = LOSS_ORDERS;
	if (!world_one_in(c->w, 3)) {
		c->down_until = c->w->now + world_between(c->w, 1, 10) * SIM_SECOND;
		c->up_since = c->down_until;
		sim_ctld_trouble(c, c->down_until);
	}
}

static void revert_node(struct sim_ctld *c, struct ctld_node *n, const struct ctld_node *o)
{
	struct inst *i = sim_cloud_find(c->w->cloud, n->inst);

	if (!is_changed(n, o))
		return;
	world_met(c->w, SIM_CTLD_REVERTS, n->name, 0);
	if (n->drain && !o->drain)
		n->undrained = n->inst;
	n->drain = o->drain;
	n->power_down = o->power_down;
	if (!o->down || n->job == 0)
		n->down = o->down;
	if (i != NULL && !n->power_down && !n->down)
		i->taken_at = 0; /* it works on, for other jobs */
	if (!n->down && (i == NULL || !inst_live(i) || n->not_responding) && n->dead_at == 0)
		n->dead_at = c->w->now; /* it is missed once more */
	sim_ctld_set_reason(c, n, BY_NOBODY, "");
	sim_ctld_set_reason(c, n, o->by, o->reason);
}

static void revert_job(struct sim_ctld *c, struct ctld_job *j, const struct ctld_job *o)
{
	if (!is_waiting(j, o))
		return;
	if (j->begin_at != o->begin_at || strcmp(j->comment, o->comment) != 0)
		SIM_TRACE(c->w, "  ctld: job %u begins as it was to before", (unsigned)j->id);
	/* What burstd has seen of it is not so any more: a hold that had been lifted is back. */
	j->user_at = j->held != o->held || j->begin_at != o->begin_at ? c->w->now : o->user_at;
	j->begin_at = o->begin_at;
	j->waits_to = o->waits_to;
	j->said_to = 0; /* burstd may have let it start since */
	j->held = o->held;
	j->returned = j->returned || strcmp(j->comment, o->comment) != 0;
	memcpy(j->comment, o->comment, sizeof(j->comment));
	j->comment_at = o->comment_at;
}

static void revert(struct sim_ctld *c)
{
	SIM_TRACE(c->w, "  ctld: knows not the last that it was told");
	for (size_t i = 0; i < c->n; i++) {
		revert_node(c, &c->nodes[i], &c->saved[i]);
		sim_dynamic_revert(c, &c->nodes[i], &c->saved[i]);
	}
	for (size_t i = 0; i < JOBS_MAX; i++)
		revert_job(c, &c->jobs[i], &c->saved_jobs[i]);
}

/* --- where nodes are, and jobs -----------------------------------------------------------------
 */

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
	if (what == LOSS_ORDERS) {
		if (c->w->faults) /* else people have put all right meanwhile */
			revert(c);
		return;
	}
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
		if (what == LOSS_ALL)
			sim_dynamic_lose(c, n);
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
