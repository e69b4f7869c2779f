/* sim_price.c - prices that move, offers that are gone for a while, and the check of the price that
 * burstd uses.
 *
 * An instance costs what its offer cost when it was bought, as far as burstd was told: limits and
 * bills go by that. */
#include <string.h>

#include "sim_cloud.h"
#include "sim_journal.h"
#include "world.h"

enum {
	LATE_MS = 30 * SIM_SECOND
}; /* from a decision to its row, with a burstd that stands still */

/* By dice of its own, so that the other worlds stay as they are without it.  Not where nodes stay
 * warm: one that was bought dear may keep a job of several out of its pool's max_rate for ever. */
void sim_price_choose(struct world *w)
{
	if (!w->set.warm && (w->seed % 9 == 2 || w->seed % 9 == 7)) {
		w->set.chance[SIM_PRICE_MOVES] = sim_faults[SIM_PRICE_MOVES].per_mille;
		w->set.chance[SIM_OFFER_GONE] = sim_faults[SIM_OFFER_GONE].per_mille;
	}
	sim_price_heal(w);
}

static const char *region_of(size_t rung)
{
	return rung == 2 ? "r2" : "r";
}

static const char *market_of(size_t rung)
{
	return rung == 1 ? "spot" : "on-demand";
}

static struct sim_price *price_at(struct world *w, const struct create_request *rq)
{
	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++)
			if (strcmp(w->set.pools[i].type, rq->type) == 0 &&
			    strcmp(region_of(k), rq->region) == 0 &&
			    strcmp(market_of(k), rq->market) == 0)
				return &w->prices[i][k];
	return NULL;
}

static void turn(struct world *w, struct sim_price *p, int64_t base)
{
	if (world_fault(w, SIM_PRICE_MOVES)) {
		p->now = base * world_between(w, 50, 300) / 100;
		world_met(w, SIM_PRICE_MOVES, "", 0);
	}
	if (w->now >= p->gone_until && world_fault(w, SIM_OFFER_GONE))
		p->gone_until = w->now + world_between(w, 10, 900) * SIM_SECOND;
}

void sim_price_heal(struct world *w)
{
	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++) {
			w->prices[i][k].now = w->set.pools[i].price;
			w->prices[i][k].gone_until = 0;
		}
}

void sim_price_list(struct world *w, struct sim_offers *out)
{
	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++) {
			struct sim_price *p = &w->prices[i][k];

			turn(w, p, w->set.pools[i].price);
			out->price[i][k] = w->now < p->gone_until ? 0 : p->now;
		}
}

bool sim_price_gone(struct world *w, const struct create_request *rq)
{
	struct sim_price *p = price_at(w, rq);

	for (size_t i = 0; p != NULL && w->now < p->gone_until && i < rq->n; i++)
		world_met(w, SIM_OFFER_GONE, rq->wants[i].node, rq->wants[i].gen);
	return p != NULL && w->now < p->gone_until;
}

void sim_price_told(struct world *w, const struct sim_offers *o, bool twin)
{
	bool any = false;

	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++)
			any = any || o->price[i][k] != 0;
	for (size_t i = 0; any && i < w->set.npools; i++) /* none at all is not believed */
		for (size_t k = 0; k < SIM_RUNGS; k++) {
			struct sim_price *p = &w->prices[i][k];

			if (twin != (w->set.twins && w->set.pools[i].ladder && k > 0))
				continue;
			p->before = p->life == w->life ? p->told : o->price[i][k];
			p->told = o->price[i][k];
			p->told_at = w->now;
			p->life = w->life;
			p->ever = p->told != 0 ? w->life + 1 : p->ever;
		}
}

static size_t rung_of(const struct node *n)
{
	return strcmp(n->offer, "spot") == 0 ? 1 : strcmp(n->offer, "away") == 0 ? 2 : 0;
}

void sim_price_row(struct world *w, const struct node *n)
{
	const struct sim_pool *sp = world_pool_of(w, n->name);
	const struct sim_price *p = &w->prices[sp - w->set.pools][rung_of(n)];

	if (n->rate_nano_h <= 0 && p->ever == w->life + 1)
		world_fail(w, "I22: the row of %s/%llu is for nothing", n->name,
			   (unsigned long long)n->gen);
	if (n->state != NODE_WANTED || n->rate_nano_h == p->told ||
	    (w->now - p->told_at < LATE_MS && n->rate_nano_h == p->before))
		return;
	world_fail(w, "I21: %s/%llu is wanted for %lld, and its offer was told to cost %lld",
		   n->name, (unsigned long long)n->gen, (long long)n->rate_nano_h,
		   (long long)p->told);
}
