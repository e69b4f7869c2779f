/* sim_notice.c - notices that a machine will be taken away: true ones, twice, late and out of order
 * (F41), and false ones. */
#include <stdio.h>

#include "core/reclaim.h"
#include "jobs/jobs_api.h"
#include "sim_boot.h"

static void deliver(struct world *w, struct inst *i, enum provider_notice_kind kind, int64_t at_ms)
{
	struct engine_notice n = {.kind = kind, .at_ms = at_ms, .reason = "", .by = "root"};
	struct engine_notice_end end;
	char id[24];

	if (w->engine == NULL || w->crashed || sim_frozen(w))
		return;
	(void)snprintf(id, sizeof(id), "i-%u", (unsigned)i->number);
	n.instance = id;
	SIM_TRACE(w, "notice: %s (%s/%llu), %s", id, i->node, (unsigned long long)i->gen,
		  reclaim_kind_str(kind));
	(void)engine_take_notices(w->engine, &n, 1, &end, NULL);
}

static void on_notice(struct world *w, void *ctx, uint64_t at_ms)
{
	struct inst *i = ctx;

	if (w->faults)
		world_met(w, SIM_NOTICE, i->node, i->gen);
	deliver(w, i, PROVIDER_NOTICE_RECLAIM, at_ms != 0 ? (int64_t)at_ms + w->skew : 0);
}

void sim_notice_reclaim(struct world *w, struct inst *i)
{
	int64_t at = w->now;

	if (w->set.bootstrap)
		sim_machine_notice(w, i);
	if (!world_fault(w, SIM_NOTICE))
		return;
	for (uint32_t n = 1 + world_below(w, 3); n > 0; n--) {
		int64_t said = i->reclaim_at + world_between(w, -5, 5) * SIM_SECOND;

		world_at(w, at, on_notice, i, world_one_in(w, 5) ? 0 : (uint64_t)said);
		at += world_between(w, 0, 10) * SIM_SECOND;
	}
}

/* About any instance that there ever was; what lives may be given up for it, whatever it does. */
void sim_notice_false(struct world *w)
{
	struct inst *i = sim_cloud_find(w->cloud, 1 + world_below(w, (uint32_t)w->cloud->n));
	int64_t in = world_between(w, -10, 900) * SIM_SECOND;

	if (i->pool == SIM_POOLS_MAX)
		return;
	world_met(w, SIM_FALSE_NOTICE, i->node, i->gen);
	i->excused = i->told_of = true;
	deliver(w, i, (enum provider_notice_kind)world_below(w, PROVIDER_NNOTICES),
		world_one_in(w, 3) ? 0 : w->now + w->skew + in);
}
