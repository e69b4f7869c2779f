#include "cli/sbatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hostlist.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/str.h"

enum {
	WORDS_MAX = 256, /* of one line */
	TIMES_MAX = 4,   /* days, hours, minutes, seconds */
	MINUTE_S = 60,
	HOUR_S = 3600,
	DAY_S = 86400,
	NUMBER_MAX = 1000000000,
	SHOWN = 60, /* bytes of a value that an error repeats */
};

static const char magic[] = "#SBATCH";

/* --- values --------------------------------------------------------------------------------------
 */

/* A number at *p, which moves behind it; -1: there is none, or it is too large. */
static int64_t number(const char **p)
{
	int64_t v = 0;

	if (**p < '0' || **p > '9')
		return -1;
	for (; **p >= '0' && **p <= '9'; ++*p) {
		v = 10 * v + (**p - '0');
		if (v > NUMBER_MAX)
			return -1;
	}
	return v;
}

/* Numbers with colons between them, up to the end; 0: it is something else. */
static size_t numbers(const char *p, int64_t out[TIMES_MAX])
{
	size_t n = 0;

	for (;;) {
		if (n == TIMES_MAX)
			return 0;
		out[n] = number(&p);
		if (out[n++] < 0)
			return 0;
		if (*p == '\0')
			return n;
		if (*p++ != ':')
			return 0;
	}
}

int sbatch_time(const char *text, int64_t *ms)
{
	int64_t v[TIMES_MAX], days = 0, s;
	const char *p = text;
	bool dash = strchr(text, '-') != NULL;
	size_t n;

	if (strcasecmp(text, "UNLIMITED") == 0 || strcasecmp(text, "INFINITE") == 0) {
		*ms = SBATCH_UNLIMITED;
		return 0;
	}
	if (dash)
		days = number(&p);
	if (days < 0 || (dash && *p++ != '-'))
		return -1;
	n = numbers(p, v);
	if (n == 0 || n > 3)
		return -1;
	if (dash) /* hours first */
		s = days * DAY_S + v[0] * HOUR_S + (n > 1 ? v[1] * MINUTE_S : 0) +
		    (n > 2 ? v[2] : 0);
	else if (n == 3)
		s = v[0] * HOUR_S + v[1] * MINUTE_S + v[2];
	else
		s = v[0] * MINUTE_S + (n == 2 ? v[1] : 0);
	*ms = s == 0 ? SBATCH_UNLIMITED : 1000 * s;
	return 0;
}

static int set_nodes(struct sbatch *s, const char *value)
{
	const char *p = value;
	int64_t n = number(&p);

	if (n > 0 && (*p == 'k' || *p == 'K')) {
		n *= 1024;
		p++;
	}
	if (n < 1 || n > HOSTLIST_NAMES_MAX || (*p != '\0' && *p != '-' && *p != ','))
		return -1;
	s->nodes = n;
	return 0;
}

static int set_text(char **to, const char *value)
{
	if (strlen(value) > SBATCH_WORD_MAX)
		return -1;
	for (const char *p = value; *p != '\0';) {
		size_t n = plain_utf8(p);

		if (n == 0 || (unsigned char)*p < ' ')
			return -1;
		p += n;
	}
	free(*to);
	*to = value[0] != '\0' ? mem_strdup(value) : NULL;
	return 0;
}

/* Of "gpu:h100:8,licence:2" the first kind. */
static int set_gres(struct sbatch *s, const char *value)
{
	char *first;
	int rc;

	if (strncmp(value, "gpu", 3) != 0)
		return 0;
	first = mem_strdup(value);
	first[strcspn(first, ",")] = '\0';
	rc = set_text(&s->gpus, first);
	free(first);
	return rc;
}

enum what { NODES, TIME, PARTITION, ACCOUNT, GPUS, GRES, CONSTRAINT, COMMENT };

static int set(struct sbatch *s, enum what what, const char *value)
{
	switch (what) {
	case NODES:
		return set_nodes(s, value);
	case TIME:
		return sbatch_time(value, &s->limit_ms);
	case PARTITION:
		return set_text(&s->partition, value);
	case ACCOUNT:
		return set_text(&s->account, value);
	case GPUS:
		return set_text(&s->gpus, value);
	case GRES:
		return set_gres(s, value);
	case CONSTRAINT:
		return set_text(&s->constraint, value);
	case COMMENT:
		return set_text(&s->comment, value);
	}
	return -1;
}

/* --- one line ------------------------------------------------------------------------------------
 */

static const struct option {
	const char *name;
	char letter; /* 0: none */
	enum what what;
} options[] = {
	{"nodes", 'N', NODES},           {"time", 't', TIME},        {"partition", 'p', PARTITION},
	{"account", 'A', ACCOUNT},       {"gpus-per-node", 0, GPUS}, {"gres", 0, GRES},
	{"constraint", 'C', CONSTRAINT}, {"comment", 0, COMMENT},
};

static int open_quote(struct err *e)
{
	return err_set(e, ERR_INVALID, "a quote is not closed");
}

