#include "ledger/source.h"

static int visit(void *ctx, source_fn charge, void *arg, struct err *e)
{
	const struct source_array *a = ctx;

	for (size_t i = 0; i < a->n; i++)
		if (charge(arg, a->v[i], e) != 0)
			return -1;
	return 0;
}

struct source source_array(struct source_array *a)
{
	return (struct source){.visit = visit, .ctx = a};
}
