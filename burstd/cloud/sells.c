#include "cloud/cloud.h"

/* Finds the providers and places that a pool buys from. */

struct place cloud_place(const struct engine *e, const struct conf_offer *o)
{
	return (struct place){.provider = e->conf->providers[o->provider_index].name,
			      .type = o->type,
			      .region = o->region,
			      .zone = o->zone,
			      .fabric = o->in_fabric,
			      .market = (enum provider_market)o->market};
}

bool cloud_sold_since(const struct engine *e, uint32_t pool, uint64_t job, int64_t since_ms)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	for (size_t i = 0; i < n; i++) {
		const struct place p = cloud_place(e, &rungs[i]);

		if (unsold_sold_ms(&e->cloud->unsold, &p, job) > since_ms)
			return true;
	}
	return false;
}

/* The only provider of a pool; if it has several, or is removed, OFF_UNKNOWN's index (off.c), or
 * NPROVIDERS. */
static uint32_t only_provider(const struct conf *c, const struct conf_pool *p)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(p, &n);

	for (size_t i = 1; i < n; i++)
		if (rungs[i].provider_index != rungs[0].provider_index)
			return conf_provider_named(c, OFF_UNKNOWN);
	return n > 0 ? rungs[0].provider_index : conf_provider_named(c, OFF_UNKNOWN);
}

bool cloud_find(const struct engine *e, uint32_t pool, const char *provider, uint32_t *cloud)
{
	*cloud = provider[0] != '\0' ? conf_provider_named(e->conf, provider)
				     : only_provider(e->conf, &e->conf->pools[pool]);
	return *cloud < e->conf->nproviders;
}

bool cloud_sells(const struct engine *e, uint32_t pool, const struct cloud *c)
{
	size_t n;
	const struct conf_offer *rungs = conf_rungs(&e->conf->pools[pool], &n);

	for (size_t i = 0; i < n; i++)
		if (&e->cloud->all[rungs[i].provider_index] == c)
			return true;
	return false;
}
