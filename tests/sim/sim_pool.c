/* sim_pool.c - wrong images, paused pools, and the checks of both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"

enum { CLOSED_MS = 5 * SIM_MINUTE, CLOSED_MAX_MS = 60 * SIM_MINUTE };

bool sim_pool_is_wrong(const struct world *w, uint32_t pool)
{
	return w->now < w->pools[pool].wrong_until;
}

/* The money loop (slurm.md 2.1): machines that come up wrong are not bought again and again.  The
 * first wave of them may be bad luck; each one that was bought later makes the pause longer. */
static struct sim_rest *rest_of(struct sim_pool_state *p, const char *node)
{
	size_t i = 0;

	while (p->rests[i].node[0] != '\0' && strcmp(p->rests[i].node, node) != 0)
		i++;
	(void)snprintf(p->rests[i].node, sizeof(p->rests[i].node), "%.15s", node);
	return &p->rests[i];
}

/* One node that fails time and again is left alone for a while, and its pool is not closed. */
static void rests(struct world *w, struct sim_pool_state *p, const struct node *n)
{
	struct sim_rest *r = rest_of(p, n->name);
	int64_t ms = CLOSED_MS;

	if (r->fails > 0 && r->gen == n->gen)
		return; /* its row went, and a stale list made it anew (F14) */
	r->gen = n->gen;
	r->fails++;
	for (uint32_t i = 2; i < r->fails && ms < CLOSED_MAX_MS; i++)
		ms *= 2;
	if (r->fails == 1)
		ms = SIM_MINUTE;
	r->until = w->now + (ms < CLOSED_MAX_MS ? ms : CLOSED_MAX_MS);
}

static void failed(struct world *w, const struct node *n, int64_t born)
{
	const char *node = n->name;
	uint32_t pool = (uint32_t)(world_pool_of(w, node) - w->set.pools);
	struct sim_pool_state *p = &w->pools[pool];
	int64_t ms = CLOSED_MS;

	rests(w, p, n);
	sim_roll_failed(w, n);
	if (n->canary)
		return; /* its pool is not to blame (ADR 72) */
	if (p->waves > 0 && strcmp(p->alone, node) == 0)
		return;
	(void)snprintf(p->alone, sizeof(p->alone), "%.15s", p->waves == 0 ? node : "");
	/* It was decided before, and became durable later (F55). */
	if (p->waves > 0 && (born <= p->failed || n->wanted_ms - w->skew <= p->failed))
		return;
	p->waves++;
	p->failed = w->now;
	p->step = w->step;
	p->commits = w->commits;
	for (uint32_t i = 2; i < p->waves && ms < CLOSED_MAX_MS; i++)
		ms *= 2;
	if (p->waves > 1)
		p->closed_until = w->now + (ms < CLOSED_MAX_MS ? ms : CLOSED_MAX_MS);
	SIM_TRACE(w, "  pool %s: wave %u of useless machines", w->set.pools[pool].name,
		  (unsigned)p->waves);
}

/* burstd counts one that is to go as long as its time is not over.  Which wave the next ones belong
 * to, and so when the pool was closed, follows from that. */
void sim_pool_saw_wrong(struct world *w, const char *node)
{
	const struct sim_pool *sp = world_pool_of(w, node);
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);
	struct sim_pool_state *p = &w->pools[sp - w->set.pools];
	bool was_closed = w->now < p->closed_until;

	for (size_t k = 0; k < n; k++)
		if (strcmp(r[k].n.name, node) != 0 || !node_lives(&r[k].n))
			continue;
		else if (r[k].n.state == NODE_DRAINING)
			p->vague = true;
		else
			failed(w, &r[k].n, r[k].born);
	if (!was_closed && w->now < p->closed_until)
		p->turn = w->turn;
}

/* burstd reads a snapshot some nodes a turn, and compares it likewise, with what else is to be done
 * in between.  Only then it knows: when it has no more to do at once, or at once if one turn is
 * enough.  A slow disk makes seconds of these turns (F55). */
static bool knows_closed(const struct world *w, const struct sim_pool_state *p)
{
	return w->set.slice > SIM_NODES_MAX || w->idle_turn > p->turn;
}

/* Its instance has, or an older one, which should be gone, may be the one that registered: burstd
 * cannot know (I20). */
static bool came_up(const struct world *w, const struct node *is)
{
	const struct ctld_node *n = sim_ctld_find(w->ctld, is->name);
	const struct inst *i = n != NULL ? sim_cloud_find(w->cloud, n->inst) : NULL;
	const struct inst *own = sim_cloud_by_id(w->cloud, is->instance);

	if (own != NULL && own->worked)
		return true;
	for (size_t k = 0; k < w->cloud->nlive; k++)
		if (strcmp(w->cloud->live[k]->node, is->name) == 0 && w->cloud->live[k]->worked)
			return true;
	return i != NULL && i->worked; /* it has ended, and slurmctld does not know yet */
}

