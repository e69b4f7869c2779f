/* Checks the text of burstd.conf before libconfuse reads it: blanks comments, and refuses what
 * libconfuse would misread. */
#include <string.h>

#include "io/conf_file_private.h"

/* libconfuse's lexer counts a line too many for each comment, accepts no comment in a list, accepts
 * a comment or a section that never ends, and replaces ${NAME} from the environment (then the file
 * would mean one thing to burstd and another to `burstctl config check`). */
struct scan {
	struct conf_loader *l;
	char *p;
	int line;
	int depth, opened; /* of braces; the line of the outermost */
};

static void scan_blank(struct scan *s, size_t n)
{
	for (; n > 0; n--, s->p++) {
		if (*s->p == '\n')
			s->line++;
		else
			*s->p = ' ';
	}
}

static void scan_quoted(struct scan *s)
{
	char quote = *s->p++;

	for (; *s->p != quote; s->p++) {
		if (*s->p == '\\' && s->p[1] != '\n' && s->p[1] != '\0')
			s->p++;
		else if (*s->p == '\n' || *s->p == '\0') {
			conf_loader_fail(s->l, s->line, "a quote is not closed in its line");
			return;
		}
	}
	s->p++;
}

/* In an unquoted URL, "//" is no comment. */
static bool begins_token(const char *text, const char *p)
{
	return p == text || strchr(" \t\r\n={}()+,\"'", p[-1]) != NULL;
}

/* Is it a curly quote in UTF-8, as word processors and web pages make them? */
static bool is_curly(const char *p)
{
	static const char *const quotes[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9a",
					     "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x9e",
					     "\xc2\xab",     "\xc2\xbb"};

	for (size_t i = 0; i < sizeof(quotes) / sizeof(quotes[0]); i++)
		if (strncmp(p, quotes[i], strlen(quotes[i])) == 0)
			return true;
	return false;
}

static void scan_char(struct scan *s)
{
	if (is_curly(s->p)) {
		conf_loader_fail(s->l, s->line, "contains a curly quote: write \" instead");
		return;
	}
	if (*s->p == '{' && s->depth++ == 0)
		s->opened = s->line;
	s->depth -= *s->p == '}';
	s->line += *s->p == '\n';
	s->p++;
}

static void scan_next(struct scan *s, const char *text)
{
	const char *end;

	if (*s->p == '"' || *s->p == '\'') {
		scan_quoted(s);
	} else if (*s->p == '#' || (strncmp(s->p, "//", 2) == 0 && begins_token(text, s->p))) {
		scan_blank(s, strcspn(s->p, "\n"));
	} else if (strncmp(s->p, "/*", 2) == 0) {
		end = strstr(s->p + 2, "*/");
		if (end == NULL)
			conf_loader_fail(s->l, s->line, "a comment is not closed");
		else
			scan_blank(s, (size_t)(end + 2 - s->p));
	} else {
		scan_char(s);
	}
}

int conf_scan_text(struct conf_loader *l, char *text)
{
	struct scan s = {.l = l, .p = text, .line = 1};
	int line = 1;

	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		conf_loader_fail(l, 1,
				 "begins with a byte order mark (BOM): save the file without it");
	for (const char *p = text; *p != '\0' && !l->failed; p++) {
		if (*p == '\n')
			line++;
		else if (p[0] == '$' && p[1] == '{')
			conf_loader_fail(l, line, "${...} is not expanded: write the value itself");
		else if (((unsigned char)*p < ' ' && *p != '\t' && *p != '\r') || *p == 0x7f)
			conf_loader_fail(l, line, "contains a control character");
	}
	while (*s.p != '\0' && !l->failed)
		scan_next(&s, text);
	if (s.depth > 0)
		conf_loader_fail(l, s.opened, "a brace is not closed");
	return l->failed ? -1 : 0;
}
