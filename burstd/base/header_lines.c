#include "base/header_lines.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

void header_lines_init(struct header_lines *h, size_t max)
{
	*h = (struct header_lines){.max = max};
	str_init(&h->last, max + 1);
	h->last.secret = true;
}

void header_lines_fini(struct header_lines *h)
{
	headers_free(&h->headers);
	str_fini(&h->last);
}

/* Keep the line that is complete now.  One without a colon is no header. */
static void keep_last(struct header_lines *h)
{
	char *name = h->last.p, *value = strchr(name, ':');

	if (value != NULL && value > name) {
		*value++ = '\0';
		headers_add(&h->headers, name, value + strspn(value, " \t"));
	}
	str_clear(&h->last);
}

static void begin(struct header_lines *h, const char *line, size_t n)
{
	h->strange = n <= 7 || (memcmp(line, "HTTP/1.", 7) != 0 && memcmp(line, "HTTP/2 ", 7) != 0);
	h->ended = false;
	headers_free(&h->headers);
	str_clear(&h->last);
}

/* Without its end and the blanks around it: those in front say that it continues the last. */
static void add(struct header_lines *h, const char *line, size_t n)
{
	const bool more = n > 0 && is_blank(*line);

	while (n > 0 && is_blank(line[n - 1]))
		n--;
	while (n > 0 && is_blank(*line)) {
		line++;
		n--;
	}
	if (!more)
		keep_last(h);
	else if (h->last.len > 0)
		str_adds(&h->last, " ");
	if (!more || h->last.len > 0)
		str_add(&h->last, line, n);
}

bool header_lines_take(struct header_lines *h, const char *line, size_t n)
{
	h->bytes += n;
	if (h->bytes > h->max)
		return false;
	while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
		n--;
	if (memchr(line, '\0', n) != NULL)
		h->strange = true;
	else if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
		begin(h, line, n);
	else if (!h->ended)
		add(h, line, n);
	if (n == 0)
		h->ended = true;
	return true;
}
