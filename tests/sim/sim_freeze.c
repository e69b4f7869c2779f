/* sim_freeze.c - burstd is stopped for a while and goes on: SIGSTOP, a debugger, a machine that is
 * suspended or swaps.  Time passes and the world moves, but burstd has no turn; then all that came
 * meanwhile comes at once.  Clients that wait for burstd give up. */
#include "sim_journal.h"
#include "sim_slurm.h"
#include "world.h"

static void on_freeze(struct world *w, void *ctx, uint64_t arg)
{
	(void)ctx;
	(void)arg;
	if (!w->faults)
		return;
	world_at(w, w->now + world_between(w, 10, 120) * SIM_SECOND, on_freeze, NULL, 0);
	if (w->engine == NULL || w->crashed || !world_fault(w, SIM_FROZEN))
		return;
	w->totals->met[SIM_FROZEN][NODE_NSTATES]++;
	sim_journal_met_all(w->journal, SIM_FROZEN);
	sim_freeze(w, world_between(w, 1, world_one_in(w, 3) ? 300 : 40) * SIM_SECOND);
	SIM_TRACE(w, "*** burstd stands still for %lld s",
		  (long long)((w->frozen_until - w->now) / SIM_SECOND));
}

/* For the judges it is as if it had not been there. */
void sim_freeze(struct world *w, int64_t ms)
{
	int64_t until = w->now + ms;

	w->frozen_until = until > w->frozen_until ? until : w->frozen_until;
	sim_ctld_trouble(w->ctld, until);
	w->delete_from = until > w->delete_from ? until : w->delete_from;
}

void sim_freeze_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->set.chance[SIM_FROZEN] = w->seed % 10 == 3 || w->set.stubborn ? 300 : 0;
	w->rng = rng;
}

void sim_freeze_start(struct world *w)
{
	if (w->set.chance[SIM_FROZEN] != 0)
		world_at(w, w->now + SIM_MINUTE, on_freeze, NULL, 0);
}

bool sim_frozen(const struct world *w)
{
	return w->now < w->frozen_until;
}

bool sim_freeze_holds(struct world *w, task_fn fn, void *ctx, uint64_t arg)
{
	if (!sim_frozen(w))
		return false;
	world_at(w, w->frozen_until, fn, ctx, arg);
	return true;
}
