#include "cli/fold.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/mem.h"

enum { FURTHER = 2 }; /* columns by which the rest of a line is further in */

struct fold {
	FILE *f;
	size_t columns, len, cap;
	char *line; /* the line that has no end yet */
};

/* Bytes of a colour at p, which are no columns: "\033[1m". */
static size_t colour_len(const char *p, const char *end)
{
	const char *m = *p == '\033' ? memchr(p, 'm', (size_t)(end - p)) : NULL;

	return m != NULL ? (size_t)(m - p) + 1 : 0;
}

/* Where to cut text that begins at column `at`: at the last blank that fits, else at the first one;
 * end: it fits as it is, or is one word. */
static const char *cut_of(const char *p, const char *end, size_t at, size_t columns)
{
	const char *cut = NULL;
	bool begun = false;

	for (size_t n; p < end; p += n) {
		n = colour_len(p, end);
		if (n > 0)
			continue;
		n = 1;
		if (*p == ' ' && begun && (cut == NULL || at <= columns))
			cut = p;
		begun = begun || *p != ' ';
		at += ((unsigned char)*p & 0xc0) != 0x80;
		if (at > columns && cut != NULL)
			return cut;
	}
	return end;
}

/* Print one line, folded; the caller prints its break. */
static void put(const struct fold *o, const char *p, const char *end)
{
	const char *text = p + colour_len(p, end);
	size_t in = strspn(text, " !"), at = 0;

	in += memchr(text, '!', in) == NULL ? FURTHER : 0;
	if (in > o->columns / 2)
		in = FURTHER;
	for (const char *cut; p < end; p = cut) {
		cut = cut_of(p, end, at, o->columns);
		(void)fwrite(p, 1, (size_t)(cut - p), o->f);
		while (cut < end && *cut == ' ')
			cut++;
		at = in;
		if (cut < end && *cut != '\n')
			(void)fprintf(o->f, "\n%*s", (int)in, "");
	}
}

static ssize_t on_write(void *cookie, const char *data, size_t n)
{
	struct fold *o = cookie;
	char *from, *end;

	if (o->len + n >= o->cap) {
		o->cap = 2 * (o->len + n) + 1;
		o->line = mem_realloc(o->line, o->cap);
	}
	memcpy(o->line + o->len, data, n);
	o->len += n;
	o->line[o->len] = '\0';
	for (from = o->line; (end = strchr(from, '\n')) != NULL; from = end + 1) {
		put(o, from, end);
		(void)fputc('\n', o->f);
	}
	o->len -= (size_t)(from - o->line);
	memmove(o->line, from, o->len + 1);
	/* 0 is an error: glibc takes a negative result for a length. */
	return fflush(o->f) == 0 && !ferror(o->f) ? (ssize_t)n : 0;
}

static int on_close(void *cookie)
{
	struct fold *o = cookie;
	int rc;

	if (o->len > 0)
		put(o, o->line, o->line + o->len);
	rc = fflush(o->f);
	free(o->line);
	free(o);
	return rc;
}

FILE *fold_open(FILE *f, size_t columns)
{
	struct fold *o = mem_zalloc(sizeof(*o));
	FILE *out;

	*o = (struct fold){.f = f, .columns = columns};
	out = fopencookie(o, "w", (cookie_io_functions_t){.write = on_write, .close = on_close});
	mem_check(out);
	return out;
}
