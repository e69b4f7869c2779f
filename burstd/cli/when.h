/* when.h - parses times as people type them, in local time, as squeue and sacct do.
 *
 * Accepted: now, today, yesterday; 2026-01-02, 2026-01-02T03:04, 2026-01-02T03:04:05, in UTC with a
 * Z at the end; 03:04 and 03:04:05, today; 90s, 30m, 2h, 7d ago. */
#ifndef BURSTD_WHEN_H
#define BURSTD_WHEN_H

#include <stdint.h>

#include "base/err.h"

/* *out_ms: milliseconds since 1970 UTC; now_ms: the present time.  -1: *e names what is accepted.
 */
int when_parse(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e);
/* Likewise of what is to end at that time (--until): no times ago.  One that is over is burstd's to
 * refuse, by its own clock. */
int when_parse_until(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e);

#endif
