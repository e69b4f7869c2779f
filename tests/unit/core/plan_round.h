/* plan_round.h - what one plan is made from, and what comes of it, for the tests of plan.c. */
#ifndef TESTS_PLAN_ROUND_H
#define TESTS_PLAN_ROUND_H

#include <string.h>

#include "base/fmt.h"
#include "core/plan.h"
#include "two_pools.h"

struct round {
	struct conf *c;
	struct fleet f;
	struct demand d;
	struct plan p;
	struct plan_ask ask;
	const struct plan_job *jobs;
};

/* These nodes are asked for, of pool a with a[1-8] and pool b with b[1-8], each with these limits,
 * and there is nothing yet. */
static inline void round_init(struct round *t, uint32_t max_nodes, int64_t max_rate,
			      const char *list)
{
	static const char *const nodes[] = {"a[1-8]", "b[1-8]"};

	*t = (struct round){.c = two_pools(nodes, max_nodes, max_rate)};
	fleet_init(&t->f, 2);
	assert_int_equal(demand_init(&t->d, list, strlen(list), NULL), 0);
}

static inline void add_job(struct round *t, uint64_t id, const char *list)
{
	assert_int_equal(demand_add_job(&t->d, id, list, strlen(list), NULL), 0);
}

static inline void make_plan(struct round *t, struct plan_pool *pools)
{
	t->ask = (struct plan_ask){.demand = &t->d,
				   .conf = t->c,
				   .fleet = &t->f,
				   .pools = pools,
				   .jobs = t->jobs,
				   .now_ms = 1000000};
	plan_make(&t->p, &t->ask);
}

static inline void round_fini(struct round *t)
{
	plan_fini(&t->p);
	demand_fini(&t->d);
	fleet_fini(&t->f);
	conf_free(t->c);
}

#endif
