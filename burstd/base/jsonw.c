#include "base/jsonw.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/fmt.h"
#include "base/plain.h"

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

void jsonw_text(struct jsonw *w, const char *key, const char *text)
{
	lead_in(w, key);
	str_adds(w->out, "\"");
	for (const char *p = text; *p != '\0';) {
		size_t n = plain_utf8(p);

		if (n == 0)
			str_adds(w->out, "\xef\xbf\xbd");
		else if (*p == '"' || *p == '\\')
			str_addf(w->out, "\\%c", *p);
		else if ((unsigned char)*p < 0x20 || *p == 0x7f)
			str_addf(w->out, "\\u%04x", (unsigned)(unsigned char)*p);
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
