#include "core/refused.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct refused_line *find(const struct refused *r, uint32_t pool, const char *offer)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].pool == pool && strcmp(r->v[i].offer, offer) == 0)
			return &r->v[i];
	return NULL;
}

void refused_add(struct refused *r, uint32_t pool, const char *offer, enum provider_code code,
		 uint32_t nodes)
{
	struct refused_line *l = find(r, pool, offer);

	assert(code < PROVIDER_NCODES);
	if (l == NULL) {
		r->v = mem_realloc(r->v, (r->n + 1) * sizeof(*r->v));
		l = &r->v[r->n++];
		*l = (struct refused_line){.pool = pool};
		(void)snprintf(l->offer, sizeof(l->offer), "%s", offer);
	}
	l->nodes[code] += nodes;
}

uint64_t refused_of(const struct refused *r, uint32_t pool, const char *offer,
		    enum provider_code code)
{
	const struct refused_line *l = find(r, pool, offer);

	assert(code < PROVIDER_NCODES);
	return l != NULL ? l->nodes[code] : 0;
}

void refused_fini(struct refused *r)
{
	free(r->v);
	*r = (struct refused){NULL, 0};
}
