/* calendar.h - days and months as the zone has them in which costs are reported.
 *
 * Days are numbered from 1970-01-01, months from year 0.  A day is what a clock there shows, but
 * for the hours that come again because it was set back over midnight: these belong to the day that
 * has begun already, so that days follow each other. */
#ifndef BURSTD_LEDGER_CALENDAR_H
#define BURSTD_LEDGER_CALENDAR_H

#include <stdint.h>

#include "base/err.h"
#include "ledger/allocate.h"

enum { CALENDAR_SIZE = 48 }; /* "2026-03-29" */

struct calendar { /* the day that was last asked for: the next question is mostly about it, too */
	int64_t day, begin_s, end_s;
};

/* zone: an IANA name.  The zone is the whole process's. */
int calendar_init(struct calendar *c, const char *zone, struct err *e);
int64_t calendar_day(struct calendar *c, int64_t t_s);
int64_t calendar_day_begin(struct calendar *c, int64_t day);
/* For allocate(), which then reports by day; borrows c. */
struct allocate_calendar calendar_of_days(struct calendar *c);

int64_t calendar_month_of(int64_t day); /* 12 * year + 0 to 11 */
int64_t calendar_first_day(int64_t month);
char *calendar_day_str(char *out, int64_t day);     /* "2026-03-29" */
char *calendar_month_str(char *out, int64_t month); /* "2026-03" */
/* "2026-03-29", of a day that exists in the years 1970 to 9999. */
int calendar_parse_day(const char *text, int64_t *day, struct err *e);
int calendar_parse_month(const char *text, int64_t *month, struct err *e);

#endif
