#include "providers/common/rfc3339.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/fmt.h"

enum {
	SECONDS = 17, /* in 2026-01-02T03:04:05 */
	END = 19,
	FRACTION_MAX = 18, /* digits: Azure writes 7, Go 9 */
	MINUTE_MS = 60000,
	DAY_MS = 86400000,
};

/* Read ".123..." at *p, if there is one; -1: malformed. */
static int64_t fraction_ms(const char **p)
{
	int64_t ms = 0, scale = 100;
	const char *first;

	if (**p != '.')
		return 0;
	for (first = ++*p; isdigit((unsigned char)**p); (*p)++, scale /= 10)
		ms += scale * (**p - '0');
	return *p > first && *p - first <= FRACTION_MAX ? ms : -1;
}

/* Two digits below `limit`; -1: no. */
static int64_t two(const char *p, int64_t limit)
{
	int64_t v;

	if (!isdigit((unsigned char)p[0]) || !isdigit((unsigned char)p[1]))
		return -1;
	v = (p[0] - '0') * 10 + (p[1] - '0');
	return v < limit ? v : -1;
}

/* Read "Z" or "+hh:mm", and the end. */
static bool read_offset(const char *p, int64_t *ms)
{
	int64_t h, m;

	*ms = 0;
	if (*p == 'Z' || *p == 'z')
		return p[1] == '\0';
	if ((*p != '+' && *p != '-') || (h = two(p + 1, 24)) < 0 || p[3] != ':' ||
	    (m = two(p + 4, 60)) < 0 || p[6] != '\0')
		return false;
	*ms = (h * 60 + m) * MINUTE_MS * (*p == '-' ? -1 : 1);
	return true;
}

/* Is this the first moment of a month in UTC? */
static bool begins_month(int64_t ms)
{
	char text[FMT_TIME_SIZE];

	return ms % DAY_MS == 0 && strncmp(fmt_time(text, ms) + 8, "01", 2) == 0;
}

int rfc3339_parse(const char *text, int64_t *out_ms)
{
	char plain[FMT_UTC_SIZE + 1];
	const char *p = text + END;
	int64_t ms, part, offset;
	bool leap;

	*out_ms = 0;
	if (strnlen(text, END) < END)
		return -1;
	memcpy(plain, text, END);
	memcpy(plain + END, "Z", 2);
	if (plain[10] == 't')
		plain[10] = 'T';
	leap = memcmp(plain + SECONDS, "60", 2) == 0;
	if (leap)
		memcpy(plain + SECONDS, "59", 2);
	if (fmt_time_parse(plain, &ms, NULL) != 0 || (part = fraction_ms(&p)) < 0 ||
	    !read_offset(p, &offset))
		return -1;
	ms += (leap ? 1000 : 0) - offset;
	if (leap && !begins_month(ms))
		return -1;
	*out_ms = ms + part;
	return 0;
}
