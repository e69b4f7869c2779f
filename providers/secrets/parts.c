#include "providers/secrets/parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *parts_text(const char *fmt, ...)
{
	va_list ap, again;
	char *text;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = mem_zalloc((size_t)(n > 0 ? n : 0) + 1);
	(void)vsnprintf(text, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
	va_end(again);
	return text;
}

void parts_header(struct secret_request *out, char *line)
{
	size_t n = 0;

	while (n < SECRET_HEADERS_MAX && out->headers[n] != NULL)
		n++;
	mem_check(n < SECRET_HEADERS_MAX ? line : NULL);
	out->headers[n] = line;
}

bool parts_is_path(const char *text)
{
	for (const char *p = text;; p++) {
		size_t n = strcspn(p, "/");

		if (n == 0 || (p[0] == '.' && (n == 1 || (n == 2 && p[1] == '.'))))
			return false;
		for (size_t i = 0; i < n; i++)
			if (!isalnum((unsigned char)p[i]) && strchr("-_.", p[i]) == NULL)
				return false;
		p += n;
		if (*p == '\0')
			return strlen(text) <= SECRET_PATH_MAX / 2;
	}
}

bool parts_json(const char *text, size_t len, struct jpull_value *out)
{
	struct jpull j;

	jpull_init(&j, text != NULL ? text : "", text != NULL ? len : 0);
	*out = jpull_take(&j);
	return jpull_end(&j) && out->type != JPULL_NONE;
}

struct jpull_value parts_member(const struct jpull_value *obj, const char *name)
{
	struct jpull_value none = {.type = JPULL_NONE}, key;
	struct jpull j;

	if (obj->type != JPULL_OBJECT)
		return none;
	jpull_init(&j, obj->p, obj->n);
	(void)jpull_enter(&j, '{');
	while (jpull_key(&j, &key)) {
		struct jpull_value v = jpull_take(&j);

		if (jpull_is(&key, name))
			return v;
	}
	return none;
}

void parts_copy(const struct jpull_value *v, char *out, size_t size)
{
	bool fits = v->type == JPULL_STRING && v->plain && v->n < size;

	if (fits)
		memcpy(out, v->p, v->n);
	out[fits ? v->n : 0] = '\0';
}

struct secret *parts_secret(const struct jpull_value *v, size_t max)
{
	if (v->type != JPULL_STRING || !v->plain || v->n == 0 || v->n > max)
		return NULL;
	/* The text goes into a header, or into JSON again. */
	for (size_t i = 0; i < v->n; i++)
		if (v->p[i] <= ' ' || v->p[i] > '~')
			return NULL;
	return secret_new(v->p, v->n);
}

void parts_message(struct secret_result *out, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < sizeof(out->message); i++) {
		unsigned char c = (unsigned char)text[i];

		/* Turn JSON's escapes of white space, such as "\n\t", into a blank. */
		if (c == '\\' && i + 1 < len && strchr("nrt", text[i + 1]) != NULL) {
			c = ' ';
			i++;
		}
		if (c < ' ' || c == 0x7f)
			c = ' ';
		if (c == ' ' && (n == 0 || out->message[n - 1] == ' '))
			continue;
		out->message[n++] = (char)c;
	}
	while (n > 0 && out->message[n - 1] == ' ')
		n--;
	out->message[n] = '\0';
}
