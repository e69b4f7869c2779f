/* test_hook.c - what burst-hook sends, and what it does with every kind of burstd. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/hook/hook_lab.h"

/* promises.md, and what the kernel's rounding may add. */
enum { MEMORY_KB = 2048 + 256 };

static void test_three_names(void **state)
{
	static const struct {
		const char *name, *kind, *file, *order;
	} rows[] = {
		{"burst-resume", "resume", "sent", "JLFZ"},
		{"burst-suspend", "suspend", "none", "JLZ"},
		{"burst-resume-fail", "resume-fail", "none", "JLZ"},
	};
	char path[64];
	int fd = lab_memfd_of(100000, path);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_opts o = {.name = rows[i].name, .list = "c[1-4]", .file = path};
		struct lab_result r;
		struct lab_seen s;

		lab_seen_init(&s);
		r = lab_run_served(&o, &lab_ack, &s);
		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		lab_assert_head(&s, rows[i].kind, rows[i].file);
		assert_string_equal(s.list.p, "c[1-4]");
		assert_string_equal(s.order.p, rows[i].order);
		assert_int_equal(s.file.len, i == 0 ? 100000 : 0);
		assert_string_equal(s.end, "");
		lab_assert_not_spooled();
		lab_seen_fini(&s);
	}
	(void)close(fd);
}

/* I29: exit 0 only for an answer that says durable, in these very bytes. */
static void test_answers_I29(void **state)
{
	static const struct {
		const char *name;
		struct lab_answer a;
		int want;
		bool slow;
	} rows[] = {
		{"ok", {LAB_ANSWER, "{\"ok\":true,\"seq\":7}", 0, 0}, 0, false},
		{"bare ok", {LAB_ANSWER, "{\"ok\":true}", 0, 0}, 0, false},
		{"ok a byte at a time",
		 {LAB_ANSWER_SLOWLY, "{\"ok\":true,\"seq\":7}", 0, 0},
		 0,
		 false},
		{"refused", {LAB_ANSWER, "{\"ok\":false,\"error\":\"full\"}", 0, 0}, 1, false},
		{"half a word", {LAB_ANSWER, "{\"ok\":truth}", 0, 0}, 1, false},
		{"a longer word", {LAB_ANSWER, "{\"ok\":trueish}", 0, 0}, 1, false},
		{"longer than 4 KiB", {LAB_ANSWER, "{\"ok\":true}", 0, 5000}, 1, false},
		{"white space", {LAB_ANSWER, "{\"ok\": true}", 0, 0}, 1, false},
		{"no end", {LAB_ANSWER, "{\"ok\":true,\"seq\":7", 0, 0}, 1, false},
		{"just the start", {LAB_ANSWER, "{\"ok\":true", 0, 0}, 1, false},
		{"empty", {LAB_ANSWER, "", 0, 0}, 1, false},
		{"wrong type", {LAB_ANSWER, "{\"ok\":true}", 'L', 0}, 1, false},
		{"too long", {LAB_ANSWER, "{\"ok\":true}", 0, 1 << 20}, 1, false},
		{"64 KiB and 11 bytes", {LAB_ANSWER, "{\"ok\":true}", 0, 65536 + 11}, 1, false},
		{"half an answer", {LAB_ANSWER, "{\"ok\":true", 0, 11}, 1, true},
		{"closed at once", {LAB_CLOSE_AT_ONCE, NULL, 0, 0}, 1, false},
		{"closed midway", {LAB_CLOSE_MIDWAY, NULL, 0, 0}, 1, false},
		{"never answers", {LAB_SILENT, NULL, 0, 0}, 1, true},
		{"never accepts", {LAB_NO_ACCEPT, NULL, 0, 0}, 1, true},
		{"reads a byte at a time", {LAB_TRICKLE, NULL, 0, 0}, 1, true},
	};
	char path[64];
	int fd = lab_memfd_of(2 * LAB_MIB, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c[1-4]", .file = path};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab_result r;
		struct lab_seen s;

		print_message("# %s\n", rows[i].name);
		lab_seen_init(&s);
		r = lab_run_served(&o, &rows[i].a, &s);
		assert_int_equal(r.code, rows[i].want);
		assert_string_equal(r.err, "");
		assert_int_equal(r.ms >= 1100, rows[i].slow);
		if (rows[i].want == 0)
			lab_assert_not_spooled();
		else
			lab_assert_spooled(&s);
		lab_spool_clear();
		lab_seen_fini(&s);
	}
	(void)close(fd);
}

