/* sim_dynamic.c - dynamic pools (ADR 67): slurmctld has their nodes once burstd has created them,
 * and keeps them over its restarts, as long as it keeps its state.
 *
 * 25.11 loses a node that is created though it is there, and dies at the next job: here that is a
 * failure of burstd's, with any release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "sim_drill.h"
#include "sim_slurm.h"

enum {
	/* slurmctld may be busy for so long; then scontrol has given up (MessageTimeout). */
	LATE_MS = 9 * SIM_SECOND,
	/* A snapshot each 30 s, one more 10 s later, an order; those that failed before. */
	CREATED_MS = 90 * SIM_SECOND,
};

/* By no dice but those for the faults, and by a prime of their own: the other worlds stay as they
 * are.  Units need slurm.conf. */
void sim_dynamic_choose(struct world *w)
{
	uint64_t rng = w->rng;

	if (w->seed % 7 != 2 || w->set.units)
		return;
	w->rng = rng ^ 0xd7a;
	w->set.pools[0].dynamic = true;
	if (w->set.npools > 1)
		w->set.pools[1].dynamic = world_one_in(w, 2);
	/* Where all of them are, slurmctld may have no other nodes. */
	w->set.bare = w->set.pools[w->set.npools - 1].dynamic && world_one_in(w, 2);
	for (int f = SIM_NO_ROOM; f <= SIM_CREATED_LATE; f++)
		if (!w->set.calm && !world_one_in(w, 3))
			w->set.chance[f] = sim_faults[f].per_mille;
	if (!w->set.calm && w->set.chance[SIM_CTLD_FORGETS] == 0 && world_one_in(w, 2))
		w->set.chance[SIM_CTLD_FORGETS] = sim_faults[SIM_CTLD_FORGETS].per_mille;
	w->rng = rng;
}

void sim_dynamic_born(struct sim_ctld *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct ctld_node *n = &c->nodes[i];

		n->dynamic = n->pool != SIM_POOLS_MAX && c->w->set.pools[n->pool].dynamic;
		n->deleted = n->dynamic || (n->pool == SIM_POOLS_MAX && c->w->set.bare);
	}
}

/* --- created -----------------------------------------------------------------------------------
 */

static bool has_word(const char *const *args, const char *word)
{
	for (size_t i = 0; args[i] != NULL; i++)
		if (strcmp(args[i], word) == 0)
			return true;
	return false;
}

/* Its own pool's feature, and that of all pools. */
static bool has_features(const char *const *args, const struct sim_pool *p)
{
	char text[48];
	size_t n = (size_t)snprintf(text, sizeof(text), "Feature=cloud,%s", p->name);

	for (size_t i = 0; args[i] != NULL; i++)
		if (strncmp(args[i], text, n) == 0 && (args[i][n] == '\0' || args[i][n] == ','))
			return true;
	return false;
}

static void check_words(const struct sim_ctld *c, const struct ctld_node *n,
			const char *const *args)
{
	if (!has_word(args, "State=CLOUD") || !has_word(args, "CPUs=8") ||
	    !has_word(args, "Gres=gpu:h100:8") || !has_features(args, &c->w->set.pools[n->pool]))
		world_fail(c->w, "ADR 67: %s is created as what it is not", n->name);
}

static void add(struct sim_ctld *c, struct ctld_node *n)
{
	SIM_TRACE(c->w, "  ctld: %s is created", n->name);
	c->w->totals->created++;
	sim_ctld_unplug(c, n);
	n->deleted = n->power_up = n->unmapped = false;
	n->busy_at = c->w->now;
	(void)snprintf(n->addr, sizeof(n->addr), "%s", n->name);
	(void)snprintf(n->host, sizeof(n->host), "%s", n->name);
}

/* One after the other, up to the first that is refused. */
static int create(struct sim_ctld *c, const char *const *args, const struct hostlist *names,
		  size_t only)
{
	for (size_t i = 0; i < names->n; i++) {
		struct ctld_node *n = sim_ctld_find(c, names->names[i]);

		if (n == NULL || !n->dynamic) {
			world_fail(c->w, "ADR 67: %s is created, and is of no dynamic pool",
				   names->names[i]);
			return -1;
		}
		if (!n->deleted) {
			world_fail(c->w, "ADR 67: %s is created, and is there: slurmctld dies",
				   n->name);
			return -1;
		}
		if (i >= only)
			return -1;
		check_words(c, n, args);
		add(c, n);
	}
	return 0;
}

