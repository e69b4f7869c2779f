/* sim_admin.c - people who act on nodes and pools, and machines whose slurmd dies. */
#include <stdio.h>
#include <string.h>

#include "buy/buy_api.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum { EVERY_MS = 5 * SIM_SECOND };

static bool is_quarantined(const struct sim_ctld *c, const struct ctld_node *n)
{
	const struct sim_row *r = sim_journal_row(c->w->journal, n->name, 0);

	return r != NULL && r->n.state == NODE_QUARANTINED;
}

/* Where deletes are refused for long, people look after the nodes whose machines stay. */
static struct ctld_node *some_node(struct sim_ctld *c)
{
	uint32_t from = world_below(c->w, (uint32_t)c->n);
	struct ctld_node *n = &c->nodes[from];

	for (size_t i = 0; c->w->set.stubborn && i < c->n; i++)
		if (is_quarantined(c, &c->nodes[(from + i) % c->n])) {
			n = &c->nodes[(from + i) % c->n];
			break;
		}
	return n->pool == SIM_POOLS_MAX || n->deleted ? NULL : n;
}

/* --- by slurmctld ------------------------------------------------------------------------------
 */

static bool is_up(const struct ctld_node *n)
{
	return !n->powered_down && !n->powering_down && !n->powering_up;
}

/* Undraining a node that is powered down makes it one that should answer (slurm.md 2.2). */
static void undrain(struct sim_ctld *c, struct ctld_node *n)
{
	if (n->down) {
		sim_ctld_back(c, n);
		return;
	}
	n->drain = false;
	if (n->powered_down)
		n->not_responding = true;
	sim_ctld_set_reason(c, n, BY_NOBODY, "");
	n->busy_at = c->w->now;
}

static void drain(struct sim_ctld *c, struct ctld_node *n)
{
	if (n->drain ? n->by != BY_ADMIN : n->down || n->power_down)
		return;
	world_met(c->w, SIM_ADMIN_DRAINS, n->name, 0);
	if (n->drain || (n->powered_down && n->job == 0 && world_one_in(c->w, 2))) {
		undrain(c, n);
		return;
	}
	n->drain = true;
	sim_ctld_set_reason(c, n, BY_ADMIN, "admin: a fan is broken");
	if (!is_up(n))
		sim_ctld_lose_jobs(c, n); /* which none of them can have begun to work on */
}

static void set_down(struct sim_ctld *c, struct ctld_node *n)
{
	if (n->down ? n->by != BY_ADMIN : n->drain || n->power_down || n->powering_down)
		return;
	world_met(c->w, SIM_ADMIN_DOWNS, n->name, 0);
	if (n->down) {
		sim_ctld_back(c, n);
		return;
	}
	sim_ctld_down(c, n);
	sim_ctld_set_reason(c, n, BY_ADMIN, "admin: do not use");
}

static void power_up(struct sim_ctld *c, struct ctld_node *n)
{
	if (!n->powered_down || n->job != 0 || n->down || n->drain)
		return;
	world_met(c->w, SIM_ADMIN_POWERS_UP, n->name, 0);
	n->power_up = true;
}

static void on_rebooted(struct world *w, void *ctx, uint64_t inst)
{
	struct ctld_node *n = ctx;

	/* slurmctld has forgotten where it is: it is heard when burstd has said so again. */
	if (n->reboot && n->inst == inst && n->dead_at != 0 && n->dead_at == n->lost_addr_at) {
		world_at(w, w->now + 10 * SIM_SECOND, on_rebooted, n, inst);
		return;
	}
	if (!n->reboot || n->inst != inst || n->dead_at != 0)
		return;
	n->reboot = n->drain = n->not_responding = false;
	sim_ctld_set_reason(w->ctld, n, BY_NOBODY, "");
	n->busy_at = w->now;
}

static void reboot(struct sim_ctld *c, struct ctld_node *n)
{
	if (!is_up(n) || n->job != 0 || n->down || n->drain || n->power_down || n->dead_at != 0 ||
	    n->completing)
		return;
	world_met(c->w, SIM_ADMIN_REBOOTS, n->name, 0);
	n->reboot = n->drain = n->not_responding = true;
	sim_ctld_set_reason(c, n, BY_ADMIN, "Reboot ASAP");
	world_at(c->w, c->w->now + world_between(c->w, 10, 200) * SIM_SECOND, on_rebooted, n,
		 n->inst);
}

/* --- slurmd ------------------------------------------------------------------------------------
 */

static void on_slurmd_back(struct world *w, void *ctx, uint64_t inst)
{
	struct ctld_node *n = ctx;
	const struct inst *i = sim_cloud_find(w->cloud, (uint32_t)inst);

	if (n->inst != inst || !inst_live(i) || i->state == INST_STOPPING || !is_up(n) ||
	    !sim_ctld_up(w->ctld))
		return;
	SIM_TRACE(w, "  ctld: the slurmd of %s is back", n->name);
	n->dead_at = 0;
	n->not_responding = n->completing = false;
	if (n->down && n->by == BY_SLURM)
		sim_ctld_back(w->ctld, n);
}

