#include "ledger/ascii.h"

#include <stdint.h>
#include <string.h>

#include "base/plain.h"

enum { FIRST_PLANE_END = 0x10000, HIGH_SURROGATE = 0xd800, LOW_SURROGATE = 0xdc00 };

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

void ascii_id(struct str *s, const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
		if (is_printable(*p) && *p != '%' && *p != ' ')
			str_add(s, p, 1);
		else
			str_addf(s, "%%%02X", (unsigned)(unsigned char)*p);
}

void ascii_name(struct str *s, const char *text)
{
	for (const char *p = text; *p != '\0';) {
		const size_t n = plain_utf8(p);

		str_add(s, is_printable(*p) ? p : "?", 1);
		p += n == 0 ? 1 : n;
	}
}

static uint32_t code_of(const char *p, size_t n)
{
	uint32_t c = (unsigned char)p[0] & (n == 2 ? 0x1fU : n == 3 ? 0x0fU : 0x07U);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

static void add_escape(struct str *s, uint32_t c)
{
	if (c < FIRST_PLANE_END) {
		str_addf(s, "\\u%04x", (unsigned)c);
		return;
	}
	c -= FIRST_PLANE_END;
	str_addf(s, "\\u%04x\\u%04x", (unsigned)(HIGH_SURROGATE + (c >> 10)),
		 (unsigned)(LOW_SURROGATE + (c & 0x3ff)));
}

void ascii_json(struct str *s, const char *text)
{
	str_adds(s, "\"");
	for (const char *p = text; *p != '\0';) {
		const size_t n = plain_utf8(p);

		if (*p == '"' || *p == '\\')
			str_addf(s, "\\%c", *p);
		else if (is_printable(*p))
			str_add(s, p, 1);
		else if (n == 0)
			str_adds(s, "?");
		else
			add_escape(s, n == 1 ? (unsigned char)*p : code_of(p, n));
		p += n == 0 ? 1 : n;
	}
	str_adds(s, "\"");
}
