/* The judge: the provider's own table, the durable rows and slurmctld's nodes, never burstd's
 * opinion. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_cloud.h"
#include "sim_journal.h"
#include "sim_slurm.h"
#include "world.h"

static bool ours(const struct inst *i)
{
	return i->pool != SIM_POOLS_MAX;
}

static const struct inst *instance_of(const struct world *w, const struct node *n)
{
	return strncmp(n->instance, "i-", 2) == 0
		       ? sim_cloud_find(w->cloud, (uint32_t)strtoul(n->instance + 2, NULL, 10))
		       : NULL;
}

/* I3, P2: one live instance of a node, not counting older generations whose delete was accepted. */
static void check_twins(struct world *w, const struct inst *a, const struct inst *b)
{
	const struct inst *older = a->gen < b->gen ? a : b;

	if (!ours(a) || !ours(b) || a->lied || b->lied || strcmp(a->node, b->node) != 0)
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

	if (!ours(i) || i->lied)
		return;
	r = sim_journal_row(w->journal, i->node, i->gen);
	if (r == NULL || r->n.state == NODE_GONE)
		world_fail(w, "I9: i-%u of %s/%" PRIu64 " lives and its row is %s",
			   (unsigned)i->number, i->node, i->gen, r == NULL ? "not there" : "gone");
}

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
	const struct sim_row *r;
	size_t n = sim_journal_rows(w->journal, &r);

	for (size_t k = 0; k < w->cloud->nlive; k++) {
		const struct inst *i = w->cloud->live[k];

		if (!ours(i) || i->lied)
			continue;
		live[i->pool].nodes++;
		live[i->pool].rate += w->set.pools[i->pool].price;
	}
	for (size_t k = 0; k < n; k++) {
		const struct inst *i = instance_of(w, &r[k].n);
		const struct sim_pool *p = world_pool_of(w, r[k].n.name);

		if (r[k].n.state == NODE_GONE || p == NULL ||
		    (i != NULL && (i->lied || i->revived)))
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
	const struct sim_row *r = sim_journal_row(w->journal, n->name, 0);

	if (instances != 1 || n->inst != i->number)
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
	if (n->powering_up || n->powering_down || n->power_down || n->down || n->completing ||
	    n->not_responding) {
		(void)snprintf(why, size, "%s is still moving%s%s%s", n->name,
			       n->powering_up ? ", powering up" : "", n->down ? ", down" : "",
			       n->power_down ? ", to be powered down" : "");
		return false;
	}
	return n->powered_down ? sleeping(w, n, why, size) : awake(w, n, why, size);
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
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (w->ctld->jobs[i].state == JOB_PENDING ||
		    w->ctld->jobs[i].state == JOB_CONFIGURING) {
			(void)snprintf(why, size, "job %u still waits for its %u nodes",
				       (unsigned)w->ctld->jobs[i].id, (unsigned)w->ctld->jobs[i].n);
			return false;
		}
	for (size_t i = 0; i < w->ctld->n; i++)
		if (!node_settled(w, &w->ctld->nodes[i], why, size))
			return false;
	for (uint32_t p = 0; idle && sim_journal_exact(w->journal) && p < w->set.npools; p++)
		if (engine_spent(w->engine, p) != sim_journal_spent(w->journal, p)) {
			(void)snprintf(why, size,
				       "pool %s: spent is not the sum of its bills (I22)",
				       w->set.pools[p].name);
			return false;
		}
	for (size_t k = 0; k < n; k++)
		if (r[k].n.state != NODE_GONE && r[k].n.state != NODE_READY) {
			(void)snprintf(why, size, "the row of %s/%" PRIu64 " is still %s",
				       r[k].n.name, r[k].n.gen, node_state_str(r[k].n.state));
			return false;
		}
	return true;
}
