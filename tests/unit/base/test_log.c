/* test_log.c - one event is one line, and a secret is in none. */
#include "base/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINE_BYTES = 4096 };

static void test_format(void **state)
{
	static const struct {
		enum log_level level;
		const char *msg, *pairs[7], *want;
	} rows[] = {
		{LOG_INFO, "started", {NULL}, "info msg=started"},
		{LOG_DEBUG, "two words", {NULL}, "debug msg=\"two words\""},
		{LOG_WARN, "x", {"node", "c1", "at", "5", NULL}, "warn msg=x node=c1 at=5"},
		{LOG_ERROR, "", {"empty", "", NULL}, "error msg=\"\" empty=\"\""},
		{LOG_INFO, "x", {"why", NULL, NULL}, "info msg=x why=-"},
		{LOG_INFO, "x", {"token", NULL, "a", "b", NULL}, "info msg=x token=- a=b"},
		{LOG_INFO, "x", {"v", "a=b", NULL}, "info msg=x v=\"a=b\""},
		{LOG_INFO, "x", {"v", "say \"hi\"", NULL}, "info msg=x v=\"say \\\"hi\\\"\""},
		{LOG_INFO, "x", {"v", "a\\b", NULL}, "info msg=x v=\"a\\\\b\""},
		{LOG_INFO, "a\nb\r", {NULL}, "info msg=\"a\\x0ab\\x0d\""},
		{LOG_INFO, "x", {"v", "\x1b[2J\x7f", NULL}, "info msg=x v=\"\\x1b[2J\\x7f\""},
		/* C1 controls steer terminals too, as bytes and as UTF-8. */
		{LOG_INFO, "x", {"v", "\x9b", NULL}, "info msg=x v=\"\\x9b\""},
		{LOG_INFO, "x", {"v", "\xc2\x9b", NULL}, "info msg=x v=\"\\xc2\\x9b\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[256];

		log_format(line, sizeof(line), rows[i].level, rows[i].msg, rows[i].pairs);
		assert_string_equal(line, rows[i].want);
	}
}

static void test_redacts(void **state)
{
	static const struct {
		const char *key;
		bool secret;
	} rows[] = {
		{"token", true},         {"vault_token", true}, {"Authorization", true},
		{"X-Api-Key", true},     {"munge_key", true},   {"PASSWORD", true},
		{"client_secret", true}, {"node", false},       {"instance", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *pairs[] = {rows[i].key, "hunter2", NULL};
		char line[256];

		log_format(line, sizeof(line), LOG_INFO, "x", pairs);
		assert_int_equal(strstr(line, "hunter2") == NULL, rows[i].secret);
		assert_int_equal(strstr(line, "[redacted]") != NULL, rows[i].secret);
	}
}

/* Words of others, under a name that says nothing. */
static void test_redacts_by_value(void **state)
{
	const char *const pairs[] = {"error", "400: hvs.abcdefghij0123456789 is no token", NULL};
	char line[256];

	(void)state;
	log_format(line, sizeof(line), LOG_WARN, "Vault said s.abcdefghij0123456789abcd", pairs);
	assert_string_equal(line, "warn msg=\"Vault said [redacted]\""
				  " error=\"400: [redacted] is no token\"");
}

static void test_levels(void **state)
{
	(void)state;
	assert_int_equal(log_level_parse("debug"), LOG_DEBUG);
	assert_int_equal(log_level_parse("info"), LOG_INFO);
	assert_int_equal(log_level_parse("warn"), LOG_WARN);
	assert_int_equal(log_level_parse("error"), LOG_ERROR);
	assert_int_equal(log_level_parse("INFO"), -1);
	assert_int_equal(log_level_parse(""), -1);
}

/* What log_write() puts into a pipe. */
static size_t written(int from, char *to, size_t size)
{
	ssize_t n = read(from, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void test_write(void **state)
{
	char text[2 * LINE_BYTES];
	struct log *l;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	l = log_new(fd[1], LOG_WARN);
	log_write(l, LOG_INFO, "below", NULL);
	assert_int_equal(written(fd[0], text, sizeof(text)), 0);
	log_write(l, LOG_WARN, "at", "k", "v", NULL);
	(void)written(fd[0], text, sizeof(text));
	assert_int_equal(strspn(text, "0123456789-T:.Z"), 24);
	assert_string_equal(text + 24, " warn msg=at k=v\n");
	log_set_level(l, LOG_DEBUG);
	log_write(l, LOG_DEBUG, "now", NULL);
	assert_true(written(fd[0], text, sizeof(text)) > 0);
	log_write(NULL, LOG_ERROR, "no log", NULL);
	log_free(l);
	log_free(NULL);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

/* However long the values are, two lines never run together, and a cut is seen. */
static void test_long_lines(void **state)
{
	char value[3 * LINE_BYTES], text[4 * LINE_BYTES];
	struct log *l;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	l = log_new(fd[1], LOG_INFO);
	for (size_t len = LINE_BYTES - 80; len < LINE_BYTES + 20; len++) {
		for (int quoted = 0; quoted < 2; quoted++) {
			size_t n;

			memset(value, quoted ? '\n' : 'v', len);
			value[len] = '\0';
			log_write(l, LOG_INFO, "x", "v", value, "w", "short", NULL);
			n = written(fd[0], text, sizeof(text));
			assert_true(n <= LINE_BYTES);
			assert_ptr_equal(strchr(text, '\n'), text + n - 1);
			if (strstr(text, "w=short\n") == NULL)
				assert_string_equal(text + n - 4, "...\n");
		}
	}
	log_free(l);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static void test_small_buffer(void **state)
{
	const char *pairs[] = {"key", "a long value", NULL};
	char line[64];

	(void)state;
	for (size_t size = 4; size < sizeof(line); size++) {
		memset(line, '#', sizeof(line));
		log_format(line, size, LOG_INFO, "msg", pairs);
		assert_true(strlen(line) < size);
		assert_int_equal(line[size], '#');
	}
}

/* A dead reader or a full pipe loses the line, nothing else. */
static void test_cannot_write(void **state)
{
	struct log *l;
	int fd[2];

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	l = log_new(fd[1], LOG_INFO);
	for (int i = 0; i < 10000; i++)
		log_write(l, LOG_INFO, "fill the pipe", NULL);
	(void)close(fd[0]);
	log_write(l, LOG_INFO, "x", NULL);
	(void)close(fd[1]);
	log_write(l, LOG_INFO, "x", NULL);
	log_free(l);
}

/* Held lines come in one piece, with the time each was written at. */
static void test_hold(void **state)
{
	char text[2 * LINE_BYTES];
	struct log *l;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	l = log_new(fd[1], LOG_INFO);
	log_hold(l);
	log_write(l, LOG_INFO, "one", NULL);
	log_hold(l);
	log_write(l, LOG_DEBUG, "below", NULL);
	log_write(l, LOG_WARN, "two", NULL);
	log_release(l);
	assert_int_equal(written(fd[0], text, sizeof(text)), 0); /* held by the first still */
	log_release(l);
	(void)written(fd[0], text, sizeof(text));
	assert_ptr_equal(strstr(text, " info msg=one\n"), text + 24);
	assert_non_null(strstr(text, " warn msg=two\n"));
	log_release(NULL);
	log_write(l, LOG_INFO, "three", NULL); /* at once again */
	(void)written(fd[0], text, sizeof(text));
	assert_string_equal(text + 24, " info msg=three\n");
	log_hold(l);
	log_write(l, LOG_INFO, "four", NULL);
	log_free(l);
	(void)written(fd[0], text, sizeof(text));
	assert_string_equal(text + 24, " info msg=four\n");
	(void)close(fd[0]);
	(void)close(fd[1]);
}

/* The process may be about to end: an error, and what led to it, is not kept. */
static void test_hold_lets_errors_through(void **state)
{
	char text[2 * LINE_BYTES];
	struct log *l;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	l = log_new(fd[1], LOG_INFO);
	log_hold(l);
	log_write(l, LOG_INFO, "before", NULL);
	log_write(l, LOG_ERROR, "the end", NULL);
	(void)written(fd[0], text, sizeof(text));
	assert_non_null(strstr(text, "info msg=before\n"));
	assert_non_null(strstr(text, "error msg=\"the end\"\n"));
	log_release(l);
	assert_int_equal(written(fd[0], text, sizeof(text)), 0);
	log_free(l);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

/* However much is held, all lines arrive, each whole, in order, in pieces of 64 KiB at most. */
static void test_hold_is_bounded(void **state)
{
	enum { LINES = 5000 };
	static char text[512 << 10];
	char name[] = "/tmp/logXXXXXX", want[32];
	int fd = mkstemp(name);
	struct log *l = log_new(fd, LOG_INFO);
	const char *p = text;
	off_t before = 0;

	(void)state;
	(void)unlink(name);
	log_hold(l);
	for (int i = 0; i < LINES; i++) {
		off_t now;

		(void)snprintf(want, sizeof(want), "%d", i);
		log_write(l, LOG_INFO, "x", "i", want, NULL);
		now = lseek(fd, 0, SEEK_CUR);
		assert_in_range(now - before, 0, 64 << 10);
		before = now;
	}
	assert_true(before > 0);
	log_release(l);
	assert_in_range(pread(fd, text, sizeof(text) - 1, 0), 1, sizeof(text) - 2);
	for (int i = 0; i < LINES; i++) {
		(void)snprintf(want, sizeof(want), " info msg=x i=%d\n", i);
		assert_memory_equal(p + 24, want, strlen(want));
		p += 24 + strlen(want);
	}
	assert_int_equal(*p, '\0');
	log_free(l);
	(void)close(fd);
}

/* A reader that is slow for a moment may cut a line, but the next begins a line of its own. */
static void test_hold_and_a_full_pipe(void **state)
{
	static char text[256 << 10];
	struct log *l;
	size_t n;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(fcntl(fd[1], F_SETPIPE_SZ, 4096), 4096);
	l = log_new(fd[1], LOG_INFO);
	log_hold(l);
	for (int i = 0; i < 200; i++)
		log_write(l, LOG_INFO, "a line that fills the pipe", NULL);
	log_release(l);
	n = written(fd[0], text, sizeof(text));
	assert_int_equal(n, 4096);
	assert_int_not_equal(text[n - 1], '\n');
	log_write(l, LOG_INFO, "next", NULL);
	(void)written(fd[0], text, sizeof(text));
	assert_int_equal(text[0], '\n');
	assert_string_equal(text + 25, " info msg=next\n");
	log_free(l);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_redacts),
		cmocka_unit_test(test_redacts_by_value),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_small_buffer),
		cmocka_unit_test(test_cannot_write),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_hold_lets_errors_through),
		cmocka_unit_test(test_hold_is_bounded),
		cmocka_unit_test(test_hold_and_a_full_pipe),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
