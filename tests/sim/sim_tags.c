/* sim_tags.c - an instance's tags, which say whose it is.  Some clouds list an instance before its
 * tags, and people change them by hand (F13).
 *
 * The cloud keeps its promise: a settle time after it was made, an instance is listed with its
 * tags.  People edit the tags only of instances that burstd knows by their id: any other would not
 * be burstd's any more, as far as it is told. */
#include "sim_cloud.h"
#include "world.h"

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_tags_choose(struct world *w)
{
	if (w->seed % 13 == 2 || w->seed % 13 == 5)
		w->set.chance[SIM_TAGS_LATE] = sim_faults[SIM_TAGS_LATE].per_mille;
	/* An older journal may not know the id, nor does the account's other name. */
	if ((w->seed % 13 == 2 || w->seed % 13 == 7) && w->set.chance[SIM_RESTORED] == 0 &&
	    !w->set.twins)
		w->set.chance[SIM_TAGS_EDITED] = sim_faults[SIM_TAGS_EDITED].per_mille;
}

void sim_tags_born(struct world *w, struct inst *i)
{
	if (world_fault(w, SIM_TAGS_LATE))
		i->tags_at = w->now + world_between(w, 0, w->set.settle_ms);
}

void sim_tags_turn(struct world *w, struct inst *i)
{
	if (w->now < i->tags_at)
		world_met(w, SIM_TAGS_LATE, i->node, i->gen);
	if (i->pool == SIM_POOLS_MAX || !inst_live(i))
		return;
	if (i->edit == EDIT_NONE && i->known && !i->unknown && !i->lied &&
	    world_fault(w, SIM_TAGS_EDITED))
		i->edit = (enum sim_edit)world_between(w, EDIT_NONE + 1, EDITS - 1);
	if (i->edit != EDIT_NONE)
		world_met(w, SIM_TAGS_EDITED, i->node, i->gen);
}

/* Another of its pool. */
static uint32_t other_node(const struct world *w, const struct inst *i)
{
	uint32_t n = w->set.pools[i->pool].nnodes, own = (uint32_t)(i->node[1] - '0');

	return own % n + 1;
}

void sim_tags_show(const struct world *w, struct str *out, const struct inst *i)
{
	enum sim_edit edit = inst_live(i) ? i->edit : EDIT_NONE;
	uint64_t gen = edit == EDIT_GEN ? i->gen / 2 + i->number % 3 : i->gen;

	if (w->now < i->tags_at)
		return;
	if (edit == EDIT_OTHER_CLUSTER)
		str_adds(out, "\"cluster\":\"some-other-cluster\",");
	else if (edit != EDIT_NO_CLUSTER)
		str_addf(out, "\"cluster\":\"%s\",", i->cluster);
	if (edit == EDIT_NO_NAME)
		return;
	if (edit == EDIT_NAME)
		str_addf(out, "\"name\":\"%c%u\",", i->node[0], (unsigned)other_node(w, i));
	else
		str_addf(out, "\"name\":\"%s\",", i->node);
	str_addf(out, "\"generation\":%llu,", (unsigned long long)gen);
}
