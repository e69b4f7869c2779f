#include "cloud/cloud.h"

#include "core/ladder.h"
#include "core/tariff.h"
#include "core/terms.h"

/* Knows what a provider asks now for the configured offers: by the prices that it sent last, or by
 * the configuration's own price. */

int64_t quote_price(const struct cloud *c, const struct conf_offer *p)
{
	if (p->price_nano_h > 0)
		return p->price_nano_h;
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
