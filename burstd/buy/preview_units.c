/* Shows in how many placement units a job's nodes are: in each of them it is close together. */
#include "buy/buy.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

void preview_units(const struct engine *e, const struct engine_plan_ask *a, struct engine_plan *out)
{
	struct hostlist *list = NULL;

	if (a->list != NULL && hostlist_parse(&list, a->list, strlen(a->list), NULL) != 0)
		return;
	for (size_t i = 0; i < out->npools; i++) {
		struct engine_plan_pool *part = &out->pools[i];
		const struct conf_pool *p = &e->conf->pools[part->pool];

		if (unit_count(p) > 0)
			part->units = list != NULL ? count_named(p, list)
						   : (a->nodes + p->unit - 1) / p->unit;
	}
	hostlist_free(list);
}