/* MaxNodeCount, until an admin has read why. */
static bool has_no_room(struct sim_ctld *c)
{
	struct world *w = c->w;

	if (w->now >= c->full_until && world_fault(w, SIM_NO_ROOM)) {
		w->totals->met[SIM_NO_ROOM][NODE_NSTATES]++;
		c->full_until = w->now + world_between(w, 1, 300) * SIM_SECOND;
		SIM_TRACE(w, "*** slurmctld has no room for more nodes");
	}
	return w->now < c->full_until;
}

int sim_dynamic_create(struct sim_ctld *c, const char *const *args, size_t only)
{
	static const char key[] = "nodename=";
	struct hostlist *names = NULL;
	int rc = -1;

	if (strncmp(args[2], key, sizeof(key) - 1) != 0 ||
	    hostlist_parse(&names, args[2] + sizeof(key) - 1, strlen(args[2]) - sizeof(key) + 1,
			   NULL) != 0) {
		world_fail(c->w, "scontrol: create without a node list");
		return -1;
	}
	if (has_no_room(c))
		only = only < names->n ? only : world_below(c->w, (uint32_t)names->n);
	rc = create(c, args, names, only);
	hostlist_free(names);
	return rc;
}

int64_t sim_dynamic_late_ms(struct world *w)
{
	return world_between(w, 100, LATE_MS);
}

int64_t sim_dynamic_late(struct world *w)
{
	if (!world_fault(w, SIM_CREATED_LATE))
		return 0;
	w->totals->met[SIM_CREATED_LATE][NODE_NSTATES]++;
	sim_ctld_trouble(w->ctld, w->now + LATE_MS);
	return sim_dynamic_late_ms(w);
}

/* --- and lost ----------------------------------------------------------------------------------
 */

void sim_dynamic_lose(struct sim_ctld *c, struct ctld_node *n)
{
	if (!n->dynamic || n->deleted)
		return;
	SIM_TRACE(c->w, "  ctld: %s is lost", n->name);
	c->w->totals->lost += c->w->faults;
	sim_ctld_unplug(c, n);
	n->deleted = true;
}

/* What it had saved lacks the node.  One that has been used since was saved then. */
void sim_dynamic_revert(struct sim_ctld *c, struct ctld_node *n, const struct ctld_node *o)
{
	if (o->deleted && n->powered_down && n->job == 0 && n->wanted_at <= o->wanted_at)
		sim_dynamic_lose(c, n);
}

/* --- the judge ---------------------------------------------------------------------------------
 */

bool sim_dynamic_settled(const struct world *w, char *why, size_t size)
{
	for (size_t i = 0; i < w->ctld->n; i++) {
		const struct ctld_node *n = &w->ctld->nodes[i];

		if (!n->dynamic || !n->deleted)
			continue;
		(void)snprintf(why, size, "slurmctld does not know %s, of a dynamic pool (ADR 67)",
			       n->name);
		return false;
	}
	return true;
}

static uint32_t room(const struct world *w, const struct sim_pool *p)
{
	int64_t by_rate = p->max_rate / p->price;
	uint32_t n = p->max_nodes < p->nnodes ? p->max_nodes : p->nnodes;

	n = by_rate < n ? (uint32_t)by_rate : n;
	if (w->set.fabric && w->set.create_max < 1000 && n > SIM_CREATE_FEW)
		n = SIM_CREATE_FEW; /* one create, in one fabric */
	return n < JOB_NODES_MAX ? n : JOB_NODES_MAX;
}

/* slurmctld has lost all: the nodes are there again soon, and a job has as many as it may. */
void drill_lost(struct world *w, step_fn step)
{
	const struct sim_pool *p = &w->set.pools[0];
	int64_t end = w->now + CREATED_MS;
	struct ctld_job *j;
	char why[200];

	SIM_TRACE(w, "*** slurmctld loses its state");
	for (size_t i = 0; i < w->ctld->n; i++)
		sim_dynamic_lose(w->ctld, &w->ctld->nodes[i]);
	while (!w->failed && !sim_dynamic_settled(w, why, sizeof(why)) && w->now < end)
		step(w);
	if (!sim_dynamic_settled(w, why, sizeof(why)))
		world_fail(w, "%s, %d s after it was lost", why, CREATED_MS / SIM_SECOND);
	j = w->failed ? NULL : sim_ctld_submit(w->ctld, 0, room(w, p));
	if (j == NULL)
		return;
	drill_start(w, step, j, START_MS);
	sim_ctld_end_job(w->ctld, j);
}
