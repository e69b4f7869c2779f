/* zone.h - months as a time zone has them, summer time included.
 *
 * The zone is the whole process's, so this is for programs that report in one. */
#ifndef BURSTD_ZONE_H
#define BURSTD_ZONE_H

#include <stdint.h>

#include "base/err.h"

enum { ZONE_MONTH_SIZE = 24 }; /* "2026-03" */

/* Use the zone of that IANA name, such as "Europe/Berlin" or "UTC".  -1: the system knows none of
 * that name. */
int zone_use(const char *name, struct err *e);
/* The month in which the second t_s since 1970, UTC, is: 12 * year + 0 to 11. */
int64_t zone_month(int64_t t_s);
/* When that month begins. */
int64_t zone_begin(int64_t month);
/* "2026-03"; out has ZONE_MONTH_SIZE. */
char *zone_month_str(char *out, int64_t month);

#endif
