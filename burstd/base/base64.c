#include "base/base64.h"

#include <stdint.h>

static int digit(enum base64_kind kind, char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == (kind == BASE64_URL ? '-' : '+'))
		return 62;
	return c == (kind == BASE64_URL ? '_' : '/') ? 63 : -1;
}

static bool is_blank(char c)
{
	return c == '\n' || c == '\r' || c == ' ' || c == '\t';
}

/* Are the numbers of digits and of '=' those of a whole text, and are no bits left over? */
static bool is_whole(enum base64_kind kind, size_t digits, size_t pads, uint32_t rest)
{
	const size_t over = digits % 4, want = over == 0 ? 0 : 4 - over;

	return over != 1 && rest == 0 && pads == (kind == BASE64_URL ? 0 : want);
}

bool base64_decode(enum base64_kind kind, const char *text, size_t len, unsigned char *out,
		   size_t size, size_t *n)
{
	uint32_t bits = 0;
	unsigned held = 0; /* bits not written yet */
	size_t digits = 0, pads = 0;

	*n = 0;
	for (size_t i = 0; i < len; i++) {
		int d = digit(kind, text[i]);

		if (kind == BASE64_LINES && is_blank(text[i]))
			continue;
		if (text[i] == '=' && ++pads <= 2)
			continue;
		if (d < 0 || pads > 0)
			return false;
		bits = bits << 6 | (uint32_t)d;
		digits++;
		held += 6;
		if (held < 8)
			continue;
		if (*n == size)
			return false;
		held -= 8;
		out[(*n)++] = (unsigned char)(bits >> held);
		bits &= (1u << held) - 1;
	}
	return is_whole(kind, digits, pads, bits);
}
