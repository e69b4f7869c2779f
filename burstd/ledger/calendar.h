/* calendar.h - days of the zone in which costs are reported, for allocate().
 *
 * They are those of base/zone.h, numbered as in base/date.h. */
#ifndef BURSTD_LEDGER_CALENDAR_H
#define BURSTD_LEDGER_CALENDAR_H

#include <stdint.h>

#include "base/err.h"
#include "base/zone.h"
#include "ledger/allocate.h"

struct calendar {
	struct zone *zone;
	int64_t day, begin_s, end_s; /* asked for last: the next question is mostly about it, too */
};

/* zone: an IANA name. */
int calendar_init(struct calendar *c, const char *zone, struct err *e);
void calendar_fini(struct calendar *c); /* also of one that is all zeros */
int64_t calendar_day(struct calendar *c, int64_t t_s);
int64_t calendar_day_begin(struct calendar *c, int64_t day);
/* For allocate(), which then reports by day; borrows c. */
struct allocate_calendar calendar_of_days(struct calendar *c);

/* What date_parse() reads, and "2026-03". */
int calendar_parse_day(const char *text, int64_t *day, struct err *e);
int calendar_parse_month(const char *text, int64_t *month, struct err *e);

#endif
