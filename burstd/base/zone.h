/* zone.h - a time zone: which date it is there at an instant, and when a date begins.
 *
 * The system's time zone database is read once, in zone_new(), for the years 1970 to 2099; before
 * and after these the nearest offset holds.  From then on a zone is a table that never changes: all
 * functions are pure and safe in any thread.  Instants are seconds since 1970 UTC; days and months
 * are numbered as in base/date.h. */
#ifndef BURSTD_ZONE_H
#define BURSTD_ZONE_H

#include <stdint.h>

#include "base/err.h"

struct zone;

/* Does the system know the zone of that IANA name, such as "Europe/Berlin" or "UTC"?  Looks for its
 * file and changes nothing, so it may be asked at any time.  -1: *e names it. */
int zone_check(const char *iana, struct err *e);
/* Read that zone; NULL: zone_check() refuses it.  The caller's: zone_free().
 * Sets TZ for a moment (glibc has no other way), so call it before any thread is started; takes
 * some 20 ms. */
struct zone *zone_new(const char *iana, struct err *e);
void zone_free(struct zone *z); /* NULL is fine */
const char *zone_name(const struct zone *z);

/* How far local time is ahead of UTC, in seconds. */
int64_t zone_offset(const struct zone *z, int64_t t_s);

/* Of these two z may be NULL: UTC.
 *
 * The latest day that has begun.  It never decreases as time passes: it is the date on the clock,
 * except in the hours that come again because a clock was set back over midnight, which belong to
 * the day that has begun already. */
int64_t zone_day(const struct zone *z, int64_t t_s);
/* The first instant of that day.  Midnight may not exist (the clock is set forward over it): then
 * the first instant after it.  It may come twice: then the first one.  A whole day may not exist
 * (Apia, 2011-12-30): then the begin of the day after it. */
int64_t zone_day_begin(const struct zone *z, int64_t day);

int64_t zone_month(const struct zone *z, int64_t t_s);         /* the month of zone_day() */
int64_t zone_month_begin(const struct zone *z, int64_t month); /* likewise */

#endif
