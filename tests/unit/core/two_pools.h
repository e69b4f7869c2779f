/* two_pools.h - a configuration with two pools of one provider, for tests that need nothing else of
 * it. */
#ifndef TESTS_TWO_POOLS_H
#define TESTS_TWO_POOLS_H

#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "core/conf.h"

/* Pool a with the first list of nodes, pool b with the second; each may have max_nodes for max_rate
 * an hour. */
static inline struct conf *two_pools(const char *const nodes[2], uint32_t max_nodes,
				     int64_t max_rate)
{
	static const char *const names[] = {"a", "b"};
	struct conf *c = conf_new("test.conf");
	struct err e;

	c->cluster = mem_strdup("test");
	c->providers = mem_zalloc(sizeof(*c->providers));
	c->nproviders = 1;
	c->providers[0].name = mem_strdup("sim");
	c->providers[0].driver = mem_strdup("sim");
	c->pools = mem_zalloc(2 * sizeof(*c->pools));
	c->npools = 2;
	for (size_t i = 0; i < 2; i++) {
		struct conf_pool *p = &c->pools[i];

		p->name = mem_strdup(names[i]);
		p->nodes_text = mem_strdup(nodes[i]);
		p->provider = mem_strdup("sim");
		p->type = mem_strdup("t");
		p->region = mem_strdup("r");
		p->zone = mem_strdup("");
		p->max_nodes = max_nodes;
		p->max_rate_nano_h = max_rate * FMT_NANO;
	}
	if (conf_finish(c, &e) != 0) {
		(void)fprintf(stderr, "%s\n", e.msg);
		abort();
	}
	return c;
}

#endif
