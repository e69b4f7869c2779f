/* when.h - times as people type them, in their own time zone, as squeue and sacct take them.
 *
 * Accepted: now, today, yesterday; 2026-01-02, 2026-01-02T03:04, 2026-01-02T03:04:05, and with a Z
 * behind it UTC; 03:04 and 03:04:05 of today; 90s, 30m, 2h, 7d before now. */
#ifndef BURSTD_WHEN_H
#define BURSTD_WHEN_H

#include <stdint.h>

#include "base/err.h"

/* Fill *out_ms, milliseconds since 1970 UTC; now_ms: what "now" is.  -1: *e names what is
 * accepted. */
int when_parse(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e);

#endif
