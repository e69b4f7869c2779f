#include "cloud/cloud.h"

#include <string.h>

#include "core/ladder.h"

/* Knows what a provider asks now for the configured offers: by the prices that it sent last, or by
 * the configuration's own price. */

static bool is_of(const struct provider_quote *o, const struct conf_offer *p)
{
	return strcmp(o->type, p->type) == 0 &&
	       (o->region[0] == '\0' || strcmp(o->region, p->region) == 0) &&
	       (int)o->market == p->market && (p->zone[0] == '\0' || strcmp(o->zone, p->zone) == 0);
}

static bool offer_fits(const struct provider_quote *o, const struct conf_offer *p,
		       const char *currency)
{
	return is_of(o, p) && strcmp(o->currency, currency) == 0;
}

int64_t quote_price(const struct cloud *c, const struct conf_offer *p)
{
	int64_t best = 0;

	if (p->price_nano_h > 0)
		return p->price_nano_h;
	for (size_t i = 0; i < c->nquotes; i++) {
		const struct provider_quote *o = &c->quotes[i];

		if (o->type[0] != '\0' && !offer_fits(o, p, c->e->conf->currency))
			continue;           /* without a type it is the price of all types */
		if (o->price_nano_h > best) /* any zone: take the highest price */
			best = o->price_nano_h;
	}
	return best;
}

bool quote_dry(const struct cloud *c, const struct conf_offer *p)
{
	bool dry = false;

	for (size_t i = 0; i < c->nquotes; i++) {
		if (!is_of(&c->quotes[i], p))
			continue;
		if (!c->quotes[i].dry)
			return false;
		dry = true;
	}
	return dry;
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
