/* fnv.h - FNV-1a, 64 bits: for tables, and to detect changes.  It is easy to find two texts with
 * the same hash, so it must not protect anything.  The journal has some hashes: it must never
 * change. */
#ifndef BURSTD_FNV_H
#define BURSTD_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_BEGIN UINT64_C(14695981039346656037)

/* h: FNV_BEGIN, or the hash of the preceding bytes. */
static inline uint64_t fnv_bytes(uint64_t h, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(1099511628211);
	return h;
}

static inline uint64_t fnv_text(uint64_t h, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
		h = (h ^ *p) * UINT64_C(1099511628211);
	return h;
}

#endif
