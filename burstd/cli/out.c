#include "cli/out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/mem.h"

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
