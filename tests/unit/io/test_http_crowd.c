/* test_http_crowd.c - more clients than the server has room for: who asks finds some among those
 * who say nothing, or half of something, and goes before nobody who waits for an answer. */
#include "io/http_server.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"

enum { SEATS = 4, PATIENCE_MS = 10000, BIG = 16 << 20 };

static struct {
	uv_loop_t loop;
	struct http_server *s;
	uint64_t held[2 * SEATS];
	unsigned nheld;
} F;

static void handler(void *ctx, const struct http_request *rq, struct http_answer *an)
{
	(void)ctx;
	an->status = 200;
	if (strcmp(rq->path, "/big") == 0) {
		an->body = mem_zalloc(BIG);
		an->len = BIG;
	}
	if (strcmp(rq->path, "/hold") != 0)
		return;
	an->later = true;
	F.held[F.nheld++] = rq->ticket;
}

static int setup(void **state)
{
	struct http_server_opts o = {
		.address = "127.0.0.1", .idle_s = 60, .max_conns = SEATS, .max_body = 64};

	(void)state;
	memset(&F, 0, sizeof(F));
	assert_int_equal(uv_loop_init(&F.loop), 0);
	return http_server_start(&F.s, &F.loop, &o, handler, NULL, NULL);
}

static int teardown(void **state)
{
	(void)state;
	http_server_stop(F.s);
	(void)uv_run(&F.loop, UV_RUN_DEFAULT);
	return uv_loop_close(&F.loop);
}

/* A while, in which the server does what there is to do. */
static void pass(int64_t ms)
{
	for (int64_t end = clock_boot_ms() + ms; clock_boot_ms() < end; (void)usleep(500))
		(void)uv_run(&F.loop, UV_RUN_NOWAIT);
}

static int come_unseen(const char *say)
{
	struct sockaddr_in a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(uv_ip4_addr("127.0.0.1", http_server_port(F.s), &a), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(fd, say, strlen(say), MSG_NOSIGNAL), strlen(say));
	return fd;
}

static int come(const char *say)
{
	int fd = come_unseen(say);

	pass(20);
	return fd;
}

static bool gone(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

/* The same, behind what had come by then. */
static bool over(int fd)
{
	static char sink[1 << 20];

	while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
		;
	return gone(fd);
}

static bool answered(int fd)
{
	char text[512] = "";

	for (int64_t end = clock_boot_ms() + PATIENCE_MS; clock_boot_ms() < end; pass(1))
		if (recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0)
			return strncmp(text, "HTTP/1.1 200 ", 13) == 0;
	return false;
}

static const char ask[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		  held[] = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";

/* Any local user could keep all others from the metrics, with sixteen heads that never ended.  Nor
 * may answers that nobody takes. */
static void who_asks_finds_room_among_those_who_do_not(void **state)
{
	static const char *const says[] = {
		"", "G", "GET / HTTP/1.1\r\nHost: x\r\nX: ",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1"};

	(void)state;
	for (size_t k = 0; k < sizeof(says) / sizeof(says[0]); k++) {
		int fd[3 * SEATS], mine;

		for (int i = 0; i < 3 * SEATS; i++)
			fd[i] = come(says[k]);
		mine = come(ask);
		assert_true(answered(mine));
		/* The oldest went, and no more than had to. */
		for (int i = 0; i < 3 * SEATS; i++) {
			assert_int_equal(over(fd[i]), i <= 2 * SEATS);
			(void)close(fd[i]);
		}
		(void)close(mine);
		pass(20);
	}
}

/* The server looks when all are there: each that is too many drives out another one. */
static void a_crowd_that_comes_at_once_has_no_more_room(void **state)
{
	int fd[3 * SEATS], mine;
	unsigned here = 0;

	(void)state;
	for (int i = 0; i < 3 * SEATS; i++)
		fd[i] = come_unseen("GET");
	mine = come(ask);
	assert_true(answered(mine));
	for (int i = 0; i < 3 * SEATS; i++) {
		here += !gone(fd[i]);
		(void)close(fd[i]);
	}
	assert_int_equal(here, SEATS - 1);
	(void)close(mine);
}

/* Who asked a moment ago asks again; who has kept his connection for longest may open another. */
static void who_was_answered_last_goes_last(void **state)
{
	int fd[SEATS], next;

	(void)state;
	for (int i = 0; i < SEATS; i++) {
		fd[i] = come(ask);
		assert_true(answered(fd[i]));
	}
	assert_int_equal(send(fd[0], ask, strlen(ask), MSG_NOSIGNAL), strlen(ask));
	assert_true(answered(fd[0]));
	pass(20);
	next = come(ask);
	assert_true(answered(next));
	for (int i = 0; i < SEATS; i++) {
		assert_int_equal(gone(fd[i]), i == 1);
		(void)close(fd[i]);
	}
	(void)close(next);
}

static void who_waits_for_an_answer_is_not_driven_out(void **state)
{
	int fd[SEATS + 1], next[2];

	(void)state;
	for (int i = 0; i < SEATS; i++)
		fd[i] = come(held);
	assert_int_equal(F.nheld, SEATS);
	fd[SEATS] = come(ask); /* they are more than there is room for, for a while */
	assert_true(answered(fd[SEATS]));
	for (int i = 0; i < SEATS; i++) {
		assert_false(gone(fd[i]));
		http_server_answer(F.s, F.held[i], &(struct http_answer){.status = 200});
	}
	for (int i = 0; i < SEATS; i++)
		assert_true(answered(fd[i]));
	/* Then they are like the others. */
	for (int i = 0; i < 2; i++)
		next[i] = come(ask);
	assert_true(gone(fd[0]));
	for (int i = 0; i <= SEATS; i++)
		(void)close(fd[i]);
	for (int i = 0; i < 2; i++)
		(void)close(next[i]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_asks_finds_room_among_those_who_do_not),
		TEST(a_crowd_that_comes_at_once_has_no_more_room),
		TEST(who_was_answered_last_goes_last),
		TEST(who_waits_for_an_answer_is_not_driven_out),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
