/* window.h - a sliding window: no more than `most` requests in any every_ms.
 *
 * A token bucket that begins full must gain less than that, or it lets up to twice as many through
 * in its first every_ms.  A window knows when each of the last requests went, so all that is
 * allowed may go, at once or later.  Time is passed in. */
#ifndef BURSTD_WINDOW_H
#define BURSTD_WINDOW_H

#include <stdint.h>

enum { WINDOW_MAX = 16 }; /* the largest `most`: the time of each is kept */

struct window { /* all zero: no limit */
	uint32_t most, every_ms;
	uint32_t oldest;             /* index of the oldest time ... */
	int64_t went_ms[WINDOW_MAX]; /* ... of the last `most` requests, a ring in order of time */
};

/* Nothing went so far.  most 0: no limit; at most WINDOW_MAX. */
void window_init(struct window *w, uint32_t most, uint32_t every_ms, int64_t now_ms);
void window_take(struct window *w, int64_t now_ms);             /* one goes, allowed or not */
int64_t window_next_ms(const struct window *w, int64_t now_ms); /* when one may go; now_ms: now */

#endif
