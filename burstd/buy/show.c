#include "buy/buy.h"

#include <assert.h>

#include "base/clamp.h"
#include "base/fmt.h"

/* Shows to the API what a pool costs (buy_api.h). */

uint64_t engine_last_batch(const struct engine *e)
{
	return e->buy->last_batch;
}

int64_t engine_spent(const struct engine *e, size_t pool)
{
	int64_t sum = e->fleet.pools[pool].spent_nano;

	for (int s = 0; s < NODE_NSTATES; s++)
		for (const struct fleet_node *fn = e->fleet.states[s]; fn; fn = fn->state_next)
			if (fn->n.pool == pool && s != NODE_GONE && fn->n.start_ms != 0 &&
			    engine_now(e) > fn->n.start_ms)
				sum = clamp_add(sum, fmt_cost(engine_now(e) - fn->n.start_ms,
							      fn->n.rate_nano_h) -
							     engine_billed(&fn->n));
	return sum;
}

int64_t engine_price(const struct engine *e, size_t pool, size_t rung)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	assert(rung < n);
	return quote_known(e, &rungs[rung]);
}

int64_t engine_price_age(const struct engine *e, size_t pool, size_t rung)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);
	int64_t heard_ms;

	assert(rung < n);
	heard_ms = quote_heard_ms(e, &rungs[rung]);
	return heard_ms != 0 && engine_now(e) > heard_ms ? engine_now(e) - heard_ms : 0;
}
