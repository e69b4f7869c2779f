#include "ledger/lifetimes.h"

#include <stdlib.h>

#include "base/mem.h"

static int keep(void *ctx, const struct ledger_lifetime *t, struct err *e)
{
	struct lifetimes *all = ctx;
	struct ledger_lifetime *own = &all->v[all->n++];

	(void)e;
	*own = *t;
	own->node = mem_strdup(t->node);
	own->instance = mem_strdup(t->instance);
	own->why = mem_strdup(t->why);
	all->after = t->id;
	return 0;
}

void lifetimes_fini(struct lifetimes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free((char *)(uintptr_t)t->v[i].node);
		free((char *)(uintptr_t)t->v[i].instance);
		free((char *)(uintptr_t)t->v[i].why);
	}
	t->n = 0;
}

int lifetimes_next(struct lifetimes *t, struct ledger *l, bool due, struct err *e)
{
	lifetimes_fini(t);
	if (ledger_lifetimes(l, t->after, LIFETIMES_MAX, due, keep, t, e) < 0)
		return -1;
	t->over = t->n < LIFETIMES_MAX;
	return 0;
}
