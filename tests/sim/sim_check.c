/* sim_check.c - checks the invariants on the provider's own table, the durable rows and slurmctld's
 * nodes, never on burstd's opinion. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buy/buy_api.h"
#include "sim_alert.h"
#include "sim_boot.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_money.h"
#include "sim_rotate.h"
#include "sim_slurm.h"
#include "world.h"

static bool ours(const struct inst *i)
{
	return i->pool != SIM_POOLS_MAX;
}

/* Burstd could not know of it when it was made. */
static bool stray(const struct inst *i)
{
	return i->lied || i->unknown;
}

static const struct inst *instance_of(const struct world *w, const struct node *n)
{
	return strncmp(n->instance, "i-", 2) == 0
		       ? sim_cloud_find(w->cloud, (uint32_t)strtoul(n->instance + 2, NULL, 10))
		       : NULL;
}

static const struct sim_row *row_of(const struct world *w, const struct inst *i)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t k = 0; k < n; k++)
		if (instance_of(w, &r[k].n) == i)
			return &r[k];
	return NULL;
}

/* I3, P2: one live instance of a node, not counting older generations whose delete was accepted. */
static void check_twins(struct world *w, const struct inst *a, const struct inst *b)
{
	const struct inst *older = a->gen < b->gen ? a : b;

	if (!ours(a) || !ours(b) || stray(a) || stray(b) || strcmp(a->node, b->node) != 0)
		return;
	if (a->gen == b->gen)
		world_fail(w, "I3: two live instances of %s/%" PRIu64 ": i-%u and i-%u", a->node,
			   a->gen, (unsigned)a->number, (unsigned)b->number);
	else if (!older->accepted)
		world_fail(w,
			   "P2: two live instances of %s: i-%u (%" PRIu64 ") and i-%u (%" PRIu64
			   ")",
			   a->node, (unsigned)a->number, a->gen, (unsigned)b->number, b->gen);
}

/* I9: what lives has a row that says so. */
static void check_row(struct world *w, const struct inst *i)
{
	const struct sim_row *r;

	if (!ours(i) || (stray(i) && !i->known))
		return;
	r = i->known ? row_of(w, i) : sim_journal_row(w->journal, i->node, i->gen);
	if (r == NULL || r->n.state == NODE_GONE)
		world_fail(w, "I9: i-%u of %s/%" PRIu64 " lives and its row is %s",
			   (unsigned)i->number, i->node, i->gen, r == NULL ? "not there" : "gone");
}

/* F47: ... and if a snapshot of after it was wanted said so. */
static void check_told_down(struct world *w, const struct node *n)
{
	const struct sim_ctld *c = w->ctld;

	for (size_t k = 0; k < c->n && w->told; k++) {
		const struct ctld_node *t = &c->told[k];

		if (strcmp(t->name, n->name) != 0 || t->deleted || c->nodes[k].deleted)
			continue;
		if (!t->powered_down && !t->powering_down)
			world_fail(w,
				   "F47: %s/%" PRIu64 " is released as suspended, and burstd was "
				   "told that it is up",
				   n->name, n->gen);
		else if (w->set.chance[SIM_CLOCK_JUMP] == 0 && c->told_at < n->wanted_ms)
			world_fail(w,
				   "F47: %s/%" PRIu64 " is released as suspended by a snapshot "
				   "of before it was wanted",
				   n->name, n->gen);
	}
}

/* One that was to be taken is recorded as taken, though slurmctld powers it down (F41). */
static bool is_suspended(const struct node *was, const struct node *next)
{
	return next->reason == NODE_BECAUSE_SUSPENDED ||
	       (was->state == NODE_DRAINING &&
		(next->reason == NODE_BECAUSE_RECLAIMED ||
		 next->reason == NODE_BECAUSE_MAINTENANCE || next->reason == NODE_BECAUSE_FAULTY));
}

/* I18: a node is given up as suspended only if slurmctld has had it down since it was bought: what
 * it said before that is no answer. */
