/* test_hook_spool.c - what burst-hook leaves when there is no burstd, on disks good and bad. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/hook/hook_lab.h"

static int syslog_listen(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/dev/log"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void assert_lost(const struct lab_opts *o, const char *why)
{
	int log = syslog_listen();
	struct lab_result r = lab_run(o);
	char line[512] = "";

	assert_int_equal(r.code, 3);
	assert_true(recv(log, line, sizeof(line) - 1, 0) > 0);
	assert_int_equal(strncmp(line, "<27>burst-hook: ", 16), 0);
	assert_non_null(strstr(line, why));
	assert_null(strchr(line, '\n'));
	assert_non_null(strstr(r.err, why));
	assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
	assert_int_equal(recv(log, line, sizeof(line), 0), -1); /* one line */
	(void)close(log);
	(void)unlink("/dev/log");
}

static void test_no_spool(void **state)
{
	const struct lab_opts o = {.name = "burst-resume", .list = "c1"};

	(void)state;
	(void)unlink(PATHS_SOCKET);
	assert_int_equal(mount(NULL, PATHS_SPOOL, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_lost(&o, "Read-only");
	assert_int_equal(umount(PATHS_SPOOL), 0);
	assert_int_equal(rmdir(PATHS_SPOOL), 0);
	assert_lost(&o, "No such file");
	assert_int_equal(symlink("/run", PATHS_SPOOL), 0);
	assert_lost(&o, "directory");
	assert_int_equal(unlink(PATHS_SPOOL), 0);
	assert_int_equal(mkdir(PATHS_SPOOL, 0700), 0);
	/* Nobody listens to syslog either: still exit 3, still in time. */
	assert_int_equal(rmdir(PATHS_SPOOL), 0);
	assert_int_equal(lab_run(&o).code, 3);
	assert_int_equal(mkdir(PATHS_SPOOL, 0700), 0);
	assert_int_equal(mount("spool", PATHS_SPOOL, "tmpfs", 0, "mode=700"), 0);
}

/* F55: a full disk leaves nothing behind. */
static void test_disk_full(void **state)
{
	char path[64], names[4][256];
	int fd = lab_memfd_of(4 * LAB_MIB, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};

	(void)state;
	(void)unlink(PATHS_SOCKET);
	assert_int_equal(mount(NULL, PATHS_SPOOL, NULL, MS_REMOUNT, "size=1m"), 0);
	assert_lost(&o, "No space");
	assert_int_equal(lab_spool_names(names, 4), 0);
	assert_int_equal(mount(NULL, PATHS_SPOOL, NULL, MS_REMOUNT, "size=256m"), 0);
	(void)close(fd);
}

/* Names sort by time, and hooks that run at the same moment do not meet. */
static void test_spool_names(void **state)
{
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1"};
	char names[LAB_NAMES_MAX][256];
	struct lab_proc p[16];
	struct lab_result r;

	(void)state;
	(void)unlink(PATHS_SOCKET);
	for (int i = 0; i < 16; i++)
		lab_start(&p[i], &o);
	for (int i = 0; i < 16; i++) {
		lab_finish(&p[i], &r);
		assert_int_equal(r.code, 1);
	}
	assert_int_equal(lab_spool_names(names, LAB_NAMES_MAX), 16);
	lab_spool_clear();
	for (int i = 0; i < 4; i++) {
		char list[16];
		const struct lab_opts one = {.name = "burst-suspend", .list = list};

		(void)snprintf(list, sizeof(list), "c%d", i);
		assert_int_equal(lab_run(&one).code, 1);
	}
	assert_int_equal(lab_spool_names(names, LAB_NAMES_MAX), 4);
	for (int i = 0; i < 4; i++) {
		char want[16];
		struct lab_seen s;

		lab_seen_init(&s);
		lab_spool_read(names[i], &s);
		(void)snprintf(want, sizeof(want), "c%d", i);
		assert_string_equal(s.list.p, want);
		assert_int_equal(strspn(names[i], "0123456789"), 20);
		assert_non_null(strstr(names[i], ".call"));
		lab_seen_fini(&s);
	}
	lab_spool_clear();
}

#ifdef __x86_64__

/* Let the hook run to the next entry or exit of a system call; its number, or -1 when it has ended.
 */
static long next_syscall(pid_t pid, int *status)
{
	struct user_regs_struct regs;
	int sig = 0;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)sig), 0);
		assert_int_equal(waitpid(pid, status, 0), pid);
		if (!WIFSTOPPED(*status))
			return -1;
		if (WSTOPSIG(*status) == (SIGTRAP | 0x80))
			break;
		sig = WSTOPSIG(*status) == SIGTRAP ? 0 : WSTOPSIG(*status);
	}
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
	return (long)regs.orig_rax;
}

