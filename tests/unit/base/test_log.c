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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),       cmocka_unit_test(test_redacts),
		cmocka_unit_test(test_levels),       cmocka_unit_test(test_write),
		cmocka_unit_test(test_long_lines),   cmocka_unit_test(test_small_buffer),
		cmocka_unit_test(test_cannot_write),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
