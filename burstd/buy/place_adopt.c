#include "buy/buy.h"
#include "cloud/cloud.h"

#include <stdio.h>
#include <string.h>

/* Finds out what an instance costs that a provider lists and the journal does not know: the price
 * of its place when it was created, as far as the list and the price book tell. */

/* The price of an offer; if it is not offered any more, its last price. */
static int64_t cost_of(const struct cloud *c, uint32_t pool, const struct conf_offer *o)
{
	const int64_t price = quote_price(c, o);
	size_t n;

	return price != 0 ? price
			  : pool_cost(c->e, pool,
				      (size_t)(o - conf_rungs(&c->e->conf->pools[pool], &n)));
}

/* The most expensive rung of the pool at this provider. */
static const struct conf_offer *dearest(const struct cloud *c, uint32_t pool)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&c->e->conf->pools[pool], &n), *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (&c->e->cloud->all[rungs[i].provider_index] != c)
			continue;
		if (best == NULL || cost_of(c, pool, &rungs[i]) > cost_of(c, pool, best))
			best = &rungs[i];
	}
	return best;
}

/* May the instance have been bought from this offer, by what the list says of it? */
static bool may_be_of(const struct conf_offer *o, const struct provider_instance *in)
{
	return (in->type[0] == '\0' || strcmp(in->type, o->type) == 0) &&
	       (in->zone[0] == '\0' || o->zone[0] == '\0' || strcmp(in->zone, o->zone) == 0) &&
	       (!in->says_market || in->spot == (o->market == PROVIDER_SPOT));
}

/* The offer that was dearest when the instance was created, and *price its price then, if the book
 * knows it; NULL: it knows none. */
static const struct conf_offer *dearest_then(const struct cloud *c, uint32_t pool,
					     const struct provider_instance *in, int64_t *price)
{
	int64_t at = in->created_ms != 0 ? in->created_ms : engine_now(c->e);
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&c->e->conf->pools[pool], &n), *best = NULL;

	*price = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t then;

		if (&c->e->cloud->all[rungs[i].provider_index] != c || !may_be_of(&rungs[i], in))
			continue;
		then = book_price(c, &rungs[i], in->type, in->zone, at);
		if (then > *price) {
			best = &rungs[i];
			*price = then;
		}
	}
	return best;
}

/* The most that the node has ever cost. */
static int64_t cost_before(const struct cloud *c, const struct node *n)
{
	const struct fleet_name *nm = fleet_find(&c->e->fleet, n->name);
	int64_t most = 0;

	for (const struct fleet_node *fn = nm != NULL ? nm->newest : NULL; fn; fn = fn->older)
		if (fn->n.rate_nano_h > most)
			most = fn->n.rate_nano_h;
	return most;
}

bool place_adopt(const struct cloud *c, struct node *n, const struct provider_instance *in)
{
	int64_t price;
	const struct conf_offer *o = dearest_then(c, n->pool, in, &price);

	if (o != NULL) {
		place_set(c->e, n, o, price);
		return true;
	}
	o = dearest(c, n->pool);
	if (o != NULL) {
		place_set(c->e, n, o, cost_of(c, n->pool, o));
	} else { /* the pool has no offer of this provider any more */
		n->cloud = (uint32_t)(c - c->e->cloud->all);
		(void)snprintf(n->provider, sizeof(n->provider), "%s", c->conf->name);
	}
	if (n->rate_nano_h == 0)
		n->rate_nano_h = cost_before(c, n);
	return false;
}

bool place_priced(const struct cloud *c, uint32_t pool)
{
	const struct conf_offer *o = dearest(c, pool);

	if (c->past_due)
		return false; /* it is on its way, or is given up soon */
	return c->quotes_known || (o != NULL && quote_price(c, o) != 0);
}
