#include "cli/out.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"

enum { PEOPLE_MAX = 1 << 20 }; /* bytes: as long as an answer may be */

void out_init(struct out *o, FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	o->f = f;
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

void out_column(const struct out *o, enum out_style style, const char *text, int width)
{
	int pad = width - (int)out_width(text);

	out_text(o, style, text);
	(void)fprintf(o->f, "%*s  ", pad > 0 ? pad : 0, "");
}

/* The user of "uid 1000" at the beginning of text, *len bytes of it; NULL: it is none. */
static const char *person(const char *text, size_t *len)
{
	static const char word[] = "uid ";
	const size_t n = sizeof(word) - 1;
	const struct passwd *pw;
	unsigned long uid;

	*len = n + strspn(text + (strncmp(text, word, n) == 0 ? n : 0), "0123456789");
	if (strncmp(text, word, n) != 0 || *len == n || *len > n + 10)
		return NULL;
	uid = strtoul(text + n, NULL, 10);
	pw = uid < UINT32_MAX ? getpwuid((uid_t)uid) : NULL;
	return pw != NULL ? pw->pw_name : NULL;
}

char *out_people(const char *text)
{
	struct str s;
	size_t len;

	str_init(&s, PEOPLE_MAX);
	for (const char *p = text; *p != '\0'; p += len) {
		bool begins = p == text || p[-1] == ' ' || p[-1] == '(';
		const char *name = begins ? person(p, &len) : NULL;

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

	for (unsigned char *p = (unsigned char *)copy; *p != '\0'; p++) {
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
		/* U+0080 to U+009F in UTF-8: some terminals take them for escape sequences. */
		if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
			p[0] = p[1] = '?';
	}
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
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	if (ms == 0 || localtime_r(&t, &tm) == NULL ||
	    strftime(out, OUT_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		(void)snprintf(out, OUT_TIME_SIZE, "-");
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
	int places = 2;

	if (fmt_money_parse(amount, &nano, NULL) != 0) {
		(void)snprintf(out, OUT_MONEY_SIZE, "%.20s", amount);
		return out;
	}
	if (nano > 0 && nano < FMT_NANO) {
		step = FMT_NANO / 10000;
		places = 4;
	}
	nano = (nano + step / 2) / step;
	(void)snprintf(out, OUT_MONEY_SIZE, "%" PRId64 ".%0*" PRId64, nano / (FMT_NANO / step),
		       places, nano % (FMT_NANO / step));
	return out;
}
