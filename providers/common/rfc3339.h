/* rfc3339.h - times as vendors write them (RFC 3339): any fraction, any offset, leap seconds. */
#ifndef PROVIDERS_COMMON_RFC3339_H
#define PROVIDERS_COMMON_RFC3339_H

#include <stdint.h>

/* Parse such as "2026-01-02T03:04:05Z", "2026-01-02t03:04:05.678901234+05:30": the whole text, with
 * every number in its range.  *out_ms: since 1970, negative before; digits beyond milliseconds are
 * left out.  A leap second, the 60th of the last minute of a month in UTC, is the second after it,
 * as POSIX counts.  -1: anything else; *out_ms is 0. */
int rfc3339_parse(const char *text, int64_t *out_ms);

#endif
