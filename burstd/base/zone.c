#include "base/zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/mem.h"

#define ZONES "/usr/share/zoneinfo/"

enum { DAY_S = 86400, ZONE_NAME_MAX = 60 };

/* Probe each day: no zone has had an offset for less than a day since 1970. */
static const int64_t probe_from_s = 0, probe_to_s = INT64_C(4102444800); /* 2100-01-01 */

struct span {            /* of one offset: from its begin to that of the next */
	int64_t begin_s; /* the first span is as good for any time before it */
	int64_t offset_s;
	int64_t begun; /* the latest day that begins in a span before this one */
};

struct zone {
	char *name;
	struct span *spans;
	size_t n; /* 1 or more */
};

/* --- which names there are ----------------------------------------------------------------------
 */

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
	if (name[0] == '\0' || name[0] == '/' || strlen(name) > ZONE_NAME_MAX ||
	    strncmp(name, "right/", 6) == 0)
		return false;
	(void)snprintf(path, sizeof(path), ZONES "%s", name);
	return strcmp(name, "UTC") == 0 || is_zone(path);
}

int zone_check(const char *iana, struct err *e)
{
	if (is_known(iana))
		return 0;
	return err_set(e, ERR_INVALID, "no time zone \"%.60s\" in " ZONES, iana);
}

/* --- reading one --------------------------------------------------------------------------------
 */

static void put_env(const char *name, const char *value)
{
	if ((value != NULL ? setenv(name, value, 1) : unsetenv(name)) != 0)
		abort(); /* the name is right, so it is lack of memory */
}

static int64_t probe(int64_t t_s)
{
	time_t t = (time_t)t_s;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL)
		abort(); /* a year beyond 32 bits: not between probe_from_s and probe_to_s */
	return tm.tm_gmtoff;
}

/* The first second that does not have the offset of `from`; that of `to` differs. */
static int64_t find_change(int64_t from, int64_t to)
{
	int64_t was = probe(from);

	while (to - from > 1) {
		int64_t mid = from + (to - from) / 2;

		if (probe(mid) == was)
			from = mid;
		else
			to = mid;
	}
	return to;
}

static int64_t floor_day(int64_t local_s)
{
	return local_s / DAY_S - (local_s % DAY_S < 0 ? 1 : 0);
}

static void add_span(struct zone *z, int64_t begin_s)
{
	struct span s = {.begin_s = begin_s, .offset_s = probe(begin_s), .begun = INT64_MIN};

	if (z->n > 0) {
		const struct span *last = &z->spans[z->n - 1];
		int64_t day = floor_day(begin_s - 1 + last->offset_s);

		s.begun = day > last->begun ? day : last->begun;
	}
	z->spans = mem_realloc(z->spans, (z->n + 1) * sizeof(s));
	z->spans[z->n++] = s;
}

static void read_spans(struct zone *z)
{
	add_span(z, probe_from_s);
	for (int64_t t = probe_from_s; t < probe_to_s;) {
		int64_t next = t + DAY_S;

		if (probe(next) == z->spans[z->n - 1].offset_s) {
			t = next;
			continue;
		}
		t = find_change(t, next);
		add_span(z, t);
	}
}

struct zone *zone_new(const char *iana, struct err *e)
{
	const char *tz = getenv("TZ"), *dir = getenv("TZDIR");
	char *old_tz = tz != NULL ? mem_strdup(tz) : NULL;
	char *old_dir = dir != NULL ? mem_strdup(dir) : NULL;
	struct zone *z = NULL;

	if (zone_check(iana, e) < 0)
		goto out;
	z = mem_zalloc(sizeof(*z));
	z->name = mem_strdup(iana);
	put_env("TZDIR", NULL); /* another directory than the one that was checked */
	put_env("TZ", iana);
	tzset();
	read_spans(z);
	put_env("TZ", old_tz);
	put_env("TZDIR", old_dir);
	tzset();
out:
	free(old_tz);
	free(old_dir);
	return z;
}

void zone_free(struct zone *z)
{
	if (z == NULL)
		return;
	free(z->spans);
	free(z->name);
	free(z);
}

const char *zone_name(const struct zone *z)
{
	return z->name;
}

/* --- looking things up --------------------------------------------------------------------------
 */

/* The span that has this instant. */
static const struct span *span_at(const struct zone *z, int64_t t_s)
{
	size_t low = 0, high = z->n; /* it is in [low, high) */

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (z->spans[mid].begin_s <= t_s)
			low = mid;
		else
			high = mid;
	}
	return &z->spans[low];
}

int64_t zone_offset(const struct zone *z, int64_t t_s)
{
	return span_at(z, t_s)->offset_s;
}

int64_t zone_day(const struct zone *z, int64_t t_s)
{
	const struct span *s;
	int64_t day;

	if (z == NULL)
		return floor_day(t_s);
	s = span_at(z, t_s);
	day = floor_day(t_s + s->offset_s);
	return day > s->begun ? day : s->begun;
}

int64_t zone_day_begin(const struct zone *z, int64_t day)
{
	size_t low = 0, high; /* it begins in [low, high) */
	int64_t t;

	if (z == NULL)
		return day * DAY_S;
	high = z->n;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (z->spans[mid].begun < day)
			low = mid;
		else
			high = mid;
	}
	t = day * DAY_S - z->spans[low].offset_s;
	return low > 0 && t < z->spans[low].begin_s ? z->spans[low].begin_s : t;
}

int64_t zone_month(const struct zone *z, int64_t t_s)
{
	return date_month(zone_day(z, t_s));
}

int64_t zone_month_begin(const struct zone *z, int64_t month)
{
	return zone_day_begin(z, date_month_day(month));
}
