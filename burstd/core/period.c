#include "core/period.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/date.h"

enum { MS_SECOND = 1000, QUARTER_MONTHS = 3, CENTURY = 100 };

static const char fiscal[] = "year from ", rolling[] = "rolling ";

/* --- rules and their text -----------------------------------------------------------------------
 */

static int bad(const char *text, const char *want, struct err *e)
{
	return err_set(e, ERR_INVALID, "\"%.40s\": %s", text, want);
}

/* MM-DD, of a year without a leap day: 02-29 would be missing in most years. */
static bool read_start(const char *text, struct period_rule *r)
{
	char date[DATE_STR_SIZE];
	int64_t day, year;

	(void)snprintf(date, sizeof(date), "2001-%.8s", text);
	if (!date_parse(date, &day))
		return false;
	date_of(day, &year, &r->month, &r->mday);
	return true;
}

static bool read_range(const char *text, struct period_rule *r)
{
	const char *dots = strstr(text, "..");
	char first[DATE_STR_SIZE];

	if (dots == NULL)
		return false;
	(void)snprintf(first, sizeof(first), "%.*s", (int)(dots - text < 12 ? dots - text : 12),
		       text);
	return date_parse(first, &r->first_day) && date_parse(dots + 2, &r->last_day);
}

/* A number without leading zeros, then 'd'. */
static bool read_days(const char *text, struct period_rule *r)
{
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && r->days <= PERIOD_DAYS_MAX; p++)
		r->days = r->days * 10 + (*p - '0');
	return text[0] != '0' && strcmp(p, "d") == 0 && r->days >= 1 && r->days <= PERIOD_DAYS_MAX;
}

static int read_rule(struct period_rule *r, const char *text, struct err *e)
{
	if (strncmp(text, fiscal, strlen(fiscal)) == 0) {
		r->kind = PERIOD_YEAR;
		return read_start(text + strlen(fiscal), r)
			       ? 0
			       : bad(text, "want a day that each year has, as \"year from 04-01\"",
				     e);
	}
	if (strncmp(text, rolling, strlen(rolling)) == 0) {
		r->kind = PERIOD_ROLLING;
		return read_days(text + strlen(rolling), r)
			       ? 0
			       : bad(text, "want 1 to 366 days, as \"rolling 30d\"", e);
	}
	r->kind = PERIOD_RANGE;
	if (!read_range(text, r))
		return bad(text,
			   "want month, quarter, year, \"year from MM-DD\", \"rolling 30d\" or "
			   "\"2026-01-01..2026-06-30\"",
			   e);
	return r->first_day <= r->last_day ? 0 : bad(text, "its last day is before its first", e);
}

int period_parse(struct period_rule *out, const char *text, struct err *e)
{
	static const char *const words[] = {
		[PERIOD_MONTH] = "month", [PERIOD_QUARTER] = "quarter", [PERIOD_YEAR] = "year"};
	struct period_rule r = {.month = 1, .mday = 1};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i]) == 0) {
			r.kind = (enum period_kind)i;
			*out = r;
			return 0;
		}
	if (read_rule(&r, text, e) < 0)
		return -1;
	*out = r;
	return 0;
}

static char *range_str(char *out, const struct period_rule *r)
{
	char first[DATE_STR_SIZE], last[DATE_STR_SIZE];

	(void)snprintf(out, PERIOD_STR_SIZE, "%.12s..%.12s", date_str(first, r->first_day),
		       date_str(last, r->last_day));
	return out;
}

static bool is_fiscal(const struct period_rule *r)
{
	return r->kind == PERIOD_YEAR && (r->month != 1 || r->mday != 1);
}

char *period_str(char *out, const struct period_rule *r)
{
	if (r->kind == PERIOD_RANGE)
		return range_str(out, r);
	if (r->kind == PERIOD_ROLLING)
		(void)snprintf(out, PERIOD_STR_SIZE, "%s%" PRId64 "d", rolling, r->days);
	else if (is_fiscal(r))
		(void)snprintf(out, PERIOD_STR_SIZE, "%s%02d-%02d", fiscal, r->month, r->mday);
	else
		(void)snprintf(out, PERIOD_STR_SIZE, "%s",
			       r->kind == PERIOD_MONTH     ? "month"
			       : r->kind == PERIOD_QUARTER ? "quarter"
							   : "year");
	return out;
}

bool period_same(const struct period_rule *a, const struct period_rule *b)
{
	return a->kind == b->kind && a->month == b->month && a->mday == b->mday &&
	       a->first_day == b->first_day && a->last_day == b->last_day && a->days == b->days;
}

/* --- periods ------------------------------------------------------------------------------------
 */

static int64_t floor_s(int64_t ms)
{
	return ms / MS_SECOND - (ms % MS_SECOND < 0 ? 1 : 0);
}

/* From the begin of one day to that of another. */
static void span(struct period *out, const struct zone *z, int64_t first, int64_t behind)
{
	out->begin_ms = zone_day_begin(z, first) * MS_SECOND;
	out->end_ms = zone_day_begin(z, behind) * MS_SECOND;
}

static void find_months(const struct zone *z, int64_t today, int length, struct period *out)
{
	int64_t month = date_month(today), first = month - month % length;
	int64_t year = first / DATE_YEAR_MONTHS;

	span(out, z, date_month_day(first), date_month_day(first + length));
	if (length == 1)
		(void)date_month_str(out->name, first);
	else
		(void)snprintf(out->name, sizeof(out->name), "%04" PRId64 "-Q%d", year,
			       (int)(first % DATE_YEAR_MONTHS) / length + 1);
}

static void find_year(const struct period_rule *r, const struct zone *z, int64_t today,
		      struct period *out)
{
	int64_t year;
	int month, mday;

	date_of(today, &year, &month, &mday);
	if (today < date_day(year, r->month, r->mday))
		year--;
	span(out, z, date_day(year, r->month, r->mday), date_day(year + 1, r->month, r->mday));
	if (is_fiscal(r))
		(void)snprintf(out->name, sizeof(out->name), "%04" PRId64 "/%02d", year,
			       (int)((year + 1) % CENTURY));
	else
		(void)snprintf(out->name, sizeof(out->name), "%04" PRId64, year);
}

static enum period_when find_range(const struct period_rule *r, const struct zone *z,
				   int64_t now_ms, struct period *out)
{
	span(out, z, r->first_day, r->last_day + 1);
	(void)range_str(out->name, r);
	if (now_ms < out->begin_ms)
		return PERIOD_NOT_YET;
	return now_ms < out->end_ms ? PERIOD_NOW : PERIOD_OVER;
}

enum period_when period_find(const struct period_rule *r, const struct zone *z, int64_t now_ms,
			     struct period *out)
{
	int64_t today = zone_day(z, floor_s(now_ms));

	switch (r->kind) {
	case PERIOD_RANGE:
		return find_range(r, z, now_ms, out);
	case PERIOD_YEAR:
		find_year(r, z, today, out);
		return PERIOD_NOW;
	case PERIOD_ROLLING:
		span(out, z, today - r->days + 1, today + 1);
		(void)snprintf(out->name, sizeof(out->name), "%" PRId64 " day%s", r->days,
			       r->days == 1 ? "" : "s");
		return PERIOD_NOW;
	default:
		find_months(z, today, r->kind == PERIOD_MONTH ? 1 : QUARTER_MONTHS, out);
		return PERIOD_NOW;
	}
}

bool period_next(const struct period_rule *r, const struct zone *z, const struct period *p,
		 struct period *out)
{
	if (r->kind == PERIOD_RANGE)
		return false;
	(void)period_find(r, z, p->end_ms, out);
	return true;
}
