/* test_child.c - commands of the admin's: words, environment, deadlines, what they leave behind. */
#include "agent/child.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/poller.h"
#include "base/clock.h"

static struct poller poller;
static struct child *child;
static struct child_end end;
static unsigned called;
static char script[64];
static pid_t server; /* of hung_server() */

static void done(void *ctx, const struct child_end *e)
{
	assert_ptr_equal(ctx, &end);
	assert_null(child);
	end = *e;
	called++;
}

static void done_stuck(void *ctx, const struct child_end *e)
{
	assert_ptr_equal(ctx, &end);
	end = *e;
	called++;
}

/* A script of these lines; its path is in `script`. */
static void write_script(const char *text)
{
	FILE *f;
	int fd;

	(void)snprintf(script, sizeof(script), "/tmp/burst-child-XXXXXX");
	fd = mkstemp(script);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	(void)fprintf(f, "#!/bin/sh\n%s\n", text);
	assert_int_equal(fchmod(fd, 0700), 0);
	(void)fclose(f);
}

static void run_words(const char *text, const char *words, const struct child_vars *vars,
		      int64_t ms)
{
	char command[256];
	const struct child_call call = {
		.command = command, .vars = *vars, .timeout_ms = ms, .done = done, .ctx = &end};
	struct err e = {0};

	write_script(text);
	(void)snprintf(command, sizeof(command), "%s%s", script, words);
	called = 0;
	memset(&end, 0, sizeof(end));
	assert_int_equal(child_start(&child, &poller, &call, &e), 0);
	assert_int_equal(called, 0);
	while (called == 0)
		poller_turn(&poller);
	(void)unlink(script);
	assert_null(poller.items);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void run(const char *text, const char *words)
{
	static const uint32_t jobs[] = {11, 12};
	const struct child_vars vars = {.node = "n1", .jobs = jobs, .njobs = 2};

	run_words(text, words, &vars, 10000);
}

static void test_words(void **state)
{
	static const struct {
		const char *words, *out;
	} rows[] = {
		{"  a\t b ", "[a][b]"},
		{" %j", "[11][12]"},
		{" x %n y%nz", "[x][n1][yn1z]"},
		{" '%j' $HOME *", "['%j'][$HOME][*]"},
		{" %", "[%]"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].words);
		run("for i in \"$@\"; do printf '[%s]' \"$i\"; done", rows[i].words);
		assert_string_equal(end.out, rows[i].out);
		assert_int_equal(end.status, 0);
	}
}

static void test_surroundings(void **state)
{
	(void)state;
	(void)setenv("SLURM_CONF", "/x/slurm.conf", 1);
	(void)setenv("TOKEN", "secret", 1);
	run("cat; env | sort | grep -v '^_=\\|^PWD='", "");
	assert_string_equal(end.out,
			    "LC_ALL=C\n"
			    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
			    "SLURM_CONF=/x/slurm.conf\n");
}

/* It is to end by SIGTERM, which we take by a descriptor.  No script: dash unblocks all by itself.
 */
static void test_signals_are_not_blocked(void **state)
{
	const struct child_call call = {.command = "grep SigBlk /proc/self/status",
					.vars = {.node = "n1"},
					.timeout_ms = 10000,
					.done = done,
					.ctx = &end};
	sigset_t some, before;
	struct err e = {0};

	(void)state;
	(void)sigemptyset(&some);
	(void)sigaddset(&some, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &some, &before);
	called = 0;
	memset(&end, 0, sizeof(end));
	assert_int_equal(child_start(&child, &poller, &call, &e), 0);
	while (called == 0)
		poller_turn(&poller);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	assert_string_equal(end.out, "SigBlk:\t0000000000000000\n");
}

static void test_how_they_end(void **state)
{
	(void)state;
	run("exit 7", "");
	assert_int_equal(end.status, 7);
	run("kill -9 $$", "");
	assert_int_equal(end.status, 128 + 9);
	run("exec >&-; exec sleep 0.3", "");
	assert_int_equal(end.status, 0);
}

static void test_too_much(void **state)
{
	(void)state;
	run("head -c 300000 /dev/zero | tr '\\0' x", "");
	assert_int_equal(end.status, 0);
	assert_int_equal(end.len, CHILD_OUT_MAX);
	assert_int_equal(end.out[CHILD_OUT_MAX], '\0');
}

static void test_out_of_time(void **state)
{
	const struct child_vars vars = {.node = "n1"};
	const int64_t begun = clock_boot_ms();

	(void)state;
	run_words("echo begun; trap '' TERM; while :; do sleep 1; done", "", &vars, 300);
	assert_int_equal(end.status, -1);
	assert_string_equal(end.e.msg, "stopped: timed out");
	assert_in_range(clock_boot_ms() - begun, 300, 8000);
}

/* What a command started ends with it, where that is out of time: a diagnosis of hours would be
 * started once more with each look. */
