#include "api/jsonw.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/fmt.h"

static void lead_in(struct jsonw *w, const char *key)
{
	if (!w->first)
		str_adds(w->out, ",");
	w->first = false;
	if (key != NULL)
		str_addf(w->out, "\"%s\":", key);
}

void jsonw_open(struct jsonw *w, const char *key, char bracket)
{
	lead_in(w, key);
	str_add(w->out, &bracket, 1);
	w->first = true;
}

void jsonw_close(struct jsonw *w, char bracket)
{
	str_add(w->out, &bracket, 1);
	w->first = false;
}

/* Bytes of the well-formed UTF-8 sequence at p (Unicode, table 3-7), or 0.  The NUL ends every
 * check. */
static size_t utf8(const unsigned char *p)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t n;

	if (*p < 0x80)
		return 1;
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	n = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	if (*p == 0xe0 || *p == 0xf0)
		low = *p == 0xe0 ? 0xa0 : 0x90; /* else overlong */
	if (*p == 0xed || *p == 0xf4)
		high = *p == 0xed ? 0x9f : 0x8f; /* else a surrogate, or past U+10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void jsonw_text(struct jsonw *w, const char *key, const char *text)
{
	lead_in(w, key);
	str_adds(w->out, "\"");
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0';) {
		size_t n = utf8(p);

		if (n == 0)
			str_adds(w->out, "\xef\xbf\xbd");
		else if (*p == '"' || *p == '\\')
			str_addf(w->out, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			str_addf(w->out, "\\u%04x", (unsigned)*p);
		else
			str_add(w->out, p, n);
		p += n > 0 ? n : 1;
	}
	str_adds(w->out, "\"");
}

void jsonw_int(struct jsonw *w, const char *key, int64_t v)
{
	lead_in(w, key);
	str_addf(w->out, "%" PRId64, v);
}

void jsonw_bool(struct jsonw *w, const char *key, bool v)
{
	lead_in(w, key);
	str_adds(w->out, v ? "true" : "false");
}

void jsonw_money(struct jsonw *w, const char *key, int64_t nano)
{
	char text[FMT_MONEY_SIZE];

	jsonw_text(w, key, fmt_money(text, nano));
}
