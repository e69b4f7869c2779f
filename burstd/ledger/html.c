#include "ledger/html.h"

#include "base/plain.h"

static const char *entity(char c)
{
	return c == '<'    ? "&lt;"
	       : c == '>'  ? "&gt;"
	       : c == '&'  ? "&amp;"
	       : c == '"'  ? "&quot;"
	       : c == '\'' ? "&#39;"
			   : NULL;
}

void html_text(struct str *s, const char *text)
{
	for (const char *p = text; *p != '\0';) {
		const size_t n = plain_shown(p), bytes = plain_utf8(p);

		if (n == 0)
			str_adds(s, "\xef\xbf\xbd");
		else if (entity(*p) != NULL)
			str_adds(s, entity(*p));
		else
			str_add(s, p, n);
		p += n != 0 ? n : bytes != 0 ? bytes : 1;
	}
}

void html_bdi(struct str *s, const char *text)
{
	str_adds(s, "<bdi>");
	html_text(s, text);
	str_adds(s, "</bdi>");
}
