#include "sim_claims.h"

#include <string.h>

#include "base/mem.h"

static size_t find(const struct sim_claims *s, const char *node, uint64_t gen)
{
	size_t i = 0;

	while (i < s->n && (s->v[i].c.gen != gen || strcmp(s->v[i].c.node, node) != 0))
		i++;
	return i;
}

void sim_claims_put(struct sim_claims *s, const struct claim *c, int64_t now)
{
	size_t i = find(s, c->node, c->gen);

	if (i == s->cap) {
		s->cap = s->cap == 0 ? 64 : 2 * s->cap;
		s->v = mem_realloc(s->v, s->cap * sizeof(*s->v));
	}
	if (i == s->n)
		s->v[s->n++].bad_at = now;
	s->v[i].c = *c;
}

struct sim_claim *sim_claims_get(const struct sim_claims *s, const char *node, uint64_t gen)
{
	size_t i = find(s, node, gen);

	return i < s->n ? &s->v[i] : NULL;
}

void sim_claims_del(struct sim_claims *s, const char *node, uint64_t gen)
{
	size_t i = find(s, node, gen);

	if (i < s->n)
		s->v[i] = s->v[--s->n];
}
