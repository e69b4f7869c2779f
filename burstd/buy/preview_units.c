/* Shows in how many placement units a job's nodes are: in each of them it is close together.  And
 * of nodes that are up, whether that came true. */
#include "buy/buy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/hops.h"
#include "core/unit.h"

/* How many units of the pool have a node of the list. */
static uint32_t count_named(const struct conf_pool *p, const struct hostlist *list)
{
	bool *seen = mem_zalloc((unit_count(p) + 1) * sizeof(*seen));
	uint32_t n = 0;

	seen[0] = true; /* who is in none */
	for (size_t i = 0; i < list->n; i++) {
		uint32_t unit = unit_of(p, list->names[i]);

		n += !seen[unit];
		seen[unit] = true;
	}
	free(seen);
	return n;
}

/* Where the nodes of the list are that are up. */
static void place(const struct engine *e, const struct hostlist *list, struct engine_plan *out)
{
	struct hops h = {.first = NULL};

	for (size_t i = 0; i < list->n; i++) {
		const struct fleet_name *nm = fleet_find(&e->fleet, list->names[i]);
		const struct fleet_node *fn = nm != NULL ? fleet_live(nm) : NULL;

		if (fn != NULL && fn->n.state == NODE_READY)
			hops_add(&h, fn->path);
	}
	out->placed = (uint32_t)h.known;
	out->hops = hops_of(&h);
}

void preview_units(const struct engine *e, const struct engine_plan_ask *a, struct engine_plan *out)
{
	struct hostlist *list = NULL;

	if (a->list != NULL && hostlist_parse(&list, a->list, strlen(a->list), NULL) != 0)
		return;
	if (list != NULL)
		place(e, list, out);
	for (size_t i = 0; i < out->npools; i++) {
		struct engine_plan_pool *part = &out->pools[i];
		const struct conf_pool *p = &e->conf->pools[part->pool];

		if (unit_count(p) > 0)
			part->units = list != NULL ? count_named(p, list)
						   : (a->nodes + p->unit - 1) / p->unit;
	}
	hostlist_free(list);
}
