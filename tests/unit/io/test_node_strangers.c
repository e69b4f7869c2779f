/* test_node_strangers.c - those whom nobody knows, by the thousand, over real sockets: they may be
 * silent, stall or drip, and nodes find room and are served. */
#include "node_listener.h"

#include <errno.h>

enum { CROWD = 10000, SEATS = 200 };

/* --- room ------------------------------------------------------------------------------------- */

/* The other end closed it. */
static bool closed(int fd)
{
	char c;

	return recv(fd, &c, 1, 0) <= 0;
}

static bool still_open(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) < 0;
}

static void a_node_finds_room_among_strangers(void **state)
{
	struct tls_peer p[2];
	char out[4096];
	int fd[4];

	(void)state;
	F.o.gate = (struct node_gate_opts){.max_conns = 4};
	start();
	for (int i = 0; i < 4; i++) {
		fd[i] = tcp_open(node_server_port(F.s));
		UNTIL(stats().open == (uint64_t)i + 1);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dial(&p[i], &node), 0);
		assert_int_equal(get(&p[i], "/", out, sizeof(out)), 200);
		assert_true(closed(fd[i]));
	}
	assert_true(still_open(fd[2]) && still_open(fd[3]));
	assert_int_equal(stats().ousted, 2);
	assert_int_equal(stats().over_number, 0);
	assert_int_equal(get(&p[0], "/", out, sizeof(out)), 200);
	for (int i = 0; i < 2; i++)
		tls_peer_close(&p[i]);
	for (int i = 0; i < 4; i++)
		(void)close(fd[i]);
}

static void a_stranger_finds_none_among_nodes(void **state)
{
	struct tls_peer p[3];
	char out[4096];
	int fd;

	(void)state;
	F.o.gate = (struct node_gate_opts){.max_conns = 3};
	start();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dial(&p[i], &node), 0);
		assert_int_equal(get(&p[i], "/", out, sizeof(out)), 200);
	}
	fd = tcp_open(node_server_port(F.s));
	assert_true(closed(fd));
	(void)close(fd);
	assert_int_equal(stats().over_number, 1);
	assert_int_equal(stats().ousted, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(get(&p[i], "/", out, sizeof(out)), 200);
		tls_peer_close(&p[i]);
	}
}

static void answer_held(struct fix *f)
{
	struct http_answer an = {.status = 200};

	for (unsigned i = 0; i < f->nheld; i++)
		node_server_answer(f->s, f->held[i], &an);
	f->nheld = 0;
}

/* A claim that waits for the secret store is not driven out, however many come after it. */
static void who_waits_for_the_loop_is_not_driven_out(void **state)
{
	struct tls_peer p;
	char out[4096];
	int fd[MANY];

	(void)state;
	F.o.gate = (struct node_gate_opts){.max_strangers = 2};
	start();
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(say(&p, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	UNTIL(stats().requests == 1);
	for (int i = 0; i < MANY; i++)
		fd[i] = tcp_open(node_server_port(F.s));
	UNTIL(stats().ousted == MANY - 2);
	on_loop(answer_held);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
	/* Then it is one like the others: the two that are here go first, and then it. */
	for (int i = 0; i < 3; i++) {
		(void)close(fd[i]); /* driven out long ago */
		fd[i] = tcp_open(node_server_port(F.s));
	}
	UNTIL(stats().ousted == MANY - 2 + 3);
	UNTIL(recv(p.fd, out, 1, MSG_DONTWAIT) == 0);
	for (int i = 0; i < MANY; i++)
		(void)close(fd[i]);
	tls_peer_close(&p);
}

/* What is left open of a node whose network went away, or a node that somebody has taken over. */
static void a_node_has_so_many_connections_and_the_oldest_goes(void **state)
{
	struct tls_peer p[3];
	char out[4096];

	(void)state;
	F.o.gate = (struct node_gate_opts){.max_per_key = 2};
	start();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dial(&p[i], &node), 0);
		assert_int_equal(get(&p[i], "/", out, sizeof(out)), 200);
	}
	assert_int_equal(stats().ousted, 1);
	assert_int_equal(get(&p[0], "/", out, sizeof(out)), -1);
	for (int i = 1; i < 3; i++)
		assert_int_equal(get(&p[i], "/", out, sizeof(out)), 200);
	for (int i = 0; i < 3; i++)
		tls_peer_close(&p[i]);
}

