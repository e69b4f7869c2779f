/* test_hook_trace.c - burst-hook, looked at and disturbed at its system calls. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/hook/hook_trace.h"

#ifdef __x86_64__

enum {
	MEMORY_KB = 2048 + 256,  /* promises.md, and what the kernel's rounding may add */
	DISK_MS = 1600 + 300,    /* then the hook gives up */
	STOPPED_MS = 3000,       /* longer than that */
	TWO_BUFFERS = 100000,    /* bytes of a resume file that needs two writes */
	FAR_AWAY_MS = 100000000, /* of the boot clock */
};

static const struct lab_opts suspend = {.name = "burst-suspend", .list = "c1"};

static bool in_spool(const char *path)
{
	return strncmp(path, PATHS_SPOOL "/", strlen(PATHS_SPOOL "/")) == 0;
}

/* I29, F54: killed at any system call, the spool has a whole call under its name, or none. */
static void test_killed_anywhere_I29(void **state)
{
	char path[64];
	int fd = lab_memfd_of(TWO_BUFFERS, path), whole = 0, none = 0;
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};
	bool ended = false;

	(void)state;
	for (int k = 1; !ended; k++) {
		char names[4][LAB_NAME];
		struct lab_result r;
		struct lab_call c;
		struct trace t;

		if (!trace_start(&t, o))
			skip();
		for (int i = 0; i < k && !ended; i++)
			ended = !trace_next(&t);
		if (!ended) {
			(void)kill(t.p.pid, SIGKILL);
			assert_int_equal(waitpid(t.p.pid, &t.status, 0), t.p.pid);
			t.ended = true;
		}
		trace_finish(&t, &r);
		assert_int_equal(r.code, ended ? 0 : -SIGKILL);
		if (lab_spool_names(names, 4) > 0 && names[0][0] != '.') {
			lab_call_take(&c);
			lab_assert_list(&c, "c1");
			lab_assert_file(&c, CALL_FILE_SENT, TWO_BUFFERS);
			lab_call_fini(&c);
			whole++;
		} else {
			assert_int_equal(whole, 0); /* once there, it stays */
			none++;
		}
		lab_spool_clear();
	}
	print_message("# killed at %d places: %d times spooled\n", whole + none, whole);
	assert_true(whole > 0 && none > 0);
	(void)close(fd);
}

/* What a system call does to the spool, as a letter; 0: nothing that matters. */
static char letter(const struct trace *t)
{
	char path[LAB_NAME];

	switch (t->nr) {
	case SYS_exit_group:
		return t->arg[0] == 0 ? 'x' : '?';
	case SYS_renameat:
		return 'r';
	case SYS_write:
		trace_fd(t, t->arg[0], path);
		return in_spool(path) ? 'w' : '?';
	case SYS_fsync:
		trace_fd(t, t->arg[0], path);
		if (strcmp(path, PATHS_SPOOL) == 0)
			return 'd';
		return in_spool(path) && strstr(path, "/.new-") == NULL ? 'f' : '?';
	case SYS_fdatasync:
	case SYS_sync_file_range:
	case SYS_ftruncate:
	case SYS_link:
	case SYS_linkat:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_rename:
	case SYS_renameat2:
	case SYS_unlink:
	case SYS_unlinkat:
	case SYS_writev:
		return '?';
	default:
		return 0;
	}
}

/* F54, power cut: the whole call has its name, then file and directory are synced, then exit 0;
 * and no socket is ever opened. */
static void test_order_I29(void **state)
{
	char path[64], seen[64] = "";
	int fd = lab_memfd_of(TWO_BUFFERS, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};
	struct lab_result r;
	struct lab_call c;
	struct trace t;
	size_t n = 0;

	(void)state;
	if (!trace_start(&t, o))
		skip();
	while (trace_next(&t)) {
		const char is = t.entry ? letter(&t) : (char)0;

		assert_false(t.nr == SYS_socket || t.nr == SYS_connect || t.nr == SYS_sendto);
		if (is != 0 && n + 1 < sizeof(seen))
			seen[n++] = is;
		if (!t.entry && t.nr == SYS_fsync)
			assert_int_equal(t.result, 0);
	}
	assert_string_equal(seen, "wwrfdx");
	trace_finish(&t, &r);
	assert_int_equal(r.code, 0);
	lab_call_take(&c);
	lab_call_fini(&c);
	(void)close(fd);
}

