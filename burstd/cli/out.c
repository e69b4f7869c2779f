#include "cli/out.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/str.h"

enum {
	PEOPLE_MAX = 1 << 20, /* bytes: as long as an answer may be */
	WRAPPED_MIN = 20,     /* columns: where fewer are left, text begins a line of its own ... */
	WRAPPED_INDENT = 8,   /* ... so far in */
};

void out_init(struct out *o, FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size = {0};

	o->f = f;
	o->columns = ioctl(fileno(f), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
	o->color = isatty(fileno(f)) && (no == NULL || no[0] == '\0') && term != NULL &&
		   strcmp(term, "dumb") != 0;
}

void out_text(const struct out *o, enum out_style style, const char *text)
{
	static const char *const codes[] = {
		[OUT_BOLD] = "1",  [OUT_DIM] = "2",    [OUT_GOOD] = "32",
		[OUT_BUSY] = "33", [OUT_BAD] = "1;31",
	};
	char *clean = out_clean(text);

	if (o->color && style != OUT_PLAIN)
		(void)fprintf(o->f, "\033[%sm%s\033[0m", codes[style], clean);
	else
		(void)fputs(clean, o->f);
	free(clean);
}

/* Bytes of text that fit into `width` columns, up to a blank; 0: its first word is longer. */
static size_t fitting(const char *text, size_t width)
{
	size_t have = 0, cut = 0;

	for (size_t len = 0; have <= width && text[len] != '\0'; len++) {
		if (text[len] == ' ')
			cut = len;
		have += ((unsigned char)text[len + 1] & 0xc0) != 0x80;
	}
	return cut;
}

void out_wrapped(const struct out *o, enum out_style style, const char *text, size_t at)
{
	char *clean = out_clean(text), *line = clean;
	size_t cut = 1;

	if (o->columns > 0 && at + out_width(line) > o->columns && at + WRAPPED_MIN > o->columns) {
		at = WRAPPED_INDENT;
		(void)fprintf(o->f, "\n%*s", (int)at, "");
	}
	while (o->columns > at && out_width(line) > o->columns - at && cut > 0) {
		cut = fitting(line, o->columns - at);
		if (cut == 0)
			break;
		line[cut] = '\0';
		out_text(o, style, line);
		(void)fprintf(o->f, "\n%*s", (int)at, "");
		line += cut + 1;
	}
	out_text(o, style, line);
	(void)fputc('\n', o->f);
	free(clean);
}

void out_column(const struct out *o, enum out_style style, const char *text, int width)
{
	int pad = width - (int)out_width(text);

	out_text(o, style, text);
	(void)fprintf(o->f, "%*s  ", pad > 0 ? pad : 0, "");
}

/* The user's name; NULL: there is none.  The last one is remembered, since a lookup may have to
 * wait for a network. */
static const char *name_of(unsigned long uid)
{
	static unsigned long last = ULONG_MAX;
	static char name[64];

	if (uid != last) {
		const struct passwd *pw = uid < UINT32_MAX ? getpwuid((uid_t)uid) : NULL;

		last = uid;
		(void)snprintf(name, sizeof(name), "%s", pw != NULL ? pw->pw_name : "");
	}
	return name[0] != '\0' ? name : NULL;
}

/* Does burstd name a user at p?  Other text, such as a provider's, may look the same. */
static bool is_ours(const char *text, const char *p)
{
	static const char *const before[] = {"ordered by ", "you are ", "paused by an admin ("};

	if (p == text) { /* it is the whole text, but for the role */
		const char *end = p + 4 + strspn(p + 4, "0123456789");

		return *end == '\0' || strcmp(end, ", admin") == 0 ||
		       strcmp(end, ", operator") == 0 || strcmp(end, ", finance") == 0;
	}
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		size_t n = strlen(before[i]);

		if ((size_t)(p - text) >= n && strncmp(p - n, before[i], n) == 0)
			return true;
	}
	return false;
}

/* The name of the user in "uid 1000" at p, which has *len bytes; NULL: there is none. */
static const char *person(const char *text, const char *p, size_t *len)
{
	static const char word[] = "uid ";
	const size_t n = sizeof(word) - 1;

	if (strncmp(p, word, n) != 0 || !is_ours(text, p))
		return NULL;
	*len = n + strspn(p + n, "0123456789");
	if (*len == n || *len > n + 10 || isalnum((unsigned char)p[*len]))
		return NULL;
	return name_of(strtoul(p + n, NULL, 10));
}

char *out_people(const char *text)
{
	struct str s;
	size_t len;

	str_init(&s, PEOPLE_MAX);
	for (const char *p = text; *p != '\0'; p += len) {
		const char *name = person(text, p, &len);

		if (name != NULL) {
			str_adds(&s, name);
		} else {
			len = 1;
			str_add(&s, p, 1);
		}
	}
	return str_take(&s);
}

char *out_clean(const char *text)
{
	char *copy = mem_strdup(text);

	fmt_local(copy, clock_zone_ms);
	plain_make(copy, '?');
	return copy;
}

size_t out_width(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

char *out_time(char *out, int64_t ms)
{
	char utc[FMT_TIME_SIZE];

	if (ms == 0) {
		(void)snprintf(out, OUT_TIME_SIZE, "-");
		return out;
	}
	(void)snprintf(out, OUT_TIME_SIZE, "%.19sZ", fmt_time(utc, ms));
	fmt_local(out, clock_zone_ms);
	return out;
}

char *out_age(char *out, int64_t then_ms, int64_t now_ms)
{
	int64_t ms = now_ms > then_ms ? now_ms - then_ms : 0;
	char text[FMT_DUR_SIZE];

	if (then_ms <= 0)
		(void)snprintf(out, OUT_AGO_SIZE, "-");
	else
		(void)snprintf(out, OUT_AGO_SIZE, "%s", fmt_duration(text, ms - ms % 1000));
	if (then_ms > 0 && ms < 1000)
		(void)snprintf(out, OUT_AGO_SIZE, "0s");
	return out;
}

char *out_money(char *out, const char *amount)
{
	int64_t nano, step = FMT_NANO / 100;
	bool minus = amount[0] == '-';
	int places = 2;

	if (fmt_money_parse(amount + minus, &nano, NULL) != 0) {
		(void)snprintf(out, OUT_MONEY_SIZE, "%.20s", amount);
		return out;
	}
	if (nano > 0 && nano < FMT_NANO) {
		step = FMT_NANO / 10000;
		places = 4;
	}
	nano = (nano + step / 2) / step;
	(void)snprintf(out, OUT_MONEY_SIZE, "%s%" PRId64 ".%0*" PRId64, minus ? "-" : "",
		       nano / (FMT_NANO / step), places, nano % (FMT_NANO / step));
	return out;
}