static void test_out_of_time_is_for_all_that_it_started(void **state)
{
	const struct child_vars vars = {.node = "n1"};
	pid_t pid;

	(void)state;
	run_words("sleep 100 & echo $!; wait", "", &vars, 300);
	assert_int_equal(end.status, -1);
	pid = (pid_t)strtol(end.out, NULL, 10);
	assert_true(pid > 1);
	for (int i = 0; i < 500 && kill(pid, 0) == 0; i++)
		(void)usleep(10000); /* until whoever has it now has noticed */
	assert_int_equal(kill(pid, 0), -1);
}

/* What it started and left keeps its output open: that is nothing to wait for. */
static void test_left_behind(void **state)
{
	const int64_t begun = clock_boot_ms();

	(void)state;
	run("sleep 20 & echo $!", "");
	assert_int_equal(end.status, 0);
	assert_in_range(clock_boot_ms() - begun, 0, 5000);
	(void)kill((pid_t)strtol(end.out, NULL, 10), SIGKILL);
}

static int start(const char *command, struct err *e)
{
	const struct child_call call = {.command = command,
					.vars = {.node = "n1"},
					.timeout_ms = 60000,
					.done = done,
					.ctx = &end};

	return child_start(&child, &poller, &call, e);
}

static void test_killed(void **state)
{
	struct err e = {0};

	(void)state;
	called = 0;
	assert_int_equal(start("sleep 20", &e), 0);
	child_kill(child);
	assert_null(child);
	assert_null(poller.items);
	assert_int_equal(called, 0);
	child_kill(NULL);
}

/* A FUSE file system at `dir` that answers nobody, in namespaces of its own; 0: it cannot be had.
 */
static pid_t hung_server(const char *dir)
{
	char path[64], text[8192] = "";
	pid_t pid = fork();
	FILE *f;

	if (pid == 0) {
		(void)execlp("unshare", "unshare", "-Urm", "python3", "-B", "tests/node/hungfs.py",
			     dir, (char *)NULL);
		_exit(127);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/mounts", (int)pid);
	for (int i = 0; i < 1000 && waitpid(pid, NULL, WNOHANG) == 0; i++) {
		f = fopen(path, "r");
		text[f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
		if (f != NULL)
			(void)fclose(f);
		if (strstr(text, dir) != NULL)
			return pid;
		(void)usleep(10000);
	}
	return 0;
}

/* What hangs ends with it, also where the test has failed. */
static int end_server(void **state)
{
	const pid_t pid = server;

	(void)state;
	server = 0;
	return pid == 0 || (kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid) ? 0 : -1;
}

/* F40: a tool that hangs in the driver of a GPU that is gone.  It is told of once, and reaped. */
static void test_unkillable(void **state)
{
	char dir[] = "/tmp/burst-hung-XXXXXX", command[200];
	const struct child_call call = {
		.command = command, .timeout_ms = 200, .done = done_stuck, .ctx = &end};
	struct err e = {0};
	int64_t begun;

	(void)state;
	assert_non_null(mkdtemp(dir));
	server = hung_server(dir);
	if (server == 0) {
		(void)rmdir(dir);
		print_message("# no FUSE in a namespace of a user's: not tried\n");
		skip();
	}
	(void)snprintf(command, sizeof(command),
		       "nsenter -t %d -U -m --preserve-credentials stat %s/file", (int)server, dir);
	for (int left = 0; left < 2; left++) {
		called = 0;
		begun = clock_boot_ms();
		assert_int_equal(child_start(&child, &poller, &call, &e), 0);
		while (called == 0 && clock_boot_ms() < begun + 20000)
			poller_turn(&poller);
		assert_int_equal(called, 1);
		assert_int_equal(end.status, -1);
		assert_string_equal(end.e.msg, "timed out, and cannot be killed");
		assert_in_range(clock_boot_ms() - begun, 4000, 15000);
		assert_non_null(child); /* it still runs */
		while (clock_boot_ms() < begun + 8000)
			poller_turn(&poller);
		assert_int_equal(called, 1); /* and is told of once */
		if (left == 0) {
			child_kill(child); /* and nobody waits for it */
			assert_null(child);
			assert_null(poller.items);
		}
	}
	assert_int_equal(end_server(NULL), 0);
	while (child != NULL)
		poller_turn(&poller);
	assert_int_equal(called, 1);
	assert_null(poller.items);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		; /* the one that was left */
	(void)rmdir(dir);
}

static void test_not_started(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(start("/nonexistent/x", &e), -1);
	assert_string_equal(e.msg, "/nonexistent/x: No such file or directory");
	assert_int_equal(start("  ", &e), -1);
	assert_null(child);
	assert_null(poller.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_signals_are_not_blocked),
		cmocka_unit_test(test_how_they_end),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_out_of_time),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_out_of_time_is_for_all_that_it_started),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_killed),
		cmocka_unit_test_teardown(test_unkillable, end_server),
		cmocka_unit_test(test_not_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