/* --- a system call that fails ----------------------------------------------------------------- */

#define EIO_TEXT " error" /* glibc: "Input/output error"; musl: "I/O error" */

enum spool { EMPTY, WHOLE };

static const struct fault {
	const char *name;
	long nr;
	int nth;
	long result; /* in place of the call */
	int cut;     /* or: the call has so many bytes */
	int code;
	const char *why;
	enum spool spool;
	enum call_file file;
	size_t len;
} faults[] = {
	{"first write", SYS_write, 1, -EIO, 0, 3, EIO_TEXT, EMPTY, 0, 0},
	{"second write", SYS_write, 2, -ENOSPC, 0, 3, "No space", EMPTY, 0, 0},
	{"writes nothing", SYS_write, 1, 0, 0, 3, "call lost", EMPTY, 0, 0},
	{"write is interrupted", SYS_write, 1, -EINTR, 0, 0, NULL, WHOLE, CALL_FILE_SENT,
	 TWO_BUFFERS},
	{"writes ten bytes", SYS_write, 1, 0, 10, 0, NULL, WHOLE, CALL_FILE_SENT, TWO_BUFFERS},
	{"last write is short", SYS_write, 2, 0, 10, 0, NULL, WHOLE, CALL_FILE_SENT, TWO_BUFFERS},
	{"read is interrupted", SYS_pread64, 1, -EINTR, 0, 0, NULL, WHOLE, CALL_FILE_SENT,
	 TWO_BUFFERS},
	{"reads ten bytes", SYS_pread64, 1, 0, 10, 0, NULL, WHOLE, CALL_FILE_SENT, TWO_BUFFERS},
	{"second read", SYS_pread64, 2, -EIO, 0, 0, NULL, WHOLE, CALL_FILE_DROPPED, 65536 - 2},
	{"no entropy", SYS_getrandom, 1, -EAGAIN, 0, 0, NULL, WHOLE, CALL_FILE_SENT, TWO_BUFFERS},
	{"rename", SYS_renameat, 1, -EIO, 0, 3, EIO_TEXT, EMPTY, 0, 0},
	{"sync of the file", SYS_fsync, 1, -EIO, 0, 3, EIO_TEXT, WHOLE, CALL_FILE_SENT,
	 TWO_BUFFERS},
	{"sync of the directory", SYS_fsync, 2, -EIO, 0, 3, EIO_TEXT, WHOLE, CALL_FILE_SENT,
	 TWO_BUFFERS},
};

static void run_fault(const struct fault *f, const struct lab_opts *o, struct lab_result *r)
{
	struct trace t;

	if (!trace_start_timed(&t, *o))
		skip();
	trace_to(&t, f->nr, f->nth);
	trace_replace(&t, f->cut > 0 ? f->nr : -1, 2, f->cut > 0 ? f->cut : t.arg[2]);
	assert_true(trace_next(&t));
	if (f->cut == 0)
		trace_set_result(&t, f->result);
	trace_finish(&t, r);
}

/* F55: a sync that fails never goes unsaid, and what is lost leaves nothing behind. */
static void test_faults_I29(void **state)
{
	char path[64];
	int fd = lab_memfd_of(TWO_BUFFERS, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		int log = lab_log_listen();
		struct lab_result r;
		struct lab_call c;

		print_message("# %s\n", faults[i].name);
		run_fault(&faults[i], &o, &r);
		assert_int_equal(r.code, faults[i].code);
		if (faults[i].why != NULL)
			lab_assert_complaint(log, &r, faults[i].why);
		else
			assert_string_equal(r.err, "");
		if (faults[i].spool == EMPTY) {
			lab_assert_spool_empty();
		} else {
			lab_call_take(&c);
			lab_assert_file(&c, faults[i].file, faults[i].len);
			lab_call_fini(&c);
		}
		lab_log_close(log);
	}
	(void)close(fd);
}

/* It was short enough when it was opened. */
static void test_file_grows(void **state)
{
	char path[64];
	int fd = lab_memfd_of(CALL_FILE_MAX, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};
	struct lab_result r;
	struct lab_call c;
	struct trace t;

	(void)state;
	if (!trace_start_timed(&t, o))
		skip();
	trace_past(&t, SYS_pread64, 1);
	assert_int_equal(write(fd, "x", 1), 1);
	trace_finish(&t, &r);
	assert_int_equal(r.code, 0);
	lab_call_take(&c);
	lab_assert_list(&c, "c1");
	assert_int_equal(c.end.file, CALL_FILE_DROPPED);
	assert_true(c.end.file_len <= CALL_FILE_MAX);
	lab_call_fini(&c);
	(void)close(fd);
}

