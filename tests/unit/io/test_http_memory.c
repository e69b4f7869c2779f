/* test_http_memory.c - libraries that have no memory for what they are asked (F56). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <curl/curl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "io/http_client.h"
#include "io/http_server.h"
#include "io/loop.h"

/* These stand before the libraries' own. */

int uv_poll_init(uv_loop_t *loop, uv_poll_t *handle, int fd)
{
	(void)loop;
	(void)handle;
	(void)fd;
	return UV_ENOMEM;
}

CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t fd, int flags, int *running)
{
	(void)multi;
	(void)fd;
	(void)flags;
	*running = 1;
	return CURLM_OUT_OF_MEMORY;
}

static void on_done(void *ctx, const struct http_reply *reply, const struct err *e)
{
	(void)ctx;
	(void)reply;
	(void)e;
}

static void run(void)
{
	const struct http_call call = {
		.method = "GET", .url = "http://127.0.0.1:1/", .timeout_ms = 100, .max_reply = 1};
	const struct rlimit none = {0, 0};
	struct http_client *c;
	struct loop *l;

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGABRT, SIG_DFL);
	(void)alarm(10); /* or the loop would wait for ever */
	if (loop_new(&l, NULL) != 0 || http_client_new(&c, l, NULL) != 0 ||
	    http_client_send(c, &call, on_done, NULL, NULL, NULL) != 0)
		_exit(1);
	loop_run(l);
	_exit(2);
}

/* That transfer would never be heard of again: the process ends, and says so. */
static void test_no_transfer(void **state)
{
	char text[128] = "";
	int ends[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		run();
	}
	(void)close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "burstd: out of memory\n");
	(void)close(ends[0]);
}

/* A server that the loop cannot watch is none. */
static void test_no_server(void **state)
{
	const struct http_server_opts o = {.address = "127.0.0.1", .idle_s = 1, .max_body = 1};
	struct http_server *s;
	struct loop *l;
	struct err e = {0};

	(void)state;
	assert_int_equal(loop_new(&l, NULL), 0);
	assert_int_equal(http_server_start(&s, loop_uv(l), &o, NULL, NULL, &e), -1);
	assert_null(s);
	assert_non_null(strstr(e.msg, "cannot listen on 127.0.0.1 port 0: not enough memory"));
	loop_free(l); /* nothing of it is left there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_transfer),
		cmocka_unit_test(test_no_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
