/* test_claim_key.c - the key of claims' secrets: made once, kept, and never replaced. */
#include "io/claim_key.h"

#include <fcntl.h>
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

static char dir[32], path[64];

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/claimkeyXXXXXX");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/claim-key", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(path);
	assert_int_equal(rmdir(dir), 0); /* nothing else was left there */
	return 0;
}

static void test_made_once_and_kept(void **state)
{
	unsigned char a[CLAIM_KEY_BYTES] = {0}, b[CLAIM_KEY_BYTES] = {0};
	static const unsigned char none[CLAIM_KEY_BYTES];
	struct stat st;

	(void)state;
	assert_int_equal(claim_key_open(a, dir, NULL), 0);
	assert_memory_not_equal(a, none, sizeof(a));
	assert_int_equal(claim_key_open(b, dir, NULL), 0);
	assert_memory_equal(a, b, sizeof(a));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, CLAIM_KEY_BYTES);
}

static void test_refused_and_not_replaced(void **state)
{
	unsigned char key[CLAIM_KEY_BYTES];
	struct err e = {0};
	struct stat st;

	(void)state;
	assert_int_equal(claim_key_open(key, dir, NULL), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(claim_key_open(key, dir, &e), -1);
	assert_int_equal(e.code, ERR_AUTH);
	assert_non_null(strstr(e.msg, "claim-key"));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(truncate(path, 31), 0);
	assert_int_equal(claim_key_open(key, dir, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_int_equal(truncate(path, 33), 0);
	assert_int_equal(claim_key_open(key, dir, &e), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 33);
}

static void test_no_link(void **state)
{
	unsigned char key[CLAIM_KEY_BYTES];
	struct err e = {0};

	(void)state;
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(claim_key_open(key, dir, &e), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(claim_key_open(key, dir, &e), -1);
}

static void test_what_a_crash_left(void **state)
{
	unsigned char key[CLAIM_KEY_BYTES];
	char half[80];
	int fd;

	(void)state;
	(void)snprintf(half, sizeof(half), "%s.tmp", path);
	fd = open(half, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "half", 4), 4);
	(void)close(fd);
	assert_int_equal(claim_key_open(key, dir, NULL), 0);
	assert_int_equal(access(half, F_OK), -1);
}

static void test_no_directory(void **state)
{
	unsigned char key[CLAIM_KEY_BYTES];
	struct err e = {0};

	(void)state;
	assert_int_equal(claim_key_open(key, "/nowhere/at/all", &e), -1);
	assert_int_equal(e.code, ERR_IO);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_made_once_and_kept),
		T(test_refused_and_not_replaced),
		T(test_no_link),
		T(test_what_a_crash_left),
		T(test_no_directory),
	};
#undef T

	return cmocka_run_group_tests_name("claim_key", tests, NULL, NULL);
}
