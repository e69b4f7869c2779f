/* sim_bills.h - the table of bills of the simulated journal. */
#ifndef SIM_BILLS_H
#define SIM_BILLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/journal_usage.h"

struct world;

struct sim_bill {
	char node[24], instance[24];
	uint64_t gen;
	uint32_t pool;
	int64_t start_ms, end_ms, rate_nano_h, cost_nano;
	int64_t skew; /* the world's, when it was written */
};

struct sim_bills {
	struct sim_bill *v;
	size_t n, cap;
};

/* A bill replaces an earlier one of the same instance and generation. */
void sim_bills_put(struct world *w, struct sim_bills *all, const struct sim_bill *b);
bool sim_bills_have(const struct sim_bills *all, const char *instance);
int64_t sim_bills_of_pool(const struct sim_bills *all, uint32_t pool);
/* All of them; *off: by how much their sum may be rounded otherwise. */
int64_t sim_bills_sum(const struct sim_bills *all, int64_t *off);
/* As journal_usage_of(). */
int sim_bills_visit(const struct world *w, const struct sim_bills *all,
		    const struct journal_usage_key *k, journal_usage_fn fn, void *ctx);

#endif
