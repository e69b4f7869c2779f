/* sim_claims.h - the claims that the simulator's journal has. */
#ifndef TESTS_SIM_CLAIMS_H
#define TESTS_SIM_CLAIMS_H

#include "core/claim.h"

struct sim_claim {
	struct claim c;
	int64_t bad_at; /* since then its machine should go: sim_keys.c */
};

struct sim_claims {
	struct sim_claim *v;
	size_t n, cap;
};

void sim_claims_put(struct sim_claims *s, const struct claim *c,
		    int64_t now); /* insert or replace */
struct sim_claim *sim_claims_get(const struct sim_claims *s, const char *node, uint64_t gen);
void sim_claims_del(struct sim_claims *s, const char *node, uint64_t gen);

#endif