static void ten_thousand_silent_connections_keep_no_node_out(void **state)
{
	struct tls_peer kept, p;
	char out[4096];
	int *fd = mem_zalloc(CROWD * sizeof(*fd));

	(void)state;
	F.o.gate = (struct node_gate_opts){.max_conns = 2 * SEATS, .max_strangers = SEATS};
	F.o.request_ms = F.o.keep_ms = 600000;
	start();
	assert_int_equal(dial(&kept, &node), 0);
	assert_int_equal(get(&kept, "/", out, sizeof(out)), 200);
	for (int i = 0; i < CROWD; i++) {
		if (i >= SEATS * 2) /* descriptors are scarce; that one was driven out long ago */
			(void)close(fd[i - SEATS * 2]);
		fd[i] = tcp_open(node_server_port(F.s));
		assert_true(fd[i] >= 0);
	}
	UNTIL(stats().accepted == CROWD + 1);
	UNTIL(stats().open <= SEATS + 1);
	assert_int_equal(dial(&p, &node), 0);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	assert_int_equal(get(&kept, "/", out, sizeof(out)), 200);
	assert_int_equal(stats().over_number, 0);
	for (int i = CROWD - SEATS * 2; i < CROWD; i++)
		(void)close(fd[i]);
	free(fd);
	tls_peer_close(&p);
	tls_peer_close(&kept);
}

/* --- TLS -------------------------------------------------------------------------------------- */

static ssize_t deaf(gnutls_transport_ptr_t t, void *data, size_t len)
{
	(void)t;
	(void)data;
	(void)len;
	errno = EAGAIN;
	return -1;
}

/* After its first flight, and after a piece of one; other connections go on meanwhile. */
static void a_handshake_that_stalls_is_cut(void **state)
{
	static const char piece[] = "\x16\x03\x01\x3f\xff\x01";
	struct tls_peer p, good;
	char out[4096];
	double s;
	uint64_t cut = 0;
	int fd;

	(void)state;
	F.o.request_ms = 3000;
	start();
	fd = tcp_open(node_server_port(F.s));
	assert_int_equal(send(fd, piece, sizeof(piece) - 1, MSG_NOSIGNAL), sizeof(piece) - 1);
	tls_peer_prepare(&p, node_server_port(F.s), ca.cert, &node);
	gnutls_transport_set_pull_function(p.session, deaf);
	assert_int_equal(tls_peer_shake(&p), GNUTLS_E_AGAIN);
	/* On a full machine its own handshake may take too long, and is cut as well. */
	while (dial(&good, &node) != 0 && cut++ < 5)
		tls_peer_close(&good);
	assert_int_equal(get(&good, "/", out, sizeof(out)), 200);
	s = closed_after(p.fd);
	assert_true(s < 9.9);
	assert_true(closed(fd));
	UNTIL(stats().slow == 2 + cut);
	UNTIL(stats().mute == 2 + cut);
	(void)close(fd);
	tls_peer_close(&p);
	tls_peer_close(&good);
}

/* --- nothing to do ----------------------------------------------------------------------------
 */

enum { IDLERS = 10, IDLE_LOOK_MS = 1500, IDLE_CPU_MS = IDLE_LOOK_MS / 5 };

static void to_hello(struct tls_peer *p)
{
	tls_peer_prepare(p, node_server_port(F.s), ca.cert, NULL);
	gnutls_transport_set_pull_function(p->session, deaf);
	assert_int_equal(tls_peer_shake(p), GNUTLS_E_AGAIN);
}

static void to_piece(struct tls_peer *p)
{
	tls_peer_prepare(p, node_server_port(F.s), ca.cert, NULL);
	assert_int_equal(send(p->fd, "\x16\x03\x01\x3f\xff\x01", 6, MSG_NOSIGNAL), 6);
}

static void to_nothing(struct tls_peer *p)
{
	tls_peer_prepare(p, node_server_port(F.s), ca.cert, NULL);
}

static void to_greeting(struct tls_peer *p)
{
	assert_int_equal(dial(p, NULL), 0);
}

static void to_kept(struct tls_peer *p)
{
	char out[4096];

	assert_int_equal(dial(p, NULL), 0);
	assert_int_equal(get(p, "/", out, sizeof(out)), 200);
}

static void to_headers(struct tls_peer *p)
{
	assert_int_equal(dial(p, NULL), 0);
	assert_int_equal(say(p, "GET / HTTP/1.1\r\nHo"), 0);
}

