/* test_secret.c - one row per rule in secret.h. */
#include "base/secret.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct dir {
	char path[64];
};

static int make_dir(void **state)
{
	struct dir *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return -1;
	(void)snprintf(d->path, sizeof(d->path), "/tmp/secret-XXXXXX");
	*state = d;
	return mkdtemp(d->path) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
	struct dir *d = *state;
	int rc = rmdir(d->path);

	free(d);
	return rc;
}

static void put_file(const char *path, const char *text, size_t len, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

static void assert_refused(const char *path, enum err_code code, const char *want)
{
	struct secret *s = (struct secret *)(uintptr_t)path;
	struct err e = {0};

	assert_int_equal(secret_load(&s, path, &e), -1);
	assert_null(s);
	assert_int_equal(e.code, code);
	assert_non_null(strstr(e.msg, want));
	assert_non_null(strstr(e.msg, path));
}

static void assert_loads(const char *path, const char *want)
{
	struct secret *s;

	assert_int_equal(secret_load(&s, path, NULL), 0);
	assert_string_equal(secret_text(s), want);
	secret_free(s);
}

static void test_content_and_mode(void **state)
{
	static const struct {
		const char *name, *content;
		mode_t mode;
		const char *want; /* NULL: refused */
		enum err_code code;
		const char *why;
	} rows[] = {
		{"good", "abc123\n", 0600, "abc123", ERR_NONE, NULL},
		{"read-only", "k", 0400, "k", ERR_NONE, NULL},
		{"several lines", "a\nb\n\n", 0600, "a\nb", ERR_NONE, NULL},
		{"white space in front", " k\t\r\n", 0600, " k", ERR_NONE, NULL},
		{"nothing", "", 0600, NULL, ERR_INVALID, "empty"},
		{"white space", "\n \n", 0600, NULL, ERR_INVALID, "empty"},
		{"group may read", "k", 0640, NULL, ERR_AUTH, "mode 0600"},
		{"group may write", "k", 0620, NULL, ERR_AUTH, "mode 0600"},
		{"all may read", "k", 0604, NULL, ERR_AUTH, "mode 0600"},
		{"all may write", "k", 0602, NULL, ERR_AUTH, "mode 0600"},
	};
	const struct dir *d = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/key", d->path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		put_file(path, rows[i].content, strlen(rows[i].content), rows[i].mode);
		if (rows[i].want != NULL)
			assert_loads(path, rows[i].want);
		else
			assert_refused(path, rows[i].code, rows[i].why);
		assert_int_equal(unlink(path), 0);
	}
}

static void test_length(void **state)
{
	enum { MAX = 16384 };
	static char text[MAX + 1];
	const struct dir *d = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/key", d->path);
	memset(text, 'k', MAX);
	put_file(path, text, MAX, 0600);
	assert_refused(path, ERR_INVALID, "too long");
	assert_int_equal(truncate(path, MAX - 1), 0);
	text[MAX - 1] = '\0';
	assert_loads(path, text);
	assert_int_equal(unlink(path), 0);
}

/* A NUL would silently cut the secret short. */
static void test_nul(void **state)
{
	const struct dir *d = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/key", d->path);
	put_file(path, "abc\0def\n", 8, 0600);
	assert_refused(path, ERR_INVALID, "not text");
	assert_int_equal(unlink(path), 0);
}

/* Only a regular file: a link may point anywhere, a FIFO would hang the daemon. */
static void test_kind_of_file(void **state)
{
	const struct dir *d = *state;
	char path[128], other[128];

	(void)snprintf(path, sizeof(path), "%s/key", d->path);
	(void)snprintf(other, sizeof(other), "%s/other", d->path);
	assert_refused(path, ERR_IO, "No such file");
	assert_refused(d->path, ERR_AUTH, "regular file");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, ERR_AUTH, "regular file");
	assert_int_equal(unlink(path), 0);
	put_file(other, "k", 1, 0600);
	assert_int_equal(symlink(other, path), 0);
	assert_refused(path, ERR_AUTH, "symbolic links");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(other), 0);
}

