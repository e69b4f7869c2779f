/* two_offers.h - an engine with a pool of two spot offers, "here" and "there". */
#ifndef TWO_OFFERS_H
#define TWO_OFFERS_H

#include "loaded_engine.h"

#define OD 1000000000

static struct conf_offer make_offer(const char *name, const char *region, int market)
{
	return (struct conf_offer){.name = mem_strdup(name),
				   .provider = mem_strdup("cloud"),
				   .type = mem_strdup("t"),
				   .region = mem_strdup(region),
				   .zone = mem_strdup(""),
				   .jurisdiction = mem_strdup("DE"),
				   .price_nano_h = market == PROVIDER_SPOT ? OD / 2 : OD,
				   .market = market};
}

/* Two spot offers, both of one kind; turned: "there" comes first. */
static struct conf *two_offers(bool turned)
{
	struct conf *c = make_conf();
	struct conf_pool *p = &c->pools[0];

	p->spot_share = 100;
	p->offers = mem_zalloc(2 * sizeof(*p->offers));
	p->offers[p->noffers++] =
		make_offer(turned ? "there" : "here", turned ? "r2" : "r", PROVIDER_SPOT);
	p->offers[p->noffers++] =
		make_offer(turned ? "here" : "there", turned ? "r" : "r2", PROVIDER_SPOT);
	sell_by_offers(p);
	return c;
}

/* Likewise, but "there" is a second provider's. */
static inline struct conf *two_providers(const char *second)
{
	struct conf *c = two_offers(false);
	struct conf_offer *o = &c->pools[0].offers[1];

	c->nproviders = 2;
	c->providers = mem_realloc(c->providers, 2 * sizeof(*c->providers));
	c->providers[1] = (struct conf_provider){.name = mem_strdup(second),
						 .driver = mem_strdup("fake"),
						 .url = mem_strdup(""),
						 .settle_ms = 60000,
						 .list_ms = 30000,
						 .timeout_ms = 30000,
						 .concurrency = 4};
	free(o->provider);
	o->provider = mem_strdup(second);
	o->provider_index = 1;
	return c;
}

static int load(struct fix *f, struct conf *c, struct err *err)
{
	int rc = load_conf(f, c, err);

	if (rc == 0)
		f->e->left = ENGINE_SEND;
	return rc;
}

#endif
