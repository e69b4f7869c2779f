#include "cloud/cloud.h"

/* Tracks whether the machines of each provider can get the cluster's keys, by keyless() of part.h.
 * Without keys they would boot, cost and be given up. */

const char *engine_keys_wait(const struct engine *e, const struct node *n)
{
	return n->state == NODE_WANTED ? engine_keyless(e, n->cloud) : NULL;
}

bool cloud_watch_keys(struct engine *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->conf->nproviders; i++) {
		struct cloud *c = &e->cloud->all[i];

		if (engine_keyless(e, i) == NULL)
			c->keyless_ms = 0;
		else if (c->keyless_ms == 0)
			c->keyless_ms = engine_now(e);
		any = any || cloud_keyless(e, i) != NULL;
	}
	return any;
}

const char *cloud_keyless(const struct engine *e, uint32_t cloud)
{
	const struct cloud *c = &e->cloud->all[cloud];
	int64_t limit = c->conf->unreachable_ms;

	if (limit == 0 || c->keyless_ms == 0 || engine_now(e) - c->keyless_ms < limit)
		return NULL;
	return engine_keyless(e, cloud);
}
