/* sim_token.c - a machine with the token for its keys in its user-data: it fetches them from the
 * store, which does not ask which machine it is.  And a thief, who reads that user-data and is
 * first. */
#include <inttypes.h>

#include "base/mem.h"
#include "sim_boot.h"

enum {
	PATIENCE_MS = 5 * SIM_MINUTE, /* of node-init, with a store that does not answer */
	STEAL_TRIES = 4,
};

/* --- the machine ------------------------------------------------------------------------------ */

static void on_slurmd(struct world *w, void *ctx, uint64_t arg)
{
	struct inst *i = ctx;

	(void)arg;
	if (sim_machine_runs(i))
		sim_cloud_slurmd(w, i);
}

static void on_steps(struct world *w, void *ctx, uint64_t ms)
{
	struct inst *i = ctx;

	if (!sim_machine_runs(i))
		return;
	if (world_fault(w, SIM_STEP_FAILS)) {
		w->totals->met[SIM_STEP_FAILS][NODE_NSTATES]++;
		sim_machine_off(w, i, "a step failed");
		return;
	}
	world_at(w, w->now + (int64_t)ms, on_slurmd, i, 0);
}

static void on_open(struct world *w, void *ctx, uint64_t ms)
{
	struct inst *i = ctx;
	int64_t version;

	if (!sim_machine_runs(i))
		return;
	version = sim_store_unwrap(w, i->machine->token, i->number);
	if (version < 0)
		sim_machine_off(w, i, "its token opens nothing");
	else if (version == 0 && w->now >= i->machine->until)
		sim_machine_off(w, i, "the store is silent");
	else if (version == 0)
		world_at(w, w->now + 5 * SIM_SECOND, on_open, i, ms);
	else
		world_at(w, w->now + world_between(w, 500, 4000), on_steps, i, ms);
}

void sim_token_boots(struct world *w, struct inst *i, int64_t ms)
{
	struct sim_machine *m = mem_zalloc(sizeof(*m));

	i->machine = m;
	m->token = i->wrap_token;
	m->until = w->now + PATIENCE_MS;
	world_at(w, w->now + ms / 2, on_open, i, (uint64_t)ms / 2);
}

/* --- the thief -------------------------------------------------------------------------------- */

static void on_steal(struct world *w, void *ctx, uint64_t tries)
{
	struct inst *i = ctx;
	int64_t version = sim_store_unwrap(w, i->wrap_token, 0);

	SIM_TRACE(w, "  a thief with the token of %s/%" PRIu64 " (i-%u): %s", i->node, i->gen,
		  (unsigned)i->number,
		  version > 0    ? "has the keys"
		  : version == 0 ? "no answer"
				 : "too late");
	if (version == 0 && tries < STEAL_TRIES)
		world_at(w, w->now + world_between(w, 1, 8) * SIM_SECOND, on_steal, i, tries + 1);
}

void sim_token_is_read(struct world *w, struct inst *i)
{
	if (!world_fault(w, SIM_THIEF))
		return;
	w->totals->met[SIM_THIEF][NODE_NSTATES]++;
	world_at(w, w->now + world_between(w, 0, world_one_in(w, 2) ? 10 : 120) * SIM_SECOND,
		 on_steal, i, 0);
}
