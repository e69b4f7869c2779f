/* sim_stock.c - the provider's stock: a place holds so many machines, and the account may have so
 * many of a type there.  A machine that ends gives back what it held, after a while.
 *
 * So the provider refuses by its stock, not by dice: a create that is repeated too soon is refused
 * again. */
#include <string.h>

#include "sim_cloud.h"
#include "world.h"

enum { BACK_MAX_S = 90 };

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_stock_choose(struct world *w)
{
	if (w->seed % 11 == 4 || w->seed % 11 == 7)
		w->set.chance[SIM_FULL] = w->set.chance[SIM_NO_QUOTA] = 1000;
}

/* As much as the pool may need, or less. */
static void fill(struct world *w, struct sim_place *p)
{
	uint32_t most = SIM_NODES_DICE;

	for (size_t i = 0; i < w->set.npools; i++)
		if (strcmp(w->set.pools[i].type, p->type) == 0)
			most = w->set.pools[i].nnodes;
	p->capacity = 1 + world_below(w, most + 1);
	p->quota = 1 + world_below(w, most + 1);
}

static uint32_t held(const struct world *w, const struct sim_place *p)
{
	uint32_t n = 0;

	for (size_t k = 0; k < w->cloud->n; k++) {
		const struct inst *i = w->cloud->all[k];

		n += i->place == p && (inst_live(i) || w->now < i->free_at);
	}
	return n;
}

static uint32_t less(uint32_t most, uint32_t n)
{
	return n < most ? most - n : 0;
}

/* For a drill: of a type, wherever they are. */
static uint32_t left_of_type(const struct world *w, const struct sim_place *p)
{
	uint32_t n = 0;

	for (size_t k = 0; k < w->cloud->nlive; k++) {
		const struct inst *i = w->cloud->live[k];

		n += i->place != NULL && strcmp(i->place->type, p->type) == 0;
	}
	return less(w->cloud->most, n);
}

uint32_t sim_stock_left(struct world *w, const struct create_request *rq, const char **why)
{
	struct sim_place *p = sim_place_of(w, rq);
	uint32_t n;

	*why = "capacity";
	if (w->cloud->most > 0) {
		*why = w->cloud->most_why;
		return left_of_type(w, p);
	}
	if (!w->faults || w->set.chance[SIM_FULL] == 0)
		return UINT32_MAX;
	if (p->capacity == 0)
		fill(w, p);
	n = held(w, p);
	if (p->quota < p->capacity)
		*why = "quota";
	return less(p->quota < p->capacity ? p->quota : p->capacity, n);
}

const char *sim_stock_refuse(struct world *w, const struct create_request *rq, bool *refused)
{
	const char *why, *said = NULL;
	uint32_t left = sim_stock_left(w, rq, &why);
	enum sim_fault f = why[0] == 'q' ? SIM_NO_QUOTA : SIM_FULL;

	for (size_t i = 0; i < rq->n; i++) {
		if (refused[i])
			continue;
		if (left > 0) {
			left--;
			continue;
		}
		refused[i] = true;
		said = why;
		world_met(w, f, rq->wants[i].node, rq->wants[i].gen);
	}
	return said;
}

void sim_stock_sold(struct world *w, const struct create_request *rq, struct inst *i)
{
	i->place = sim_place_of(w, rq);
}

void sim_stock_back(struct world *w, struct inst *i)
{
	if (w->set.chance[SIM_FULL] != 0)
		i->free_at = w->now + world_between(w, 0, BACK_MAX_S) * SIM_SECOND;
}
