/* clamp.h - limits a number to a range. */
#ifndef BURSTD_CLAMP_H
#define BURSTD_CLAMP_H

#include <stdint.h>

/* v limited to low ... high; low <= high. */
static inline int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	if (v < low)
		return low;
	return v > high ? high : v;
}

#endif
