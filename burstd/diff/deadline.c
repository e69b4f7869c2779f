#include "diff/diff.h"

/* Posts TIMER to rows whose deadline has passed: each state that waits has one (core/node.h). */

/* Has the node registered, even if it reboots now, or does not answer? */
static bool slurm_has_up(uint32_t flags)
{
	return (flags & SLURM_KNOWN) != 0 &&
	       (flags & (SLURM_POWERING_UP | SLURM_POWERED_DOWN | SLURM_POWERING_DOWN |
			 SLURM_POWER_DOWN | SLURM_DOWN | SLURM_INVALID_REG | SLURM_VANISHED)) == 0;
}

/* Does a snapshot from after the deadline show that the node has not registered?  While slurmctld
 * is silent the node may have registered, and run jobs (I18, F48). */
static bool deadline_known(const struct engine *e, const struct fleet_node *fn)
{
	return fn->n.state != NODE_BOOTING ||
	       (!fn->registered && e->poll.snapshot_ms >= fn->n.wake_ms &&
		!slurm_has_up(fn->name->flags));
}

static void deadline_run(struct engine *e)
{
	int64_t now = engine_now(e), next = INT64_MAX;

	if (now < e->fleet.wake_ms)
		return;
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct node_event ev = {.type = NODE_EV_TIMER, .now_ms = now};

			if (fn->n.wake_ms > now)
				next = fn->n.wake_ms < next ? fn->n.wake_ms : next;
			else if (!fn->busy &&
				 deadline_known(e, fn)) /* else an answer begins a turn */
				engine_post(e, fn, &ev);
		}
	e->fleet.wake_ms = next;
	engine_commit(e);
}

const struct engine_part deadline_part = {
	.name = "deadlines",
	.at = {[PART_RUN] = deadline_run},
};
