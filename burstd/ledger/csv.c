#include "ledger/csv.h"

#include <string.h>

#include "base/fmt.h"
#include "base/plain.h"
#include "ledger/number.h"

#define BOM "\xef\xbb\xbf"

enum { CSV_LINE_MAX = 1 << 20 }; /* bytes: 40 texts of the longest that Slurm takes for one */

void csv_init(struct csv *c, const struct sink *to, bool spreadsheet)
{
	*c = (struct csv){.to = to, .crlf = spreadsheet};
	str_init(&c->line, CSV_LINE_MAX);
	if (spreadsheet)
		str_adds(&c->line, BOM);
}

void csv_fini(struct csv *c)
{
	str_fini(&c->line);
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* East Asian spreadsheets take the wide forms of the four for these. */
bool csv_is_formula(const char *text)
{
	static const char *const begins[] = {"=",
					     "+",
					     "-",
					     "@",
					     "\t",
					     "\r",
					     "\n",
					     "\xef\xbc\x9d",
					     "\xef\xbc\x8b",
					     "\xef\xbc\x8d",
					     "\xef\xbc\xa0"};

	while (*text == ' ') /* some readers drop blanks */
		text++;
	if (is_alnum(*text))
		return false; /* as most: a report has millions of texts */
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* Where numbers have a decimal comma a spreadsheet ends fields at ';', and takes a quote within one
 * for itself: what follows is a field of its own, also behind quotes. */
static bool hides_formula(const char *text)
{
	return strchr(";\t\r\n", *text) != NULL &&
	       csv_is_formula(text + 1 + strspn(text + 1, " \"\t\r\n"));
}

static bool is_control(char c)
{
	return ((unsigned char)c < ' ' && strchr("\t\r\n", c) == NULL) || c == '\x7f';
}

static bool is_plain(char c)
{
	return c >= ' ' && c < '\x7f' && c != '"' && c != ';';
}

static void add_clean(struct str *s, const char *text, bool guard)
{
	for (const char *p = text; *p != '\0';) {
		const char *from = p;
		size_t n;

		while (is_plain(*p))
			p++;
		str_add(s, from, (size_t)(p - from));
		if (*p == '\0')
			break;
		n = plain_utf8(p);
		if (*p == '"')
			str_adds(s, "\"\"");
		else if (n == 0 || is_control(*p))
			str_adds(s, "?");
		else
			str_add(s, p, n);
		if (guard && hides_formula(p))
			str_adds(s, "'");
		p += n == 0 ? 1 : n;
	}
}

static void next(struct csv *c)
{
	if (c->begun)
		str_adds(&c->line, ",");
	c->begun = true;
}

/* guard: it is a stranger's. */
static void add(struct csv *c, const char *text, bool guard)
{
	const bool formula = guard && csv_is_formula(text);
	size_t n = 0;
	bool quote;

	next(c);
	while (is_alnum(text[n]))
		n++;
	if (text[n] == '\0') { /* nothing to be looked for */
		str_add(&c->line, text, n);
		return;
	}
	/* A blank at either end is lost by some readers unless it is in quotes. */
	quote = formula || strpbrk(text, ",\"\r\n\t ';") != NULL;
	if (quote)
		str_adds(&c->line, "\"");
	if (formula)
		str_adds(&c->line, "'");
	add_clean(&c->line, text, guard);
	if (quote)
		str_adds(&c->line, "\"");
}

void csv_text(struct csv *c, const char *text)
{
	add(c, text, true);
}

void csv_own(struct csv *c, const char *text)
{
	add(c, text, false);
}

void csv_i64(struct csv *c, int64_t v)
{
	char text[FMT_U64_SIZE];

	next(c);
	str_adds(&c->line, fmt_i64(text, v));
}

void csv_money(struct csv *c, int64_t nano, bool point)
{
	char text[NUMBER_MONEY_SIZE];

	next(c);
	str_adds(&c->line, number_money(text, nano, point));
}

void csv_null(struct csv *c)
{
	next(c);
}

int csv_end(struct csv *c, struct err *e)
{
	str_adds(&c->line, c->crlf ? "\r\n" : "\n");
	c->begun = false;
	return sink_flush(c->to, &c->line, e);
}
