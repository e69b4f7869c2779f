/* fnv.h - FNV-1a, 64 bits: for tables, and to see that something has changed.  Whoever chooses the
 * bytes can have two of the same hash, so nothing secret may hang on it.  Some are in the journal:
 * it never changes. */
#ifndef BURSTD_FNV_H
#define BURSTD_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_BEGIN UINT64_C(14695981039346656037)

/* h: FNV_BEGIN, or what the bytes before these came to. */
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
