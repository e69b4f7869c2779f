/* test_proc.c - real programs: output, deadlines, caps, what they leave behind. */
#include "io/proc.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "fds.h"
#include "io/loop.h"

static struct fix {
	struct loop *l;
	struct proc *p;
	unsigned called;
	int status, code;
	char out[4096], errors[2048];
	size_t len;
	unsigned fds;
	bool asleep; /* no child can be reaped */
} F;

/* In the place of the C library's. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	return F.asleep ? 0 : wait4(pid, status, options, NULL);
}

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	F.code = F.status = -1;
	F.fds = count_fds();
	if (loop_new(&F.l, NULL) != 0)
		return -1;
	F.p = proc_new(F.l);
	return 0;
}

/* Nothing is left: no child, no descriptor (but libuv's own for signals, made with its first
 * child). */
static int teardown(void **state)
{
	(void)state;
	proc_close(F.p);
	loop_free(F.l);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_in_range(count_fds(), F.fds, F.fds + 2);
	return 0;
}

static void done(void *ctx, const struct proc_reply *r, const struct err *e)
{
	(void)ctx;
	F.called++;
	assert_true((r == NULL) != (e == NULL));
	F.code = e ? e->code : 0;
	if (r == NULL)
		return;
	F.status = r->status;
	F.len = r->len;
	assert_int_equal(r->out[r->len], 0);
	(void)snprintf(F.out, sizeof(F.out), "%s", r->out);
	(void)snprintf(F.errors, sizeof(F.errors), "%s", r->errors);
}

static void keep(void *ctx, const struct proc_reply *r, const struct err *e)
{
	const char **out = ctx;

	done(NULL, r, e);
	*r->kept = true;
	*out = r->out;
}

static int start(const char *script, const char *input, uint32_t ms, size_t max)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	const char *const envp[] = {"PATH=/usr/bin:/bin", "NAME=value", NULL};
	const struct proc_call call = {.argv = argv,
				       .envp = envp,
				       .input = input,
				       .input_len = input ? strlen(input) : 0,
				       .timeout_ms = ms,
				       .max_out = max};
	int rc = proc_run(F.p, &call, done, NULL, NULL);

	assert_int_equal(F.called, 0); /* never from inside */
	return rc;
}

static void run(const char *script, const char *input, uint32_t ms, size_t max)
{
	assert_int_equal(start(script, input, ms, max), 0);
	loop_run(F.l);
	assert_int_equal(F.called, 1);
}

static const struct {
	const char *name, *script, *input;
	int status;
	const char *out, *errors;
} rows[] = {
	{"output", "echo hello", NULL, 0, "hello\n", ""},
	{"exit status", "exit 3", NULL, 3, "", ""},
	{"signal", "kill -9 $$", NULL, 128 + 9, "", ""},
	{"standard error apart", "echo a; echo b >&2; exit 1", NULL, 1, "a\n", "b\n"},
	{"input", "cat", "some text", 0, "some text", ""},
	{"empty input", "cat; echo end", "", 0, "end\n", ""},
	{"no input is /dev/null", "cat; echo end", NULL, 0, "end\n", ""},
	{"input that nobody reads", "exec true", "x", 0, "", ""},
	{"nothing but the given environment",
	 "env | grep -v -e ^PWD -e ^_ -e ^SHLVL -e ^OLDPWD | sort", NULL, 0,
	 "NAME=value\nPATH=/usr/bin:/bin\n", ""},
	{"in the root directory", "pwd", NULL, 0, "/\n", ""},
	{"no descriptor but three", "exec ls /proc/self/fd", NULL, 0, "0\n1\n2\n3\n", ""},
	/* But 32 and 33, glibc's own, which its posix_spawn() leaves ignored: make uses that. */
	{"signals as at boot",
	 "set -- $(grep SigIgn /proc/self/status); echo $((0x$2 & 0x7fffffff))", NULL, 0, "0\n",
	 ""},
	{"no signal blocked", "set -- $(grep SigBlk /proc/self/status); echo $((0x$2))", NULL, 0,
	 "0\n", ""},
	{"leads a session", "set -- $(cat /proc/$$/stat); test $6 = $$", NULL, 0, "", ""},
};

static void test_rows(void **state)
{
	sigset_t ours, before;

	(void)state;
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGUSR2); /* a thread of ours may block some */
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &ours, &before), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		F.called = 0;
		run(rows[i].script, rows[i].input, 10000, 4000);
		assert_int_equal(F.code, 0);
		assert_string_equal(F.out, rows[i].out);
		assert_string_equal(F.errors, rows[i].errors);
		assert_int_equal(F.status, rows[i].status);
	}
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}

