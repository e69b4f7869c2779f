#include "engine/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A job that lacks one node needs none of the others: the whole gang goes back to slurmctld in one
 * call, with the reason, so that the job waits in the queue and nobody pays for idle nodes.  Which
 * nodes are one job is asked of squeue at that moment: true after a restart and without a resume
 * file alike. */

void refuse_mark(struct engine *e, struct fleet_name *nm, enum node_reason why, const char *text)
{
	bool ours = why == NODE_BECAUSE_CAPACITY || why == NODE_BECAUSE_QUOTA ||
		    why == NODE_BECAUSE_DENIED || why == NODE_BECAUSE_INVALID;

	nm->barred = true;
	nm->refused = why;
	nm->refused_ms = engine_now(e);
	if (text != NULL)
		(void)snprintf(nm->why, sizeof(nm->why), "%s", text);
	else if (!ours || nm->why[0] == '\0') /* else: the provider's own words are there */
		(void)snprintf(nm->why, sizeof(nm->why), "%s", node_reason_text(why));
	e->refuse_due = true;
}

void refuse_run(struct engine *e)
{
	if (!e->refuse_due || e->refuse_asked || e->jobs_asked)
		return;
	if (!slurm_ask_jobs(e->slurm))
		return;
	e->refuse_due = false;
	e->refuse_asked = true;
}

struct gangs { /* one pass over squeue's answer */
	struct engine *e;
	struct hostlist **lists;
	size_t n, cap;
};

static void keep(void *ctx, uint64_t id, const char *list, size_t len)
{
	struct gangs *g = ctx;
	struct hostlist *h;

	(void)id;
	if (hostlist_parse(&h, list, len, NULL) != 0)
		return;
	if (g->n == g->cap) {
		g->cap = g->cap == 0 ? 16 : 2 * g->cap;
		g->lists = mem_realloc(g->lists, g->cap * sizeof(struct hostlist *));
	}
	g->lists[g->n++] = h;
}

static struct fleet_name *refused_in(struct engine *e, const struct hostlist *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct fleet_name *nm = fleet_find(&e->fleet, h->names[i]);

		if (nm != NULL && nm->barred)
			return nm;
	}
	return NULL;
}

/* Nodes that a job needs which lacks nothing stay. */
static void spare_healthy(struct gangs *g, struct map *healthy)
{
	for (size_t j = 0; j < g->n; j++) {
		if (refused_in(g->e, g->lists[j]) != NULL)
			continue;
		for (size_t i = 0; i < g->lists[j]->n; i++)
			map_put(healthy, g->lists[j]->names[i], g);
	}
}

/* Refused nodes infect the rest of their jobs. */
static void infect(struct gangs *g, const struct map *healthy)
{
	for (size_t j = 0; j < g->n; j++) {
		const struct fleet_name *bad = refused_in(g->e, g->lists[j]);

		for (size_t i = 0; bad != NULL && i < g->lists[j]->n; i++) {
			struct fleet_name *nm = fleet_find(&g->e->fleet, g->lists[j]->names[i]);

			if (nm == NULL || nm->barred || map_get(healthy, nm->name) != NULL ||
			    (nm->newest != NULL && nm->newest->n.state == NODE_READY))
				continue;
			nm->barred = true;
			nm->refused = bad->refused;
			nm->refused_ms = bad->refused_ms;
			(void)snprintf(nm->why, sizeof(nm->why), "%s", bad->why);
		}
	}
}

static void release(struct engine *e, struct fleet_name *nm)
{
	struct fleet_node *fn = fleet_live(nm);
	struct node_event ev = {
		.type = NODE_EV_RELEASE, .reason = nm->refused, .now_ms = engine_now(e)};

	if (fn != NULL && fn->n.state != NODE_READY && fn->n.state != NODE_DRAINING)
		engine_post(e, fn, &ev);
}

/* Tell slurmctld, one command for each different reason. */
static void force(struct engine *e)
{
	int64_t now = engine_now(e);

	for (size_t i = 0; i < e->fleet.nall; i++) {
		struct fleet_name *nm = e->fleet.all[i];
		char why[200];

		if (!nm->barred || (nm->forced_ms != 0 && now - nm->forced_ms < ENGINE_REFORCE_MS))
			continue;
		(void)snprintf(why, sizeof(why), "burstd: %.190s", nm->why);
		engine_power_down(e, nm, false, why);
		engine_event(e, nm->name, nm->newest != NULL ? nm->newest->n.gen : 0, "refused",
			     nm->why);
		release(e, nm);
	}
}

void refuse_jobs(struct engine *e, const char *text, size_t len)
{
	struct gangs g = {.e = e};
	struct map healthy;

	map_init(&healthy);
	slurm_parse_jobs(text, len, keep, &g);
	spare_healthy(&g, &healthy);
	infect(&g, &healthy);
	force(e);
	for (size_t j = 0; j < g.n; j++)
		hostlist_free(g.lists[j]);
	free(g.lists);
	map_fini(&healthy);
}
