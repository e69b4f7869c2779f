/* test_secret_file.c - a secret in a file that is replaced now and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/secret_file.h"

static char dir[64], path[96], beside[128];
static char version[SECRET_FILE_VERSION_SIZE];
static struct secret *s;

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/burstd-secret-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/bundle", dir);
	(void)snprintf(beside, sizeof(beside), "%s.version", path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	secret_free(s);
	s = NULL;
	(void)chmod(dir, 0700);
	(void)unlink(path);
	(void)unlink(beside);
	return rmdir(dir);
}

static void write_text(const char *to, const char *text, mode_t mode)
{
	FILE *f = fopen(to, "w");

	assert_non_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
	assert_int_equal(chmod(to, mode), 0);
}

static void test_what_is_written_is_read(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(secret_file_read(path, &s, version, NULL), 1);
	assert_null(s);
	assert_int_equal(secret_file_write(path, "a\0b", 3, "v1", NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	assert_int_equal(secret_len(s), 3);
	assert_memory_equal(secret_text(s), "a\0b", 4);
	assert_string_equal(version, "v1");
}

static void test_without_a_word_the_time_is_the_version(void **state)
{
	char before[sizeof(version)];

	(void)state;
	write_text(path, "one", 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	(void)memcpy(before, version, sizeof(before));
	secret_free(s);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	assert_string_equal(version, before);
	secret_free(s);
	(void)usleep(20000);
	assert_int_equal(secret_file_write(path, "two", 3, NULL, NULL), 0);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	assert_string_not_equal(version, before);
}

static void test_what_others_may_read_or_replace_is_refused(void **state)
{
	static const mode_t bad[] = {0640, 0604, 0620, 0666};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = {0};

		write_text(path, "x", bad[i]);
		assert_int_equal(secret_file_read(path, &s, version, &e), -1);
		assert_int_equal(e.code, ERR_AUTH);
		assert_null(s);
	}
	write_text(path, "x", 0600);
	assert_int_equal(chmod(dir, 0750), 0);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	assert_int_equal(secret_file_write(path, "y", 1, NULL, NULL), -1);
	assert_int_equal(chmod(dir, 0700), 0);
	write_text(beside, "v1\n", 0644);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	assert_null(s);
}

static void test_a_link_an_empty_file_and_a_long_one_are_refused(void **state)
{
	static char text[SECRET_MAX + 2];

	(void)state;
	write_text(beside, "x", 0600);
	assert_int_equal(symlink(beside, path), 0);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(beside), 0);
	write_text(path, "", 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	memset(text, 'x', sizeof(text) - 1);
	write_text(path, text, 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	write_text(path, "x", 0600);
	write_text(beside, "\n", 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	assert_null(s);
}

/* One that were cut would be taken for another that begins like it. */
static void test_a_version_is_whole_or_an_error(void **state)
{
	char text[SECRET_FILE_VERSION_SIZE + 8];

	(void)state;
	write_text(path, "x", 0600);
	memset(text, 'v', sizeof(text));
	text[SECRET_FILE_VERSION_SIZE - 1] = '\0';
	write_text(beside, text, 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	assert_string_equal(version, text);
	secret_free(s);
	s = NULL;
	text[SECRET_FILE_VERSION_SIZE - 1] = '\n';
	text[SECRET_FILE_VERSION_SIZE] = '\0';
	write_text(beside, text, 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), 0);
	assert_int_equal(strlen(version), SECRET_FILE_VERSION_SIZE - 1);
	secret_free(s);
	s = NULL;
	text[SECRET_FILE_VERSION_SIZE - 1] = 'v';
	write_text(beside, text, 0600);
	assert_int_equal(secret_file_read(path, &s, version, NULL), -1);
	assert_null(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_what_is_written_is_read),
		T(test_without_a_word_the_time_is_the_version),
		T(test_what_others_may_read_or_replace_is_refused),
		T(test_a_version_is_whole_or_an_error),
		T(test_a_link_an_empty_file_and_a_long_one_are_refused),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
