#include "ledger/calendar.h"

#include <stdio.h>
#include <string.h>

#include "base/date.h"
#include "base/zone.h"

int calendar_init(struct calendar *c, const char *zone, struct err *e)
{
	*c = (struct calendar){.day = INT64_MIN, .zone = zone_new(zone, e)};
	return c->zone != NULL ? 0 : -1;
}

void calendar_fini(struct calendar *c)
{
	zone_free(c->zone);
	c->zone = NULL;
}

int64_t calendar_day_begin(struct calendar *c, int64_t day)
{
	return day == c->day ? c->begin_s : zone_day_begin(c->zone, day);
}

int64_t calendar_day(struct calendar *c, int64_t t_s)
{
	if (c->day != INT64_MIN && t_s >= c->begin_s && t_s < c->end_s)
		return c->day;
	c->day = zone_day(c->zone, t_s);
	c->begin_s = zone_day_begin(c->zone, c->day);
	c->end_s = zone_day_begin(c->zone, c->day + 1);
	return c->day;
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

int calendar_parse_day(const char *text, int64_t *day, struct err *e)
{
	if (date_parse(text, day))
		return 0;
	return err_set(e, ERR_INVALID, "want a day such as 2026-03-29, not \"%.40s\"", text);
}

int calendar_parse_month(const char *text, int64_t *month, struct err *e)
{
	char first[DATE_STR_SIZE];
	int64_t day;

	(void)snprintf(first, sizeof(first), "%.40s-01", text);
	if (date_parse(first, &day)) {
		*month = date_month(day);
		return 0;
	}
	return err_set(e, ERR_INVALID, "want a month such as 2026-03, not \"%.40s\"", text);
}