static void test_large_input_nobody_reads(void **state)
{
	size_t len = 1 << 20;
	char *big = malloc(len + 1);

	(void)state;
	memset(big, 'x', len);
	big[len] = '\0';
	run("exit 0", big, 10000, 4000);
	assert_int_equal(F.status, 0);
	F.called = 0;
	run("wc -c", big, 10000, 4000);
	assert_int_equal(atoi(F.out), 1 << 20);
	free(big);
}

static void test_not_started_is_not_sent(void **state)
{
	const char *const missing[] = {"/nowhere/program", NULL};
	const char *const relative[] = {"true", NULL};
	const char *const envp[] = {NULL};
	struct proc_call call = {.argv = missing, .envp = envp, .timeout_ms = 1000, .max_out = 10};
	struct err e = {0};

	(void)state;
	assert_int_equal(proc_run(F.p, &call, done, NULL, &e), -1);
	assert_int_equal(e.code, ERR_NOTSENT);
	assert_non_null(strstr(e.msg, "/nowhere/program"));
	call.argv = relative;
	assert_int_equal(proc_run(F.p, &call, done, NULL, &e), -1);
	assert_int_equal(e.code, ERR_NOTSENT);
	loop_run(F.l);
	assert_int_equal(F.called, 0);
}

/* One that has no process id must not be killed by it: kill(0) is our own group, so a child tries.
 */
