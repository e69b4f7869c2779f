#include "providers/simcloud/found.h"

#include <stdlib.h>

#include "base/mem.h"

static void take(void *ctx, const struct cloud_instance *i)
{
	struct found *f = ctx;

	if (f->keep != NULL && !f->keep(f->ctx, i))
		return;
	if (f->n == f->cap) {
		f->cap = f->cap == 0 ? 64 : 2 * f->cap;
		f->v = mem_realloc(f->v, f->cap * sizeof(struct cloud_instance *));
	}
	f->v[f->n++] = i;
}

void found_list(struct found *f, struct cloud *c, int64_t now)
{
	struct cloud_query q = {.cluster = "", .after = -1, .limit = INT64_MAX, .now = now};

	f->n = 0;
	(void)cloud_list(c, &q, take, f);
}

void found_fini(struct found *f)
{
	free(f->v);
	f->v = NULL;
	f->n = f->cap = 0;
}
