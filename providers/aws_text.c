#include "providers/aws_private.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/mem.h"

bool aws_is_plain(const char *text, size_t max)
{
	for (const char *p = text; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return text[0] != '\0' && strlen(text) <= max;
}

char *aws_base64(const char *text)
{
	size_t n = strlen(text);
	char *out = mem_zalloc((n + 2) / 3 * 4 + 1);

	(void)EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
	return out;
}

/* Parse n digits and the byte `then`, and move *p past them; -1: malformed. */
static int64_t digits(const char **p, int n, char then)
{
	int64_t v = 0;

	for (; n > 0; n--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		v = v * 10 + (**p - '0');
	}
	if (then != '\0' && *(*p)++ != then)
		return -1;
	return v;
}

/* Days by the civil calendar. */
int64_t aws_seconds_read(const char **p, char between)
{
	int64_t y = digits(p, 4, '-'), m = y < 0 ? -1 : digits(p, 2, '-');
	int64_t d = m < 0 ? -1 : digits(p, 2, between), hh = d < 0 ? -1 : digits(p, 2, ':');
	int64_t mm = hh < 0 ? -1 : digits(p, 2, ':'), ss = mm < 0 ? -1 : digits(p, 2, '\0');
	int64_t era, yoe, doy;

	if (ss < 0 || y < 1970 || m < 1 || m > 12 || d < 1 || d > 31 || hh > 23 || mm > 59 ||
	    ss > 60)
		return -1;
	y -= m <= 2;
	era = y / 400;
	yoe = y % 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return ((era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468) * 24 + hh) * 3600 +
	       mm * 60 + ss;
}

int64_t aws_time_read(const char *text)
{
	int64_t s = aws_seconds_read(&text, 'T'), ms = 0;

	if (s < 0)
		return 0;
	if (*text == '.') {
		int64_t scale = 100;

		for (text++; *text >= '0' && *text <= '9'; text++, scale /= 10)
			ms += scale * (*text - '0');
	}
	return strcmp(text, "Z") == 0 ? s * 1000 + ms : 0;
}
