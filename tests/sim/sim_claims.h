/* sim_claims.h - the claims that the simulator's journal has. */
#ifndef TESTS_SIM_CLAIMS_H
#define TESTS_SIM_CLAIMS_H

#include "core/claim.h"

struct sim_claims {
	struct claim *v;
	size_t n, cap;
};

void sim_claims_put(struct sim_claims *s, const struct claim *c); /* insert or replace */
void sim_claims_del(struct sim_claims *s, const char *node, uint64_t gen);

#endif