/* --- the process ------------------------------------------------------------------------------ */

static int hwm_kb(pid_t pid)
{
	char path[64], text[4096];
	const char *at;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	lab_slurp(fd, text, sizeof(text));
	at = strstr(text, "VmHWM:");
	assert_non_null(at);
	return (int)strtol(at + strlen("VmHWM:"), NULL, 10);
}

/* Not ru_maxrss: that one remembers the process before exec. */
static void test_memory(void **state)
{
	static const size_t sizes[] = {1000, 16 * LAB_MIB, 20 * LAB_MIB};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char path[64];
		int fd = lab_memfd_of(sizes[i], path), kb;
		const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};
		struct lab_result r;
		struct trace t;

		if (!trace_start_timed(&t, o))
			skip();
		trace_to(&t, SYS_fsync, 2);
		kb = hwm_kb(t.p.pid);
		trace_finish(&t, &r);
		assert_int_equal(r.code, 0);
		print_message("# resume file of %zu bytes: %d kB\n", sizes[i], kb);
#ifndef __SANITIZE_ADDRESS__
		assert_in_range(kb, 1, MEMORY_KB);
#endif
		lab_spool_clear();
		(void)close(fd);
	}
}

/* Else the call would be where somebody may write a message. */
static void test_fds_are_null(void **state)
{
	struct lab_opts o = suspend;
	char path[LAB_NAME];
	struct lab_result r;
	struct trace t;

	(void)state;
	o.closed_fds = true;
	if (!trace_start_timed(&t, o))
		skip();
	trace_to(&t, SYS_fsync, 1);
	assert_true(t.arg[0] > STDERR_FILENO);
	for (int fd = 0; fd < 3; fd++) {
		trace_fd(&t, fd, path);
		assert_string_equal(path, "/dev/null");
	}
	trace_finish(&t, &r);
	assert_int_equal(r.code, 0);
	lab_spool_clear();
}

/* It can be stopped though its parent blocked and ignored everything. */
static void test_can_be_killed(void **state)
{
	struct lab_opts o = suspend;
	struct lab_result r;
	struct trace t;

	(void)state;
	o.hostile_signals = true;
	if (!trace_start_timed(&t, o))
		skip();
	trace_to(&t, SYS_fsync, 1);
	assert_int_equal(kill(t.p.pid, SIGTERM), 0);
	trace_finish(&t, &r);
	assert_int_equal(r.code, -SIGTERM);
	lab_spool_clear();
}

/* --- time ------------------------------------------------------------------------------------- */

/* The last resort: the timer ends a hook whose disk is too slow.  A lock that the test holds takes
 * the place of the disk: as in a sync there, the handler runs and the call goes on. */
