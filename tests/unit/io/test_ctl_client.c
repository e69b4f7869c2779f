/* test_ctl_client.c - ctl_client against our server, no server, and servers that are not ours. */
#include "io/ctl_client.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "io/ctl_server.h"
#include "io/loop.h"

#define ASK "{\"v\":1,\"op\":\"status\"}"

static struct fix {
	struct loop *l;
	struct ctl_server *s;
	char dir[32], path[64];
	unsigned requests;
	char *answer; /* what the next request gets; NULL: {"ok":true} */
} F;

static char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			const char *json, size_t len)
{
	char *answer = F.answer ? F.answer : strdup("{\"ok\":true}");

	(void)ctx;
	(void)c;
	(void)who;
	assert_int_equal(len, strlen(ASK));
	assert_string_equal(json, ASK);
	F.requests++;
	F.answer = NULL;
	return answer;
}

static int setup(void **state)
{
	const struct ctl_handler h = {.request = on_request};
	struct ctl_server_opts o = {.path = F.path};

	(void)state;
	memset(&F, 0, sizeof(F));
	(void)snprintf(F.dir, sizeof(F.dir), "/tmp/askXXXXXX");
	if (mkdtemp(F.dir) == NULL || loop_new(&F.l, NULL) != 0)
		return -1;
	(void)snprintf(F.path, sizeof(F.path), "%s/ctl.sock", F.dir);
	return ctl_server_new(&F.s, F.l, &o, &h, NULL);
}

static int teardown(void **state)
{
	(void)state;
	ctl_server_close(F.s);
	loop_free(F.l);
	return rmdir(F.dir);
}

static char *text_of(size_t len)
{
	char *p = malloc(len + 1);

	memset(p, 'x', len);
	p[len] = '\0';
	return p;
}

/* In a child, since it blocks: exits with 0, or 10 + the error's code. */
static int ask_in_child(const char *path, uint32_t ms, size_t want)
{
	char *reply;
	struct err e = {0};
	size_t len;

	if (ctl_client_ask(path, ASK, ms, &reply, &len, &e) != 0)
		_exit(reply == NULL && len == 0 ? 10 + e.code : 1);
	_exit(len == want && strlen(reply) == want ? 0 : 2);
}

static int ask(const char *path, uint32_t ms, size_t want)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		return ask_in_child(path, ms, want);
	while (waitpid(pid, &status, WNOHANG) == 0)
		(void)uv_run(loop_uv(F.l), UV_RUN_NOWAIT);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_client(void **state)
{
	(void)state;
	assert_int_equal(ask(F.path, 5000, strlen("{\"ok\":true}")), 0);
	F.answer = text_of(CTL_REPLY_MAX);
	assert_int_equal(ask(F.path, 5000, CTL_REPLY_MAX), 0);
	assert_int_equal(F.requests, 2);
}

static void test_client_without_server(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(ask("/nowhere/at/all", 1000, 0), 10 + ERR_NOTSENT);
	assert_int_equal(
		ask("x.sock.that.is.so.long.that.it.does.not.fit.into.the.address.of.a.socket."
		    "which.has.108.bytes.and.no.more.than.that",
		    1000, 0),
		10 + ERR_INVALID);
	ctl_server_close(F.s);
	F.s = NULL;
	loop_run(F.l);
	fd = open(F.path, O_CREAT | O_WRONLY | O_EXCL, 0600);
	(void)close(fd);
	assert_int_equal(ask(F.path, 1000, 0), 10 + ERR_NOTSENT);
	(void)unlink(F.path);
}

/* Servers that are not ours: deaf, rude, confused. */
static void test_client_against_others(void **state)
{
	static const struct {
		const char *says;
		size_t len;
		bool hold;
		int want;
	} rows[] = {
		{"", 0, true, 10 + ERR_NET},  /* says nothing until the deadline */
		{"", 0, false, 10 + ERR_NET}, /* hangs up */
		{"J\0\0", 3, false, 10 + ERR_NET},
		{"HTTP/1.1 400 Bad Request", 24, true, 10 + ERR_NET},
		{"J\x7f\0\0\0", 5, true, 10 + ERR_NET},
		{"Z\0\0\0\0", 5, true, 10 + ERR_NET},
		{"J\0\0\0\2{}", 7, true, 0},
	};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char path[80];
	int srv = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/other", F.dir);
	memcpy(sa.sun_path, path, strlen(path));
	assert_int_equal(bind(srv, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(srv, 4), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pid_t pid = fork();
		int fd, status;

		if (pid == 0)
			(void)ask_in_child(path, 300, 2);
		fd = accept(srv, NULL, NULL);
		assert_int_equal(send(fd, rows[i].says, rows[i].len, MSG_NOSIGNAL), rows[i].len);
		if (!rows[i].hold)
			(void)close(fd);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), rows[i].want);
		if (rows[i].hold)
			(void)close(fd);
	}
	(void)close(srv);
	(void)unlink(path);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_client),
		T(test_client_without_server),
		T(test_client_against_others),
	};
#undef T

	return cmocka_run_group_tests_name("ctl_client", tests, NULL, NULL);
}
