/* rng.h - seeded random numbers (splitmix64): the same seed gives the same run. */
#ifndef SIMCLOUD_RNG_H
#define SIMCLOUD_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

/* Two streams of one seed are independent: each fault rule has its own. */
void rng_init(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *r);
double rng_unit(struct rng *r); /* 0 <= x < 1 */

#endif
