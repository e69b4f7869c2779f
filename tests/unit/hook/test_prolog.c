/* test_prolog.c - burst-prolog with every kind of burstd, and with a prolog of the site's own.
 *
 * The one rule: whatever burstd does, it ends, and with status 0. */
#include <fcntl.h>
#include <limits.h>
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

#include "base/frame.h"
#include "tests/unit/hook/hook_lab.h"

enum { UNREACHABLE_MS = 4000, ANSWER_MS = 15000, AWAY_MS = 30000 };

#define UP           "{\"ok\":true,\"up\":true}"
#define GONE         "{\"ok\":true,\"gone\":true}"
#define ASKED(nodes) "{\"v\":1,\"op\":\"gate\",\"job\":7,\"nodes\":\"" nodes "\"}"

static char *env[] = {(char *)(uintptr_t) "SLURM_JOB_ID=7",
		      (char *)(uintptr_t) "SLURM_JOB_NODELIST=c[1-4]", NULL};
/* It has no limit of seconds to keep, as the other hooks have; what matters is asserted. */
static const struct lab_opts prolog = {.name = "burst-prolog", .env = env, .limit_ms = 8000};

/* One whole request, as text. */
static void read_request(int fd, char *to, size_t size)
{
	unsigned char head[FRAME_HEADER];
	size_t len, have = 0;

	assert_int_equal(recv(fd, head, sizeof(head), MSG_WAITALL), sizeof(head));
	assert_int_equal(head[0], 'J');
	len = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
	assert_true(len < size);
	while (have < len) {
		ssize_t n = recv(fd, to + have, len - have, 0);

		assert_true(n > 0);
		have += (size_t)n;
	}
	to[len] = '\0';
}

/* Takes the next question; it must be this one. */
static int take(int lfd)
{
	int fd = lab_server_accept(lfd);
	char text[256];

	assert_true(fd >= 0);
	read_request(fd, text, sizeof(text));
	assert_string_equal(text, ASKED("c[1-4]"));
	return fd;
}

static void reply(int lfd, const char *text)
{
	const struct lab_answer a = {text, 0, 0};
	int fd = take(lfd);

	lab_server_answer(fd, &a);
	(void)close(fd);
}

static void assert_asked_nobody(int lfd)
{
	struct pollfd p = {.fd = lfd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, 0), 0);
}

/* --- burstd ------------------------------------------------------------------------------------
 */

/* A quarter of a minute of nothing is too long for a test: this one begins first and is looked at
 * last. */
static struct {
	struct lab_proc p;
	int fd;
} silence;

static void test_silence_begins(void **state)
{
	struct lab_opts o = prolog;
	int lfd = lab_server_listen(1);

	(void)state;
	o.limit_ms = ANSWER_MS + 3000;
	lab_start(&silence.p, &o);
	silence.fd = take(lfd);
	lab_server_close(lfd);
}

static void test_silence_ends(void **state)
{
	struct lab_result r;
	int status = 0;

	(void)state;
	if (waitpid(silence.p.pid, &status, WNOHANG) == silence.p.pid) {
		/* Nobody knows when: the tests before this one may have taken longer. */
		silence.p.limit_ms = UINT_MAX;
		lab_finish_ended(&silence.p, status, &r);
	} else {
		lab_finish(&silence.p, &r);
	}
	assert_int_equal(r.code, 0);
	assert_true(r.ms >= ANSWER_MS - 100);
	(void)close(silence.fd);
}

static void test_up_and_gone(void **state)
{
	static const char *const answers[] = {UP, GONE, "{\"ok\":true}"};

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		int lfd = lab_server_listen(1), fd;
		const struct lab_answer a = {answers[i], 0, 0};
		struct lab_result r;
		struct lab_proc p;

		lab_start(&p, &prolog);
		fd = take(lfd);
		(void)poll(NULL, 0, 300);
		assert_int_equal(waitpid(p.pid, NULL, WNOHANG), 0); /* it waits for it */
		lab_server_answer(fd, &a);
		lab_finish(&p, &r);
		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		assert_in_range(r.ms, 300, 600);
		(void)close(fd);
		assert_asked_nobody(lfd);
		lab_server_close(lfd);
	}
}

