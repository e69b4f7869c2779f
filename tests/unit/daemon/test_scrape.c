/* test_scrape.c - the listener of /metrics, as burstd has it: where, for how many, for how long. */
#include "lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
	CONNS = 64,
	ASKS = 100,
	MORE = 16,
	SOON_MS = 5000, /* before an idle connection goes, and far beyond what anything takes */
};

static const char ask[] = "GET /metrics HTTP/1.1\r\nHost: b\r\n\r\n",
		  other[] = "GET / HTTP/1.1\r\nHost: b\r\n\r\n";

static struct burstd *b;
static struct sockaddr_in at;

static int start(void **state)
{
	char text[64];

	(void)state;
	b = mem_zalloc(sizeof(*b));
	at = lab_free_place();
	lab_make_files("#!/bin/sh\nexit 1\n");
	(void)snprintf(text, sizeof(text), "listen = \"127.0.0.1:%d\"\ncurrency",
		       ntohs(at.sin_port));
	lab_write_conf("currency", text);
	lab_start_ready(b);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	free(b);
	return 0;
}

static int come(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The status of one answer, all of which is read; 0: the connection is closed. */
static int status_of(int fd, const char *request)
{
	static char text[1 << 20];
	size_t len = 0, want = 1;
	int status = 0;

	(void)send(fd, request, strlen(request), MSG_NOSIGNAL);
	while (len < want && len < sizeof(text) - 1) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		const char *body, *length;
		ssize_t n;

		assert_int_equal(poll(&p, 1, SOON_MS), 1);
		n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		if (n <= 0)
			return 0;
		len += (size_t)n;
		text[len] = '\0';
		body = strstr(text, "\r\n\r\n");
		length = strstr(text, "Content-Length: ");
		want = len + 1;
		if (body != NULL && length != NULL)
			want = (size_t)(body + 4 - text) +
			       strtoul(length + strlen("Content-Length: "), NULL, 10);
	}
	if (strncmp(text, "HTTP/1.1 ", 9) == 0)
		status = (int)strtol(text + 9, NULL, 10);
	return status;
}

/* Metrics are where `listen` says. */
static void test_metrics(void **state)
{
	int fd = come();

	(void)state;
	assert_int_equal(status_of(fd, ask), 200);
	assert_int_equal(status_of(fd, other), 404);
	(void)close(fd);
}

static bool is_gone(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

/* Whoever has connected and says nothing goes for one who comes then: the oldest, and no more than
 * are too many. */
static void test_there_is_room_for_so_many(void **state)
{
	int fd[CONNS + MORE], last;
	int64_t end = clock_boot_ms() + SOON_MS;

	(void)state;
	for (int i = 0; i < CONNS + MORE; i++)
		fd[i] = come();
	last = come();
	assert_int_equal(status_of(last, ask), 200);
	while (!is_gone(fd[MORE]) && clock_boot_ms() < end)
		(void)poll(NULL, 0, 1);
	for (int i = 0; i < CONNS + MORE; i++) {
		assert_int_equal(is_gone(fd[i]), i <= MORE);
		(void)close(fd[i]);
	}
	(void)close(last);
}

/* Or who asks without end would have his place for ever. */
static void test_a_connection_asks_so_often(void **state)
{
	int fd = come(), n = 0;

	(void)state;
	while (n < 2 * ASKS && status_of(fd, other) != 0)
		n++;
	assert_int_equal(n, ASKS);
	(void)close(fd);
	fd = come();
	assert_int_equal(status_of(fd, ask), 200);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_metrics, start, stop),
		cmocka_unit_test_setup_teardown(test_there_is_room_for_so_many, start, stop),
		cmocka_unit_test_setup_teardown(test_a_connection_asks_so_often, start, stop),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("scrape", tests, NULL, NULL);
}