void check_release(struct world *w, const struct node *was, const struct node *next, int64_t born)
{
	if (was->release || !next->release)
		return;
	w->crashed = w->crashed || w->gives_up;
	/* At its deadline a node is given up by a snapshot of after it (F48). */
	if (next->reason != NODE_BECAUSE_BOOT || w->now + w->skew < was->wake_ms ||
	    w->ctld->told_at + w->skew >= was->wake_ms)
		sim_ctld_given_up(w->ctld, next->name);
	if (!is_suspended(was, next))
		return;
	check_told_down(w, next);
	if (!sim_ctld_unwanted_since(w->ctld, next->name, born))
		world_fail(w,
			   "I18: %s/%" PRIu64 " is released as suspended, and slurmctld has wanted "
			   "it ever since it was bought",
			   next->name, next->gen);
}

/* --- F53 -------------------------------------------------------------------------------------- */

static bool has_node(const struct ctld_job *j, uint32_t node)
{
	if (j->state != JOB_CONFIGURING && j->state != JOB_RUNNING)
		return false;
	for (uint32_t i = 0; i < j->n; i++)
		if (j->nodes[i] == node)
			return true;
	return false;
}

/* A node that boots is sent back only if all that burstd was told says that nobody needs it: the
 * last snapshot, and the list of all jobs that came before it.  One that nothing was bought for may
 * go though a job waits: it would have to be bought for that one anyway. */
void check_cancelled(struct world *w, const char *node)
{
	const struct sim_row *r = sim_journal_row(w->journal, node, 0);
	bool empty = r == NULL || !node_lives(&r->n);
	struct sim_ctld *c = w->ctld;
	uint32_t k = 0;

	while (k < c->n && strcmp(c->nodes[k].name, node) != 0)
		k++;
	if (k == c->n || c->told[k].job != 0 || !c->told[k].powering_up) {
		world_fail(w, "F53: %s is sent back, and did not boot idle", node);
		return;
	}
	/* What was bought before was for a job, and nobody told burstd of the second resume. */
	if (c->told[k].booted == 0 && (r == NULL || r->born >= c->told[k].boot_req))
		world_fail(w, "F53: %s is sent back, and was resumed for no job", node);
	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct ctld_job *j = &c->told_jobs[i];

		if (has_node(j, k) && c->told_jobs_at > c->told_at)
			world_fail(w, "F53: %s is sent back, and job %u has it", node,
				   (unsigned)j->id);
		else if (!empty && j->state == JOB_PENDING && !j->held &&
			 j->begin_at <= c->told_jobs_at && sim_ctld_fits(&c->nodes[k], j))
			world_fail(w, "F53: %s is sent back, and job %u waits for one", node,
				   (unsigned)j->id);
		else if (j->state != JOB_FREE && j->state != JOB_FAILED && r != NULL &&
			 node_lives(&r->n) && r->n.job == j->id)
			world_fail(w,
				   "F53: %s is sent back, and job %u, for which it was bought, "
				   "is not over",
				   node, (unsigned)j->id);
	}
	c->nodes[k].useless = true;
}

/* --- F51 --------------------------------------------------------------------------------------
 */

bool check_given_up(const struct world *w, const struct inst *i)
{
	const struct sim_row *r = sim_journal_row(w->journal, i->node, i->gen);

	return r != NULL && r->n.release && r->n.state == NODE_DELETING &&
	       r->n.reason != NODE_BECAUSE_SUSPENDED;
}

void check_powered_down(struct world *w, const char *node)
{
	for (size_t k = 0; k < w->ctld->n; k++) {
		const struct ctld_node *n = &w->ctld->told[k];
		const struct inst *i = sim_cloud_find(w->cloud, n->inst);

		if (strcmp(n->name, node) != 0 || n->by != BY_ADMIN || n->invalid)
			continue;
		/* It was given up before it came up: its create's answer was lost. */
		if (i != NULL && check_given_up(w, i))
			continue;
		/* Set down before burstd has seen it up, as far as its journal goes, it is one that
		 * did not come up. */
		if (w->ctld->nodes[k].seen_up != n->inst || w->cloud->restored_at != 0)
			continue;
		if (i != NULL && i->state == INST_RUNNING && !i->excused && !i->lied &&
		    (!i->unknown || i->known))
			world_fail(w,
				   "F51: %s is to be powered down, which an admin has in hand: %s",
				   node, n->reason);
	}
}