/* Whatever is no answer ends it at once. */
static void test_odd_answers(void **state)
{
	static const struct {
		const char *name;
		struct lab_answer a;
	} rows[] = {
		{"refused", {"{\"ok\":false,\"error\":\"busy\"}", 0, 0}},
		{"an older burstd", {"{\"ok\":false,\"code\":\"invalid\"}", 0, 0}},
		{"white space", {"{\"ok\": true,\"wait\":true}", 0, 0}},
		{"no end", {"{\"ok\":true,\"wait\":true", 0, 0}},
		{"empty", {"", 0, 0}},
		{"wrong type", {UP, 'L', 0}},
		{"too long", {UP, 0, 5000}},
		{"64 KiB and 22 bytes", {UP, 0, 65536 + 22}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int lfd = lab_server_listen(1), fd;
		struct lab_result r;
		struct lab_proc p;

		print_message("# %s\n", rows[i].name);
		lab_start(&p, &prolog);
		fd = take(lfd);
		lab_server_answer(fd, &rows[i].a);
		lab_finish(&p, &r);
		assert_int_equal(r.code, 0);
		assert_true(r.ms < 1000);
		assert_asked_nobody(lfd);
		(void)close(fd);
		lab_server_close(lfd);
	}
}

/* F54: away in every way that there is, one after the other; half a minute in all. */
static void test_no_burstd(void **state)
{
	const struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = PATHS_SOCKET};
	struct lab_opts o = prolog;
	struct lab_result r;
	struct lab_proc p;
	int lfd, fds[8];

	(void)state;
	o.limit_ms = AWAY_MS + 9000;
	(void)unlink(PATHS_SOCKET);
	lab_start(&p, &o);
	(void)poll(NULL, 0, 3000);
	(void)close(lab_server_listen(1)); /* the socket stays, as after kill -9 */
	(void)poll(NULL, 0, 3000);
	lfd = lab_server_listen(4);
	for (int i = 0; i < 5; i++) { /* it starts and dies, again and again */
		(void)close(take(lfd));
		(void)poll(NULL, 0, 1200);
	}
	lab_server_close(lfd);
	(void)unlink(PATHS_SOCKET);
	(void)poll(NULL, 0, 1000);
	lfd = lab_server_listen(0); /* its backlog is full */
	for (int i = 0; i < 8; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fds[i], (const struct sockaddr *)&a, sizeof(a));
	}
	assert_int_equal(waitpid(p.pid, NULL, WNOHANG), 0);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	assert_string_equal(r.err, "");
	/* Half a minute since the first connection that was lost. */
	assert_in_range(r.ms, AWAY_MS + 5900, AWAY_MS + 9000);
	for (int i = 0; i < 8; i++)
		(void)close(fds[i]);
	lab_server_close(lfd);
	(void)unlink(PATHS_SOCKET);
}

/* A restart of burstd takes a fifth of a second. */
static void test_burstd_comes_back(void **state)
{
	struct lab_result r;
	struct lab_proc p;
	int lfd, fd;

	(void)state;
	(void)unlink(PATHS_SOCKET);
	lab_start(&p, &prolog);
	(void)poll(NULL, 0, 300);
	lfd = lab_server_listen(1);
	fd = take(lfd);
	lab_server_close(lfd); /* killed while the gate waits */
	(void)close(fd);
	(void)poll(NULL, 0, 300);
	lfd = lab_server_listen(1);
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	assert_in_range(r.ms, 600, UNREACHABLE_MS);
	lab_server_close(lfd);
}

/* F54: away for longer than any restart takes, twice; each time it has half a minute. */
static void test_burstd_restarts_slowly(void **state)
{
	struct lab_opts o = prolog;
	struct lab_result r;
	struct lab_proc p;
	int lfd, fd;

	(void)state;
	o.limit_ms = 9000;
	lfd = lab_server_listen(1);
	lab_start(&p, &o);
	for (int i = 0; i < 2; i++) {
		fd = take(lfd);
		lab_server_close(lfd); /* killed while the gate waits */
		(void)close(fd);
		(void)poll(NULL, 0, 2500);
		lfd = lab_server_listen(1);
	}
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	assert_in_range(r.ms, 5000, 7000);
	lab_server_close(lfd);
}

