/* fmt.h - numbers to text and back: times, durations, money, bytes in hex.  No float anywhere.
 *
 * Money is int64 nano-units (1e-9) of the configured currency; a price is nano-units per hour. */
#ifndef BURSTD_FMT_H
#define BURSTD_FMT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	FMT_TIME_SIZE = 48,
	FMT_MONEY_SIZE = 32,
	FMT_DUR_SIZE = 32,
	FMT_U64_SIZE = 24,
	FMT_UTC_SIZE = 20 /* 2026-01-02T03:04:05Z, without the NUL */
};

#define FMT_NANO INT64_C(1000000000)

/* RFC 3339 UTC with milliseconds, e.g. 2026-01-02T03:04:05.678Z; out has FMT_TIME_SIZE.  Any ms is
 * safe: a year past 9999 or before 0 has more digits or a sign. */
char *fmt_time(char *out, int64_t ms);
/* Parse that form, with or without milliseconds, and only with the zone Z. */
int fmt_time_parse(const char *text, int64_t *out_ms, struct err *e);
/* The largest two units, e.g. "3h12m", "45s", "120ms"; out has FMT_DUR_SIZE. */
char *fmt_duration(char *out, int64_t ms);

/* How far local time is ahead of UTC at wall_ms, as clock_zone_ms(). */
typedef int64_t (*fmt_zone_fn)(int64_t wall_ms);
/* Replace each time in text of the form 2026-01-02T03:04:05Z by local time in squeue's form,
 * 2026-01-02T04:04:05.  The hour that comes twice at the end of summer time is ambiguous, as in
 * squeue.  zone NULL: leave the text alone. */
void fmt_local(char *text, fmt_zone_fn zone);

char *fmt_u64(char *out, uint64_t v); /* out has FMT_U64_SIZE */
char *fmt_i64(char *out, int64_t v);
/* Two lower-case digits for each byte; out has 2 * n + 1. */
char *fmt_hex(char *out, const void *bytes, size_t n);

/* "500ms", "30s", "15m", "2h", "7d"; a bare number is an error.  0 <= *out <= 366 d. */
int fmt_duration_parse(const char *text, int64_t *out_ms, struct err *e);

/* All nine decimals less trailing zeros, at least two: "29.52", "-0.000000001". */
char *fmt_money(char *out, int64_t nano); /* out has FMT_MONEY_SIZE */
/* Digits, optionally '.' and up to nine more; no sign, no exponent.  < 9e9. */
int fmt_money_parse(const char *text, int64_t *out_nano, struct err *e);

/* What ms milliseconds cost at rate nano-units an hour, rounded half up. ms, rate >= 0; saturates.
 */
int64_t fmt_cost(int64_t ms, int64_t rate_nano_h);

#endif
