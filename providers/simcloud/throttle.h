/* throttle.h - a token bucket, in thousandths of a token, on whole milliseconds. */
#ifndef SIMCLOUD_THROTTLE_H
#define SIMCLOUD_THROTTLE_H

#include <stdint.h>

#include "providers/simcloud/settings.h"

struct throttle {
	int64_t level_micro; /* tokens x 1e-6 */
	int64_t at;          /* 0: never used, so full */
};

/* Take n tokens.  Returns 0, or the time in ms until there are n.  More than burst are taken when
 * the bucket is full, which leaves a debt. */
int64_t throttle_take(struct throttle *b, const struct settings_bucket *c, int64_t n, int64_t now);

#endif
