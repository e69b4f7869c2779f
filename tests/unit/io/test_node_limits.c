/* test_node_limits.c - each limit of the node-facing listener over real sockets, and what slow
 * clients come to. */
#include "node_listener.h"

/* --- size ------------------------------------------------------------------------------------- */

static int post(struct tls_peer *p, size_t len, bool chunked)
{
	char head[256], out[1024], *body = mem_zalloc(len + 1);
	int rc;

	memset(body, 'x', len);
	if (chunked)
		(void)snprintf(head, sizeof(head),
			       "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
			       "chunked\r\n\r\n%zx\r\n",
			       len);
	else
		(void)snprintf(head, sizeof(head),
			       "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", len);
	rc = say(p, head);
	if (rc == 0)
		rc = tls_peer_send(p, body, len);
	if (rc == 0 && chunked)
		rc = say(p, "\r\n0\r\n\r\n");
	free(body);
	return rc != 0 ? -1 : tls_peer_reply(p, out, sizeof(out));
}

static void a_body_may_have_64_KiB(void **state)
{
	const struct {
		size_t len;
		bool chunked;
		int status;
	} t[] = {{0, false, 200},         {65536, false, 200},   {65537, false, 413},
		 {200000, false, 413},    {65536, true, 200},    {65537, true, 413},
		 {64 * 65536, false, -1}, {64 * 65536, true, -1}};

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct tls_peer p;

		print_message("# %zu bytes\n", t[i].len);
		assert_int_equal(dial(&p, NULL), 0);
		assert_int_equal(post(&p, t[i].len, t[i].chunked), t[i].status);
		tls_peer_close(&p);
	}
	assert_int_equal(F.served, 3);
}

/* The answer to a request whose first line and headers are `len` bytes, of which most are between
 * `before` and `after`. */
static int of_length(const char *before, const char *after, size_t len)
{
	const size_t at = strlen(before), n = len - at - strlen(after);
	char *text = mem_zalloc(len + 1), out[4096];
	struct tls_peer p;
	int rc;

	memcpy(text, before, at);
	memset(text + at, 'x', n);
	memcpy(text + at + n, after, strlen(after));
	assert_int_equal(dial(&p, NULL), 0);
	rc = say(&p, text);
	if (rc == 0)
		rc = tls_peer_reply(&p, out, sizeof(out));
	tls_peer_close(&p);
	free(text);
	return rc;
}

static void headers_may_have_8_KiB(void **state)
{
	static const char header[] = "GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", end[] = "\r\n\r\n",
			  query[] = "GET /?", more[] = " HTTP/1.1\r\nHost: x\r\n\r\n",
			  method[] = " / HTTP/1.1\r\nHost: x\r\n\r\n";

	(void)state;
	start();
	assert_int_equal(of_length(header, end, NODE_HEADER_MAX), 200);
	assert_int_equal(of_length(header, end, NODE_HEADER_MAX + 1), 431);
	assert_int_equal(of_length(query, more, NODE_HEADER_MAX), 200);
	assert_int_equal(of_length(query, more, NODE_HEADER_MAX + 1), 431);
	assert_int_not_equal(of_length("", method, NODE_HEADER_MAX), 431);
	assert_int_equal(of_length("", method, NODE_HEADER_MAX + 1), 431);
	assert_int_not_equal(of_length(header, end, 100000), 200);
	assert_int_equal(F.served, 3);
}

/* --- time ------------------------------------------------------------------------------------- */

static void silence_before_TLS_is_cut(void **state)
{
	double s;
	int fd;

	(void)state;
	F.o.request_ms = 400;
	start();
	fd = tcp_open(node_server_port(F.s));
	s = closed_after(fd);
	(void)close(fd);
	assert_true(s > 0.2 && s < 5);
	UNTIL(stats().open == 0);
	assert_int_equal(stats().slow, 1);
	assert_int_equal(stats().mute, 1);
}

