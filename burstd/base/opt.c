#include "base/opt.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"

enum {
	HELP_COLUMN = 28,    /* where the explanations begin */
	CANDIDATES_MAX = 64, /* options of one command */
	WORD_MAX = 32,       /* longer words are not compared */
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t opt_distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return SIZE_MAX;
	for (size_t k = 0; k <= nb; k++)
		row[k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			size_t change = diagonal + (a[i - 1] != b[k - 1]);

			diagonal = row[k];
			row[k] = least(change, 1 + least(row[k], row[k - 1]));
		}
	}
	return row[nb];
}

const char *opt_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t best = 1 + least(strlen(word) / 3, 2);
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = opt_distance(word, candidates[i]);

		if (d <= best && (found == NULL || d < best)) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}

struct scan {
	const struct opt_set *sets;
	size_t nsets;
	char **v; /* what is left to parse */
	int left;
	struct err *e;
};

struct hit {
	const struct opt *o;
	void *object;
};

static struct hit find_long(const struct scan *s, const char *name, size_t len)
{
	for (size_t i = 0; i < s->nsets; i++)
		for (size_t k = 0; k < s->sets[i].n; k++) {
			const struct opt *o = &s->sets[i].opts[k];

			if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
				return (struct hit){o, s->sets[i].object};
		}
	return (struct hit){NULL, NULL};
}

static struct hit find_letter(const struct scan *s, char letter)
{
	for (size_t i = 0; i < s->nsets; i++)
		for (size_t k = 0; k < s->sets[i].n; k++)
			if (s->sets[i].opts[k].letter == letter)
				return (struct hit){&s->sets[i].opts[k], s->sets[i].object};
	return (struct hit){NULL, NULL};
}

static int unknown_long(const struct scan *s, const char *name, size_t len)
{
	const char *candidates[CANDIDATES_MAX], *near;
	char word[WORD_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < s->nsets; i++)
		for (size_t k = 0; k < s->sets[i].n && n < CANDIDATES_MAX; k++)
			candidates[n++] = s->sets[i].opts[k].name;
	len = least(len, WORD_MAX);
	memcpy(word, name, len);
	word[len] = '\0';
	near = opt_nearest(word, candidates, n);
	if (near != NULL)
		return err_set(s->e, ERR_INVALID, "unknown option --%s; did you mean --%s?", word,
			       near);
	return err_set(s->e, ERR_INVALID, "unknown option --%s", word);
}

static int parse_number(const struct opt *o, const char *text, int64_t *out, struct err *e)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || *out < o->min ||
	    *out > o->max)
		return err_set(e, ERR_INVALID,
			       "--%s: \"%.40s\": want a whole number from %" PRId64 " to %" PRId64,
			       o->name, text, o->min, o->max);
	return 0;
}

static int parse_duration(const struct opt *o, const char *text, int64_t *out, struct err *e)
{
	char min[FMT_DUR_SIZE], max[FMT_DUR_SIZE];

	if (fmt_duration_parse(text, out, e) != 0)
		return err_wrap(e, "--%s", o->name);
	if (*out < o->min || *out > o->max)
		return err_set(e, ERR_INVALID, "--%s: \"%.40s\": want %s to %s", o->name, text,
			       fmt_duration(min, o->min), fmt_duration(max, o->max));
	return 0;
}

static int store(struct hit h, const char *text, struct err *e)
{
	void *field = (char *)h.object + h.o->offset;
	int64_t v = 0;

	switch (h.o->type) {
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_TEXT:
		*(const char **)field = text;
		return 0;
	case OPT_NUMBER:
		if (parse_number(h.o, text, &v, e) != 0)
			return -1;
		break;
	case OPT_DURATION:
		if (parse_duration(h.o, text, &v, e) != 0)
			return -1;
		break;
	}
	*(int64_t *)field = v;
	return 0;
}

/* Take the value of option o: what is attached to it, else the next argument. */
static int take_value(struct scan *s, const struct opt *o, const char *attached, const char **out)
{
	if (attached != NULL) {
		*out = attached;
		return 0;
	}
	if (s->left == 0) {
		(void)err_set(s->e, ERR_INVALID, "--%s needs a value: %s", o->name, o->arg);
		return -1;
	}
	*out = *s->v++;
	s->left--;
	return 0;
}

