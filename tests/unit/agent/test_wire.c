/* test_wire.c - one connection and its requests, against sockets of our own. */
#include "agent/wire.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/origin.h"
#include "agent/poller.h"
#include "base/clock.h"

static struct fix {
	struct poller poller;
	struct origin origin;
	struct wire *wire;
	int listener, peer;
	unsigned called;
	int status; /* -1: an error */
	struct err err;
	char body[64];
} F;

static int listen_on(struct origin_addr *a)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	a->len = sizeof(in);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, a->len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a->sa, &a->len), 0);
	return fd;
}

static int setup(void **state)
{
	struct err e = {0};

	(void)state;
	memset(&F, 0, sizeof(F));
	F.peer = -1;
	assert_int_equal(origin_parse(&F.origin, "http://127.0.0.1:1", &e), 0);
	F.listener = listen_on(&F.origin.addr[0]);
	F.wire = wire_new(&F.poller, &F.origin, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	wire_free(F.wire);
	assert_null(F.poller.items);
	(void)close(F.listener);
	if (F.peer >= 0)
		(void)close(F.peer);
	return 0;
}

static void done(void *ctx, const struct answer *a, const struct err *e)
{
	assert_ptr_equal(ctx, &F);
	assert_true((a == NULL) != (e == NULL));
	F.called++;
	F.status = a != NULL ? a->status : -1;
	if (e != NULL)
		F.err = *e;
	else
		(void)snprintf(F.body, sizeof(F.body), "%s", a->body.p);
}

static void ask(unsigned ms)
{
	const struct wire_call call = {.method = "POST",
				       .path = "/x",
				       .headers = "A: b\r\n",
				       .body = "{}",
				       .answer_max = 100,
				       .timeout_ms = ms};
	unsigned before = F.called;

	wire_send(F.wire, &call, done, &F);
	assert_int_equal(F.called, before); /* never from inside */
	assert_true(wire_busy(F.wire));
}

/* Turns of the loop until the other end has a connection; it reads the request. */
static void serve(char *request, size_t size)
{
	ssize_t n = -1;

	for (int i = 0; i < 1000 && F.peer < 0; i++) {
		poller_turn(&F.poller);
		F.peer = accept4(F.listener, NULL, NULL, SOCK_NONBLOCK);
	}
	assert_true(F.peer >= 0);
	for (int i = 0; i < 1000 && n <= 0; i++) {
		n = recv(F.peer, request, size - 1, 0);
		if (n <= 0)
			poller_turn(&F.poller);
	}
	assert_true(n > 0);
	request[n] = '\0';
}

static void answer(const char *text)
{
	const unsigned before = F.called;

	assert_int_equal(send(F.peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	while (F.called == before)
		poller_turn(&F.poller);
}

#define GOOD "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

static void test_a_request(void **state)
{
	char request[1024];

	(void)state;
	for (int i = 0; i < 3; i++) { /* over one connection */
		ask(5000);
		serve(request, sizeof(request));
		assert_int_equal(strncmp(request, "POST /x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n", 37),
				 0);
		assert_non_null(strstr(request, "\r\nA: b\r\n"));
		assert_non_null(strstr(request, "\r\nContent-Length: 2\r\n\r\n{}"));
		answer(GOOD);
		assert_int_equal(F.status, 200);
		assert_string_equal(F.body, "hi");
		assert_false(wire_busy(F.wire));
	}
	assert_int_equal(F.called, 3);
}

/* The first address of a name does not answer; the request goes to the second. */
static void test_the_next_address(void **state)
{
	struct origin_addr dead;
	char request[1024];
	int fd = listen_on(&dead);

	(void)state;
	(void)close(fd);
	F.origin.addr[1] = F.origin.addr[0];
	F.origin.addr[0] = dead;
	F.origin.n = 2;
	ask(5000);
	serve(request, sizeof(request));
	answer(GOOD);
	assert_int_equal(F.status, 200);
}

static void test_no_address_answers(void **state)
{
	struct origin_addr dead;

	(void)state;
	(void)close(listen_on(&dead));
	F.origin.addr[0] = F.origin.addr[1] = dead;
	F.origin.n = 2;
	ask(5000);
	while (F.called == 0)
		poller_turn(&F.poller);
	assert_int_equal(F.status, -1);
	assert_int_equal(F.err.code, ERR_NOTSENT);
}

static void test_out_of_time(void **state)
{
	const int64_t begun = clock_boot_ms();
	char request[1024];

	(void)state;
	ask(200);
	serve(request, sizeof(request));
	assert_int_equal(send(F.peer, GOOD, 20, MSG_NOSIGNAL), 20);
	while (F.called == 0)
		poller_turn(&F.poller);
	assert_int_equal(F.status, -1);
	assert_non_null(strstr(F.err.msg, "timed out while waiting for its answer"));
	assert_in_range(clock_boot_ms() - begun, 200, 2000);
	/* What comes too late is not taken for the next answer. */
	(void)close(F.peer);
	F.peer = -1;
	ask(5000);
	serve(request, sizeof(request));
	answer(GOOD);
	assert_int_equal(F.called, 2);
	assert_int_equal(F.status, 200);
}

/* Closed while nobody looked: the request goes out again, once. */
static void test_a_connection_that_is_gone(void **state)
{
	char request[1024];

	(void)state;
	ask(5000);
	serve(request, sizeof(request));
	answer(GOOD);
	ask(5000); /* before the loop can see it */
	(void)close(F.peer);
	F.peer = -1;
	serve(request, sizeof(request));
	answer(GOOD);
	assert_int_equal(F.status, 200);
	ask(5000);
	serve(request, sizeof(request));
	(void)send(F.peer, "HTTP", 4, MSG_NOSIGNAL); /* but not when it had begun to answer */
	(void)close(F.peer);
	F.peer = -1;
	while (F.called < 3)
		poller_turn(&F.poller);
	assert_int_equal(F.status, -1);
	assert_true(accept4(F.listener, NULL, NULL, SOCK_NONBLOCK) < 0);
}

/* Bytes that nobody asked for end the connection, and are no answer. */
static void test_answers_without_a_question(void **state)
{
	char request[1024];

	(void)state;
	ask(5000);
	serve(request, sizeof(request));
	answer(GOOD);
	assert_int_equal(send(F.peer, GOOD, strlen(GOOD), MSG_NOSIGNAL), strlen(GOOD));
	poller_turn(&F.poller);
	(void)close(F.peer);
	F.peer = -1;
	ask(5000);
	serve(request, sizeof(request)); /* a new one */
	answer("HTTP/1.1 404 no\r\nContent-Length: 0\r\n\r\n");
	assert_int_equal(F.status, 404);
}

static void test_dropped(void **state)
{
	char request[1024];

	(void)state;
	ask(5000);
	wire_drop(F.wire);
	assert_false(wire_busy(F.wire));
	ask(5000);
	serve(request, sizeof(request));
	wire_drop(F.wire);
	assert_null(F.poller.items);
	assert_int_equal(F.called, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_request, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_next_address, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_address_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_out_of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_connection_that_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers_without_a_question, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