/* I18: a node is refused to those who wait for it, never to those who work on it. */
void check_refused(struct world *w, const char *node)
{
	const struct sim_ctld *c = w->ctld;

	for (size_t k = 0; k < c->n; k++) {
		const struct inst *in = sim_cloud_find(w->cloud, c->nodes[k].inst);

		if (strcmp(c->nodes[k].name, node) != 0 || in == NULL || !inst_live(in) ||
		    in->excused || in->lied || (in->unknown && !in->known))
			continue;
		for (size_t i = 0; i < JOBS_MAX; i++)
			if (c->told_run[i].state == JOB_RUNNING &&
			    has_node(&c->told_run[i], (uint32_t)k))
				world_fail(w, "I18: %s is refused, and job %u runs on it", node,
					   (unsigned)c->told_run[i].id);
	}
	sim_fate_refused(w->ctld, node);
}

/* --- limits ----------------------------------------------------------------------------------- */

struct sum {
	uint32_t nodes;
	int64_t rate;
};

static void check_limit(struct world *w, const char *of, const struct sim_pool *p, struct sum s)
{
	if (s.nodes > p->max_nodes)
		world_fail(w, "I21: %u nodes in pool %s by %s, and %u are allowed",
			   (unsigned)s.nodes, p->name, of, (unsigned)p->max_nodes);
	if (s.rate > p->max_rate)
		world_fail(w, "I21: pool %s spends more per hour by %s than is allowed", p->name,
			   of);
}

static void check_limits(struct world *w)
{
	struct sum live[SIM_POOLS_MAX] = {{0}}, rows[SIM_POOLS_MAX] = {{0}};
	const struct sim_row *r, *row;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t k = 0; k < w->cloud->nlive; k++) {
		const struct inst *i = w->cloud->live[k];

		if (!ours(i) || stray(i))
			continue;
		live[i->pool].nodes++;
		row = sim_journal_row(w->journal, i->node, i->gen);
		live[i->pool].rate += row != NULL ? row->n.rate_nano_h : 0;
	}
	for (size_t k = 0; k < n; k++) {
		const struct inst *i = instance_of(w, &r[k].n);
		const struct sim_pool *p = world_pool_of(w, r[k].n.name);

		if (r[k].n.state == NODE_GONE || p == NULL ||
		    (i != NULL && (stray(i) || i->revived)))
			continue;
		rows[p - w->set.pools].nodes++;
		rows[p - w->set.pools].rate += r[k].n.rate_nano_h;
	}
	for (size_t p = 0; p < w->set.npools; p++) {
		check_limit(w, "the provider's count", &w->set.pools[p], live[p]);
		check_limit(w, "the journal", &w->set.pools[p], rows[p]);
	}
}

void check_step(struct world *w)
{
	const struct sim_cloud *c = w->cloud;

	for (size_t a = 0; a < c->nlive; a++) {
		check_row(w, c->live[a]);
		for (size_t b = a + 1; b < c->nlive; b++)
			check_twins(w, c->live[a], c->live[b]);
	}
	check_limits(w);
	sim_limit_check(w);
	sim_fabric_check_units(w->cloud);
	sim_topology_check(w);
}

/* --- I24 -------------------------------------------------------------------------------------- */

static const struct inst *only_instance(const struct world *w, const char *node, unsigned *n)
{
	const struct inst *found = NULL;

	*n = 0;
	for (size_t k = 0; k < w->cloud->nlive; k++)
		if (ours(w->cloud->live[k]) && strcmp(w->cloud->live[k]->node, node) == 0) {
			found = w->cloud->live[k];
			++*n;
		}
	return found;
}

static bool sleeping(const struct world *w, const struct ctld_node *n, char *why, size_t size)
{
	unsigned instances;

	(void)only_instance(w, n->name, &instances);
	if (instances != 0) {
		(void)snprintf(why, size, "%s is powered down and has an instance", n->name);
		return false;
	}
	if (!n->deleted && strcmp(n->addr, n->name) != 0) {
		(void)snprintf(why, size, "%s is powered down and still at %s", n->name, n->addr);
		return false;
	}
	return true;
}