/* F10: one that stops by itself as it boots is no reclaim, or its pool would buy on for ever. */
static void check_taken(struct world *w, const struct node *next)
{
	const struct inst *i = sim_cloud_by_id(w->cloud, next->instance);

	if (next->state == NODE_DRAINING && i != NULL && i->state >= INST_STOPPING &&
	    i->reclaim_said == 0 && !i->told_of)
		world_fail(w, "F10: %s/%llu is to be taken away, and i-%u stopped by itself",
			   next->name, (unsigned long long)next->gen, (unsigned)i->number);
}

void sim_pool_row(struct world *w, const struct node *was, const struct node *next, int64_t born)
{
	const struct sim_pool *p = world_pool_of(w, next->name);

	bool stopped = next->reason == NODE_BECAUSE_STOPPED &&
		       (next->state == NODE_DELETING || next->state == NODE_GONE);

	/* It may be listed for the first time when it has stopped. */
	if (p == NULL || !(was->state == NODE_BOOTING ||
			   (stopped && node_coming(was) && was->state != NODE_WANTED)))
		return;
	check_taken(w, next);
	if (next->state == NODE_READY && came_up(w, next)) {
		struct sim_pool_state *ps = &w->pools[p - w->set.pools];

		sim_pool_forgive(w, (uint32_t)(p - w->set.pools));
		rest_of(ps, next->name)->fails = 0;
		rest_of(ps, next->name)->until = 0;
	}
	/* Who cannot reach burstd powers its machine off, and what a provider accepts and cannot
	 * make ends (F10): that is all that it can say, and a list may show it on its way. */
	if (!was->release &&
	    (next->state == NODE_DELETING
		     ? next->reason == NODE_BECAUSE_BOOT || next->reason == NODE_BECAUSE_INIT ||
			       next->reason == NODE_BECAUSE_BREACH || stopped
		     : stopped))
		failed(w, next, born);
}

void sim_pool_forgive(struct world *w, uint32_t pool)
{
	w->pools[pool].waves = 0;
	w->pools[pool].vague = false;
	w->pools[pool].closed_until = 0;
}

/* What burstd was told in its last moment may not be on the disk: it writes with one commit that a
 * node has failed, and with the next one what that means for the pool, and a commit may take
 * seconds (F55).  One that fails, and is on the disk all the same, takes one more step for each of
 * its rows. */
void sim_pool_crashed(struct world *w)
{
	sim_roll_crashed(w);
	for (uint32_t p = 0; p < w->set.npools; p++) {
		if (w->pools[p].step + 1 >= w->step || w->pools[p].failed == w->now ||
		    w->commits <= w->pools[p].commits + 1)
			sim_pool_forgive(w, p);
		memset(w->pools[p].rests, 0, sizeof(w->pools[p].rests)); /* not durable */
		w->pools[p].alone[0] = '\0';
	}
}

/* One job's nodes are tried, whole: some of them may be called for later, or have an instance of
 * before that goes first. */
static bool is_for_its_job(const struct node *tried, const struct node *n)
{
	return n->job != 0 && tried->job == n->job;
}

/* A pool that was closed opens for one purchase: nothing that was decided later goes out while that
 * may still come up. */
static void check_probe(struct world *w, const struct sim_pool *sp, const char *node)
{
	const struct sim_pool_state *p = &w->pools[sp - w->set.pools];
	const struct sim_row *r, *own = NULL;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t k = 0; k < n; k++)
		if (strcmp(r[k].n.name, node) == 0 && r[k].n.state == NODE_CREATING)
			own = &r[k];
	if (own == NULL || p->waves < 2 || p->vague || own->n.sent_ms != own->n.since_ms ||
	    own->n.wanted_ms - w->skew < p->closed_until)
		return; /* repeated, or decided before the pool was closed */
	for (size_t k = 0; k < n; k++)
		if (world_pool_of(w, r[k].n.name) == sp && node_coming(&r[k].n) &&
		    !r[k].n.release && r[k].n.wanted_ms < own->n.wanted_ms &&
		    !is_for_its_job(&r[k].n, &own->n))
			world_fail(w, "F36: create of %s, while %s is tried first", node,
				   r[k].n.name);
}

void sim_pool_check_create(struct world *w, const char *node)
{
	const struct sim_pool *sp = world_pool_of(w, node);
	const struct sim_pool_state *p;

	if (sp == NULL)
		return;
	p = &w->pools[sp - w->set.pools];
	if (p->paused)
		world_fail(w, "create of %s, whose pool an admin has paused", node);
	for (size_t i = 0; i < SIM_NODES_MAX; i++)
		if (strcmp(p->rests[i].node, node) == 0 && w->now < p->rests[i].until)
			world_fail(w, "create of %s, which has failed %u times in a row", node,
				   (unsigned)p->rests[i].fails);
	if (w->now < p->closed_until && !p->vague && knows_closed(w, p))
		world_fail(w,
			   "F36: create of %s, and %u waves of its pool's machines came up wrong",
			   node, (unsigned)p->waves);
	check_probe(w, sp, node);
}