static int parse_long(struct scan *s, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *value = name[len] == '=' ? name + len + 1 : NULL;
	struct hit h = find_long(s, name, len);

	if (h.o == NULL)
		return unknown_long(s, name, len);
	if (h.o->type == OPT_FLAG && value != NULL)
		return err_set(s->e, ERR_INVALID, "--%s takes no value", h.o->name);
	if (h.o->type != OPT_FLAG && take_value(s, h.o, value, &value) != 0)
		return -1;
	return store(h, value, s->e);
}

static int parse_letters(struct scan *s, const char *p)
{
	for (; *p != '\0'; p++) {
		struct hit h = find_letter(s, *p);
		const char *value = NULL;

		if (h.o == NULL)
			return err_set(s->e, ERR_INVALID, "unknown option -%c", *p);
		if (h.o->type == OPT_FLAG) {
			(void)store(h, NULL, s->e);
			continue;
		}
		if (take_value(s, h.o, p[1] != '\0' ? p + 1 : NULL, &value) != 0)
			return -1;
		return store(h, value, s->e);
	}
	return 0;
}

int opt_parse(const struct opt_set *sets, size_t nsets, struct opt_args *args,
	      bool first_operand_ends, struct err *e)
{
	struct scan s = {sets, nsets, args->v, args->n, e};
	bool options = true;

	args->n = 0;
	while (s.left > 0) {
		char *word = *s.v++;
		int rc = 0;

		s.left--;
		if (!options || word[0] != '-' || word[1] == '\0') {
			args->v[args->n++] = word;
			options = options && !first_operand_ends;
		} else if (strcmp(word, "--") == 0) {
			options = false;
		} else if (word[1] == '-') {
			rc = parse_long(&s, word + 2);
		} else {
			rc = parse_letters(&s, word + 1);
		}
		if (rc != 0)
			return -1;
	}
	return 0;
}

/* Is the gap between two words, len bytes, a line break to keep, as an empty or an indented line
 * follows?  Returns its number of newlines and adds the blanks to *indent; 0: it counts as a
 * blank. */
static size_t lines_begun(const char *gap, size_t len, size_t *indent)
{
	size_t lines = 0, blanks = 0;

	for (size_t i = 0; i < len; i++) {
		lines += gap[i] == '\n';
		blanks = gap[i] == '\n' ? 0 : blanks + 1;
	}
	if (lines == 0 || (lines == 1 && blanks == 0))
		return 0;
	*indent += blanks;
	return lines;
}

void opt_wrap(struct str *out, const char *text, size_t at, size_t indent)
{
	size_t gap = 0; /* bytes before the word; 0: it is the first */

	while (*text != '\0') {
		size_t len = strcspn(text, " \n"), begin = indent;
		size_t lines = lines_begun(text - gap, gap, &begin);

		if (lines > 0) {
			str_addf(out, "%.*s%*s", (int)lines, "\n\n", (int)begin, "");
			at = begin;
		} else if (gap > 0 && at + 1 + len > OPT_COLUMNS) {
			str_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (gap > 0) {
			str_adds(out, " ");
			at++;
		}
		str_add(out, text, len);
		at += len;
		text += len;
		gap = strspn(text, " \n");
		text += gap;
	}
	str_adds(out, "\n");
}

void opt_help(const struct opt *opts, size_t n, struct str *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &opts[i];
		size_t at = out->len;

		if (o->letter != 0)
			str_addf(out, "  -%c, --%s", o->letter, o->name);
		else
			str_addf(out, "      --%s", o->name);
		if (o->arg != NULL)
			str_addf(out, " %s", o->arg);
		at = out->len - at;
		if (at + 2 > HELP_COLUMN) {
			str_adds(out, "\n");
			at = 0;
		}
		str_addf(out, "%*s", (int)(HELP_COLUMN - at), "");
		opt_wrap(out, o->help, HELP_COLUMN, HELP_COLUMN);
	}
}