static bool awake(const struct world *w, const struct ctld_node *n, char *why, size_t size)
{
	unsigned instances;
	const struct inst *i = only_instance(w, n->name, &instances);
	const struct sim_row *r = i != NULL ? row_of(w, i) : NULL;

	if (i == NULL || instances != 1 || n->inst != i->number)
		(void)snprintf(why, size, "%s is up and has %u instances", n->name, instances);
	else if (r == NULL || r->n.state != NODE_READY)
		(void)snprintf(why, size, "%s is up and its row is %s", n->name,
			       r != NULL ? node_state_str(r->n.state) : "not there");
	else if (strcmp(n->addr, i->addr) != 0)
		(void)snprintf(why, size, "%s is up and at %s, not %s", n->name, n->addr, i->addr);
	else
		return true;
	return false;
}

static bool node_settled(const struct world *w, const struct ctld_node *n, char *why, size_t size)
{
	if (n->pool == SIM_POOLS_MAX)
		return true;
	if (n->job != 0 && n->drain && n->power_down && !n->down && !n->powering_up)
		return awake(w, n, why, size); /* drained by order: its job runs on */
	if (n->powering_up || n->powering_down || n->power_down || n->down || n->completing ||
	    n->not_responding || n->drain || n->reboot || n->dead_at != 0) {
		(void)snprintf(why, size, "%s is still moving%s%s%s", n->name,
			       n->powering_up ? ", powering up" : "",
			       n->down    ? ", down"
			       : n->drain ? ", drained"
					  : "",
			       n->power_down ? ", to be powered down" : "");
		return false;
	}
	return n->powered_down ? sleeping(w, n, why, size) : awake(w, n, why, size);
}

/* I22, P6: what has lived has a bill. */
static bool all_billed(const struct world *w, char *why, size_t size)
{
	char id[24];

	for (size_t k = 0; k < w->cloud->n; k++) {
		const struct inst *i = w->cloud->all[k];

		(void)snprintf(id, sizeof(id), "i-%u", (unsigned)i->number);
		if (!ours(i) || stray(i) || inst_live(i) || w->set.chance[SIM_RESTORED] != 0 ||
		    !i->had_row || sim_bills_have(sim_journal_bills(w->journal), id))
			continue;
		(void)snprintf(why, size, "%s has ended and has no bill (I22)", id);
		return false;
	}
	return true;
}

/* I16: of each job that lost a node it is known what became of it. */
static bool none_followed(const struct world *w, char *why, size_t size)
{
	const struct sim_opinions *o = sim_journal_opinions(w->journal);
	const struct journal_rescue *r = o->nrescues > 0 ? &o->rescues[0] : NULL;

	if (r != NULL)
		(void)snprintf(why, size, "job %s, which lost %s, is still followed (I16)", r->id,
			       r->node);
	return r == NULL;
}

/* As many nodes are up without a job as a pool keeps warm, as far as its limits go; and, where
 * nothing is kept for being paid, no more; but a count in slurm.conf is slurmctld's to keep. */
static bool warm_settled(const struct world *w, size_t pool, char *why, size_t size)
{
	const struct sim_pool *p = &w->set.pools[pool];
	uint32_t up = 0, busy = 0, names = 0;
	int64_t want = p->max_rate / p->price;

	for (size_t i = 0; i < w->ctld->n; i++) {
		const struct ctld_node *n = &w->ctld->nodes[i];

		if (n->pool != pool)
			continue;
		names += !n->deleted;
		up += !n->powered_down;
		busy += n->job != 0;
	}
	want = want < p->warm ? want : p->warm;
	want = want < names ? want : names;
	if (up >= want && (up <= (w->set.fixed ? p->warm : want) || busy > 0 || p->quantum_ms > 0))
		return true;
	(void)snprintf(why, size, "pool %s has %u nodes up, %u of them with jobs, and keeps %u",
		       p->name, (unsigned)up, (unsigned)busy, (unsigned)want);
	return false;
}

/* May it start?  Not while others are at work on what was bought when it was dearer, and what is
 * left of max_rate is not enough for it. */