void sim_admin_kill_slurmd(struct sim_ctld *c, struct ctld_node *n, bool for_good)
{
	world_met(c->w, SIM_SLURMD_DIES, n->name, 0);
	n->dead_at = c->w->now;
	if (!for_good)
		world_at(c->w, c->w->now + world_between(c->w, 5, 200) * SIM_SECOND, on_slurmd_back,
			 n, n->inst);
}

/* --- by burstd ---------------------------------------------------------------------------------
 */

static bool engine_is_there(const struct world *w)
{
	return w->engine != NULL && !w->crashed && !sim_frozen(w);
}

static void pause_pool(struct world *w, uint32_t p)
{
	bool paused = !w->pools[p].paused;

	if (paused && !world_one_in(w, 3))
		return; /* most of the time it is open */
	w->totals->met[SIM_ADMIN_PAUSES][NODE_NSTATES]++;
	SIM_TRACE(w, "admin: pool %s is %s", w->set.pools[p].name, paused ? "paused" : "resumed");
	w->pools[p].paused = false;
	if (!paused)
		sim_pool_forgive(w, p);
	if (engine_pause(w->engine, w->set.pools[p].name, paused, "root", NULL) == 0 && !w->crashed)
		w->pools[p].paused = paused;
}

static void order(struct sim_ctld *c, const struct ctld_node *n)
{
	static const char *const words[] = {"drain", "terminate"};
	struct engine_request rq = {.order =
					    world_one_in(c->w, 2) ? ENGINE_DRAIN : ENGINE_TERMINATE,
				    .nodes = world_one_in(c->w, 8) ? NULL : n->name,
				    .by = "root"};
	struct engine_ordered out;

	SIM_TRACE(c->w, "admin: %s %s", words[rq.order], rq.nodes != NULL ? rq.nodes : "all");
	for (size_t i = 0; i < c->n; i++)
		if (&c->nodes[i] == n || rq.nodes == NULL)
			world_met(c->w, SIM_ADMIN_ORDERS, c->nodes[i].name, 0);
	(void)engine_operate(c->w->engine, &rq, &out, NULL);
}

/* --- when --------------------------------------------------------------------------------------
 */

static void act(struct world *w, struct ctld_node *n)
{
	struct sim_ctld *c = w->ctld;

	if (n == NULL || !sim_ctld_up(c))
		return;
	if (world_fault(w, SIM_ADMIN_DRAINS))
		drain(c, n);
	if (world_fault(w, SIM_ADMIN_DOWNS))
		set_down(c, n);
	if (world_fault(w, SIM_ADMIN_POWERS_UP))
		power_up(c, n);
	if (world_fault(w, SIM_ADMIN_REBOOTS))
		reboot(c, n);
	if (is_up(n) && n->inst != 0 && n->dead_at == 0 && !n->down && !n->reboot &&
	    world_fault(w, SIM_SLURMD_DIES))
		sim_admin_kill_slurmd(c, n, world_one_in(w, 3));
}

static void on_admin(struct world *w, void *ctx, uint64_t arg)
{
	uint32_t p = world_below(w, (uint32_t)w->set.npools);
	struct ctld_node *n = some_node(w->ctld);

	(void)ctx;
	(void)arg;
	if (!w->faults)
		return;
	world_at(w, w->now + EVERY_MS, on_admin, NULL, 0);
	if (world_one_in(w, 4) && world_fault(w, SIM_WRONG_IMAGE))
		w->pools[p].wrong_until = w->now + world_between(w, 1, 20) * SIM_MINUTE;
	if (world_fault(w, SIM_MASS_RECLAIM))
		sim_cloud_reclaim_all(w->cloud);
	if (world_fault(w, SIM_FALSE_NOTICE))
		sim_notice_false(w);
	act(w, n);
	if (engine_is_there(w) && world_fault(w, SIM_ADMIN_PAUSES))
		pause_pool(w, p);
	if (engine_is_there(w) && n != NULL && world_fault(w, SIM_ADMIN_ORDERS))
		order(w->ctld, n);
	if (engine_is_there(w))
		sim_image_order(w);
}

void sim_admin_start(struct world *w)
{
	world_at(w, w->now + EVERY_MS, on_admin, NULL, 0);
}

static void on_resume(struct world *w, void *ctx, uint64_t arg)
{
	(void)ctx;
	(void)arg;
	if (!engine_is_there(w)) {
		world_at(w, w->now + SIM_SECOND, on_resume, NULL, 0);
		return;
	}
	for (uint32_t p = 0; p < w->set.npools; p++) {
		w->pools[p].paused = false;
		sim_pool_forgive(w, p);
	}
	(void)engine_pause(w->engine, NULL, false, "root", NULL);
}

/* Where nobody paused anything, nobody helps: a closed pool must open by itself. */
void sim_admin_heal(struct world *w)
{
	for (uint32_t p = 0; p < w->set.npools; p++)
		w->pools[p].wrong_until = 0;
	for (size_t i = 0; i < w->ctld->n; i++) {
		struct ctld_node *n = &w->ctld->nodes[i];

		if (n->drain && !n->reboot && !n->invalid && !n->power_down)
			undrain(w->ctld, n);
		else if (n->by == BY_ADMIN && n->down)
			sim_ctld_back(w->ctld, n);
	}
	if (w->set.chance[SIM_ADMIN_PAUSES] != 0)
		on_resume(w, NULL, 0);
}