static bool trace_start(struct lab_proc *p, const struct lab_opts *o)
{
	int status;

	lab_start(p, o);
	if (waitpid(p->pid, &status, 0) != p->pid || !WIFSTOPPED(status))
		return false;
	return ptrace(PTRACE_SETOPTIONS, p->pid, NULL,
		      (void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) == 0;
}

static void trace_end(struct lab_proc *p)
{
	char text[4096];

	lab_slurp(p->out, text, sizeof(text));
	assert_string_equal(text, "");
	(void)close(p->err);
}

/* I29, F54: killed at any system call, the spool has a whole call under its name or nothing. */
static void test_killed_anywhere_I29(void **state)
{
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1", .traced = true};
	int whole = 0, none = 0;

	(void)state;
	(void)unlink(PATHS_SOCKET);
	for (int k = 1, ended = 0; !ended; k++) {
		char names[4][256];
		struct lab_proc p;
		int status;

		if (!trace_start(&p, &o))
			skip();
		for (int i = 0; i < k && !ended; i++)
			ended = next_syscall(p.pid, &status) < 0;
		if (!ended) {
			(void)kill(p.pid, SIGKILL);
			assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
		} else
			assert_int_equal(WEXITSTATUS(status), 1);
		trace_end(&p);
		if (lab_spool_names(names, 4) == 1 && names[0][0] != '.') {
			lab_assert_spooled(NULL);
			whole++;
		} else
			none++;
		lab_spool_clear();
	}
	print_message("# killed at %d places: %d times spooled\n", whole + none, whole);
	assert_true(whole > 0 && none > 0);
}

/* F54, power cut: the bytes are on the disk before the name is, and the name before the exit. */
static void test_order_I29(void **state)
{
	static const long want[] = {SYS_fsync, SYS_renameat, SYS_fsync};
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1", .traced = true};
	size_t seen = 0;
	struct lab_proc p;
	int status, written = 0;
	long nr;

	(void)state;
	(void)unlink(PATHS_SOCKET);
	if (!trace_start(&p, &o))
		skip();
	/* Each call is seen twice, at its entry and at its exit. */
	while ((nr = next_syscall(p.pid, &status)) >= 0) {
		assert_false(nr == SYS_fdatasync || nr == SYS_rename || nr == SYS_renameat2);
		written += nr == SYS_write && seen == 0;
		assert_false(nr == SYS_write && seen > 0);
		if (nr == SYS_fsync || nr == SYS_renameat) {
			assert_true(seen < 6);
			assert_int_equal(nr, want[seen++ / 2]);
		}
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(seen, 6);
	assert_true(written > 0);
	trace_end(&p);
	lab_spool_clear();
}

/* The last resort: the timer ends a hook whose disk is too slow. */
static void test_slow_disk(void **state)
{
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1", .traced = true};
	char err[4096], names[4][256];
	struct lab_proc p;
	long nr;
	int status;

	(void)state;
	(void)unlink(PATHS_SOCKET);
	if (!trace_start(&p, &o))
		skip();
	do
		nr = next_syscall(p.pid, &status);
	while (nr >= 0 && nr != SYS_fsync);
	assert_int_equal(nr, SYS_fsync);
	(void)poll(NULL, 0, LAB_LIMIT_MS); /* the fsync takes so long */
	while (next_syscall(p.pid, &status) >= 0)
		;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	lab_slurp(p.err, err, sizeof(err));
	(void)close(p.out);
	assert_non_null(strstr(err, "too slow"));
	if (lab_spool_names(names, 4) == 1)
		assert_int_equal(names[0][0], '.'); /* not a call */
	lab_spool_clear();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_spool),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_spool_names),
#ifdef __x86_64__
		cmocka_unit_test(test_killed_anywhere_I29),
		cmocka_unit_test(test_order_I29),
		cmocka_unit_test(test_slow_disk),
#endif
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("hook_spool", tests, NULL, NULL);
}
