/* sim_slow.c - the disk is busy for minutes (F55), so that a commit takes seconds, in the middle of
 * what burstd does.  The world goes on meanwhile: calls and replies come and wait, clocks are set,
 * and burstd may be killed before the commit is durable.  Then burstd does what it had decided
 * before. */
#include "sim_journal.h"
#include "sim_slurm.h"
#include "world.h"

enum { SOON_MS = 1500, LATE_MS = 20 * SIM_SECOND };

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_slow_choose(struct world *w)
{
	uint64_t rng = w->rng;

	w->rng = rng ^ 0x510;
	w->set.chance[SIM_DISK_SLOW] = world_one_in(w, 6) ? sim_faults[SIM_DISK_SLOW].per_mille : 0;
	w->rng = rng;
}

static void on_minute(struct world *w, void *ctx, uint64_t arg)
{
	(void)ctx;
	(void)arg;
	if (!w->faults)
		return;
	world_at(w, w->now + SIM_MINUTE, on_minute, NULL, 0);
	if (w->now < w->slow_until || !world_fault(w, SIM_DISK_SLOW))
		return;
	SIM_TRACE(w, "*** the disk is busy");
	w->slow_until = w->now + world_between(w, 10, 300) * SIM_SECOND;
}

void sim_slow_start(struct world *w)
{
	if (w->set.chance[SIM_DISK_SLOW] != 0)
		world_at(w, w->now + SIM_MINUTE, on_minute, NULL, 0);
}

void sim_slow_wait(struct world *w)
{
	int64_t ms;

	if (!w->faults || w->now >= w->slow_until || w->engine == NULL || w->crashed ||
	    world_one_in(w, 2))
		return;
	ms = world_between(w, 10, world_one_in(w, 3) ? LATE_MS : SOON_MS);
	SIM_TRACE(w, "  fault: the disk takes %lld ms", (long long)ms);
	sim_journal_met_all(w->journal, SIM_DISK_SLOW);
	sim_freeze(w, ms);
	world_stand(w);
	(void)world_alive(w);
}
