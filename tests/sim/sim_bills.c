#include "sim_bills.h"

#include <string.h>

#include "base/mem.h"
#include "world.h"

enum { BILLS_MAX = 100000 };

/* A bill goes on: it begins where it did, at the same price, and takes no time back. */
static void check_longer(struct world *w, const struct sim_bill *was, const struct sim_bill *b)
{
	if (b->start_ms != was->start_ms || b->end_ms < was->end_ms ||
	    b->rate_nano_h != was->rate_nano_h || b->pool != was->pool)
		world_fail(w, "I22: the bill of %s is another one, and not longer", b->instance);
}

void sim_bills_put(struct world *w, struct sim_bills *all, const struct sim_bill *b)
{
	size_t i = 0;

	while (i < all->n && (strcmp(all->v[i].instance, b->instance) != 0 ||
			      strcmp(all->v[i].node, b->node) != 0 || all->v[i].gen != b->gen))
		i++;
	if (i == all->n && all->n == all->cap) {
		if (all->n >= BILLS_MAX)
			world_fail(w, "I25: bills grow without end");
		all->cap = all->cap == 0 ? 16 : 2 * all->cap;
		all->v = mem_realloc(all->v, all->cap * sizeof(*all->v));
	}
	if (i == all->n)
		all->n++;
	else if (all->v[i].skew == w->skew) /* else one of the two is by another time (F57) */
		check_longer(w, &all->v[i], b);
	all->v[i] = *b;
	all->v[i].skew = w->skew;
}

bool sim_bills_have(const struct sim_bills *all, const char *instance)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].instance, instance) == 0)
			return true;
	return false;
}

int64_t sim_bills_of_pool(const struct sim_bills *all, uint32_t pool)
{
	int64_t sum = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].pool == pool)
			sum += all->v[i].cost_nano;
	return sum;
}

int64_t sim_bills_sum(const struct sim_bills *all, int64_t *off)
{
	int64_t sum = 0;

	for (size_t i = 0; i < all->n; i++)
		sum += all->v[i].cost_nano;
	*off = 2 * (int64_t)all->n;
	return sum;
}

int sim_bills_visit(const struct world *w, const struct sim_bills *all,
		    const struct journal_usage_key *k, journal_usage_fn fn, void *ctx)
{
	const struct sim_bill *b = NULL;

	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].node, k->node) == 0 &&
		    strcmp(all->v[i].instance, k->instance) == 0 && all->v[i].gen >= k->gen &&
		    (b == NULL || all->v[i].gen < b->gen))
			b = &all->v[i];
	if (b != NULL) {
		const struct journal_usage u = {.pool = w->set.pools[b->pool].name,
						.node = b->node,
						.instance = b->instance,
						.gen = b->gen,
						.start_ms = b->start_ms,
						.end_ms = b->end_ms,
						.rate_nano_h = b->rate_nano_h,
						.cost_nano = b->cost_nano};

		(void)fn(ctx, &u);
	}
	return 0;
}
