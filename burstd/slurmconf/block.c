#include "slurmconf/block.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"

#define BEGIN_MARK "# BEGIN burstd"
#define END_MARK   "# END burstd"

enum { HASH_DIGITS = 16 };

/* Is the line p[0..n), without its break, this mark?  A letter more is another word. */
static bool is_mark(const char *p, size_t n, const char *mark)
{
	size_t len = strlen(mark);

	return n >= len && memcmp(p, mark, len) == 0 &&
	       (n == len || strchr(" \t\r:", p[len]) != NULL);
}

static uint64_t hash_of(const char *body)
{
	return fnv_text(FNV_BEGIN, body);
}

/* The hash at the end of a mark: "... (0123456789abcdef)". */
static bool read_hash(const char *p, size_t n, uint64_t *out)
{
	char digits[HASH_DIGITS + 1], *end;

	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\r'))
		n--;
	if (n < HASH_DIGITS + 2 || p[n - 1] != ')' || p[n - HASH_DIGITS - 2] != '(')
		return false;
	memcpy(digits, p + n - HASH_DIGITS - 1, HASH_DIGITS);
	digits[HASH_DIGITS] = '\0';
	*out = strtoull(digits, &end, 16);
	return *end == '\0';
}

static bool is_empty(const char *text)
{
	return text[strspn(text, " \t\n")] == '\0';
}

static enum slurmconf_block_state judge(const struct slurmconf_file *f,
					const struct slurmconf_block *b)
{
	char *body = slurmconf_block_body(f, b);
	size_t n = b->body_at - b->at;
	bool ours;
	uint64_t hash;

	if (n > 0 && f->text[b->at + n - 1] == '\n')
		n--;
	ours = read_hash(f->text + b->at, n, &hash) ? hash == hash_of(body) : is_empty(body);
	free(body);
	return ours ? SLURMCONF_BLOCK_OURS : SLURMCONF_BLOCK_EDITED;
}

static int bad(const struct slurmconf_file *f, int line, const char *why, struct err *e)
{
	return err_set(e, ERR_INVALID, "%.120s:%d: %s", f->path, line, why);
}

/* One line that may be a mark. */
static int take_line(struct slurmconf_block *b, const struct slurmconf_file *f,
		     const struct slurmconf_line *l, struct err *e)
{
	size_t n = l->end - l->at;
	const char *p = f->text + l->at;

	if (n > 0 && p[n - 1] == '\n')
		n--;
	if (is_mark(p, n, BEGIN_MARK)) {
		if (b->line != 0)
			return bad(f, l->number, "a second \"" BEGIN_MARK "\"", e);
		b->at = l->at;
		b->body_at = l->end;
		b->line = l->number;
	} else if (is_mark(p, n, END_MARK)) {
		if (b->line == 0 || b->last != 0)
			return bad(f, l->number, "\"" END_MARK "\" without its BEGIN", e);
		b->body_end = l->at;
		b->end = l->end;
		b->last = l->number;
	}
	return 0;
}

int slurmconf_block_find(struct slurmconf_block *out, const struct slurmconf_file *f, struct err *e)
{
	struct slurmconf_block b = {.state = SLURMCONF_BLOCK_NONE};
	struct slurmconf_line l = {.number = 0};

	*out = (struct slurmconf_block){.at = f->len, .end = f->len};
	out->body_at = out->body_end = f->len;
	while (l.end < f->len) {
		const char *stop = memchr(f->text + l.end, '\n', f->len - l.end);

		l.at = l.end;
		l.end = stop != NULL ? (size_t)(stop - f->text) + 1 : f->len;
		l.number++;
		if (take_line(&b, f, &l, e) != 0)
			return -1;
	}
	if (b.line == 0)
		return 0;
	if (b.last == 0)
		return bad(f, b.line, "\"" BEGIN_MARK "\" without its END", e);
	b.state = judge(f, &b);
	*out = b;
	return 0;
}

char *slurmconf_block_body(const struct slurmconf_file *f, const struct slurmconf_block *b)
{
	char *body = mem_zalloc(b->body_end - b->body_at + 1);
	size_t n = 0;

	for (size_t i = b->body_at; i < b->body_end; i++)
		if (f->text[i] != '\r')
			body[n++] = f->text[i];
	return body;
}

static void put_line(struct str *out, const char *p, size_t n, const char *line_break)
{
	str_add(out, p, n);
	str_adds(out, line_break);
}

static const char *line_break_of(const struct slurmconf_file *f)
{
	const char *first = memchr(f->text, '\n', f->len);
	const char *end = first != NULL ? first : f->text + f->len;

	return end > f->text && end[-1] == '\r' ? "\r\n" : "\n";
}

void slurmconf_block_put(struct str *out, const struct slurmconf_file *f,
			 const struct slurmconf_block *b, const char *body)
{
	const char *line_break = line_break_of(f);
	char mark[128];

	str_add(out, f->text, b->at);
	if (b->at > 0 && f->text[b->at - 1] != '\n')
		str_adds(out, line_break);
	(void)snprintf(mark, sizeof(mark),
		       BEGIN_MARK ": written by burstctl slurm-conf, do not edit (%016" PRIx64 ")",
		       hash_of(body));
	put_line(out, mark, strlen(mark), line_break);
	for (const char *p = body, *end; *p != '\0'; p = end + 1) {
		end = strchr(p, '\n');
		put_line(out, p, (size_t)(end - p), line_break);
	}
	str_adds(out, END_MARK);
	/* An END mark at the end of the file need not have a line break. */
	if (b->state == SLURMCONF_BLOCK_NONE || f->text[b->end - 1] == '\n')
		str_adds(out, line_break);
	str_add(out, f->text + b->end, f->len - b->end);
}