/* One that closes every connection is asked no more than ten times a second. */
static void test_burstd_hangs_up(void **state)
{
	int lfd = lab_server_listen(4);
	struct lab_result r;
	struct lab_proc p;
	int64_t began;

	(void)state;
	lab_start(&p, &prolog);
	began = lab_now_ms(CLOCK_MONOTONIC);
	for (int i = 0; i < 11; i++)
		(void)close(take(lfd));
	assert_in_range(lab_now_ms(CLOCK_MONOTONIC) - began, 900, 4000);
	reply(lfd, GONE);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	lab_server_close(lfd);
}

/* It asks again, but a burstd that always says so at once is asked once a second; and what burstd
 * says of the time is kept. */
static void test_wait(void **state)
{
	struct lab_opts o = prolog;
	int lfd = lab_server_listen(4), fd;
	struct lab_result r;
	struct lab_proc p;
	int64_t first;

	(void)state;
	o.limit_ms = 4000;
	lab_start(&p, &o);
	reply(lfd, "{\"ok\":true,\"wait\":true}");
	first = lab_now_ms(CLOCK_MONOTONIC);
	reply(lfd, "{\"ok\":true,\"wait\":true,\"deadline_ms\":2500}");
	assert_in_range(lab_now_ms(CLOCK_MONOTONIC) - first, 900, UNREACHABLE_MS);
	fd = take(lfd);
	lab_finish(&p, &r); /* though there was no answer */
	assert_int_equal(r.code, 0);
	assert_in_range(r.ms, 2400, 3900);
	(void)close(fd);
	assert_asked_nobody(lfd);
	lab_server_close(lfd);
}

static void test_long_list(void **state)
{
	enum { LONG = CALL_LIST_MAX - 1000 };
	char *text = malloc(2 * CALL_LIST_MAX), *list = text + CALL_LIST_MAX;
	char *long_env[] = {(char *)(uintptr_t) "SLURM_JOB_ID=7", list, NULL};
	const struct lab_opts o = {.name = "burst-prolog", .env = long_env};
	int lfd = lab_server_listen(1), fd;
	const struct lab_answer up = {UP, 0, 0};
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	(void)snprintf(list, LONG, "SLURM_JOB_NODELIST=");
	memset(list + strlen(list), 'x', LONG - strlen(list));
	list[LONG] = '\0';
	lab_start(&p, &o);
	fd = lab_server_accept(lfd);
	read_request(fd, text, CALL_LIST_MAX);
	assert_non_null(strstr(text, strchr(list, 'x')));
	lab_server_answer(fd, &up);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	(void)close(fd);
	lab_server_close(lfd);
	free(text);
}

static void test_odd_environment(void **state)
{
	static char *const rows[][3] = {
		{NULL},
		{(char *)(uintptr_t) "SLURM_JOB_ID=7", NULL},
		{(char *)(uintptr_t) "SLURM_JOB_NODELIST=c1", NULL},
		{(char *)(uintptr_t) "SLURM_JOB_ID=", (char *)(uintptr_t) "SLURM_JOB_NODELIST=c1"},
		{(char *)(uintptr_t) "SLURM_JOB_ID=7x",
		 (char *)(uintptr_t) "SLURM_JOB_NODELIST=c1"},
		{(char *)(uintptr_t) "SLURM_JOB_ID=12345678901234567890",
		 (char *)(uintptr_t) "SLURM_JOB_NODELIST=c1"},
		{(char *)(uintptr_t) "SLURM_JOB_ID=7",
		 (char *)(uintptr_t) "SLURM_JOB_NODELIST=c1\",\"v\":2"},
		{(char *)(uintptr_t) "SLURM_JOB_ID=7",
		 (char *)(uintptr_t) "SLURM_JOB_NODELIST=c\\1"},
		{(char *)(uintptr_t) "SLURM_JOB_ID=7",
		 (char *)(uintptr_t) "SLURM_JOB_NODELIST=\xc3"},
	};
	int lfd = lab_server_listen(1), log = lab_log_listen();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lab_opts o = {.name = "burst-prolog", .env = rows[i]};
		struct lab_result r = lab_run(&o);

		assert_int_equal(r.code, 0);
		assert_non_null(strstr(lab_log_next(log), "SLURM_JOB_ID"));
		assert_non_null(strstr(r.err, "SLURM_JOB_ID"));
	}
	assert_asked_nobody(lfd);
	(void)close(log);
	lab_server_close(lfd);
}