/* A byte each 20 ms is never silent, and never done. */
static void a_request_that_dribbles_is_cut(void **state)
{
	static const char *const begin[] = {
		"", "GET / HTTP/1.1\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"};

	(void)state;
	F.o.request_ms = 1200;
	start();
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
		struct tls_peer p;
		int64_t from = clock_boot_ms();

		assert_int_equal(dial(&p, NULL), 0);
		assert_int_equal(say(&p, begin[i]), 0);
		while (say(&p, "x") == 0 && clock_boot_ms() - from < 12000)
			(void)usleep(20000);
		tls_peer_close(&p);
		assert_in_range(clock_boot_ms() - from, 600, 10000);
		UNTIL(stats().slow == i + 1);
	}
	assert_int_equal(F.served, 0);
}

static void a_node_may_rest_longer_than_a_stranger(void **state)
{
	struct tls_peer p, nobody;
	char out[4096];

	(void)state;
	F.o.request_ms = 1000;
	F.o.keep_ms = 8000;
	start();
	assert_int_equal(dial(&p, &node), 0);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	assert_int_equal(dial(&nobody, NULL), 0);
	assert_int_equal(get(&nobody, "/", out, sizeof(out)), 200);
	UNTIL(stats().slow == 1);
	assert_int_equal(get(&nobody, "/", out, sizeof(out)), -1);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), -1);
	assert_int_equal(stats().slow, 2);
	tls_peer_close(&p);
	tls_peer_close(&nobody);
}

static void an_answer_that_does_not_come_is_503(void **state)
{
	struct tls_peer p;
	char out[4096];

	(void)state;
	F.o.answer_ms = 300;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(get(&p, "/hold", out, sizeof(out)), 503);
	assert_non_null(strcasestr(out, "Retry-After: 5"));
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	assert_int_equal(stats().unanswered, 1);
	tls_peer_close(&p);
}

/* --- number ----------------------------------------------------------------------------------- */

static unsigned open_many(int *fd, unsigned n)
{
	unsigned open = 0;
	char c;

	for (unsigned i = 0; i < n; i++)
		fd[i] = tcp_open(node_server_port(F.s));
	(void)usleep(300000);
	for (unsigned i = 0; i < n; i++)
		open += fd[i] >= 0 && recv(fd[i], &c, 1, MSG_DONTWAIT) < 0;
	for (unsigned i = 0; i < n; i++)
		(void)close(fd[i]);
	return open;
}

static void what_is_too_much_is_dropped_at_accept(void **state)
{
	static const struct node_gate_opts limits[] = {{.accepts_per_s = 3},
						       {.accepts_per_addr_s = 3}};
	unsigned open;
	int fd[MANY];

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		F.o.gate = limits[i];
		start();
		open = open_many(fd, MANY);
		/* A rate gains tokens meanwhile, on a slow machine more. */
		assert_in_range(open, 3, MANY - 1);
		assert_int_equal(stats().over_rate, MANY - open);
		UNTIL(stats().open == 0);
		on_loop(stop_on_loop);
	}
}

/* The rest is for providers, Slurm and the journal. */
static void fewer_descriptors_are_fewer_connections(void **state)
{
	static const struct {
		uint64_t files;
		unsigned conns, strangers;
	} t[] = {{65536, 14000, 2000}, {16000, 14000, 2000}, {15000, 13125, 2000},
		 {4096, 3584, 896},    {1024, 768, 192},     {512, 256, 64},
		 {256, 128, 32},       {0, 64, 16}};
	struct node_server_opts o = {.queue_max = 0};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		node_server_limits(&o, t[i].files);
		assert_int_equal(o.gate.max_conns, t[i].conns);
		assert_int_equal(o.gate.max_strangers, t[i].strangers);
	}
	/* Who has come in has the time of a request, before he may be driven out. */
	assert_true(2000 / o.gate.accepts_per_s * 1000 >= o.request_ms);
	assert_true(o.gate.max_per_addr / o.gate.accepts_per_addr_s * 1000 >= o.request_ms);
	assert_true(o.queue_max / 2 > 10000 / 30);
	assert_int_equal(o.max_refused, NODE_REFUSED_MAX);
	assert_in_range(o.gate.asks_per_key_s, 5, 50);
}

