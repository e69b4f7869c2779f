/* test_text_file.c - files that the configuration names: whole, plain, and not too long. */
#include "base/text_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_refused(const char *path, size_t max, enum err_code code, const char *why)
{
	struct err e = {0};
	char *text = path == NULL ? NULL : (char *)(uintptr_t)path;
	size_t len = 7;

	assert_int_equal(text_file_read(path, max, &text, &len, &e), -1);
	assert_null(text);
	assert_int_equal(len, 0);
	assert_int_equal(e.code, code);
	assert_non_null(strstr(e.msg, path)); /* which it is */
	assert_non_null(strstr(e.msg, why));
}

static void test_a_file_is_read_whole_or_not_at_all(void **state)
{
	char path[] = "/tmp/burst-text-XXXXXX", *text;
	int fd = mkstemp(path);
	size_t len;

	(void)state;
	assert_true(fd >= 0 && write(fd, "ab\0c", 4) == 4);
	(void)close(fd);
	assert_int_equal(text_file_read(path, 4, &text, &len, NULL), 0);
	assert_int_equal(len, 4);
	assert_memory_equal(text, "ab\0c", 5);
	free(text);
	assert_refused(path, 3, ERR_LIMIT, "more than 3 bytes");
	(void)unlink(path);
	assert_refused(path, 4, ERR_IO, "No such file");
}

static void test_only_a_plain_file_will_do(void **state)
{
	(void)state;
	assert_refused("/tmp", 100, ERR_INVALID, "not a regular file");
	assert_refused("/dev/zero", 100, ERR_INVALID, "not a regular file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_is_read_whole_or_not_at_all),
		cmocka_unit_test(test_only_a_plain_file_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
