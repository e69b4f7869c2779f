#include "diff/diff.h"

/* Nodes whose time is over: each state that waits for something has a deadline (core/node.h). */

/* It has registered, whatever it does now: reboots, or does not answer for a while. */
static bool slurm_has_up(uint32_t flags)
{
	return (flags & SLURM_KNOWN) != 0 &&
	       (flags & (SLURM_POWERING_UP | SLURM_POWERED_DOWN | SLURM_POWERING_DOWN |
			 SLURM_POWER_DOWN | SLURM_DOWN | SLURM_INVALID_REG | SLURM_VANISHED)) == 0;
}

/* A node that did not register in time is given up only when slurmctld has said so since: while it
 * is silent the node may have registered and be at work (I18, F48). */
static bool deadline_known(const struct engine *e, const struct fleet_node *fn)
{
	return fn->n.state != NODE_BOOTING ||
	       (!fn->registered && e->poll.snapshot_ms >= fn->n.wake_ms &&
		!slurm_has_up(fn->name->flags));
}

void deadline_run(struct engine *e)
{
	int64_t now = engine_now(e), next = INT64_MAX;

	if (now < e->fleet.wake_ms)
		return;
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct node_event ev = {.type = NODE_EV_TIMER, .now_ms = now};

			if (fn->n.wake_ms > now)
				next = fn->n.wake_ms < next ? fn->n.wake_ms : next;
			else if (!fn->busy && deadline_known(e, fn)) /* else an answer wakes us */
				engine_post(e, fn, &ev);
		}
	e->fleet.wake_ms = next;
	engine_commit(e);
}
