/* test_watch.c - what is logged of a file and a command that cannot be asked whether the machine
 * will be taken away: each by its name, and once until it works again. */
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

#include "base/mem.h"
#include "turns.h"

enum { POLL_MS = 20, POLLS_MS = 600, PATIENCE_MS = 10000 };

#define NO_FILE    "notice_file cannot be read"
#define NO_COMMAND "notice_command does not work"
#define NO_SERVICE "the metadata service"

static struct fix {
	struct agent *a;
	int log;
	char dir[32], file[64], command[64], good[64];
} F;

static void pass(int64_t ms)
{
	turns(F.a, ms);
}

static unsigned logged(const char *what)
{
	char text[8192];
	ssize_t n = pread(F.log, text, sizeof(text) - 1, 0);
	unsigned count = 0;

	assert_true(n >= 0);
	text[n] = '\0';
	for (const char *p = strstr(text, what); p != NULL; p = strstr(p + 1, what))
		count++;
	return count;
}

/* Wait until it is logged so often: a machine may be slow. */
static void assert_logged(const char *what, unsigned times)
{
	int64_t end = clock_boot_ms() + PATIENCE_MS;

	while (logged(what) < times && clock_boot_ms() < end)
		pass(POLL_MS);
	pass(POLLS_MS);
	assert_int_equal(logged(what), times);
}

static int setup(void **state)
{
	FILE *f;

	(void)state;
	memset(&F, 0, sizeof(F));
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/burst-watch-XXXXXX");
	assert_non_null(mkdtemp(F.dir));
	(void)snprintf(F.file, sizeof(F.file), "%s/going", F.dir);
	(void)snprintf(F.command, sizeof(F.command), "%s/look", F.dir);
	(void)snprintf(F.good, sizeof(F.good), "%s/good", F.dir);
	f = fopen(F.command, "w");
	assert_non_null(f);
	(void)fprintf(f, "[ -e %s ]\n", F.good);
	(void)fclose(f);
	f = tmpfile();
	assert_non_null(f);
	F.log = dup(fileno(f));
	(void)fclose(f);
	F.a = mem_zalloc(sizeof(*F.a));
	F.a->conf.poll = POLL_MS;
	F.a->conf.command_timeout = PATIENCE_MS;
	F.a->log = log_new(F.log, LOG_INFO);
	F.a->notices = notices_new(F.a);
	return 0;
}

static void watch(bool file, bool command)
{
	if (file)
		(void)snprintf(F.a->conf.notice_file, sizeof(F.a->conf.notice_file), "%s", F.file);
	if (command)
		(void)snprintf(F.a->conf.notice_command, sizeof(F.a->conf.notice_command),
			       "/bin/sh %s", F.command);
	F.a->watch = watch_new(F.a);
}

static void make_good(void)
{
	FILE *f = fopen(F.good, "w");

	assert_non_null(f);
	(void)fclose(f);
}

static int teardown(void **state)
{
	(void)state;
	watch_free(F.a->watch);
	notices_free(F.a->notices);
	log_free(F.a->log);
	free(F.a);
	(void)close(F.log);
	(void)unlink(F.good);
	(void)unlink(F.command);
	(void)rmdir(F.file);
	(void)rmdir(F.dir);
	return 0;
}

static void a_file_that_cannot_be_read_is_logged_once_each_time(void **state)
{
	(void)state;
	assert_int_equal(mkdir(F.file, 0700), 0); /* nobody, not even root, reads a directory */
	watch(true, false);
	assert_logged(NO_FILE, 1);
	assert_int_equal(logged(F.file), 1);
	assert_int_equal(rmdir(F.file), 0); /* it is not there, which is no failure */
	pass(POLLS_MS);
	assert_int_equal(mkdir(F.file, 0700), 0);
	assert_logged(NO_FILE, 2);
	assert_int_equal(logged(NO_COMMAND) + logged(NO_SERVICE), 0);
}

static void a_command_that_fails_is_logged_once_each_time(void **state)
{
	(void)state;
	watch(false, true);
	assert_logged(NO_COMMAND, 1);
	make_good();
	pass(POLLS_MS);
	(void)unlink(F.good);
	assert_logged(NO_COMMAND, 2);
	assert_int_equal(logged(NO_FILE) + logged(NO_SERVICE), 0);
}

static void one_that_fails_does_not_hide_the_other(void **state)
{
	(void)state;
	watch(true, true);
	assert_logged(NO_COMMAND, 1); /* the file, which can be asked, changes nothing */
	assert_int_equal(mkdir(F.file, 0700), 0);
	assert_logged(NO_FILE, 1);
	make_good();
	pass(POLLS_MS); /* nor does the command change what is known of the file */
	assert_int_equal(logged(NO_FILE), 1);
	assert_int_equal(logged(NO_COMMAND), 1);
	assert_int_equal(logged(NO_SERVICE), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_file_that_cannot_be_read_is_logged_once_each_time),
		T(a_command_that_fails_is_logged_once_each_time),
		T(one_that_fails_does_not_hide_the_other),
	};
#undef T

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
