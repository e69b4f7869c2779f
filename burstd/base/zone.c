#include "base/zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ZONES "/usr/share/zoneinfo/"

enum { YEAR_MONTHS = 12, BASE_YEAR = 1900, HOUR_S = 3600 };

/* glibc takes a name that it does not know for UTC, and a directory, too. */
static bool is_zone(const char *path)
{
	char magic[4];
	FILE *f = fopen(path, "re");
	bool is = f != NULL && fread(magic, sizeof(magic), 1, f) == 1 &&
		  memcmp(magic, "TZif", sizeof(magic)) == 0;

	if (f != NULL)
		(void)fclose(f);
	return is;
}

/* "right/" has leap seconds, which no other clock here counts. */
static bool is_known(const char *name)
{
	char path[256];

	for (const char *p = name; *p != '\0'; p++)
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/",
			   *p) == NULL)
			return false;
	if (name[0] == '\0' || name[0] == '/' || strncmp(name, "right/", 6) == 0 ||
	    (size_t)snprintf(path, sizeof(path), ZONES "%s", name) >= sizeof(path))
		return false;
	return strcmp(name, "UTC") == 0 || is_zone(path);
}

int zone_use(const char *name, struct err *e)
{
	if (!is_known(name))
		return err_set(e, ERR_INVALID, "no time zone \"%.60s\" in " ZONES, name);
	if (setenv("TZ", name, 1) != 0 || unsetenv("TZDIR") != 0)
		return err_set(e, ERR_LIMIT, "no memory for the time zone");
	tzset();
	return 0;
}

int64_t zone_month(int64_t t_s)
{
	time_t t = (time_t)t_s;
	struct tm tm = {0};

	if (localtime_r(&t, &tm) == NULL)
		abort(); /* a year beyond 32 bits: callers read times of the years 1 to 9999 */
	return ((int64_t)tm.tm_year + BASE_YEAR) * YEAR_MONTHS + tm.tm_mon;
}

/* Where the clock is set back over midnight, the month begins at the first of the two. */
int64_t zone_begin(int64_t month)
{
	struct tm tm = {.tm_year = (int)(month / YEAR_MONTHS - BASE_YEAR),
			.tm_mon = (int)(month % YEAR_MONTHS),
			.tm_mday = 1,
			.tm_isdst = -1};
	int64_t t = (int64_t)mktime(&tm);

	while (zone_month(t - 1) >= month)
		t -= HOUR_S / 2;
	while (zone_month(t) < month)
		t++;
	return t;
}

char *zone_month_str(char *out, int64_t month)
{
	(void)snprintf(out, ZONE_MONTH_SIZE, "%04lld-%02d", (long long)(month / YEAR_MONTHS),
		       (int)(month % YEAR_MONTHS) + 1);
	return out;
}