static void test_owner(void **state)
{
	const struct dir *d = *state;
	char path[128];

	if (geteuid() != 0)
		skip();
	(void)snprintf(path, sizeof(path), "%s/key", d->path);
	put_file(path, "k", 1, 0600);
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_refused(path, ERR_AUTH, "owned by root or this user");
	assert_int_equal(unlink(path), 0);
}

/* systemd >= 254 gives its service's user an ACL, which looks like a right of the group. */
static void test_credential_of_systemd(void **state)
{
	static const struct {
		const char *name;
		mode_t mode, dir;
		uid_t owner;
		bool good;
	} rows[] = {
		{"by an ACL", 0440, 0550, 0, true},
		{"chowned, before 254", 0400, 0500, 0, true},
		{"all may read", 0444, 0550, 0, false},
		{"group may write", 0460, 0550, 0, false},
		{"group may run", 0450, 0550, 0, false},
		{"somebody else's", 0440, 0550, 65534, false},
		{"group may replace", 0440, 0570, 0, false},
		{"all may replace", 0440, 0552, 0, false},
	};
	const struct dir *d = *state;
	char path[128];

	if (geteuid() != 0)
		skip();
	(void)snprintf(path, sizeof(path), "%s/key", d->path);
	assert_int_equal(setenv("CREDENTIALS_DIRECTORY", d->path, 1), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		put_file(path, "k", 1, rows[i].mode);
		assert_int_equal(chown(path, rows[i].owner, rows[i].owner), 0);
		assert_int_equal(chmod(d->path, rows[i].dir), 0);
		if (rows[i].good)
			assert_loads(path, "k");
		else
			assert_refused(path, ERR_AUTH, "mode 0600");
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
}

/* A group's right is one anywhere else. */
static void test_no_credential_of_systemd(void **state)
{
	static const char *const files[] = {"/below/key", ".beside", ".link/key"};
	const struct dir *d = *state;
	char path[128], below[128], link[128];

	if (geteuid() != 0)
		skip();
	(void)snprintf(below, sizeof(below), "%s/below", d->path);
	(void)snprintf(link, sizeof(link), "%s.link", d->path);
	assert_int_equal(mkdir(below, 0700), 0);
	assert_int_equal(symlink(below, link), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		print_message("# %s\n", files[i]);
		(void)snprintf(path, sizeof(path), "%s%s", d->path, files[i]);
		put_file(path, "k", 1, 0440);
		assert_refused(path, ERR_AUTH, "mode 0600"); /* without the variable */
		/* Who made the link can make another. */
		assert_int_equal(setenv("CREDENTIALS_DIRECTORY", i == 2 ? link : d->path, 1), 0);
		assert_refused(path, ERR_AUTH, "mode 0600");
		assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "", 1), 0);
		assert_refused(path, ERR_AUTH, "mode 0600");
		assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(below), 0);
}

/* Without the right to lock, and 64 KiB, as many systems give. */
static int lock_without_right(void)
{
	const struct rlimit few = {65536, 65536};
	struct err e = {0};
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (setrlimit(RLIMIT_MEMLOCK, &few) != 0 || (geteuid() == 0 && setuid(65534) != 0))
			_exit(3);
		if (secret_try_lock(&e) == 0)
			_exit(0);
		_exit(e.code == ERR_IO && strncmp(e.msg, "mlock: ", 7) == 0 ? 1 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_it_is_told_when_nothing_can_be_locked(void **state)
{
	int status = lock_without_right();
	struct rlimit r;

	(void)state;
	assert_true(WIFEXITED(status));
#ifdef __SANITIZE_ADDRESS__
	print_message("# this library locks nothing, and says that it did\n");
	skip();
#endif
	assert_int_equal(WEXITSTATUS(status), 1);
	if (geteuid() == 0 || (getrlimit(RLIMIT_MEMLOCK, &r) == 0 && r.rlim_cur >= 2 << 20))
		assert_int_equal(secret_try_lock(NULL), 0);
}

static void test_free_null(void **state)
{
	(void)state;
	secret_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_content_and_mode, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_length, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_nul, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_kind_of_file, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_owner, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_credential_of_systemd, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(test_no_credential_of_systemd, make_dir,
						remove_dir),
		cmocka_unit_test(test_it_is_told_when_nothing_can_be_locked),
		cmocka_unit_test(test_free_null),
	};

	return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
