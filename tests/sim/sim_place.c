/* sim_place.c - market places: what has run out there, and what burstd has been told of it. */
#include <string.h>

#include "sim_cloud.h"
#include "world.h"

enum {
	/* As set in sim_life.c: for so long at least nothing more is bought where there was
	   nothing. */
	COOLS_MS = SIM_COOLDOWN_MS,
	CALM_MS = 9 * SIM_MINUTE, /* a quota: 15 times that, doubled to 240 */
};

static struct sim_place *place_of(struct world *w, const struct create_request *rq)
{
	struct sim_place *p = w->places;

	while (p->type[0] != '\0' &&
	       (strcmp(p->type, rq->type) != 0 || strcmp(p->region, rq->region) != 0 ||
		strcmp(p->market, rq->market) != 0))
		p++;
	if (p == &w->places[SIM_PLACES_MAX - 1]) {
		world_fail(w, "a create at a place that no pool has: %s in %s, %s", rq->type,
			   rq->region, rq->market);
		p = w->places;
	}
	memcpy(p->type, rq->type, sizeof(p->type));
	memcpy(p->region, rq->region, sizeof(p->region));
	memcpy(p->market, rq->market, sizeof(p->market));
	return p;
}

bool sim_place_is_out(struct world *w, const struct create_request *rq)
{
	return w->now < place_of(w, rq)->out_until;
}

void sim_place_runs_out(struct world *w, const struct create_request *rq)
{
	place_of(w, rq)->out_until = w->now + world_between(w, 0, 120) * SIM_SECOND;
}

/* All that wait for one place learn of it by one refused call, not each by its own. */
void sim_place_check(struct world *w, const struct create_request *rq)
{
	const struct sim_place *p = place_of(w, rq);

	if (p->told_life == w->life && w->now > p->told_at && w->now - p->told_at < COOLS_MS &&
	    w->set.chance[SIM_CLOCK_JUMP] == 0)
		world_fail(w, "F8: a create of %s (%s in %s, %s) %d ms after a refusal there",
			   rq->wants[0].node, rq->type, rq->region, rq->market,
			   (int)(w->now - p->told_at));
}

/* What was on its way when a refusal came back belongs to that one. */
void sim_place_told(struct world *w, const struct create_request *rq, int64_t sent_at)
{
	struct sim_place *p = place_of(w, rq);

	if (p->told_life == w->life && sent_at <= p->told_at)
		return;
	p->told_at = w->now;
	p->told_life = w->life;
}

int64_t sim_place_calm_at(const struct world *w)
{
	int64_t at = w->now;

	for (const struct sim_place *p = w->places; p->type[0] != '\0'; p++)
		if (p->told_at + CALM_MS > at)
			at = p->told_at + CALM_MS;
	return at;
}
