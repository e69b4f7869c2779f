/* stock.c - what the simulated cloud offers, and at what price. */
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/cloud.h"

struct cloud_pool *cloud_pool_get(struct cloud *c, const char *type, const char *region,
				  const char *zone, enum market market)
{
	for (size_t i = 0; i < c->npools; i++) {
		struct cloud_pool *p = c->pools[i];

		if (p->market == market && strcmp(p->type, type) == 0 &&
		    strcmp(p->region, region) == 0 && strcmp(p->zone, zone) == 0)
			return p;
	}
	return NULL;
}

/* Pools are never freed while instances may point to them: one no longer offered is only marked. */
void cloud_reconf(struct cloud *c)
{
	for (size_t i = 0; i < c->npools; i++)
		c->pools[i]->offered = false;
	for (unsigned i = 0; i < c->conf->noffers; i++) {
		const struct settings_offer *o = &c->conf->offers[i];
		struct cloud_pool *p = cloud_pool_get(c, o->type, o->region, o->zone, o->market);

		if (p == NULL) {
			c->pools = mem_realloc(c->pools,
					       (c->npools + 1) * sizeof(struct cloud_pool *));
			p = c->pools[c->npools++] = mem_zalloc(sizeof(*p));
			memcpy(p->type, o->type, sizeof(p->type));
			memcpy(p->region, o->region, sizeof(p->region));
			memcpy(p->zone, o->zone, sizeof(p->zone));
			p->market = o->market;
		}
		memcpy(p->currency, o->currency, sizeof(p->currency));
		p->price_nano_h = o->price_nano_h;
		p->capacity = o->capacity;
		p->curve = o->curve;
		p->offered = true;
	}
}

/* The step of the curve at a time in its period. */
static unsigned step_at(const struct settings_curve *v, int64_t at)
{
	unsigned i = 0;

	while (i + 1 < v->n && v->v[i + 1].from_ms <= at)
		i++;
	return i;
}

int64_t cloud_price(const struct cloud *c, const struct cloud_pool *p, int64_t now)
{
	const struct settings_curve *v = &p->curve;
	int64_t at = now - c->start_ms;

	if (v->n == 0)
		return p->price_nano_h;
	return v->v[step_at(v, v->period_ms > 0 ? at % v->period_ms : at)].nano_h;
}

int64_t cloud_price_began(const struct cloud *c, const struct cloud_pool *p, int64_t at_ms)
{
	const struct settings_curve *v = &p->curve;
	int64_t at = at_ms - c->start_ms, from;

	if (v->n == 0 || at <= 0)
		return c->start_ms;
	if (v->period_ms > 0)
		at %= v->period_ms;
	from = v->v[step_at(v, at)].from_ms;
	return at_ms - (from <= at ? at - from : at);
}
