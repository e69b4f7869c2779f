#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/str.h"

enum {
	LOG_LINE_MAX = 4096, /* with the newline: a write of so much into a pipe is atomic */
	LOG_PAIRS_MAX = 24,
	LOG_HELD_MAX = 64 << 10, /* as much as a pipe holds */
};

struct log {
	int fd;
	enum log_level level;
	unsigned holds;
	struct str held; /* whole lines */
	bool torn;       /* the last write ended inside a line */
	int64_t when_ms; /* the time in `when`: a burst writes hundreds of lines in a millisecond */
	char when[FMT_TIME_SIZE];
};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

/* A key that contains one of these words holds a secret. */
static const char *const secret_words[] = {"token", "secret", "password", "authorization", "key"};

struct log *log_new(int fd, enum log_level level)
{
	struct log *l = mem_zalloc(sizeof(*l));

	l->fd = fd;
	l->level = level;
	str_init(&l->held, LOG_HELD_MAX);
	return l;
}

/* A log that cannot be written must not stop the daemon. */
static void write_all(struct log *l, const char *p, size_t len)
{
	const char *begin = p;

	while (len > 0) {
		ssize_t n = write(l->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		p += n;
		len -= (size_t)n;
	}
	if (p > begin)
		l->torn = p[-1] != '\n';
}

static void put(struct log *l, const char *lines, size_t len)
{
	if (l->torn)
		write_all(l, "\n", 1);
	write_all(l, lines, len);
}

static void flush(struct log *l)
{
	if (l->held.len > 0)
		put(l, l->held.p, l->held.len);
	str_clear(&l->held);
}

void log_free(struct log *l)
{
	if (l == NULL)
		return;
	flush(l);
	str_fini(&l->held);
	free(l);
}

void log_set_level(struct log *l, enum log_level level)
{
	l->level = level;
}

int log_level_parse(const char *name)
{
	for (int i = 0; i <= LOG_ERROR; i++)
		if (strcmp(name, level_names[i]) == 0)
			return i;
	return -1;
}

static bool is_secret(const char *key)
{
	for (size_t i = 0; i < sizeof(secret_words) / sizeof(secret_words[0]); i++)
		if (strcasestr(key, secret_words[i]) != NULL)
			return true;
	return false;
}

static bool is_plain(const char *v)
{
	for (const char *p = v; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\' || *p == '=')
			return false;
	return *v != '\0';
}

static void add_value(struct str *s, const char *v)
{
	if (is_plain(v)) {
		str_adds(s, v);
		return;
	}
	str_adds(s, "\"");
	for (const char *p = v; *p != '\0' && !s->full; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			str_addf(s, "\\%c", c);
		else if (c < ' ' || c > '~')
			str_addf(s, "\\x%02x", c);
		else
			str_add(s, p, 1);
	}
	str_adds(s, "\"");
}

static void add_clean(struct str *s, const char *v)
{
	char *clean = redact(v);

	add_value(s, clean != NULL ? clean : v);
	free(clean);
}

/* End a line that was too long with "...", so that readers see that it was cut. */
static void end_line(struct str *s)
{
	static const char cut[] = "...";
	const size_t n = sizeof(cut) - 1;

	if (s->full && s->max >= n) {
		if (s->len > s->max - n)
			s->len = s->max - n;
		s->full = false;
		str_add(s, cut, n);
	}
}

static void add_line(struct str *s, enum log_level level, const char *msg, const char *const *pairs)
{
	str_adds(s, level_names[level]);
	str_adds(s, " msg=");
	add_clean(s, msg);
	for (; pairs[0] != NULL && !s->full; pairs += 2) {
		str_adds(s, " ");
		str_adds(s, pairs[0]);
		str_adds(s, "=");
		if (pairs[1] == NULL)
			str_adds(s, "-");
		else
			add_clean(s, is_secret(pairs[0]) ? "[redacted]" : pairs[1]);
	}
	end_line(s);
}

void log_format(char *out, size_t size, enum log_level level, const char *msg,
		const char *const *pairs)
{
	struct str s;

	assert(size > 3);
	str_init(&s, size - 1);
	add_line(&s, level, msg, pairs);
	memcpy(out, s.p, s.len + 1);
	str_fini(&s);
}

void log_hold(struct log *l)
{
	if (l != NULL)
		l->holds++;
}

void log_release(struct log *l)
{
	if (l == NULL)
		return;
	assert(l->holds > 0);
	if (--l->holds == 0)
		flush(l);
}

static void put_line(struct log *l, enum log_level level, const char *line, size_t len)
{
	if (l->holds == 0) {
		put(l, line, len);
		return;
	}
	if (l->held.len + len > LOG_HELD_MAX)
		flush(l);
	str_add(&l->held, line, len);
	if (level >= LOG_ERROR)
		flush(l);
}

void log_write(struct log *l, enum log_level level, const char *msg, ...)
{
	const char *pairs[2 * LOG_PAIRS_MAX + 2] = {NULL};
	struct str s;
	va_list ap;
	int64_t now;

	if (l == NULL || level < l->level)
		return;
	va_start(ap, msg);
	for (size_t i = 0; i < 2 * LOG_PAIRS_MAX; i += 2) {
		pairs[i] = va_arg(ap, const char *);
		if (pairs[i] == NULL)
			break;
		pairs[i + 1] = va_arg(ap, const char *);
	}
	va_end(ap);
	now = clock_wall_ms();
	if (now != l->when_ms)
		(void)fmt_time(l->when, now);
	l->when_ms = now;
	str_init(&s, LOG_LINE_MAX - 1);
	str_adds(&s, l->when);
	str_adds(&s, " ");
	add_line(&s, level, msg, pairs);
	s.max++; /* room kept for the newline, so that no two lines run together */
	str_adds(&s, "\n");
	put_line(l, level, s.p, s.len);
	str_fini(&s);
}