static bool has_room(struct world *w, const struct ctld_job *j)
{
	const struct sim_pool *p;
	const struct sim_row *r;
	int64_t rate = 0;

	if (w->set.chance[SIM_PRICE_MOVES] == 0 || j->pool == JOB_ANY_POOL)
		return true;
	p = &w->set.pools[j->pool];
	for (struct ctld_job *k = sim_het_next(w->ctld, j, NULL); k != NULL;
	     k = sim_het_next(w->ctld, j, k))
		if (k->state == JOB_PENDING && k->pool == j->pool)
			rate += (int64_t)k->n * p->price;
	for (size_t i = 0; i < w->ctld->n; i++) {
		const struct ctld_node *n = &w->ctld->nodes[i];

		r = n->pool == j->pool && n->job != 0 ? sim_journal_row(w->journal, n->name, 0)
						      : NULL;
		rate += r != NULL && r->n.state != NODE_GONE ? r->n.rate_nano_h : 0;
	}
	return rate <= p->max_rate;
}

/* ... and all that start with it? */
static bool may_have_room(struct world *w, const struct ctld_job *j)
{
	for (struct ctld_job *k = sim_het_next(w->ctld, j, NULL); k != NULL;
	     k = sim_het_next(w->ctld, j, k))
		if (k->state == JOB_PENDING && !has_room(w, k))
			return false;
	return true;
}

bool check_converged(struct world *w, char *why, size_t size)
{
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);
	bool idle = true; /* nothing lives, nothing runs up a bill */

	for (size_t k = 0; k < n; k++)
		idle = idle && r[k].n.state == NODE_GONE;
	if (w->engine == NULL) {
		(void)snprintf(why, size, "burstd is down");
		return false;
	}
	if (sim_frozen(w)) {
		(void)snprintf(why, size, "burstd stands still");
		return false;
	}
	if (sim_gate_waits(w->ctld, 0)) {
		(void)snprintf(why, size, "a prolog still waits");
		return false;
	}
	for (size_t i = 0; i < JOBS_MAX; i++)
		if ((w->ctld->jobs[i].state == JOB_PENDING &&
		     may_have_room(w, &w->ctld->jobs[i])) ||
		    w->ctld->jobs[i].state == JOB_CONFIGURING) {
			(void)snprintf(why, size, "job %u still waits for its %u nodes",
				       (unsigned)w->ctld->jobs[i].id, (unsigned)w->ctld->jobs[i].n);
			return false;
		}
	if (!sim_het_settled(w->ctld, why, size) || !sim_dynamic_settled(w, why, size) ||
	    !sim_topology_settled(w, why, size) || !sim_roll_settled(w, why, size))
		return false;
	for (size_t i = 0; i < w->ctld->n; i++)
		if (!node_settled(w, &w->ctld->nodes[i], why, size))
			return false;
	for (size_t p = 0; w->set.warm && p < w->set.npools; p++)
		if (!warm_settled(w, p, why, size))
			return false;
	for (uint32_t p = 0; idle && !sim_journal_billed_twice(w->journal) && p < w->set.npools;
	     p++)
		if (engine_spent(w->engine, p) !=
		    sim_bills_of_pool(sim_journal_bills(w->journal), p)) {
			(void)snprintf(why, size,
				       "pool %s: spent is not the sum of its bills (I22)",
				       w->set.pools[p].name);
			return false;
		}
	if (idle && (!all_billed(w, why, size) || !none_followed(w, why, size)))
		return false;
	if (idle && sim_fabric_left(w->cloud) != NULL) {
		(void)snprintf(why, size, "fabric %s is left over", sim_fabric_left(w->cloud));
		return false;
	}
	for (size_t k = 0; k < n; k++)
		if (!sim_keys_settled(w, &r[k].n, why, size))
			return false;
	if (!sim_rotate_settled(w, why, size))
		return false;
	if (!sim_voucher_settled(w, why, size))
		return false;
	if (idle && !sim_money_settled(w, why, size))
		return false;
	if (idle && !sim_alerts_settled(w, why, size))
		return false;
	for (size_t k = 0; k < n; k++)
		if (r[k].n.state != NODE_GONE && r[k].n.state != NODE_READY) {
			(void)snprintf(why, size, "the row of %s/%" PRIu64 " is still %s",
				       r[k].n.name, r[k].n.gen, node_state_str(r[k].n.state));
			return false;
		}
	return true;
}
