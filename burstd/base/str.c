#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { STR_FIRST = 128 }; /* bytes allocated first: a line, without growing seven times */

void str_init(struct str *s, size_t max)
{
	*s = (struct str){.p = mem_zalloc(1), .cap = 1, .max = max};
}

void str_fini(struct str *s)
{
	if (s->secret && s->p != NULL)
		explicit_bzero(s->p, s->cap);
	free(s->p);
	*s = (struct str){0};
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->p[0] = '\0';
	s->full = false;
}

char *str_take(struct str *s)
{
	char *p = s->p;

	*s = (struct str){0};
	return p;
}

static void move(struct str *s, size_t was)
{
	char *to;

	if (!s->secret) {
		s->p = mem_realloc(s->p, s->cap);
		return;
	}
	to = mem_zalloc(s->cap);
	memcpy(to, s->p, s->len + 1);
	explicit_bzero(s->p, was);
	free(s->p);
	s->p = to;
}

void str_add(struct str *s, const void *data, size_t len)
{
	size_t was = s->cap;

	if (len == 0)
		return;
	if (len > s->max - s->len) {
		s->full = true;
		return;
	}
	if (s->len + len + 1 > s->cap) {
		/* Double, but no further than can ever be used. */
		s->cap = len + s->len < s->max / 2 ? 2 * (s->len + len) + 1 : s->max + 1;
		if (s->cap < STR_FIRST)
			s->cap = s->max < STR_FIRST ? s->max + 1 : STR_FIRST;
		move(s, was);
	}
	memcpy(s->p + s->len, data, len);
	s->len += len;
	s->p[s->len] = '\0';
}

void str_adds(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void str_addf(struct str *s, const char *fmt, ...)
{
	char small[256];
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n > s->max - s->len) {
		s->full = true;
		return;
	}
	if ((size_t)n < sizeof(small)) {
		str_add(s, small, (size_t)n);
		if (s->secret)
			explicit_bzero(small, (size_t)n);
		return;
	}
	text = mem_zalloc((size_t)n + 1);
	va_start(ap, fmt);
	(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	str_add(s, text, (size_t)n);
	if (s->secret)
		explicit_bzero(text, (size_t)n);
	free(text);
}
