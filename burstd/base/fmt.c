#include "base/fmt.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MS_SECOND = 1000, MS_MINUTE = 60000, MS_HOUR = 3600000, MS_DAY = 86400000 };

/* Days since 1970-01-01 to a civil date, proleptic Gregorian (Hinnant, "chrono-compatible
 * low-level date algorithms", civil_from_days).  gmtime_r would need <time.h>. */
static void civil(int64_t days, int64_t *y, unsigned *m, unsigned *d)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	unsigned doe = (unsigned)(z - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;

	*d = doy - (153 * mp + 2) / 5 + 1;
	*m = mp < 10 ? mp + 3 : mp - 9;
	*y = (int64_t)yoe + era * 400 + (*m <= 2 ? 1 : 0);
}

char *fmt_time(char *out, int64_t ms)
{
	int64_t days = ms / MS_DAY, rest = ms % MS_DAY, y;
	unsigned m, d;

	if (rest < 0) {
		rest += MS_DAY;
		days--;
	}
	civil(days, &y, &m, &d);
	(void)snprintf(
		out, FMT_TIME_SIZE,
		"%04" PRId64 "-%02u-%02uT%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%03" PRId64 "Z",
		y, m, d, rest / MS_HOUR, rest / MS_MINUTE % 60, rest / MS_SECOND % 60, rest % 1000);
	return out;
}

/* A civil date to days since 1970-01-01 (Hinnant, days_from_civil). */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
	int64_t yy = m <= 2 ? y - 1 : y, era = yy / 400, yoe = yy - era * 400;
	int64_t doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* Read n digits at *p, and the character `then` behind them. */
static bool take_digits(const char **p, int n, char then, int64_t *out)
{
	for (*out = 0; n > 0; n--, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return then == '\0' || *(*p)++ == then;
}

int fmt_time_parse(const char *text, int64_t *out_ms, struct err *e)
{
	int64_t y, m, d, h, min, s, frac = 0;
	char again[FMT_TIME_SIZE];
	const char *p = text;
	bool good = take_digits(&p, 4, '-', &y) && take_digits(&p, 2, '-', &m) &&
		    take_digits(&p, 2, 'T', &d) && take_digits(&p, 2, ':', &h) &&
		    take_digits(&p, 2, ':', &min) && take_digits(&p, 2, '\0', &s);

	if (good && *p == '.')
		good = take_digits((p++, &p), 3, '\0', &frac);
	good = good && strcmp(p, "Z") == 0 && m >= 1 && m <= 12 && d >= 1;
	if (good) {
		*out_ms = days_of(y, m, d) * MS_DAY + h * MS_HOUR + min * MS_MINUTE +
			  s * MS_SECOND + frac;
		/* The 30th of February and 25 o'clock come out as another time. */
		good = strncmp(fmt_time(again, *out_ms), text, 19) == 0;
	}
	return good ? 0
		    : err_set(e, ERR_INVALID, "\"%.40s\": want a time such as 2026-01-02T03:04:05Z",
			      text);
}

void fmt_local(char *text, fmt_zone_fn zone)
{
	enum { DATE = 10, LOCAL = FMT_UTC_SIZE - 1 };

	for (char *p = strchr(text, 'T'); p != NULL && zone != NULL; p = strchr(p + 1, 'T')) {
		char utc[FMT_UTC_SIZE + 1], local[FMT_TIME_SIZE];
		int64_t ms = 0;

		if (p - text < DATE || strnlen(p, DATE) < DATE)
			continue;
		memcpy(utc, p - DATE, FMT_UTC_SIZE);
		utc[FMT_UTC_SIZE] = '\0';
		if (fmt_time_parse(utc, &ms, NULL) != 0)
			continue;
		(void)fmt_time(local, ms + zone(ms));
		if (local[LOCAL] != '.') /* beyond the years of four digits */
			continue;
		memcpy(p - DATE, local, LOCAL);
		memmove(p + DATE - 1, p + DATE, strlen(p + DATE) + 1);
	}
}

char *fmt_u64(char *out, uint64_t v)
{
	char digits[FMT_U64_SIZE];
	size_t n = sizeof(digits);

	/* Not snprintf(): a burst writes a hundred thousand of them. */
	digits[--n] = '\0';
	do
		digits[--n] = (char)('0' + v % 10);
	while ((v /= 10) > 0);
	memcpy(out, digits + n, sizeof(digits) - n);
	return out;
}

char *fmt_i64(char *out, int64_t v)
{
	if (v >= 0)
		return fmt_u64(out, (uint64_t)v);
	out[0] = '-';
	(void)fmt_u64(out + 1, 0 - (uint64_t)v);
	return out;
}

char *fmt_duration(char *out, int64_t ms)
{
	const char *sign = ms < 0 ? "-" : "";
	uint64_t v = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;

	if (v < MS_SECOND)
		(void)snprintf(out, FMT_DUR_SIZE, "%s%" PRIu64 "ms", sign, v);
	else if (v < MS_MINUTE)
		(void)snprintf(out, FMT_DUR_SIZE, "%s%" PRIu64 "s", sign, v / MS_SECOND);
	else if (v < MS_HOUR)
		(void)snprintf(out, FMT_DUR_SIZE, "%s%" PRIu64 "m%02" PRIu64 "s", sign,
			       v / MS_MINUTE, v / MS_SECOND % 60);
	else if (v < MS_DAY)
		(void)snprintf(out, FMT_DUR_SIZE, "%s%" PRIu64 "h%02" PRIu64 "m", sign, v / MS_HOUR,
			       v / MS_MINUTE % 60);
	else
		(void)snprintf(out, FMT_DUR_SIZE, "%s%" PRIu64 "d%02" PRIu64 "h", sign, v / MS_DAY,
			       v / MS_HOUR % 24);
	return out;
}

int fmt_duration_parse(const char *text, int64_t *out_ms, struct err *e)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"ms", 1}, {"s", MS_SECOND}, {"m", MS_MINUTE}, {"h", MS_HOUR}, {"d", MS_DAY}};
	const char *p = text;
	int64_t v = 0;

	*out_ms = 0;
	while (isdigit((unsigned char)*p) && p - text < 12)
		v = v * 10 + (*p++ - '0');
	for (size_t i = 0; p > text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(p, units[i].name) == 0) {
			if (v > 366 * (int64_t)MS_DAY / units[i].ms)
				return err_set(e, ERR_INVALID, "%s: longer than 366d", text);
			*out_ms = v * units[i].ms;
			return 0;
		}
	return err_set(e, ERR_INVALID, "\"%.40s\": want a duration such as 30s, 15m or 2h", text);
}

