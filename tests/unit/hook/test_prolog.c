/* test_prolog.c - burst-prolog with every kind of burstd.
 *
 * The one rule: whatever burstd does, it ends, and with status 0, unless burstd has said otherwise.
 */
#include "prolog_lab.h"

#include <sys/syscall.h>

#include "base/paths.h"

enum { UNREACHABLE_MS = 4000, ANSWER_MS = 15000, AWAY_MS = 30000 };

#define GONE "{\"ok\":true,\"gone\":true}"

/* --- burstd ------------------------------------------------------------------------------------
 */

/* A quarter of a minute of nothing is too long for a test: this one begins first and is looked at
 * late.  A process notes when it ends. */
static struct {
	struct lab_proc p;
	int fd, ended; /* ended: a pipe with the time, as of lab_now_ms() */
} silence;

static void note_end(pid_t pid, int to)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int64_t now;

	if (p.fd < 0 || poll(&p, 1, -1) != 1)
		_exit(1);
	now = lab_now_ms(CLOCK_MONOTONIC);
	_exit(write(to, &now, sizeof(now)) == sizeof(now) ? 0 : 1);
}

static void test_silence_begins(void **state)
{
	struct lab_opts o = prolog;
	int ends[2], lfd = lab_server_listen(1);
	pid_t watcher;

	(void)state;
	o.limit_ms = UINT_MAX; /* judged by the time noted */
	lab_start(&silence.p, &o);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	silence.ended = ends[0];
	watcher = fork();
	assert_true(watcher >= 0);
	if (watcher == 0)
		note_end(silence.p.pid, ends[1]);
	(void)close(ends[1]);
	silence.fd = take(lfd);
	lab_server_close(lfd);
}

static void test_silence_ends(void **state)
{
	struct pollfd p = {.fd = silence.ended, .events = POLLIN};
	struct lab_result r;
	int64_t ended;
	int status;

	(void)state;
	assert_int_equal(poll(&p, 1, ANSWER_MS + LAB_GUARD_MS), 1);
	assert_int_equal(read(silence.ended, &ended, sizeof(ended)), sizeof(ended));
	assert_int_equal(waitpid(silence.p.pid, &status, 0), silence.p.pid);
	lab_finish_ended(&silence.p, status, &r);
	assert_int_equal(r.code, 0);
	assert_in_range(ended - silence.p.started, ANSWER_MS - 100, ANSWER_MS + 3000);
	(void)close(silence.fd);
	(void)close(silence.ended);
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
		assert_in_range(r.ms, 300, 3000);
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

/* How it ends after that answer. */
static int ends_after(const struct lab_answer *a, struct lab_result *r)
{
	int lfd = lab_server_listen(1), fd;
	struct lab_proc p;

	lab_start(&p, &prolog);
	fd = take(lfd);
	lab_server_answer(fd, a);
	lab_finish(&p, r);
	(void)close(fd);
	lab_server_close(lfd);
	return r->code;
}

/* burstd left a mark: a job that it cannot be asked about does not start. */
static void test_budgets_hold_while_burstd_is_away(void **state)
{
	static const struct lab_answer busy = {"{\"ok\":false,\"error\":\"busy\"}", 0, 0},
				       wrong = {UP, 'L', 0}, up = {UP, 0, 0}, gone = {GONE, 0, 0};
	int log = lab_log_listen(), fd = open(PATHS_AWAY, O_WRONLY | O_CREAT, 0644);
	struct lab_result r;

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(ends_after(&up, &r), 0);
	assert_int_equal(ends_after(&gone, &r), 0);
	assert_string_equal(r.err, "");
	assert_int_equal(ends_after(&busy, &r), 1);
	lab_assert_complaint(log, &r, "burstd is away, and budgets_away = requeue");
	assert_int_equal(ends_after(&wrong, &r), 1);
	/* One that another user could have made says nothing. */
	assert_int_equal(chown(PATHS_AWAY, 12345, 0), 0);
	assert_int_equal(ends_after(&busy, &r), 0);
	assert_int_equal(unlink(PATHS_AWAY), 0);
	assert_int_equal(symlink("/etc/passwd", PATHS_AWAY), 0);
	assert_int_equal(ends_after(&busy, &r), 0);
	assert_int_equal(unlink(PATHS_AWAY), 0);
	assert_int_equal(ends_after(&busy, &r), 0);
	lab_log_close(log);
}

#define BOOTS  "{\"ok\":true,\"wait\":true,\"deadline_ms\":2500}"
#define UNSAID "{\"ok\":true,\"wait\":true,\"deadline_ms\":2500,\"unsaid\":true}"

/* burstd gives these answers, and holds the last question; there: else it has gone. */
static int waits_in_vain(const char *first, const char *next, bool there, struct lab_result *r)
{
	int lfd = lab_server_listen(4), fd = -1;
	struct lab_opts o = prolog;
	struct lab_proc p;

	o.limit_ms = 4000;
	lab_start(&p, &o);
	reply(lfd, first);
	if (next != NULL)
		reply(lfd, next);
	if (there)
		fd = take(lfd);
	else
		lab_server_close(lfd);
	lab_finish(&p, r);
	if (there) {
		(void)close(fd);
		lab_server_close(lfd);
	}
	return r->code;
}

/* Nodes that do not come up are no matter of money; that nobody knows whether there is any, is. */
static void test_budgets_hold_while_nobody_knows_of_money(void **state)
{
	int log = lab_log_listen(), fd = open(PATHS_AWAY, O_WRONLY | O_CREAT, 0644);
	struct lab_result r;

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(waits_in_vain(BOOTS, NULL, true, &r), 0);
	assert_string_equal(r.err, "");
	assert_int_equal(waits_in_vain(UNSAID, NULL, true, &r), 1);
	lab_assert_complaint(log, &r, "burstd cannot tell whether there is money");
	assert_int_equal(waits_in_vain(UNSAID, BOOTS, true, &r), 0); /* there was */
	assert_int_equal(waits_in_vain(BOOTS, NULL, false, &r), 1);
	lab_assert_complaint(log, &r, "burstd is away");
	assert_int_equal(unlink(PATHS_AWAY), 0);
	assert_int_equal(waits_in_vain(UNSAID, NULL, true, &r), 0);
	lab_log_close(log);
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
		cmocka_unit_test(test_budgets_hold_while_burstd_is_away),
		cmocka_unit_test(test_hostile_process),
		cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_silence_ends),
		/* After that: it says more while budgets are strict. */
		cmocka_unit_test(test_budgets_hold_while_nobody_knows_of_money),
		cmocka_unit_test(test_no_burstd),
	};
	int status;

	if (!lab_enter(&status))
		return status;
	return cmocka_run_group_tests_name("prolog", tests, NULL, NULL);
}