static void test_no_server(void **state)
{
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1"};
	struct lab_result r;

	(void)state;
	(void)unlink(PATHS_SOCKET);
	r = lab_run(&o);
	assert_int_equal(r.code, 1);
	assert_string_equal(r.err, "");
	assert_true(r.ms < 1000); /* not "slow": gone */
	lab_assert_spooled(NULL);
	lab_spool_clear();

	(void)close(lab_server_listen(1)); /* the socket stays, as after kill -9 (F54) */
	r = lab_run(&o);
	assert_int_equal(r.code, 1);
	assert_true(r.ms < 1000);
	lab_assert_spooled(NULL);
	lab_spool_clear();
	(void)unlink(PATHS_SOCKET);
}

/* connect() says EAGAIN and cannot be polled for. */
static void test_full_backlog(void **state)
{
	const struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};
	const struct lab_opts o = {.name = "burst-suspend", .list = "c1"};
	int lfd = lab_server_listen(0), fds[8];
	struct lab_result r;
	struct lab_seen s;
	struct lab_proc p;

	(void)state;
	for (int i = 0; i < 8; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fds[i], (const struct sockaddr *)&a, sizeof(a));
	}
	r = lab_run(&o);
	assert_int_equal(r.code, 1);
	assert_true(r.ms >= 1100);
	lab_assert_spooled(NULL);
	lab_spool_clear();

	/* And when there is room again in time, the call goes through. */
	lab_start(&p, &o);
	(void)poll(NULL, 0, 100);
	(void)close(lab_server_accept(lfd));
	lab_seen_init(&s);
	lab_serve(lfd, &lab_ack, &s);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	lab_assert_not_spooled();
	lab_seen_fini(&s);
	for (int i = 0; i < 8; i++)
		(void)close(fds[i]);
	lab_server_close(lfd);
}

static void test_resume_file(void **state)
{
	static const struct {
		const char *name, *path, *want, *end;
		size_t size, sent;
	} rows[] = {
		{"not set", NULL, "none", "", 0, 0},
		{"gone (L3)", "/proc/1/fd/99999", "missing", "", 0, 0},
		{"a directory", "/", "missing", "", 0, 0},
		{"a FIFO", "/run/fifo", "missing", "", 0, 0},
		{"a device", "/dev/null", "missing", "", 0, 0},
		{"cannot be read", "/proc/self/mem", "sent", "{\"truncated\":true}", 0, 0},
		{"empty", "", "sent", "", 0, 0},
		{"one byte", "", "sent", "", 1, 1},
		{"a chunk", "", "sent", "", FRAME_CHUNK, FRAME_CHUNK},
		{"the longest", "", "sent", "", FRAME_FILE_MAX, FRAME_FILE_MAX},
		{"too long", "", "dropped", "", FRAME_FILE_MAX + 1, 0},
		{"20 MB", "", "dropped", "", 20000000, 0},
	};

	(void)state;
	assert_int_equal(mkfifo("/run/fifo", 0600), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[64];
		int fd = lab_memfd_of(rows[i].size, path);
		const bool mem = rows[i].path != NULL && rows[i].path[0] == '\0';
		const struct lab_opts o = {
			.name = "burst-resume", .list = "c1", .file = mem ? path : rows[i].path};
		struct lab_seen s;

		print_message("# %s\n", rows[i].name);
		lab_seen_init(&s);
		assert_int_equal(lab_run_served(&o, &lab_ack, &s).code, 0);
		lab_assert_head(&s, "resume", rows[i].want);
		assert_string_equal(s.end, rows[i].end);
		assert_int_equal(s.file.len, rows[i].sent);
		for (size_t k = 0; k < s.file.len; k++)
			if (s.file.p[k] != (char)('a' + k % 4096 % 23))
				fail_msg("byte %zu is wrong", k);
		lab_seen_fini(&s);
		(void)close(fd);
	}
	(void)unlink("/run/fifo");
}

