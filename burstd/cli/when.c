#include "cli/when.h"

#include <string.h>
#include <time.h>

#include "base/fmt.h"

enum { DAY_MS = 86400000 };

/* The midnight that begins the day of ms, and `days` days later. */
static int64_t midnight(int64_t ms, int days)
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL)
		return ms - ms % DAY_MS;
	tm.tm_mday += days;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * 1000;
}

/* Parse text by `form`; fields that it lacks are those of today's midnight. */
static int read_as(const char *text, const char *form, int64_t now_ms, int64_t *out_ms)
{
	time_t t = (time_t)(midnight(now_ms, 0) / 1000);
	struct tm tm, want;
	const char *end;

	if (localtime_r(&t, &tm) == NULL)
		return -1;
	end = strptime(text, form, &tm);
	if (end == NULL || *end != '\0')
		return -1;
	tm.tm_isdst = -1;
	want = tm;
	t = mktime(&tm);
	/* There is no 31st of April, and mktime() would make it the 1st of May. */
	if (t == (time_t)-1 || tm.tm_mday != want.tm_mday)
		return -1;
	*out_ms = (int64_t)t * 1000;
	return 0;
}

/* A day, a time of day, or both. */
static int read_date(const char *text, int64_t now_ms, int64_t *out_ms)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S",
					    "%H:%M", "%H:%M:%S"};

	if (fmt_time_parse(text, out_ms, NULL) == 0)
		return 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (read_as(text, forms[i], now_ms, out_ms) == 0)
			return 0;
	return -1;
}

int when_parse(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e)
{
	int64_t ago;

	if (strcmp(text, "now") == 0) {
		*out_ms = now_ms;
		return 0;
	}
	if (strcmp(text, "today") == 0 || strcmp(text, "yesterday") == 0) {
		*out_ms = midnight(now_ms, text[0] == 'y' ? -1 : 0);
		return 0;
	}
	if (fmt_duration_parse(text, &ago, NULL) == 0) {
		*out_ms = now_ms - ago;
		return 0;
	}
	if (read_date(text, now_ms, out_ms) == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		       "\"%.40s\" is not a time: want yesterday, 2h (ago), 13:30, 2026-01-02, "
		       "2026-01-02T13:30, or that with a Z for UTC",
		       text);
}

int when_parse_until(const char *text, int64_t now_ms, int64_t *out_ms, struct err *e)
{
	if (read_date(text, now_ms, out_ms) < 0)
		return err_set(e, ERR_INVALID,
			       "--until: \"%.40s\" is not a time: want 2026-12-24 (when that day "
			       "begins), 2026-12-24T13:30, or that with a Z for UTC",
			       text);
	return 0;
}
