#include "base/ipaddr.h"

#include <stdint.h>
#include <string.h>

enum { GROUPS = 8, LONGEST = 45 }; /* the longest spelling of an address */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

/* Read up to `most` digits at *p, which moves behind them; -1: none. */
static long number(const char **p, int base, int most)
{
	long v = 0;
	int n = 0;

	for (; n < most && digit(**p) < base; n++)
		v = v * base + digit(*(*p)++);
	return n > 0 ? v : -1;
}

/* Parse a.b.c.d, up to the end of the text. */
static bool parse_v4(const char *p, uint16_t out[2])
{
	out[0] = out[1] = 0;
	for (int i = 0; i < 4; i++) {
		long v = number(&p, 10, 3);

		if (v < 0 || v > 255 || *p != (i < 3 ? '.' : '\0'))
			return false;
		if (i < 3)
			p++;
		out[i / 2] = (uint16_t)(out[i / 2] << 8 | v);
	}
	return true;
}

/* Parse the groups of p, at most `most`.  Returns their number, or -1. */
static int parse_groups(const char *p, uint16_t *out, int most)
{
	int n = 0;

	if (*p == '\0')
		return 0;
	for (;; p++) {
		long v;

		if (n + 2 <= most && parse_v4(p, out + n))
			return n + 2;
		v = number(&p, 16, 4);
		if (v < 0 || n == most)
			return -1;
		out[n++] = (uint16_t)v;
		if (*p == '\0')
			return n;
		if (*p != ':')
			return -1;
	}
}

static bool parse(const char *text, uint16_t out[GROUPS])
{
	const char *gap = strstr(text, "::");
	uint16_t tail[GROUPS] = {0};
	char head[LONGEST + 1];
	int before, after;

	memset(out, 0, GROUPS * sizeof(*out));
	if (strlen(text) > LONGEST)
		return false;
	if (parse_v4(text, out + GROUPS - 2)) {
		out[GROUPS - 3] = 0xffff;
		return true;
	}
	if (gap == NULL)
		return parse_groups(text, out, GROUPS) == GROUPS;
	memcpy(head, text, (size_t)(gap - text));
	head[gap - text] = '\0';
	before = parse_groups(head, out, GROUPS - 1);
	after = parse_groups(gap + 2, tail, GROUPS - 1);
	if (before < 0 || after < 0 || before + after >= GROUPS || strchr(head, '.') != NULL)
		return false;
	memcpy(out + GROUPS - after, tail, (size_t)after * sizeof(*out));
	return true;
}

bool ipaddr_is(const char *text)
{
	uint16_t groups[GROUPS];

	return parse(text, groups);
}

bool ipaddr_same(const char *a, const char *b)
{
	uint16_t x[GROUPS], y[GROUPS];

	if (strcmp(a, b) == 0)
		return true;
	return parse(a, x) && parse(b, y) && memcmp(x, y, sizeof(x)) == 0;
}

bool ipaddr_host_is_loopback(const char *text)
{
	const size_t len = text[0] == '[' ? 5 : strcspn(text, ":/");
	char host[LONGEST + 1];
	uint16_t v4[2];

	if (len >= sizeof(host) || strnlen(text, len) < len ||
	    strchr(":/", text[len]) == NULL) /* or the end */
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	return strcmp(host, "[::1]") == 0 || strcmp(host, "localhost") == 0 ||
	       (parse_v4(host, v4) && v4[0] >> 8 == 127);
}
