#include "core/stages.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/mem.h"

int64_t stages_bound_ms(size_t bucket)
{
	static const int64_t bounds[STAGES_BUCKETS] = {1000,   2000,   5000,    10000,
						       20000,  30000,  60000,   120000,
						       300000, 600000, 1800000, INT64_MAX};

	assert(bucket < STAGES_BUCKETS);
	return bounds[bucket];
}

const char *stages_str(enum stage stage)
{
	static const char *const words[STAGE_N] = {"wait", "create", "run",
						   "boot", "ready",  "delete"};

	return words[stage];
}

/* Offers are few, and configured; those that a reload removes keep their line. */
static struct stages_line *line_of(struct stages *s, const struct node *n)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].pool == n->pool && strcmp(s->v[i].offer, n->offer) == 0)
			return &s->v[i];
	s->v = mem_realloc(s->v, (s->n + 1) * sizeof(*s->v));
	s->v[s->n] = (struct stages_line){.pool = n->pool};
	(void)snprintf(s->v[s->n].offer, sizeof(s->v[s->n].offer), "%s", n->offer);
	return &s->v[s->n++];
}

void stages_add(struct stages *s, const struct node *n, enum stage stage, int64_t ms)
{
	struct stages_line *l;
	size_t b = 0;

	if (ms < 0)
		return;
	l = line_of(s, n);
	while (ms > stages_bound_ms(b))
		b++;
	l->counts[stage][b]++;
	l->sum_ms[stage] = clamp_add(l->sum_ms[stage], ms);
}

void stages_fini(struct stages *s)
{
	free(s->v);
	*s = (struct stages){NULL, 0};
}
