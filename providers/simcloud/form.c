#include "providers/simcloud/form.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NAME_BYTES = 160 };

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode in place; -1: a '%' without two digits, or a zero byte. */
static int decode(char *text)
{
	char *to = text;

	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '%') {
			int high = digit(p[1]), low = high < 0 ? -1 : digit(p[2]);

			if (low < 0 || high * 16 + low == 0)
				return -1;
			*to++ = (char)(high * 16 + low);
			p += 2;
		} else {
			*to++ = *p == '+' ? ' ' : *p;
		}
	}
	*to = '\0';
	return 0;
}

static int add(struct form *f, char *part)
{
	char *value = strchr(part, '=');

	if (value == NULL || f->n == FORM_MAX)
		return -1;
	*value++ = '\0';
	if (decode(part) != 0 || decode(value) != 0)
		return -1;
	f->v[f->n++] = (struct form_pair){.name = part, .value = value};
	return 0;
}

int form_parse(struct form *f, const char *body, size_t len)
{
	char *save = NULL;

	*f = (struct form){.text = mem_zalloc(len + 1)};
	memcpy(f->text, body, len);
	f->v = mem_zalloc(FORM_MAX * sizeof(*f->v));
	for (char *p = strtok_r(f->text, "&", &save); p != NULL; p = strtok_r(NULL, "&", &save))
		if (add(f, p) != 0) {
			form_fini(f);
			return -1;
		}
	return 0;
}

void form_fini(struct form *f)
{
	free(f->text);
	free(f->v);
	*f = (struct form){0};
}

const char *form_take(struct form *f, const char *name, ...)
{
	char text[NAME_BYTES];
	va_list ap;

	va_start(ap, name);
	(void)vsnprintf(text, sizeof(text), name, ap);
	va_end(ap);
	for (size_t i = 0; i < f->n; i++)
		if (!f->v[i].taken && strcmp(f->v[i].name, text) == 0) {
			f->v[i].taken = true;
			return f->v[i].value;
		}
	return NULL;
}

const char *form_left(const struct form *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (!f->v[i].taken)
			return f->v[i].name;
	return NULL;
}

void xmlw_text(struct str *s, const char *name, const char *text)
{
	str_addf(s, "<%s>", name);
	for (; *text != '\0'; text++)
		switch (*text) {
		case '&':
			str_adds(s, "&amp;");
			break;
		case '<':
			str_adds(s, "&lt;");
			break;
		case '>':
			str_adds(s, "&gt;");
			break;
		default:
			str_add(s, text, 1);
		}
	str_addf(s, "</%s>", name);
}

void xmlw_int(struct str *s, const char *name, long long v)
{
	str_addf(s, "<%s>%lld</%s>", name, v, name);
}
