/* dist.h - a distribution of durations: how long an action of the simulated cloud takes.
 *
 * In JSON: "50ms", or {"dist":"uniform","min":"1s","max":"3s"}, or
 * {"dist":"lognormal","median":"45s","sigma":0.4}. */
#ifndef SIMCLOUD_DIST_H
#define SIMCLOUD_DIST_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "providers/simcloud/rng.h"

enum dist_kind { DIST_CONSTANT, DIST_UNIFORM, DIST_LOGNORMAL };

struct dist {
	enum dist_kind kind;
	int64_t a_ms, b_ms; /* a: constant, min or median; b: max */
	double sigma;       /* lognormal: deviation of the logarithm, 0 to 3 */
};

/* -1: *d is unchanged. */
int dist_parse(struct dist *d, const json_t *v, struct err *e);
int64_t dist_sample(const struct dist *d, struct rng *r); /* >= 0 ms */

#endif
