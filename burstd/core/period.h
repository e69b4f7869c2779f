/* period.h - the period that a budget is for: which one is now, when it ends, what it is called.
 *
 * A period begins and ends at midnight in the report's time zone, so a day of it may have 23 or 25
 * hours.  Its end is the first millisecond that does not belong to it, and the begin of the next
 * one: periods of a rule leave no gap, and none overlap (but those of a rolling rule do). */
#ifndef BURSTD_PERIOD_H
#define BURSTD_PERIOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/zone.h"

enum {
	PERIOD_DAYS_MAX = 366, /* of a rolling window: spending is added up over all of it */
	PERIOD_STR_SIZE = 32,  /* of a rule as text */
	PERIOD_NAME_SIZE = 32,
};

enum period_kind {
	PERIOD_MONTH,
	PERIOD_QUARTER,
	PERIOD_YEAR,
	PERIOD_RANGE,
	PERIOD_ROLLING,
};

struct period_rule {
	enum period_kind kind;
	int month, mday;             /* PERIOD_YEAR: where it begins; 1, 1: with the calendar's */
	int64_t first_day, last_day; /* PERIOD_RANGE: both belong to it; base/date.h */
	int64_t days;                /* PERIOD_ROLLING: today is the last of them */
};

struct period {
	int64_t begin_ms, end_ms; /* milliseconds since 1970 UTC; the end does not belong to it */
	/* "2026-11", "2026-Q4", "2026", "2026/27" (a fiscal year), "2026-01-01..2026-06-30" or "30
	 * days".  Within a rule it names one period, but all windows of a rolling rule have one
	 * name. */
	char name[PERIOD_NAME_SIZE];
};

/* Is now in the period that period_find() gives?  Only a range can be anywhere else. */
enum period_when { PERIOD_NOW, PERIOD_NOT_YET, PERIOD_OVER };

/* Read "month", "quarter", "year", "year from 04-01" (of a fiscal year; a day that each year has),
 * "2026-01-01..2026-06-30" or "rolling 30d" (1 to PERIOD_DAYS_MAX days).  -1: *out is unchanged,
 * and *e says what is wanted. */
int period_parse(struct period_rule *out, const char *text, struct err *e);
/* The text that period_parse() reads as this rule; out has PERIOD_STR_SIZE. */
char *period_str(char *out, const struct period_rule *r);
bool period_same(const struct period_rule *a, const struct period_rule *b);

/* The period of the rule that now_ms is in; the range, wherever now is.  A rolling window is
 * [midnight `days` - 1 days before today, next midnight).  now_ms: of the years 1970 to 9999. */
enum period_when period_find(const struct period_rule *r, const struct zone *z, int64_t now_ms,
			     struct period *out);
/* The one that begins where p ends; that of a rolling rule ends a day later than p.  False: p is a
 * range, which none follows, and *out is unchanged. */
bool period_next(const struct period_rule *r, const struct zone *z, const struct period *p,
		 struct period *out);

#endif
