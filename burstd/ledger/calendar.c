#include "ledger/calendar.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/zone.h"

enum {
	DAY_S = 86400,
	/* No clock is further from UTC than so many hours; the steps are shorter than the time
	 * between two changes of a clock. */
	FAR_S = 15 * 3600,
	STEP_S = 900,
	YEAR_MONTHS = 12,
	YEAR_MIN = 1970,
	YEAR_MAX = 9999,
};

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int calendar_init(struct calendar *c, const char *zone, struct err *e)
{
	*c = (struct calendar){.day = INT64_MIN};
	return zone_use(zone, e);
}

/* What a clock shows. */
static int64_t shown(int64_t t_s)
{
	return floor_div(t_s + clock_zone_ms(t_s * 1000) / 1000, DAY_S);
}

/* The first second at which a clock shows that day, or a later one. */
static int64_t first_of(int64_t day)
{
	int64_t low = day * DAY_S - FAR_S, high = low;

	while (shown(high) < day)
		high += STEP_S;
	low = high - STEP_S;
	while (low + 1 < high) {
		int64_t mid = low + (high - low) / 2;

		if (shown(mid) < day)
			low = mid;
		else
			high = mid;
	}
	return high;
}

int64_t calendar_day_begin(struct calendar *c, int64_t day)
{
	return day == c->day ? c->begin_s : first_of(day);
}

int64_t calendar_day(struct calendar *c, int64_t t_s)
{
	int64_t day;

	if (c->day != INT64_MIN && t_s >= c->begin_s && t_s < c->end_s)
		return c->day;
	day = shown(t_s);
	while (first_of(day + 1) <= t_s) /* the clock was set back, or a day left out */
		day++;
	*c = (struct calendar){.day = day, .begin_s = first_of(day), .end_s = first_of(day + 1)};
	return day;
}

static int64_t day_of(void *ctx, int64_t t_s)
{
	return calendar_day(ctx, t_s);
}

static int64_t next_day(void *ctx, int64_t t_s)
{
	struct calendar *c = ctx;

	(void)calendar_day(c, t_s);
	return c->end_s;
}

struct allocate_calendar calendar_of_days(struct calendar *c)
{
	return (struct allocate_calendar){.month = day_of, .next = next_day, .ctx = c};
}

/* --- dates -------------------------------------------------------------------------------------
 *
 * Years that begin in March, so that a leap day is the last of one: 400 of them are 146,097 days.
 */

struct date {
	int64_t year, month, day; /* 1 to 12; 1 to 31 */
};

static struct date date_of(int64_t day)
{
	int64_t z = day + 719468, era = floor_div(z, 146097), of_era = z - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t march = (5 * of_year + 2) / 153;
	struct date d = {.day = of_year - (153 * march + 2) / 5 + 1,
			 .month = march < 10 ? march + 3 : march - 9};

	d.year = year + era * 400 + (d.month <= 2);
	return d;
}

static int64_t day_number(const struct date *d)
{
	int64_t year = d->year - (d->month <= 2), era = floor_div(year, 400);
	int64_t of_era = year - era * 400;
	int64_t of_year = (153 * (d->month > 2 ? d->month - 3 : d->month + 9) + 2) / 5 + d->day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

int64_t calendar_month_of(int64_t day)
{
	struct date d = date_of(day);

	return d.year * YEAR_MONTHS + d.month - 1;
}

int64_t calendar_first_day(int64_t month)
{
	const struct date d = {floor_div(month, YEAR_MONTHS),
			       month - floor_div(month, YEAR_MONTHS) * YEAR_MONTHS + 1, 1};

	return day_number(&d);
}

char *calendar_day_str(char *out, int64_t day)
{
	struct date d = date_of(day);

	(void)snprintf(out, CALENDAR_SIZE, "%04lld-%02d-%02d", (long long)d.year, (int)d.month,
		       (int)d.day);
	return out;
}

char *calendar_month_str(char *out, int64_t month)
{
	(void)snprintf(out, CALENDAR_SIZE, "%04lld-%02d", (long long)floor_div(month, YEAR_MONTHS),
		       (int)(month - floor_div(month, YEAR_MONTHS) * YEAR_MONTHS) + 1);
	return out;
}

/* n digits at *p, and the character after them, if it is not NUL. */
static bool take(const char **p, int n, char after, int64_t *out)
{
	*out = 0;
	for (int i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		*out = *out * 10 + (**p - '0');
	}
	if (**p != after)
		return false;
	*p += after != '\0';
	return true;
}

int calendar_parse_day(const char *text, int64_t *day, struct err *e)
{
	char back[CALENDAR_SIZE];
	const char *p = text;
	struct date d = {0};

	if (take(&p, 4, '-', &d.year) && take(&p, 2, '-', &d.month) && take(&p, 2, '\0', &d.day) &&
	    d.year >= YEAR_MIN && d.month >= 1 && d.month <= YEAR_MONTHS && d.day >= 1) {
		*day = day_number(&d);
		if (strcmp(calendar_day_str(back, *day), text) == 0)
			return 0;
	}
	return err_set(e, ERR_INVALID, "want a day such as 2026-03-29, not \"%.40s\"", text);
}

int calendar_parse_month(const char *text, int64_t *month, struct err *e)
{
	const char *p = text;
	int64_t year, of_year;

	if (take(&p, 4, '-', &year) && take(&p, 2, '\0', &of_year) && year >= YEAR_MIN &&
	    year <= YEAR_MAX && of_year >= 1 && of_year <= YEAR_MONTHS) {
		*month = year * YEAR_MONTHS + of_year - 1;
		return 0;
	}
	return err_set(e, ERR_INVALID, "want a month such as 2026-03, not \"%.40s\"", text);
}
