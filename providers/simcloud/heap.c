#include "providers/simcloud/heap.h"

#include <stdlib.h>

#include "base/mem.h"

void heap_fini(struct heap *h)
{
	free(h->v);
	*h = (struct heap){0};
}

static bool before(const struct heap_item *a, const struct heap_item *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void swap(struct heap_item *a, struct heap_item *b)
{
	struct heap_item t = *a;

	*a = *b;
	*b = t;
}

void heap_push(struct heap *h, int64_t at, int what, uint32_t row)
{
	size_t i = h->n++;

	if (h->n > h->cap) {
		h->cap = 2 * h->n;
		h->v = mem_realloc(h->v, h->cap * sizeof(*h->v));
	}
	h->v[i] = (struct heap_item){.at = at, .seq = h->seq++, .what = what, .row = row};
	for (; i > 0 && before(&h->v[i], &h->v[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&h->v[i], &h->v[(i - 1) / 2]);
}

int64_t heap_next(const struct heap *h)
{
	return h->n > 0 ? h->v[0].at : INT64_MAX;
}

bool heap_pop(struct heap *h, int64_t now, struct heap_item *out)
{
	size_t i = 0;

	if (h->n == 0 || h->v[0].at > now)
		return false;
	*out = h->v[0];
	h->v[0] = h->v[--h->n];
	for (;;) {
		size_t least = i;

		for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < h->n; c++)
			if (before(&h->v[c], &h->v[least]))
				least = c;
		if (least == i)
			return true;
		swap(&h->v[i], &h->v[least]);
		i = least;
	}
}