static void asking_too_often_without_a_certificate_is_429(void **state)
{
	struct tls_peer p, good;
	char out[4096];
	int status = 200, n = 0;

	(void)state;
	F.o.gate.asks_per_addr_s = 5;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(dial(&good, &node), 0);
	while (status == 200 && n++ < 100)
		status = get(&p, "/", out, sizeof(out));
	assert_int_equal(status, 429);
	assert_in_range(n, 6, 12);
	for (int i = 0; i < 20; i++)
		assert_int_equal(get(&good, "/", out, sizeof(out)), 200);
	tls_peer_close(&p);
	tls_peer_close(&good);
}

/* Whoever has taken over a node has its certificate, but neither the loop nor the others' time. */
static void asking_too_often_with_a_certificate_is_429(void **state)
{
	struct tls_peer p[2], other;
	char out[4096];
	int status = 200, n = 0;

	(void)state;
	F.o.gate.asks_per_key_s = 5;
	start();
	for (int i = 0; i < 2; i++)
		assert_int_equal(dial(&p[i], &node), 0);
	while (status == 200 && n++ < 100)
		status = get(&p[n % 2], "/", out, sizeof(out));
	assert_int_equal(status, 429);
	assert_in_range(n, 6, 12);
	assert_int_equal(dial(&other, NULL), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(get(&other, "/", out, sizeof(out)), 200);
	assert_true(stats().asked_too_often > 0);
	tls_peer_close(&other);
	for (int i = 0; i < 2; i++)
		tls_peer_close(&p[i]);
}

static void a_full_queue_is_503_without_the_loop(void **state)
{
	struct tls_peer blocker, p[3];
	char out[4096];

	(void)state;
	F.o.queue_max = 2;
	F.o.max_refused = 1; /* which this is none of */
	start();
	assert_int_equal(dial(&blocker, NULL), 0);
	assert_int_equal(say(&blocker, "GET /block HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	(void)sem_wait(&F.blocked);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dial(&p[i], NULL), 0);
		assert_int_equal(say(&p[i], "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
		if (i < 2)
			UNTIL(stats().requests == (uint64_t)i + 2);
	}
	assert_int_equal(tls_peer_reply(&p[2], out, sizeof(out)), 503);
	assert_null(strstr(out, "Connection: close"));
	assert_non_null(strcasestr(out, "Retry-After: 5"));
	/* So is what the check refuses. */
	assert_int_equal(get(&p[2], "/bad", out, sizeof(out)), 401);
	assert_int_equal(stats().queue_full, 1);
	(void)sem_post(&F.unblock);
	for (int i = 0; i < 2; i++)
		assert_int_equal(tls_peer_reply(&p[i], out, sizeof(out)), 200);
	for (int i = 0; i < 3; i++)
		tls_peer_close(&p[i]);
	tls_peer_close(&blocker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_body_may_have_64_KiB),
		TEST(headers_may_have_8_KiB),
		TEST(silence_before_TLS_is_cut),
		TEST(a_request_that_dribbles_is_cut),
		TEST(a_node_may_rest_longer_than_a_stranger),
		TEST(an_answer_that_does_not_come_is_503),
		TEST(what_is_too_much_is_dropped_at_accept),
		cmocka_unit_test(fewer_descriptors_are_fewer_connections),
		TEST(asking_too_often_without_a_certificate_is_429),
		TEST(asking_too_often_with_a_certificate_is_429),
		TEST(a_full_queue_is_503_without_the_loop),
	};

	return cmocka_run_group_tests(tests, make_ids, NULL);
}
