/* What the provider lets through (F7): a token bucket for each kind of request, or one for all, as
 * those that EC2 and others document; and the judge of who waits for that here.
 *
 * Nothing of it is a fault: it goes on when the faults have ended, and all must converge. */
#include <stdio.h>

#include "core/node.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "world.h"

enum {
	GAP_MIN_MS = 200,
	GAP_MAX_MS = 1000,
	BURST_MAX = 4,
	/* A delete that nothing of its own kind holds up is on the wire by then (P1): each of the
	 * other kinds has a request a second before it, at most. */
	DELETE_MS = 12 * SIM_SECOND,
};

/* By dice of its own, so that the other worlds stay as they are without it. */
void sim_limit_choose(struct world *w)
{
	struct sim_limits *s = &w->set.limits;
	uint64_t rng = w->rng;

	s->some = w->seed % 5 == 2;
	s->one = s->some && world_one_in(w, 3);
	for (int k = 0; k < SIM_LIMITS && s->some; k++) {
		s->gap_ms[k] = s->one ? GAP_MAX_MS : world_between(w, GAP_MIN_MS, GAP_MAX_MS);
		s->size[k] = s->one ? 1 : (int64_t)world_between(w, 1, BURST_MAX);
		s->tells[k] = world_one_in(w, 2);
	}
	if (s->some) /* a list is many requests then, and the wire is not what slows them down */
		w->set.page = 1 + world_below(w, 2);
	if (s->one && world_one_in(w, 2))
		w->set.rate = 1; /* as its admin knows */
	w->rng = rng;
}

/* How long the next one has to wait; 0: it may go, and has its token. */
static int64_t take(int64_t *full_at, int64_t now, int64_t gap, int64_t size)
{
	int64_t from = *full_at > now ? *full_at : now;

	if (from - now > (size - 1) * gap)
		return from - now - (size - 1) * gap;
	*full_at = from + gap;
	return 0;
}

bool sim_limit_refuses(struct world *w, enum sim_limit_kind kind, unsigned *retry_s)
{
	const struct sim_limits *s = &w->set.limits;
	int k = s->one ? 0 : (int)kind;
	int64_t wait;

	*retry_s = 0;
	if (!s->some)
		return false;
	wait = take(&w->limited_at[k], w->now, s->gap_ms[k], s->size[k]);
	if (wait > 0 && s->tells[k])
		*retry_s = (unsigned)((wait + SIM_SECOND - 1) / SIM_SECOND);
	return wait > 0;
}
