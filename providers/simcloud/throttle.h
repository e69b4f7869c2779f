/* throttle.h - a token bucket, in thousandths of a token, on whole milliseconds. */
#ifndef SIMCLOUD_THROTTLE_H
#define SIMCLOUD_THROTTLE_H

#include <stdint.h>

#include "providers/simcloud/settings.h"

struct throttle {
	int64_t level_micro; /* tokens x 1e-6 */
	int64_t at;          /* 0: never used, so full */
};

/* Take n.  0, or how many ms until there will be that many (n more than burst: until it is full,
 * and then they are taken all the same, leaving a debt). */
int64_t throttle_take(struct throttle *b, const struct settings_bucket *c, int64_t n, int64_t now);

#endif