/* It was short enough when it was opened. */
static void test_file_grows(void **state)
{
	char path[64];
	int fd = lab_memfd_of(FRAME_FILE_MAX, path);
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .file = path};
	int lfd = lab_server_listen(1), c;
	struct lab_result r;
	struct lab_seen s;
	struct lab_proc p;

	(void)state;
	lab_seen_init(&s);
	lab_start(&p, &o);
	c = lab_server_accept(lfd);
	lab_server_read(c, &s, 1000); /* the hook is in the middle of it */
	assert_int_equal(write(fd, "x", 1), 1);
	lab_server_read(c, &s, LAB_BYTES_MAX);
	lab_server_answer(c, &lab_ack);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	lab_assert_head(&s, "resume", "sent");
	assert_string_equal(s.end, "{\"truncated\":true}");
	assert_true(s.file.len <= FRAME_FILE_MAX);
	(void)close(c);
	lab_server_close(lfd);
	lab_seen_fini(&s);
	(void)close(fd);
}

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
		int lfd = lab_server_listen(1), c;
		struct lab_result r;
		struct lab_seen s;
		struct lab_proc p;

		lab_seen_init(&s);
		lab_start(&p, &o);
		c = lab_server_accept(lfd);
		lab_server_read(c, &s, LAB_BYTES_MAX);
		kb = hwm_kb(p.pid);
		lab_server_answer(c, &lab_ack);
		lab_finish(&p, &r);
		assert_int_equal(r.code, 0);
		print_message("# resume file of %zu bytes: %d kB\n", sizes[i], kb);
#ifndef __SANITIZE_ADDRESS__
		assert_in_range(kb, 1, MEMORY_KB);
#endif
		(void)close(c);
		lab_server_close(lfd);
		lab_seen_fini(&s);
		(void)close(fd);
	}
}

/* L2: the longest list an argv string can be is a little longer. */
static void test_long_list(void **state)
{
	char *list = malloc(120 * 1024 + 1);
	const struct lab_opts o = {.name = "burst-suspend", .list = list};
	struct lab_seen s;

	(void)state;
	assert_non_null(list);
	for (size_t i = 0; i < 120 * 1024; i++)
		list[i] = (char)(1 + i % 255);
	list[120 * 1024] = '\0';
	lab_seen_init(&s);
	assert_int_equal(lab_run_served(&o, &lab_ack, &s).code, 0);
	assert_int_equal(s.list.len, 120 * 1024);
	assert_string_equal(s.list.p, list);
	lab_seen_fini(&s);

	lab_seen_init(&s);
	assert_int_equal(lab_run(&o).code, 1);
	lab_assert_spooled(NULL);
	lab_spool_clear();
	lab_seen_fini(&s);
	free(list);
}

/* Else the socket would be where somebody may write a message. */
static void test_fds_are_null(void **state)
{
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .closed_fds = true};
	int lfd = lab_server_listen(1), c;
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	lab_start(&p, &o);
	c = lab_server_accept(lfd);
	for (int fd = 0; fd < 3; fd++) {
		char path[64], link[64] = "";

		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)p.pid, fd);
		assert_true(readlink(path, link, sizeof(link) - 1) > 0);
		assert_string_equal(link, "/dev/null");
	}
	(void)close(c);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 1);
	lab_server_close(lfd);
	lab_spool_clear();
}

