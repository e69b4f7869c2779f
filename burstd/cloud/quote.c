#include "cloud/cloud.h"

#include "core/ladder.h"
#include "core/rates.h"
#include "core/tariff.h"
#include "core/terms.h"

/* Knows what the configured offers cost now: by a negotiated price, else the configuration's own,
 * else the prices that the provider sent last. */

/* The price that is agreed on, or configured; 0: neither. */
static int64_t price_set(const struct engine *e, const struct conf_offer *o)
{
	return rates_set_price(e->conf, o, engine_wall(e, engine_now(e)));
}

int64_t quote_heard_ms(const struct engine *e, const struct conf_offer *o)
{
	const struct cloud *c = &e->cloud->all[o->provider_index];

	return price_set(e, o) > 0 || quote_price(c, o) <= 0 ? 0 : c->quotes_ms;
}

int64_t quote_price(const struct cloud *c, const struct conf_offer *p)
{
	int64_t set = price_set(c->e, p);

	if (set > 0)
		return set;
	return tariff_price(c->quotes, c->nquotes, p, c->e->conf->currency);
}

struct provider_terms quote_terms(const struct engine *e, const struct conf_offer *o)
{
	const struct cloud *c = &e->cloud->all[o->provider_index];
	const struct provider_place place = conf_place(o);
	struct provider_terms known = {0};

	if (c->self != NULL)
		known = terms_known(c->ops, c->self, &place);
	return tariff_terms(c->quotes, c->nquotes, o, &known);
}

bool quote_dry(const struct cloud *c, const struct conf_offer *p)
{
	return tariff_dry(c->quotes, c->nquotes, p);
}

int64_t quote_known(const struct engine *e, const struct conf_offer *o)
{
	const struct cloud *c = &e->cloud->all[o->provider_index];
	int64_t price = quote_price(c, o);

	if (price != 0 || !c->quotes_known)
		return price;
	return provider_says_prices(&c->caps, (enum provider_market)o->market, e->conf->currency)
		       ? -1
		       : LADDER_UNPRICED;
}

void quote_costs(const struct engine *e, uint32_t pool, int64_t costs[CONF_OFFERS_MAX])
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	for (size_t i = 0; i < CONF_OFFERS_MAX; i++) {
		costs[i] = i < n ? quote_known(e, &rungs[i]) : 0;
		costs[i] = costs[i] > 0 ? costs[i] : INT64_MAX;
	}
}