static void to_body(struct tls_peer *p)
{
	assert_int_equal(dial(p, NULL), 0);
	assert_int_equal(say(p, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1234"), 0);
}

static void to_chunk(struct tls_peer *p)
{
	assert_int_equal(dial(p, NULL), 0);
	assert_int_equal(
		say(p, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1234"),
		0);
}

static void to_answer(struct tls_peer *p)
{
	assert_int_equal(dial(p, NULL), 0);
	assert_int_equal(say(p, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
}

static void to_next(struct tls_peer *p)
{
	assert_int_equal(dial(p, NULL), 0);
	assert_int_equal(
		say(p, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		0);
}

static int64_t cpu_ms(void)
{
	struct timespec ts = {0};

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts), 0);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t cpu_beside(void (*come_to)(struct tls_peer *p), bool half_closed)
{
	struct tls_peer p[IDLERS];
	int64_t before;

	for (int i = 0; i < IDLERS; i++) {
		come_to(&p[i]);
		if (half_closed)
			assert_int_equal(shutdown(p[i].fd, SHUT_WR), 0);
	}
	(void)usleep(300000);
	before = cpu_ms();
	(void)usleep(IDLE_LOOK_MS * 1000);
	before = cpu_ms() - before;
	on_loop(answer_held);
	for (int i = 0; i < IDLERS; i++)
		tls_peer_close(&p[i]);
	return before;
}

/* A hello and no more had the thread look whether there is more, again and again. */
static void who_does_nothing_costs_nothing(void **state)
{
	static const struct {
		const char *what;
		void (*come_to)(struct tls_peer *p);
	} rows[] = {
		{"nothing", to_nothing},  {"a piece of a hello", to_piece},
		{"a hello", to_hello},    {"a handshake", to_greeting},
		{"one answer", to_kept},  {"half a head", to_headers},
		{"half a body", to_body}, {"half a chunk", to_chunk},
		{"a request", to_answer}, {"two requests", to_next},
	};

	(void)state;
	start();
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		bool half_closed = i % 2 == 1;
		int64_t ms = cpu_beside(rows[i / 2].come_to, half_closed);

		print_message("# %s%s: %d ms\n", rows[i / 2].what,
			      half_closed ? ", and its end" : "", (int)ms);
		assert_in_range(ms, 0, IDLE_CPU_MS);
	}
}

/* A record of 16 KiB, a byte each 20 ms. */
static void a_handshake_that_drips_is_cut(void **state)
{
	static const char head[] = "\x16\x03\x01\x3f\xff\x01";
	int fd, n = 0;

	(void)state;
	F.o.request_ms = 1200;
	start();
	fd = tcp_open(node_server_port(F.s));
	assert_int_equal(send(fd, head, sizeof(head) - 1, MSG_NOSIGNAL), sizeof(head) - 1);
	while (n++ < 600 && send(fd, "x", 1, MSG_NOSIGNAL) == 1)
		(void)usleep(20000);
	assert_in_range(n, 10, 500);
	UNTIL(stats().slow == 1);
	(void)close(fd);
}

/* Who has shown one certificate cannot become somebody else on the same connection. */
static void a_second_handshake_ends_the_connection(void **state)
{
	struct tls_peer p;
	char out[4096];
	int rc;

	(void)state;
	start();
	tls_peer_prepare(&p, node_server_port(F.s), ca.cert, &node);
	assert_int_equal(
		gnutls_priority_set_direct(p.session, "NORMAL:-VERS-ALL:+VERS-TLS1.2", NULL), 0);
	assert_int_equal(tls_peer_shake(&p), 0);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c7"));
	rc = tls_peer_shake(&p);
	assert_true(rc < 0 || get(&p, "/", out, sizeof(out)) == -1);
	UNTIL(stats().open == 0);
	assert_int_equal(F.served, 1);
	tls_peer_close(&p);
}

/* --- requests --------------------------------------------------------------------------------- */

/* One at a time: the loop never has two of one connection, so the queue is shared by connections.
 */
static void pipelined_requests_are_answered_in_order(void **state)
{
	struct tls_peer p;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(dial(&p, &node), 0);
	assert_int_equal(
		say(&p, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /hold HTTP/1.1\r\nHost: x\r\n\r\n"
			"GET /bad HTTP/1.1\r\nHost: x\r\n\r\nGET /4 HTTP/1.1\r\nHost: x\r\n\r\n"),
		0);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
	assert_non_null(strstr(out, "GET /1?"));
	UNTIL(stats().requests == 2);
	(void)usleep(200000);
	assert_int_equal(stats().requests, 2);
	on_loop(answer_held);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 401);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
	assert_non_null(strstr(out, "GET /4?"));
	tls_peer_close(&p);
}

/* Who sends and does not read: what it has not read is bounded by what the kernel takes. */
static void who_does_not_read_the_answers_is_cut(void **state)
{
	struct timeval wait = {.tv_sec = 20};
	struct tls_peer p;
	int64_t from;
	int n = 0;

	(void)state;
	F.o.request_ms = 1500;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	(void)setsockopt(p.fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	do {
		from = clock_boot_ms();
		n++;
	} while (n < 1000000 && say(&p, "GET /bad HTTP/1.1\r\nHost: x\r\n\r\n") == 0);
	assert_true(n < 1000000);
	assert_true(clock_boot_ms() - from < 18000); /* it was cut: `wait` is not over */
	UNTIL(stats().open == 0);
	assert_int_equal(stats().slow, 1);
	tls_peer_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_node_finds_room_among_strangers),
		TEST(a_stranger_finds_none_among_nodes),
		TEST(who_waits_for_the_loop_is_not_driven_out),
		TEST(a_node_has_so_many_connections_and_the_oldest_goes),
		TEST(ten_thousand_silent_connections_keep_no_node_out),
		TEST(a_handshake_that_stalls_is_cut),
		TEST(who_does_nothing_costs_nothing),
		TEST(a_handshake_that_drips_is_cut),
		TEST(a_second_handshake_ends_the_connection),
		TEST(pipelined_requests_are_answered_in_order),
		TEST(who_does_not_read_the_answers_is_cut),
	};

	return cmocka_run_group_tests(tests, make_ids, NULL);
}