/* One word at *p, as a shell would cut it; "": the line ends, or a comment begins. */
static int next_word(const char **p, const char *end, struct str *word, struct err *e)
{
	char quote = '\0';
	const char *at = *p;

	str_clear(word);
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at < end && *at == '#')
		at = end;
	for (; at < end && (quote != '\0' || (*at != ' ' && *at != '\t')); at++) {
		if (quote == '\0' && (*at == '"' || *at == '\''))
			quote = *at;
		else if (*at == quote)
			quote = '\0';
		else if (*at == '\\' && quote != '\'' && at + 1 < end)
			str_add(word, ++at, 1);
		else
			str_add(word, at, 1);
	}
	*p = at;
	return quote != '\0' ? open_quote(e) : 0;
}

/* Which option the word is, and where its value begins in it, or NULL: it is the next word. */
static const struct option *find(const char *word, const char **value)
{
	size_t n = strcspn(word, "=");

	*value = NULL;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option *o = &options[i];

		if (strncmp(word, "--", 2) == 0 && n == strlen(o->name) + 2 &&
		    strncmp(word + 2, o->name, n - 2) == 0) {
			*value = word[n] == '=' ? word + n + 1 : NULL;
			return o;
		}
		if (word[0] == '-' && o->letter != '\0' && word[1] == o->letter) {
			*value = word[2] != '\0' ? word + 2 + (word[2] == '=') : NULL;
			return o;
		}
	}
	return NULL;
}

static int take(struct sbatch *s, const struct option *o, const char *value, struct err *e)
{
	if (set(s, o->what, value) == 0)
		return 0;
	return err_set(e, ERR_INVALID, "--%s: \"%.*s\" is none that is known here", o->name, SHOWN,
		       value);
}

static int take_line(struct sbatch *s, const char *p, const char *end, struct err *e)
{
	const struct option *wants = NULL; /* its value is the next word */
	struct str word;
	int rc = 0;

	str_init(&word, SBATCH_LINE_MAX + 1);
	for (unsigned i = 0; rc == 0; i++) {
		const char *value = NULL;

		rc = next_word(&p, end, &word, e);
		if (rc != 0 || (word.len == 0 && p >= end))
			break;
		if (i == WORDS_MAX) {
			rc = err_set(e, ERR_LIMIT, "more than %d words", WORDS_MAX);
		} else if (wants != NULL) {
			rc = take(s, wants, word.p, e);
			wants = NULL;
		} else {
			wants = find(word.p, &value);
			if (value != NULL)
				rc = take(s, wants, value, e);
			wants = value != NULL ? NULL : wants;
		}
		if (i == 0 && (strcmp(word.p, "hetjob") == 0 || strcmp(word.p, "packjob") == 0))
			s->more = true;
	}
	if (rc == 0 && wants != NULL)
		rc = err_set(e, ERR_INVALID, "--%s: its value is missing", wants->name);
	str_fini(&word);
	return rc;
}

/* --- the script ----------------------------------------------------------------------------------
 */

/* Is there anything but blanks before a comment? */
static bool is_command(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p < end && *p != '#';
}

static bool has_options(const char *p, const char *end)
{
	return (size_t)(end - p) >= sizeof(magic) - 1 && strncmp(p, magic, sizeof(magic) - 1) == 0;
}

static int check_line(const char *p, const char *end, unsigned n, struct err *e)
{
	if (n == 1 && (end - p < 2 || strncmp(p, "#!", 2) != 0))
		return err_set(e, ERR_INVALID, "a batch script begins with #!");
	if (end > p && end[-1] == '\r')
		return err_set(e, ERR_INVALID,
			       "its line breaks are those of DOS: sbatch takes none "
			       "of these");
	if (has_options(p, end) && end - p > SBATCH_LINE_MAX)
		return err_set(e, ERR_LIMIT, "longer than %d bytes", SBATCH_LINE_MAX);
	if (has_options(p, end) && memchr(p, '\0', (size_t)(end - p)) != NULL)
		return err_set(e, ERR_INVALID, "it has NUL bytes");
	return 0;
}

int sbatch_parse(struct sbatch *out, const char *text, size_t len, struct err *e)
{
	const char *p = text, *const all = text + len;
	unsigned n = 0;

	*out = (struct sbatch){.limit_ms = SBATCH_NOT_SAID};
	do {
		const char *end = memchr(p, '\n', (size_t)(all - p));
		int rc;

		end = end != NULL ? end : all;
		rc = check_line(p, end, ++n, e);
		if (rc == 0 && has_options(p, end))
			rc = take_line(out, p + sizeof(magic) - 1, end, e);
		if (rc != 0) {
			sbatch_fini(out);
			return err_wrap(e, "line %u", n);
		}
		if (out->more || is_command(p, end))
			break;
		p = end < all ? end + 1 : all;
	} while (p < all);
	return 0;
}

void sbatch_fini(struct sbatch *s)
{
	free(s->partition);
	free(s->account);
	free(s->constraint);
	free(s->comment);
	free(s->gpus);
	*s = (struct sbatch){.limit_ms = SBATCH_NOT_SAID};
}
