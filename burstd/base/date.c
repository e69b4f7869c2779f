#include "base/date.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Hinnant, "chrono-compatible low-level date algorithms": years begin in March, so that the leap
 * day is the last of its year. */
enum {
	ERA_YEARS = 400,
	ERA_DAYS = 146097,  /* of 400 years */
	EPOCH_DAYS = 719468 /* from 0000-03-01 to 1970-01-01 */
};

enum { FIRST_YEAR = 1970, LAST_YEAR = 2199 }; /* any other in a configuration is a slip */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0 ? 1 : 0);
}

int64_t date_day(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = floor_div(y, ERA_YEARS);
	int64_t yoe = y - era * ERA_YEARS;
	int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * ERA_DAYS + yoe * 365 + yoe / 4 - yoe / 100 + doy - EPOCH_DAYS;
}

void date_of(int64_t day, int64_t *year, int *month, int *mday)
{
	int64_t z = day + EPOCH_DAYS, era = floor_div(z, ERA_DAYS), doe = z - era * ERA_DAYS;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;

	*mday = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = yoe + era * ERA_YEARS + (*month <= 2 ? 1 : 0);
}

int64_t date_month(int64_t day)
{
	int64_t year;
	int month, mday;

	date_of(day, &year, &month, &mday);
	return DATE_YEAR_MONTHS * year + month - 1;
}

int64_t date_month_day(int64_t month)
{
	int64_t year = floor_div(month, DATE_YEAR_MONTHS);

	return date_day(year, month - year * DATE_YEAR_MONTHS + 1, 1);
}

char *date_str(char *out, int64_t day)
{
	int64_t year;
	int month, mday;

	date_of(day, &year, &month, &mday);
	(void)snprintf(out, DATE_STR_SIZE, "%04" PRId64 "-%02d-%02d", year, month, mday);
	return out;
}

char *date_month_str(char *out, int64_t month)
{
	int64_t year = floor_div(month, DATE_YEAR_MONTHS);

	(void)snprintf(out, DATE_STR_SIZE, "%04" PRId64 "-%02d", year,
		       (int)(month - year * DATE_YEAR_MONTHS) + 1);
	return out;
}

bool date_parse(const char *text, int64_t *out)
{
	static const char form[] = "dddd-dd-dd";
	int64_t part[3] = {0}, day;
	char again[DATE_STR_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(form); i++) { /* its NUL, too */
		if (form[i] != 'd' && text[i] != form[i])
			return false;
		if (form[i] != 'd')
			n++;
		else if (text[i] >= '0' && text[i] <= '9')
			part[n] = part[n] * 10 + (text[i] - '0');
		else
			return false;
	}
	if (part[0] < FIRST_YEAR || part[0] > LAST_YEAR)
		return false;
	/* A month 13 and a 30th of February come out as another date. */
	day = date_day(part[0], part[1], part[2]);
	if (strcmp(date_str(again, day), text) != 0)
		return false;
	*out = day;
	return true;
}
