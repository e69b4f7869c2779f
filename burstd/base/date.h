/* date.h - dates of the Gregorian calendar, as numbers that can be compared and added to.
 *
 * A day is the count of days since 1970-01-01, a month is 12 * year + 0 to 11.  Both are dates on a
 * wall calendar, not instants: when a day begins depends on the time zone (base/zone.h).  All of it
 * holds for the years -9999 to 9999. */
#ifndef BURSTD_DATE_H
#define BURSTD_DATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DATE_YEAR_MONTHS = 12,
	DATE_STR_SIZE = 48, /* "2026-03-29", and any number that is no such day */
};

/* The day of a date; month: 1 to 12, day: 1 to 31.  The 30th of February is the 2nd of March (in a
 * leap year the 1st). */
int64_t date_day(int64_t year, int64_t month, int64_t day);
/* The date of a day; month: 1 to 12, mday: 1 to 31. */
void date_of(int64_t day, int64_t *year, int *month, int *mday);

int64_t date_month(int64_t day);       /* the month that the day is in */
int64_t date_month_day(int64_t month); /* its first day */

/* "2026-03-29" and "2026-03"; out has DATE_STR_SIZE. */
char *date_str(char *out, int64_t day);
char *date_month_str(char *out, int64_t month);
/* Read exactly that form, of years 1970 to 2199.  False: it is no such date, as the 30th of
 * February, and *out is unchanged. */
bool date_parse(const char *text, int64_t *out);

#endif