static void test_close_after_not_started(void **state)
{
	const char *const argv[] = {"/nowhere/program", NULL};
	const char *const envp[] = {NULL};
	const struct proc_call call = {
		.argv = argv, .envp = envp, .timeout_ms = 1000, .max_out = 10};
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		struct loop *l;
		struct proc *p;

		if (setpgid(0, 0) != 0 || loop_new(&l, NULL) != 0)
			_exit(1);
		p = proc_new(l);
		if (proc_run(p, &call, done, NULL, NULL) != -1)
			_exit(2);
		proc_close(p);
		loop_free(l);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* F56 */
static void test_no_descriptors_is_not_sent(void **state)
{
	struct rlimit was, few;
	int rc;

	(void)state;
	run("exit 0", NULL, 5000, 10); /* libuv opens its own for signals */
	F.called = 0;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	few.rlim_cur = count_fds() - 2;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	rc = start("exit 0", "x", 1000, 10);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(rc, -1);
	run("exit 7", NULL, 5000, 10);
	assert_int_equal(F.status, 7);
}

static void test_deadline(void **state)
{
	int64_t before = loop_now(F.l);

	(void)state;
	run("exec sleep 60", NULL, 100, 10);
	assert_int_equal(F.code, ERR_NET);
	assert_in_range(loop_now(F.l) - before, 100, 900); /* by SIGTERM */
}

static void test_deadline_of_one_that_ignores_sigterm(void **state)
{
	int64_t before = loop_now(F.l);

	(void)state;
	run("trap '' TERM; while :; do sleep 1; done", NULL, 100, 10);
	assert_int_equal(F.code, ERR_NET);
	assert_in_range(loop_now(F.l) - before, 1100, 2500);
}

static void check_dies(const char *file)
{
	FILE *f = fopen(file, "r");
	int pid = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	(void)fclose(f);
	for (int i = 0; i < 200 && kill(pid, 0) == 0; i++) {
		char path[64], st[512] = "";
		FILE *p;

		(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		p = fopen(path, "r");
		if (p == NULL)
			return;
		if (fgets(st, sizeof(st), p) != NULL && strstr(st, ") Z ") != NULL)
			i = 200; /* dead; whoever adopted it has not looked yet */
		(void)fclose(p);
		if (i < 200)
			(void)usleep(10000);
		else
			return;
	}
	assert_int_equal(kill(pid, 0), -1);
}

static void test_deadline_takes_its_children_along(void **state)
{
	char file[] = "/tmp/procXXXXXX", script[256];
	int fd = mkstemp(file);

	(void)state;
	(void)close(fd);
	(void)snprintf(script, sizeof(script),
		       "(trap '' TERM; while :; do sleep 1; done) & echo $! >%s; wait", file);
	run(script, NULL, 200, 10);
	assert_int_equal(F.code, ERR_NET);
	check_dies(file);
	(void)unlink(file);
}

/* SIGTERM goes to all of them, so that each may tidy up. */
static void test_children_are_asked_first(void **state)
{
	char file[] = "/tmp/procXXXXXX", script[256], said[8] = "";
	int fd = mkstemp(file);

	(void)state;
	(void)snprintf(
		script, sizeof(script),
		"trap : TERM; (trap 'echo bye >%s; exit' TERM; while :; do sleep 0.05; done) &"
		" wait; sleep 0.5",
		file);
	run(script, NULL, 300, 10);
	assert_int_equal(F.code, ERR_NET);
	assert_int_equal(read(fd, said, 7), 4);
	assert_string_equal(said, "bye\n");
	(void)close(fd);
	(void)unlink(file);
}

static void test_too_much_output(void **state)
{
	(void)state;
	run("yes", NULL, 30000, 1000);
	assert_int_equal(F.code, ERR_LIMIT);
	F.called = 0;
	run("printf 1234567890", NULL, 5000, 10); /* exactly as much as it may */
	assert_int_equal(F.code, 0);
	assert_int_equal(F.len, 10);
	F.called = 0;
	run("printf 12345678901", NULL, 5000, 10);
	assert_int_equal(F.code, ERR_LIMIT);
}

/* While it runs, not only at its end: memory would be full before the deadline. */
static void test_too_much_is_seen_while_it_runs(void **state)
{
	static const char *const scripts[] = {
		"printf 12345678901; exec sleep 60",
		"trap '' TERM; head -c 17000000 /dev/zero >&2; while :; do sleep 60; done",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		int64_t before = loop_now(F.l);

		F.called = 0;
		run(scripts[i], NULL, 60000, 10);
		assert_int_equal(F.code, ERR_LIMIT);
		assert_in_range(loop_now(F.l) - before, 0, 5000);
	}
}

/* Ten thousand nodes are 6 MB: the loop must not be woken for every piece of it. */
static void count_turns(uv_check_t *h)
{
	(*(unsigned *)h->data)++;
}

static void test_large_output_wakes_the_loop_once(void **state)
{
	static uv_check_t check;
	int64_t before = loop_now(F.l);
	unsigned turns = 0;

	(void)state;
	(void)uv_check_init(loop_uv(F.l), &check);
	check.data = &turns;
	(void)uv_check_start(&check, count_turns);
	uv_unref((uv_handle_t *)&check);
	run("for i in 1 2 3 4 5 6; do head -c 1000000 /dev/zero | tr '\\0' x; done", NULL, 60000,
	    6000000);
	assert_int_equal(F.code, 0);
	assert_int_equal(F.len, 6000000);
	assert_int_equal(strspn(F.out, "x"), sizeof(F.out) - 1);
	print_message("# turns: %u\n", turns);
	/* Its exit, and now and then a look at how much it is. */
	assert_in_range(turns, 1, 3 + (loop_now(F.l) - before) / 50);
	uv_close((uv_handle_t *)&check, NULL);
}

/* As with a pipe: opening it by name neither loses nor overwrites what is there. */
static void test_output_opened_by_name(void **state)
{
	(void)state;
	run("echo a; echo b >>/dev/stdout; echo c; echo d >>/dev/stderr; echo e >&2", NULL, 10000,
	    100);
	assert_string_equal(F.out, "a\nb\nc\n");
	assert_string_equal(F.errors, "d\ne\n");
}

static void test_errors_are_cut(void **state)
{
	(void)state;
	run("yes | head -c 1000000 >&2; exit 4", NULL, 30000, 10);
	assert_int_equal(F.status, 4);
	assert_int_equal(strlen(F.errors), PROC_ERRORS_MAX);
}

static void test_heir_of_the_output_does_not_hold_us(void **state)
{
	int64_t before = loop_now(F.l);

	(void)state;
	run("echo said; sleep 2 & exit 0", NULL, 60000, 100);
	assert_int_equal(F.status, 0);
	assert_string_equal(F.out, "said\n");
	assert_in_range(loop_now(F.l) - before, 0, 1500);
}

static void test_close_kills(void **state)
{
	struct proc *p = F.p;

	(void)state;
	assert_int_equal(start("exec sleep 60", NULL, 60000, 10), 0);
	proc_close(p);
	assert_int_equal(F.called, 1);
	assert_int_equal(F.code, ERR_CANCELLED);
	F.p = NULL;
}

static void close_it(void *ctx, const struct proc_reply *r, const struct err *e)
{
	struct proc *p = F.p;

	done(ctx, r, e);
	F.p = NULL;
	proc_close(p);
}

/* It sleeps in the kernel, on a file system whose server is away: nobody can reap it. */
static void test_close_leaves_behind_who_cannot_be_killed(void **state)
{
	int64_t took = loop_now(F.l);
	int status = 0;

	(void)state;
	assert_int_equal(start("exec sleep 60", NULL, 60000, 10), 0);
	F.asleep = true;
	proc_close(F.p);
	F.p = NULL;
	assert_int_equal(F.called, 1);
	assert_int_equal(F.code, ERR_CANCELLED);
	(void)alarm(10); /* or this is what never ends */
	loop_run(F.l);
	(void)alarm(0);
	took = loop_now(F.l) - took;
	assert_in_range(took, 900, 5000);
	F.asleep = false;
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void test_close_waits_for_no_more_than_there_is(void **state)
{
	int64_t before = loop_now(F.l);

	(void)state;
	assert_int_equal(start("exec sleep 60", NULL, 60000, 10), 0);
	proc_close(F.p);
	F.p = NULL;
	loop_run(F.l);
	assert_in_range(loop_now(F.l) - before, 0, 900);
}

static void test_close_inside_callback(void **state)
{
	const char *const argv[] = {"/bin/true", NULL};
	const char *const slow[] = {"/bin/sleep", "60", NULL};
	const char *const envp[] = {NULL};
	struct proc_call call = {.argv = argv, .envp = envp, .timeout_ms = 9000, .max_out = 10};

	(void)state;
	assert_int_equal(proc_run(F.p, &call, close_it, NULL, NULL), 0);
	call.argv = slow;
	assert_int_equal(proc_run(F.p, &call, done, NULL, NULL), 0);
	loop_run(F.l);
	assert_int_equal(F.called, 2);
	assert_int_equal(F.code, ERR_CANCELLED);
}

/* What it left behind cuts the output short, again and again, while we read it. */
static void keep_reading(void *ctx, const struct proc_reply *r, const struct err *e)
{
	const struct timespec a_while = {.tv_nsec = 50000000};
	char first[64];

	(void)ctx;
	assert_null(e);
	(void)snprintf(first, sizeof(first), "%s", r->out);
	(void)nanosleep(&a_while, NULL);
	assert_string_equal(r->out, first);
	assert_int_equal(r->out[r->len], 0);
	F.called++;
}

static void test_heir_of_the_output_cannot_change_it(void **state)
{
	static const char *const argv[] = {
		"/bin/sh", "-c",
		"for i in $(seq 3000); do : >/dev/stdout; echo word; sleep 0.001; done &", NULL};
	static const char *const envp[] = {"PATH=/usr/bin:/bin", NULL};
	static const struct proc_call call = {
		.argv = argv, .envp = envp, .timeout_ms = 5000, .max_out = 1 << 20};

	(void)state;
	for (unsigned i = 1; i <= 5; i++) {
		assert_int_equal(proc_run(F.p, &call, keep_reading, NULL, NULL), 0);
		loop_run(F.l);
		assert_int_equal(F.called, i);
	}
}

static void test_many_and_the_cap(void **state)
{
	(void)state;
	for (int i = 0; i < PROC_MAX; i++)
		assert_int_equal(start("echo x", NULL, 30000, 10), 0);
	assert_int_equal(start("echo x", NULL, 30000, 10), -1);
	loop_run(F.l);
	assert_int_equal(F.called, PROC_MAX);
}

static void test_kept_output_stays_until_it_is_dropped(void **state)
{
	static const char *const argv[] = {"/bin/sh", "-c", "echo 0123", NULL}, *const envp[] = {
											NULL};
	const struct proc_call call = {
		.argv = argv, .envp = envp, .timeout_ms = 10000, .max_out = 100};
	const char *out = NULL;

	(void)state;
	assert_int_equal(proc_run(F.p, &call, keep, &out, NULL), 0);
	loop_run(F.l);
	assert_int_equal(F.called, 1);
	assert_int_equal(F.len, 5);
	assert_string_equal(out, "0123\n"); /* another's pages otherwise, or a fault */
	proc_drop(out, F.len);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_rows),
		T(test_large_input_nobody_reads),
		T(test_not_started_is_not_sent),
		T(test_close_after_not_started),
		T(test_no_descriptors_is_not_sent),
		T(test_deadline),
		T(test_deadline_of_one_that_ignores_sigterm),
		T(test_deadline_takes_its_children_along),
		T(test_children_are_asked_first),
		T(test_too_much_output),
		T(test_too_much_is_seen_while_it_runs),
		T(test_large_output_wakes_the_loop_once),
		T(test_output_opened_by_name),
		T(test_errors_are_cut),
		T(test_heir_of_the_output_does_not_hold_us),
		T(test_heir_of_the_output_cannot_change_it),
		T(test_close_kills),
		T(test_close_leaves_behind_who_cannot_be_killed),
		T(test_close_waits_for_no_more_than_there_is),
		T(test_close_inside_callback),
		T(test_many_and_the_cap),
		T(test_kept_output_stays_until_it_is_dropped),
	};
#undef T

	/* One that a library forgot to close on exec: no program shall see it. */
	assert_true(dup(0) >= 3);
	return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
