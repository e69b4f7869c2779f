#include "core/learned.h"

#include <string.h>

static struct learned_row *find(struct learned *l, const struct learned_row *row)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].pool, row->pool) == 0 && strcmp(l->v[i].offer, row->offer) == 0)
			return &l->v[i];
	return NULL;
}

static struct learned_row *make_room(struct learned *l)
{
	struct learned_row *oldest = l->v;

	if (l->n < LEARNED_MAX)
		return &l->v[l->n++];
	for (size_t i = 1; i < l->n; i++)
		if (l->v[i].at_ms < oldest->at_ms)
			oldest = &l->v[i];
	return oldest;
}

static bool same(const struct hardware_node *a, const struct hardware_node *b)
{
	return a->cpus == b->cpus && a->boards == b->boards && a->sockets == b->sockets &&
	       a->cores == b->cores && a->threads == b->threads && a->memory_mb == b->memory_mb &&
	       a->disk_mb == b->disk_mb;
}

bool learned_put(struct learned *l, const struct learned_row *row)
{
	struct learned_row *r = find(l, row);
	bool is_new = r == NULL || !same(&r->has, &row->has);

	if (r == NULL)
		r = make_room(l);
	*r = *row;
	return is_new;
}
