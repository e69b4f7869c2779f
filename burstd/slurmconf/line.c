#include "slurmconf/line.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "slurm/show.h"

/* --- the flat copy -------------------------------------------------------------------------------
 */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Blank out the comment of p[0..n), a line without its break.  A '#' behind a backslash is none. */
static bool drop_comment(char *p, size_t n)
{
	bool escaped = false;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '#' && !escaped) {
			memset(p + i, ' ', n - i);
			return true;
		}
		escaped = p[i] == '\\' && !escaped;
	}
	return false;
}

/* Does the line go on: is an odd number of backslashes its last word?  If so, blank out the last.
 */
static bool goes_on(char *p, size_t n)
{
	size_t slashes = 0;

	while (n > 0 && is_blank(p[n - 1]))
		n--;
	while (slashes < n && p[n - 1 - slashes] == '\\')
		slashes++;
	if (slashes % 2 == 0)
		return false;
	p[n - 1] = ' ';
	return true;
}

static void flatten(char *p, size_t len)
{
	for (size_t at = 0; at < len;) {
		char *end = memchr(p + at, '\n', len - at);
		size_t n = end != NULL ? (size_t)(end - p) - at : len - at;

		if (!drop_comment(p + at, n) && goes_on(p + at, n) && end != NULL)
			*end = ' ';
		at += n + 1;
	}
}

static int count_lines(const char *p, size_t n)
{
	int lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += p[i] == '\n';
	return lines;
}

int slurmconf_file_init(struct slurmconf_file *f, const char *path, char *text, size_t len,
			struct err *e)
{
	const char *nul = memchr(text, '\0', len);

	*f = (struct slurmconf_file){.path = NULL};
	if (nul != NULL) {
		(void)err_set(e, ERR_INVALID, "%.120s:%d: a NUL byte", path,
			      count_lines(text, (size_t)(nul - text)) + 1);
		free(text);
		return -1;
	}
	*f = (struct slurmconf_file){.path = mem_strdup(path), .text = text, .len = len};
	f->flat = mem_strdup(text);
	flatten(f->flat, len);
	return 0;
}

void slurmconf_file_fini(struct slurmconf_file *f)
{
	free(f->path);
	free(f->text);
	free(f->flat);
	*f = (struct slurmconf_file){.path = NULL};
}

/* --- lines ---------------------------------------------------------------------------------------
 */

struct cursor { /* in one line of the flat copy */
	const struct slurmconf_file *f;
	size_t p, end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->p < c->end && is_blank(c->f->flat[c->p]))
		c->p++;
}

static bool is_key(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static struct slurm_text piece(const struct cursor *c, size_t from, size_t to)
{
	return (struct slurm_text){c->f->flat + from, to - from};
}

static bool read_value(struct cursor *c, struct slurmconf_pair *out)
{
	const char *flat = c->f->flat, *quote;
	size_t from = c->p;

	if (from < c->end && flat[from] == '"') {
		quote = memchr(flat + from + 1, '"', c->end - from - 1);
		if (quote == NULL)
			return false;
		out->value = piece(c, from + 1, (size_t)(quote - flat));
		c->p = (size_t)(quote - flat) + 1;
		return true;
	}
	while (c->p < c->end && !is_blank(flat[c->p]))
		c->p++;
	out->value = piece(c, from, c->p);
	return c->p > from;
}

/* "Key=Value", "Key += Value" ... */
static bool read_pair(struct cursor *c, struct slurmconf_pair *out)
{
	const char *flat = c->f->flat;

	out->at = c->p;
	while (c->p < c->end && is_key(flat[c->p]))
		c->p++;
	out->key = piece(c, out->at, c->p);
	skip_blanks(c);
	if (c->p < c->end && strchr("+-*/", flat[c->p]) != NULL)
		c->p++;
	if (out->key.n == 0 || c->p == c->end || flat[c->p] != '=')
		return false;
	c->p++;
	skip_blanks(c);
	if (!read_value(c, out))
		return false;
	out->end = c->p;
	return true;
}

static int bad(const struct slurmconf_line *l, const struct cursor *c, size_t at, struct err *e)
{
	size_t n = c->end - at;

	return err_set(e, ERR_INVALID, "%.120s:%d: want Key=Value at \"%.*s\"", l->file->path,
		       l->number, (int)(n < 40 ? n : 40), c->f->flat + at);
}

/* Slurm takes the word at the beginning of a line only. */
static bool read_include(struct cursor *c, struct slurmconf_line *l)
{
	static const char word[] = "include";
	size_t n = sizeof(word) - 1, from;

	if (c->end - c->p <= n || strncasecmp(c->f->flat + c->p, word, n) != 0 ||
	    !is_blank(c->f->flat[c->p + n]))
		return false;
	c->p += n;
	skip_blanks(c);
	from = c->p;
	while (c->p < c->end && !is_blank(c->f->flat[c->p]))
		c->p++;
	l->include = piece(c, from, c->p);
	return true;
}

static int read_line(struct slurmconf_line *l, struct cursor *c, struct err *e)
{
	l->n = 0;
	l->include = (struct slurm_text){.n = 0};
	skip_blanks(c);
	if (read_include(c, l)) {
		size_t at;

		skip_blanks(c);
		at = c->p;
		return l->include.n > 0 && c->p == c->end ? 0 : bad(l, c, at, e);
	}
	while (c->p < c->end) {
		size_t at = c->p;

		if (l->n == SLURMCONF_PAIRS_MAX)
			return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d keys in a line",
				       l->file->path, l->number, SLURMCONF_PAIRS_MAX);
		if (!read_pair(c, &l->pairs[l->n]))
			return bad(l, c, at, e);
		l->n++;
		skip_blanks(c);
	}
	return 0;
}

int slurmconf_line_next(struct slurmconf_line *l, const struct slurmconf_file *f, struct err *e)
{
	if (l->file == NULL)
		l->number = 1;
	l->file = f;
	while (l->end < f->len) {
		const char *stop;
		struct cursor c;

		l->number += count_lines(f->text + l->at, l->end - l->at);
		l->at = l->end;
		stop = memchr(f->flat + l->at, '\n', f->len - l->at);
		l->end = stop != NULL ? (size_t)(stop - f->flat) + 1 : f->len;
		c = (struct cursor){f, l->at, stop != NULL ? l->end - 1 : l->end};
		if (read_line(l, &c, e) != 0)
			return -1;
		if (l->n > 0 || l->include.n > 0)
			return 1;
	}
	return 0;
}

const struct slurmconf_pair *slurmconf_line_get(const struct slurmconf_line *l, const char *key)
{
	for (size_t i = l->n; i > 0; i--)
		if (slurm_show_is(l->pairs[i - 1].key, key))
			return &l->pairs[i - 1];
	return NULL;
}
