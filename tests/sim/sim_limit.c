/* sim_limit.c - the provider's rate limits (F7): a token bucket for each kind of request, or one
 * for all, as EC2 and others document them; and the check of which requests wait for that.
 *
 * They are no fault: they go on when the faults have ended, and all must converge. */
#include <stdio.h>

#include "core/node.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "world.h"

enum {
	GAP_MIN_MS = 200,
	GAP_MAX_MS = 1000,
	BURST_MAX = 4,
	/* A delete that no other delete holds up is on the wire by then (P1): one other request
	 * goes before it, and both go at LIMIT_LEAST or faster. */
	DELETE_MS = 4 * SIM_SECOND,
	/* Likewise where the provider limits no requests.  Where it throttles some all the same,
	 * as if by chance, burstd learns a pace from that, and keeps it for a while. */
	DELETE_FREE_MS = 2 * SIM_SECOND,
	LEARNED_MS = 600 * SIM_SECOND,
	/* Likewise where all kinds share one token a second: since requests arrive unevenly, burstd
	 * goes at LIMIT_LEAST (ADR 39), and one more is throttled on the way. */
	DELETE_LEARNED_MS = 5 * SIM_SECOND,
	/* More where a machine has failed as it booted: its console log is fetched first. */
	DELETE_CONSOLE_MS = 5 * SIM_SECOND,
	BACK_OFF_MS = 30 * SIM_SECOND, /* burstd's own, at most, where nothing is said */
	SLOTS_FEW = 3,                 /* with so many deletes have none for themselves */
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
	s->slow = s->some && world_one_in(w, 2);
	if (s->slow) { /* so that creates could have all slots */
		w->set.concurrency = (uint32_t)world_between(w, 4, 5);
		w->set.create_max = 1;
		w->set.single = true;
		w->set.gangs = w->set.fabric = w->set.units = false;
		w->set.token_ms = 24 * 60 * SIM_MINUTE;
	}
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

/* --- who waits for burstd ----------------------------------------------------------------------
 */

void sim_limit_delete_sent(struct world *w)
{
	w->deletes_out++;
}

/* retry_s: throttled, and not to be sent again for so long; 0: nothing was said of that. */
void sim_limit_delete_back(struct world *w, bool throttled, unsigned retry_s)
{
	int64_t until = w->now;

	if (throttled)
		until += retry_s > 0 ? (int64_t)retry_s * SIM_SECOND : (int64_t)BACK_OFF_MS;
	w->deletes_out--;
	w->delete_from = until > w->delete_from ? until : w->delete_from;
}

/* Since when it could be sent; INT64_MAX: not yet, or it was.  What was wanted in an earlier life
 * may have to wait for slurmctld, and what is reported as broken for that. */
static int64_t due_since(const struct world *w, const struct node *n)
{
	const struct inst *i = sim_cloud_by_id(w->cloud, n->instance);
	int64_t since = (n->wake_ms > n->since_ms ? n->wake_ms : n->since_ms) - w->skew;

	if (n->state != NODE_DELETING || i == NULL || i->asked ||
	    n->reason == NODE_BECAUSE_FAULTY || n->wanted_ms - w->skew <= w->life_began)
		return INT64_MAX;
	if (n->reason == NODE_BECAUSE_BOOT || n->reason == NODE_BECAUSE_INIT ||
	    n->reason == NODE_BECAUSE_STOPPED)
		since += DELETE_CONSOLE_MS;
	return since;
}

void sim_limit_check(struct world *w)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);
	const struct sim_limits *s = &w->set.limits;
	bool learned = w->throttled_at != 0 && w->now - w->throttled_at < LEARNED_MS;
	bool is_free = !s->some && !learned;
	int64_t late = is_free ? DELETE_FREE_MS : s->one ? DELETE_LEARNED_MS : DELETE_MS;

	if (w->engine == NULL || w->crashed || sim_frozen(w) || w->deletes_out > 0 || w->set.twins)
		return;
	if (w->set.concurrency <= SLOTS_FEW)
		late += 5 * w->set.timeout_ms; /* lists and others may be lost before it */
	for (size_t k = 0; k < n; k++) {
		int64_t since = due_since(w, &r[k].n);

		since = since < w->delete_from ? w->delete_from : since;
		if (since < w->now - late)
			world_fail(w,
				   "P1: %s is to be deleted, and no delete has gone out for %lld s",
				   r[k].n.name, (long long)((w->now - since) / SIM_SECOND));
	}
}