/* slurm.md section 1: 22.05 closes 0-2, up to 24.05 most signals are blocked. */
static void test_hostile_process(void **state)
{
	const struct lab_opts rows[] = {
		{.name = "burst-resume", .list = "c1", .closed_fds = true},
		{.name = "burst-resume", .list = "c1", .hostile_signals = true},
		{.name = "burst-resume", .list = "c1", .closed_fds = true, .hostile_signals = true},
	};
	const struct lab_answer bad = {LAB_CLOSE_MIDWAY, NULL, 0, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab_seen s;

		lab_seen_init(&s);
		assert_int_equal(lab_run_served(&rows[i], &lab_ack, &s).code, 0);
		assert_string_equal(s.list.p, "c1");
		lab_assert_not_spooled();
		lab_seen_fini(&s);
		lab_seen_init(&s);
		assert_int_equal(lab_run_served(&rows[i], &bad, &s).code, 1);
		lab_assert_spooled(NULL);
		lab_spool_clear();
		lab_seen_fini(&s);
	}
}

/* It can be stopped though its parent blocked and ignored everything. */
static void test_can_be_killed(void **state)
{
	const struct lab_opts o = {.name = "burst-resume", .list = "c1", .hostile_signals = true};
	int lfd = lab_server_listen(1), c;
	struct lab_result r;
	struct lab_seen s;
	struct lab_proc p;

	(void)state;
	lab_seen_init(&s);
	lab_start(&p, &o);
	c = lab_server_accept(lfd);
	lab_server_read(c, &s, LAB_BYTES_MAX);
	assert_int_equal(kill(p.pid, SIGTERM), 0);
	lab_finish(&p, &r);
	assert_int_equal(r.code, -SIGTERM);
	(void)close(c);
	lab_server_close(lfd);
	lab_seen_fini(&s);
}

static void test_usage(void **state)
{
	static const struct lab_opts rows[] = {
		{.name = "burst-hook", .list = "c1"},
		{.name = "burst-hook"},
		{.name = "burst-resume"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_result r = lab_run(&rows[i]);

		assert_int_equal(r.code, 2);
		assert_int_equal(strncmp(r.err, "usage: ", 7), 0);
		lab_assert_not_spooled();
	}
}

/* Nothing of it goes to burstd or into the spool, and the prolog waits for nothing. */
static void test_unknown_option_is_one_sentence(void **state)
{
	static const struct lab_opts rows[] = {
		{.name = "burst-resume", .list = "--frob"},
		{.name = "burst-suspend", .list = "-h"},
		{.name = "burst-prolog", .list = "--frob"},
		{.name = "burst-hook", .list = "--frob"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_result r = lab_run(&rows[i]);
		char want[160];

		(void)snprintf(want, sizeof(want),
			       "%s: there is no option \"%s\"; --help says what there is\n",
			       rows[i].name, rows[i].list);
		assert_int_equal(r.code, 2);
		assert_string_equal(r.err, want);
		lab_assert_not_spooled();
	}
}

static void test_help(void **state)
{
	static const struct {
		const char *name, *option, *want;
	} rows[] = {
		{"burst-hook", "--help", "usage: burst-resume"},
		{"burst-hook", "--version", "burst-hook "},
		{"burst-suspend", "--version", "burst-hook "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_opts o = {.name = rows[i].name, .list = rows[i].option};
		char text[4096];
		struct lab_proc p;
		int status;

		lab_start(&p, &o);
		lab_slurp(p.out, text, sizeof(text));
		assert_int_equal(waitpid(p.pid, &status, 0), p.pid);
		assert_int_equal(status, 0);
		assert_int_equal(strncmp(text, rows[i].want, strlen(rows[i].want)), 0);
		lab_slurp(p.err, text, sizeof(text));
		assert_string_equal(text, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_names),
		cmocka_unit_test(test_answers_I29),
		cmocka_unit_test(test_no_server),
		cmocka_unit_test(test_full_backlog),
		cmocka_unit_test(test_resume_file),
		cmocka_unit_test(test_file_grows),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_long_list),
		cmocka_unit_test(test_hostile_process),
		cmocka_unit_test(test_fds_are_null),
		cmocka_unit_test(test_can_be_killed),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_unknown_option_is_one_sentence),
		cmocka_unit_test(test_help),
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("hook", tests, NULL, NULL);
}
