/* test_err.c - one line that always fits, whatever it is made of. */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_set(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(err_set(&e, ERR_IO, "open %s: %d", "x", 7), -1);
	assert_int_equal(e.code, ERR_IO);
	assert_string_equal(e.msg, "open x: 7");
	assert_int_equal(err_set(NULL, ERR_IO, "x"), -1);
	assert_int_equal(err_wrap(NULL, "x"), -1);
}

/* Only what stays as it is until a person comes must not be tried again (F55). */
static void test_of_errno(void **state)
{
	static const struct {
		int errnum;
		enum err_code code;
	} rows[] = {
		{EACCES, ERR_AUTH}, {EPERM, ERR_AUTH}, {EISDIR, ERR_AUTH}, {ENOTDIR, ERR_AUTH},
		{ELOOP, ERR_AUTH},  {EIO, ERR_IO},     {ENOSPC, ERR_IO},   {EDQUOT, ERR_IO},
		{EROFS, ERR_IO},    {ENOENT, ERR_IO},  {EMFILE, ERR_IO},   {ESTALE, ERR_IO},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(err_of_errno(rows[i].errnum), rows[i].code);
}

static void test_wrap(void **state)
{
	struct err e = {0};

	(void)state;
	(void)err_set(&e, ERR_AUTH, "no such key");
	assert_int_equal(err_wrap(&e, "pool \"%s\"", "gpu"), -1);
	assert_int_equal(e.code, ERR_AUTH);
	assert_string_equal(e.msg, "pool \"gpu\": no such key");
	(void)err_wrap(&e, "burstd.conf");
	assert_string_equal(e.msg, "burstd.conf: pool \"gpu\": no such key");
}

/* A provider's words are in it, and a terminal shows it (I25); a character may be cut at the end.
 */
static void test_plain(void **state)
{
	char longest[2 * sizeof(((struct err *)NULL)->msg)];
	struct err e = {0};

	(void)state;
	(void)err_set(&e, ERR_NET, "said: %s",
		      "\033[2J\xe2\x80\xae"
		      "on\xe2\x80\x8b");
	assert_string_equal(e.msg, "said: ?[2J???on???");
	(void)err_wrap(&e, "\xe2\x80\xae"
			   "p\xc3\xbc");
	assert_string_equal(e.msg, "???p\xc3\xbc: said: ?[2J???on???");
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	memcpy(longest + sizeof(e.msg) - 2, "\xc3\xbc", 2);
	(void)err_set(&e, ERR_NET, "%s", longest);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_int_equal(e.msg[sizeof(e.msg) - 2], '?');
}

static void test_own_message_as_argument(void **state)
{
	struct err e = {0};

	(void)state;
	(void)err_set(&e, ERR_NET, "timeout");
	(void)err_set(&e, ERR_IO, "twice: %s, %s", e.msg, e.msg);
	assert_string_equal(e.msg, "twice: timeout, timeout");
}

static void test_one_line(void **state)
{
	struct err e = {0};

	(void)state;
	(void)err_set(&e, ERR_NET, "reply \"%s\"", "a\r\nb\tc\x1b[1m\x7f \xc3\xa9");
	assert_string_equal(e.msg, "reply \"a??b?c?[1m? \xc3\xa9\"");
	(void)err_wrap(&e, "x\ny");
	assert_string_equal(e.msg, "x?y: reply \"a??b?c?[1m? \xc3\xa9\"");
}

/* The cause is what matters: a short prefix leaves it whole, the longest half of the room. */
static void test_long(void **state)
{
	char text[1000];
	struct err e = {0};

	(void)state;
	memset(text, 'c', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)err_set(&e, ERR_IO, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	(void)err_set(&e, ERR_IO, "%.230s!", text);
	(void)err_wrap(&e, "short");
	assert_int_equal(e.msg[strlen(e.msg) - 1], '!');
	memset(text, 'p', sizeof(text) - 1);
	(void)err_set(&e, ERR_IO, "cause");
	(void)err_wrap(&e, "%s", text);
	assert_int_equal(strspn(e.msg, "p"), 119);
	assert_string_equal(e.msg + 119, ": cause");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_of_errno),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_own_message_as_argument),
		cmocka_unit_test(test_one_line),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