static void test_hostile_process(void **state)
{
	struct lab_opts o = prolog;
	int lfd = lab_server_listen(1);
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	o.closed_fds = o.hostile_signals = true;
	lab_start(&p, &o);
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	lab_server_close(lfd);
}

/* Nobody listens to syslog, and nobody reads what it writes. */
static void test_no_log(void **state)
{
	char *const none[] = {NULL};
	struct lab_opts o = {.name = "burst-prolog", .env = none, .full_stderr = true};
	struct lab_result r;

	(void)state;
	(void)unlink("/dev/log");
	r = lab_run(&o);
	assert_int_equal(r.code, 0);
	assert_true(r.ms < 900);
}

/* --- the site's own ----------------------------------------------------------------------------
 */

static void site(const char *text, mode_t mode)
{
	int fd = open(PATHS_SITE_PROLOG, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

static void test_site(void **state)
{
	static const struct {
		const char *name, *text;
		mode_t mode;
		int code;
		bool runs;
		const char *log;
	} rows[] = {
		{"succeeds", "#!/bin/sh\n: >/run/ran\n", 0755, 0, true, NULL},
		{"fails", "#!/bin/sh\n: >/run/ran; exit 3\n", 0755, 3, true, NULL},
		{"is killed", "#!/bin/sh\n: >/run/ran; kill -9 $$\n", 0755, 137, true, NULL},
		{"terminates", "#!/bin/sh\n: >/run/ran; kill -TERM $$\n", 0700, 143, true, NULL},
		{"cannot be run", "#!/bin/sh\n: >/run/ran; exit 3\n", 0644, 0, false, "denied"},
		{"no interpreter", "#!/nowhere\nexit 3\n", 0755, 0, false, "No such file"},
		{"no program",
		 "\x7f"
		 "ELF",
		 0755, 0, false, "Exec format"},
		{"a group may write", "#!/bin/sh\nexit 3\n", 0775, 0, false,
		 "writable by group or others"},
		{"all may write", "#!/bin/sh\nexit 3\n", 0757, 0, false,
		 "writable by group or others"},
	};
	int log = lab_log_listen();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int lfd = lab_server_listen(1);
		struct lab_result r;
		struct lab_proc p;

		print_message("# %s\n", rows[i].name);
		site(rows[i].text, rows[i].mode);
		lab_start(&p, &prolog);
		if (rows[i].code == 0)
			reply(lfd, UP);
		lab_finish(&p, &r);
		assert_int_equal(r.code, rows[i].code);
		assert_int_equal(unlink("/run/ran") == 0, rows[i].runs);
		if (rows[i].log == NULL)
			assert_string_equal(lab_log_next(log), "");
		else
			assert_non_null(strstr(lab_log_next(log), rows[i].log));
		assert_asked_nobody(lfd);
		lab_server_close(lfd);
		(void)unlink(PATHS_SITE_PROLOG);
	}
	(void)close(log);
}

/* By SIGPIPE its status would be another than 0, and slurmctld would requeue the job. */
static void test_a_complaint_that_nobody_reads(void **state)
{
	const struct lab_opts lone = {.name = prolog.name, .env = prolog.env, .lone_stderr = true};
	int lfd = lab_server_listen(1);
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	site("#!/bin/sh\nexit 3\n", 0775);
	lab_start(&p, &lone);
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	lab_server_close(lfd);
	(void)unlink(PATHS_SITE_PROLOG);
}

static void test_site_is_no_file(void **state)
{
	int log = lab_log_listen(), lfd = lab_server_listen(1);
	struct lab_result r;
	struct lab_proc p;

	(void)state;
	assert_int_equal(mkdir(PATHS_SITE_PROLOG, 0755), 0);
	lab_start(&p, &prolog);
	reply(lfd, UP);
	lab_finish(&p, &r);
	assert_int_equal(r.code, 0);
	assert_non_null(strstr(lab_log_next(log), "not a regular file"));
	assert_int_equal(rmdir(PATHS_SITE_PROLOG), 0);
	lab_server_close(lfd);
	(void)close(log);
}

/* As if slurmctld had started it: environment, arguments, signals, umask; and in our group, which
 * slurmctld kills. */
static void test_site_gets_what_we_got(void **state)
{
	char *const with[] = {(char *)(uintptr_t) "SLURM_JOB_ID=7",
			      (char *)(uintptr_t) "SLURM_JOB_NODELIST=c[1-4]",
			      (char *)(uintptr_t) "A=b c", NULL};
	const struct lab_opts o = {.name = "burst-prolog",
				   .list = "an arg",
				   .env = with,
				   .hostile_signals = true,
				   .limit_ms = 8000};
	int lfd = lab_server_listen(1);
	char text[4096], want[256];
	struct lab_result r;
	struct lab_proc p;
	mode_t was = umask(027);

	(void)state;
	site("#!/bin/sh\n"
	     "read -r pid comm state ppid group rest </proc/self/stat\n"
	     "echo \"$0|$#|$1|$A|$SLURM_JOB_ID|$(umask)|$group|\" >/run/ran\n"
	     "while read -r l; do case $l in Sig[BI]*) echo \"$l\"; esac; done "
	     "</proc/$$/status >>/run/ran\n"
	     "exit 3\n",
	     0755);
	lab_start(&p, &o);
	lab_finish(&p, &r);
	(void)umask(was);
	assert_int_equal(r.code, 3);
	lab_slurp(open("/run/ran", O_RDONLY | O_CLOEXEC), text, sizeof(text));
	(void)snprintf(want, sizeof(want), "%s|1|an arg|b c|7|0027|%d|\n", PATHS_SITE_PROLOG,
		       (int)getpgrp());
	assert_int_equal(strncmp(text, want, strlen(want)), 0);
	assert_non_null(strstr(text, "SigBlk:\t0000000000000000"));
	/* Not 32 and 33: they are libc's own, and it lets nobody set them back. */
	assert_non_null(strstr(text, "SigIgn:\t"));
	assert_int_equal(strtoull(strstr(text, "SigIgn:\t") + 8, NULL, 16) & ~(3ULL << 31), 0);
	(void)unlink("/run/ran");
	(void)unlink(PATHS_SITE_PROLOG);
	lab_server_close(lfd);
}

/* Should only we be killed, nothing is left. */
static void test_site_ends_with_us(void **state)
{
	struct lab_result r;
	struct lab_proc p;
	char text[32];
	pid_t child;
	int left = 100;

	(void)state;
	site("#!/bin/sh\necho $$ >/run/new; mv /run/new /run/ran; while :; do /bin/sleep 0.05; "
	     "done\n",
	     0755);
	lab_start(&p, &prolog);
	while (access("/run/ran", F_OK) != 0)
		(void)poll(NULL, 0, 5);
	lab_slurp(open("/run/ran", O_RDONLY | O_CLOEXEC), text, sizeof(text));
	child = (pid_t)strtol(text, NULL, 10);
	assert_int_equal(kill(child, 0), 0);
	assert_int_equal(kill(p.pid, SIGKILL), 0);
	lab_finish(&p, &r);
	assert_int_equal(r.code, -SIGKILL);
	while (left-- > 0 && kill(child, 0) == 0) {
		char path[64], stat[256];

		(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
		lab_slurp(open(path, O_RDONLY | O_CLOEXEC), stat, sizeof(stat));
		if (strstr(stat, ") Z ") != NULL)
			break; /* whoever inherited it has not looked yet */
		(void)poll(NULL, 0, 10);
	}
	assert_true(left > 0);
	(void)unlink("/run/ran");
	(void)unlink(PATHS_SITE_PROLOG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silence_begins),
		cmocka_unit_test(test_up_and_gone),
		cmocka_unit_test(test_odd_answers),
		cmocka_unit_test(test_burstd_comes_back),
		cmocka_unit_test(test_burstd_restarts_slowly),
		cmocka_unit_test(test_burstd_hangs_up),
		cmocka_unit_test(test_wait),
		cmocka_unit_test(test_long_list),
		cmocka_unit_test(test_odd_environment),
		cmocka_unit_test(test_hostile_process),
		cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_site),
		cmocka_unit_test(test_a_complaint_that_nobody_reads),
		cmocka_unit_test(test_site_is_no_file),
		cmocka_unit_test(test_site_gets_what_we_got),
		cmocka_unit_test(test_site_ends_with_us),
		cmocka_unit_test(test_silence_ends),
		cmocka_unit_test(test_no_burstd), /* the longest: that one is in time by now */
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("prolog", tests, NULL, NULL);
}