static void test_slow_disk(void **state)
{
	static const struct {
		const char *name;
		long nr;
		int nth;
		bool named;
	} rows[] = {
		{"write", SYS_write, 1, false},
		{"sync of the file", SYS_fsync, 1, true},
		{"sync of the directory", SYS_fsync, 2, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[LAB_NAME], names[4][LAB_NAME];
		struct lab_opts o = suspend;
		int disk, log = lab_log_listen();
		struct lab_result r;
		struct lab_call c;
		struct trace t;

		print_message("# %s\n", rows[i].name);
		if (!trace_start_timed(&t, o))
			skip();
		trace_to(&t, rows[i].nr, rows[i].nth);
		trace_fd(&t, t.arg[0], path);
		disk = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(disk >= 0);
		assert_int_equal(flock(disk, LOCK_EX), 0);
		trace_replace(&t, SYS_flock, 1, LOCK_EX);
		trace_finish(&t, &r);
		assert_int_equal(r.code, 3);
		assert_true(r.ms >= DISK_MS - 10);
		lab_assert_complaint(log, &r, "too slow");
		assert_int_equal(lab_spool_names(names, 4), 1);
		assert_int_equal(names[0][0] != '.', rows[i].named);
		lab_call_read(&c, names[0]);
		assert_int_equal(c.whole, rows[i].named);
		lab_call_fini(&c);
		lab_spool_clear();
		lab_log_close(log);
		(void)close(disk);
	}
}

static void read_call_of(pid_t pid, struct lab_call *c)
{
	char names[8][LAB_NAME], part[32];
	int n = lab_spool_names(names, 8), i = 0;

	(void)snprintf(part, sizeof(part), "-%d-", (int)pid);
	while (i < n && strstr(names[i], part) == NULL)
		i++;
	assert_true(i < n);
	assert_int_not_equal(names[i][0], '.');
	lab_call_read(c, names[i]);
	assert_true(c->whole);
	lab_assert_list(c, "c1");
}

/* F54: a machine that stood still, or SIGSTOP: the timer has rung before the disk was asked. */
static void test_stands_still(void **state)
{
	static const long at[] = {0, SYS_setitimer, SYS_openat, SYS_write, SYS_fsync};
	enum { N = sizeof(at) / sizeof(at[0]) };
	struct lab_opts o = suspend;
	struct lab_result r;
	struct lab_call c;
	struct trace t[N];
	bool early;
	int status;

	(void)state;
	o.limit_ms = STOPPED_MS + LAB_LIMIT_MS;
	for (int i = 0; i < N; i++) {
		if (!(i < 2 ? trace_start(&t[i], o) : trace_start_timed(&t[i], o)))
			skip();
		if (i == 1)
			trace_past(&t[i], at[i], 1);
		else if (i > 1)
			trace_to(&t[i], at[i], 1);
		assert_int_equal(kill(t[i].p.pid, SIGSTOP), 0);
		trace_let_go(&t[i]);
		assert_int_equal(waitpid(t[i].p.pid, &status, WUNTRACED), t[i].p.pid);
		assert_true(WIFSTOPPED(status));
	}
	(void)poll(NULL, 0, STOPPED_MS);
	for (int i = 0; i < N; i++) {
		const int64_t before = lab_now_ms(CLOCK_BOOTTIME);

		assert_int_equal(kill(t[i].p.pid, SIGCONT), 0);
		lab_finish(&t[i].p, &r);
		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		read_call_of(t[i].p.pid, &c);
		early = c.end.boot_ms < before;
		assert_int_equal(early, i > 0);
		lab_call_fini(&c);
	}
	lab_spool_clear();
}

#ifndef CLONE_NEWTIME /* Linux 5.6; glibc named it later */
#define CLONE_NEWTIME 0x00000080
#endif

/* From here on children have a boot clock of their own, far from the others.  -1: they have not. */
static int move_boot_clock(void)
{
	const char far[] = "boottime 100000 0";
	int was = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC), fd;

	if (was < 0 || unshare(CLONE_NEWTIME) != 0)
		return -1;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, far, sizeof(far) - 1), sizeof(far) - 1);
	(void)close(fd);
	return was;
}

/* Both clocks say when the hook was started, not when it wrote. */
static void test_clocks(void **state)
{
	const int was = move_boot_clock();
	const int64_t ahead = was >= 0 ? FAR_AWAY_MS : 0;
	const int64_t boot = lab_now_ms(CLOCK_BOOTTIME) + ahead, wall = lab_now_ms(CLOCK_REALTIME);
	int64_t boot_end, wall_end;
	struct lab_result r;
	struct lab_call c;
	struct trace t;

	(void)state;
	if (!trace_start_timed(&t, suspend))
		skip();
	boot_end = lab_now_ms(CLOCK_BOOTTIME) + ahead;
	wall_end = lab_now_ms(CLOCK_REALTIME);
	(void)poll(NULL, 0, 50);
	trace_finish(&t, &r);
	if (was < 0)
		print_message("# no time namespace: CLOCK_MONOTONIC would do as well\n");
	else
		assert_int_equal(setns(was, CLONE_NEWTIME), 0);
	assert_int_equal(r.code, 0);
	lab_call_take(&c);
	assert_in_range(c.end.boot_ms, boot, boot_end);
	assert_in_range(c.end.at_ms, wall, wall_end);
	lab_call_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_anywhere_I29),
		cmocka_unit_test(test_order_I29),
		cmocka_unit_test(test_faults_I29),
		cmocka_unit_test(test_file_grows),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_fds_are_null),
		cmocka_unit_test(test_can_be_killed),
		cmocka_unit_test(test_slow_disk),
		cmocka_unit_test(test_stands_still),
		cmocka_unit_test(test_clocks),
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("hook_trace", tests, NULL, NULL);
}

#else

int main(void)
{
	(void)printf("1..0 # SKIP it changes registers of x86-64\n");
	return 0;
}

#endif
