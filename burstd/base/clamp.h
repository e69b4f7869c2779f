/* clamp.h - limits a number, or a sum, to a range. */
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

/* a + b, limited to what 64 bits hold. */
static inline int64_t clamp_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

#endif