char *fmt_money(char *out, int64_t nano)
{
	uint64_t v = nano < 0 ? 0 - (uint64_t)nano : (uint64_t)nano;
	size_t n;

	(void)snprintf(out, FMT_MONEY_SIZE, "%s%" PRIu64 ".%09" PRIu64, nano < 0 ? "-" : "",
		       v / (uint64_t)FMT_NANO, v % (uint64_t)FMT_NANO);
	n = strlen(out);
	for (int drop = 0; drop < 7 && out[n - 1] == '0'; drop++)
		out[--n] = '\0';
	return out;
}

int fmt_money_parse(const char *text, int64_t *out_nano, struct err *e)
{
	const char *p = text;
	int64_t whole = 0, frac = 0, unit = FMT_NANO;

	*out_nano = 0;
	if (!isdigit((unsigned char)*p))
		goto bad;
	for (; isdigit((unsigned char)*p); p++) {
		whole = whole * 10 + (*p - '0');
		if (whole >= INT64_C(9000000000))
			goto bad;
	}
	if (*p == '.') {
		p++;
		if (!isdigit((unsigned char)*p))
			goto bad;
		for (; isdigit((unsigned char)*p) && unit > 1; p++) {
			unit /= 10;
			frac += (*p - '0') * unit;
		}
	}
	if (*p != '\0')
		goto bad;
	*out_nano = whole * FMT_NANO + frac;
	return 0;
bad:
	return err_set(e, ERR_INVALID, "\"%.40s\": want an amount such as \"29.52\"", text);
}

int64_t fmt_cost(int64_t ms, int64_t rate_nano_h)
{
	__extension__ typedef __int128 wide;
	wide product;

	assert(ms >= 0 && rate_nano_h >= 0);
	product = ((wide)ms * rate_nano_h + MS_HOUR / 2) / MS_HOUR;
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

char *fmt_hex(char *out, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * n] = '\0';
	return out;
}
