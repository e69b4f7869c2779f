/* desk_lab.h - the desk as a process, and clients of it: processes of real users in real groups.
 *
 * For each question the desk starts this program anew, with the arguments of burst-ledger, or a
 * script of the test's.  Without root nobody can become somebody else, and the tests are skipped.
 */
#ifndef TESTS_LEDGER_DESK_LAB_H
#define TESTS_LEDGER_DESK_LAB_H

#include "people.h"

#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "io/ctl_client.h"
#include "ledger/command.h"
#include "ledger/desk.h"

enum {
	ANNA = 61001,
	BOB,
	CARL,
	NOBODY,
	SLOW,
	DORA,
	EMIL,
	FINANCE = 62001,
	OPERATORS,
	ADMINS,
	PATIENCE_MS = 20000
};
enum { ANSWER = 1 << 16 };

static struct people {
	pid_t pid;
	uint32_t work_ms;
	char dir[64], socket[80], getent[80], script[80], conf[80];
	char answer[ANSWER];
} P;

static inline void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static inline void path_of(char *out, size_t size, const char *name)
{
	(void)snprintf(out, size, "%s/%s", P.dir, name);
}

static inline bool is_listening(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	memcpy(sa.sun_path, P.socket, strlen(P.socket));
	rc = connect(fd, (struct sockaddr *)&sa, sizeof(sa));
	(void)close(fd);
	return rc == 0;
}

static inline void start_desk(const struct fixture *f, const char *program)
{
	static uint32_t finance[] = {FINANCE}, operators[] = {OPERATORS}, admins[] = {ADMINS};
	static const struct conf_people people = {.admin_groups = {admins, 1},
						  .operator_groups = {operators, 1},
						  .finance_groups = {finance, 1}};
	const struct desk_opts o = {.socket = P.socket,
				    .ledger = f->ledger,
				    .config = P.conf,
				    .people = &people,
				    .program = program,
				    .getent = P.getent,
				    .work_ms = P.work_ms,
				    .look_ms = 50};
	int64_t until = clock_boot_ms() + PATIENCE_MS;
	struct err e = {0};

	P.pid = fork();
	if (P.pid == 0)
		_exit(desk_run(&o, &e) == 0 ? 0 : 1);
	while (!is_listening() && clock_boot_ms() < until)
		(void)usleep(2000);
	assert_true(is_listening());
}

static inline int setup_desk(void **state)
{
	static const char getent[] =
		"#!/bin/sh\ncase $2 in\n61001) n=anna ;;\n61002) n=bob ;;\n61003) n=carl "
		";;\n61005) sleep 20 ;;\n61006) n=dora ;;\n61007) n=emil ;;\n*) exit 2 "
		";;\nesac\necho \"$n:x:$2:$2::/:/bin/sh\"\n";
	int rc = setup(state);
	const struct fixture *f = *state;

	memset(&P, 0, sizeof(P));
	P.work_ms = PATIENCE_MS;
	(void)snprintf(P.dir, sizeof(P.dir), "/tmp/deskXXXXXX");
	assert_non_null(mkdtemp(P.dir));
	assert_int_equal(chmod(P.dir, 0755), 0);
	path_of(P.socket, sizeof(P.socket), "s");
	path_of(P.getent, sizeof(P.getent), "getent");
	path_of(P.script, sizeof(P.script), "script");
	path_of(P.conf, sizeof(P.conf), "burstd.conf");
	write_file(P.getent, getent);
	make_people(f);
	return rc;
}

static inline int teardown_desk(void **state)
{
	char cmd[100];
	int status = 0;

	if (P.pid > 0) {
		assert_int_equal(kill(P.pid, SIGTERM), 0);
		assert_int_equal(waitpid(P.pid, &status, 0), P.pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		assert_int_equal(access(P.socket, F_OK), -1);
	}
	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", P.dir);
	assert_int_equal(system(cmd), 0);
	return teardown(state);
}

/* Ask in a process of that user, who is in this group beside their own; fd: the answer comes. */
static inline pid_t ask_later(uid_t uid, gid_t group, const char *request, int *fd)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct err e = {0};
		char *answer;
		size_t len;

		if (setgroups(1, &group) != 0 || setresgid(uid, uid, uid) != 0 ||
		    setresuid(uid, uid, uid) != 0)
			_exit(2);
		if (ctl_client_ask(P.socket, request, PATIENCE_MS, &answer, &len, &e) != 0)
			_exit(3);
		_exit(write(ends[1], answer, len) == (ssize_t)len ? 0 : 4);
	}
	(void)close(ends[1]);
	*fd = ends[0];
	return pid;
}

static inline const char *hear(pid_t pid, int fd)
{
	size_t len = 0;
	int status;
	ssize_t n;

	while ((n = read(fd, P.answer + len, sizeof(P.answer) - 1 - len)) > 0)
		len += (size_t)n;
	P.answer[len] = '\0';
	(void)close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
	print_message("# %.300s\n", P.answer);
	return P.answer;
}

static inline const char *ask_as(uid_t uid, gid_t group, const char *request)
{
	int fd;
	pid_t pid = ask_later(uid, group, request, &fd);

	return hear(pid, fd);
}

static inline void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

#define RQ(op, rest) "{\"v\":1,\"op\":\"" op "\"" rest "}"
#define ALL          ",\"from\":\"2026-11-01\",\"to\":\"2026-11-30\""

#define DESK(t) cmocka_unit_test_setup_teardown(t, setup_desk, teardown_desk)

/* main() of a test: the answer to a question, if it was started as burst-ledger. */
static inline bool is_answer(int argc, char **argv, int *rc)
{
	const struct settings s = {.ledger = argc > 3 ? argv[3] : NULL};

	if (argc < 2 || strcmp(argv[1], "answer") != 0)
		return false;
	*rc = command_answer(&s);
	return true;
}

#endif
