#include "ledger/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"

enum { PLACES = 9, HOUR_S = 3600, DIGITS_SURE = 15, DIGITS_MAX = 17 };

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

char *number_money(char *out, int64_t nano, bool point)
{
	const uint64_t m = magnitude(nano);
	uint64_t part = m % FMT_NANO;
	char *p = out;
	int places = PLACES;

	if (nano < 0)
		*p++ = '-';
	p += strlen(fmt_u64(p, m / FMT_NANO));
	for (; places > 0 && part % 10 == 0; places--)
		part /= 10;
	if (places > 0 || point)
		*p++ = '.';
	if (places == 0 && point)
		*p++ = '0';
	for (int i = places; i > 0; i--, part /= 10)
		p[i - 1] = (char)('0' + part % 10);
	p[places] = '\0';
	return out;
}

char *number_money_round(char *out, int64_t nano, int places)
{
	uint64_t unit = 1, m = magnitude(nano);

	assert(places >= 0 && places <= PLACES);
	for (int i = places; i < PLACES; i++)
		unit *= 10;
	m = (m / unit + (2 * (m % unit) >= unit)) * unit;
	(void)snprintf(out, NUMBER_MONEY_SIZE, "%s%llu.%09llu", nano < 0 && m > 0 ? "-" : "",
		       (unsigned long long)(m / FMT_NANO), (unsigned long long)(m % FMT_NANO));
	out[strcspn(out, ".") + (places > 0 ? (size_t)places + 1 : 0)] = '\0';
	return out;
}

char *number_hours(char *out, int64_t seconds)
{
	const uint64_t m = magnitude(seconds), rest = m % HOUR_S;
	const uint64_t units = m / HOUR_S * 100 + (rest * 100 + HOUR_S / 2) / HOUR_S;

	(void)snprintf(out, NUMBER_MONEY_SIZE, "%s%llu.%02llu", seconds < 0 && units > 0 ? "-" : "",
		       (unsigned long long)(units / 100), (unsigned long long)(units % 100));
	return out;
}

/* "d.ddde-XX" of the fewest digits that read as v, but for zeros at their end: what fits into fewer
 * than 15 is exact in 15. */
static void shortest(char *out, size_t size, double v)
{
	for (int digits = DIGITS_SURE; digits <= DIGITS_MAX; digits++) {
		(void)snprintf(out, size, "%.*e", digits - 1, v);
		if (strtod(out, NULL) == v)
			return;
	}
}

/* The digits of places from to end; places outside of those that there are have a 0. */
static char *put(char *out, const char *digits, long from, long end)
{
	const long n = (long)strlen(digits);

	for (long i = from; i < end; i++)
		*out++ = i >= 0 && i < n ? digits[i] : '0';
	return out;
}

char *number_real(char *out, double v)
{
	char e[40] = "", digits[DIGITS_MAX + 1] = "";
	long n = 0, point;
	char *p = out;

	assert(isfinite(v));
	shortest(e, sizeof(e), fabs(v));
	for (const char *d = e; *d != 'e'; d++)
		if (*d != '.')
			digits[n++] = *d;
	while (n > 1 && digits[n - 1] == '0')
		digits[--n] = '\0';
	point = strtol(strchr(e, 'e') + 1, NULL, 10) + 1; /* the first place after it */
	if (v < 0)
		*p++ = '-';
	p = put(p, digits, point > 0 ? 0 : -1, point > 0 ? point : 0);
	*p++ = '.';
	p = put(p, digits, point, n > point ? n : point + 1);
	*p = '\0';
	return out;
}
