/* clamp.h - a number between two others. */
#ifndef BURSTD_CLAMP_H
#define BURSTD_CLAMP_H

#include <stdint.h>

/* v, but no less than low and no more than high; low <= high. */
static inline int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	if (v < low)
		return low;
	return v > high ? high : v;
}

#endif
