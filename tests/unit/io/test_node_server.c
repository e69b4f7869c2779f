/* test_node_server.c - the node-facing listener over real sockets: each limit, certificates of
 * clients, new certificates while it runs, and what slow or rude clients come to.
 *
 * The loop runs in a thread of its own here, so that the clients can block. */
#include "io/node_server.h"

#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "tests/unit/io/tls_peer.h"

enum { HELD_MAX = 64, DAY = 86400, MANY = 8 };

struct fix {
	uv_loop_t loop;
	uv_async_t async;
	pthread_t thread;
	sem_t done, unblock, blocked;
	void (*fn)(struct fix *f);
	struct node_server *s;
	struct node_server_opts o;
	uint64_t held[HELD_MAX];
	unsigned nheld;
	atomic_uint served;
	bool checked;
	struct tls_id renewed_ca;
};

static struct fix F;
static struct tls_id ca, other_ca, server_id, other_server, node, expired, early, stranger,
	not_client;

/* --- the server and its loop ------------------------------------------------------------------ */

static void handler(void *ctx, const struct node_request *rq, struct http_answer *an)
{
	struct fix *f = ctx;
	struct str s;

	f->served++;
	if (strcmp(rq->http.path, "/hold") == 0) {
		assert_true(f->nheld < HELD_MAX);
		f->held[f->nheld++] = rq->http.ticket;
		an->later = true;
		return;
	}
	if (strcmp(rq->http.path, "/block") == 0) {
		(void)sem_post(&f->blocked);
		(void)sem_wait(&f->unblock);
	}
	an->drop = strcmp(rq->http.path, "/drop") == 0;
	an->secret = strcmp(rq->http.path, "/secret") == 0;
	an->status = 200;
	str_init(&s, 1 << 20);
	str_addf(&s, "%s %s?%s from=%s accept=%s auth=%s n=%zu ", rq->http.method, rq->http.path,
		 rq->http.query, rq->address,
		 http_header(&rq->http, "accept") ? http_header(&rq->http, "accept") : "-",
		 rq->http.authorization ? rq->http.authorization : "-", rq->http.len);
	for (size_t i = 0; rq->peer.known && i < sizeof(rq->peer.spki); i++)
		str_addf(&s, "%02x%s", rq->peer.spki[i], i + 1 < sizeof(rq->peer.spki) ? "" : " ");
	if (rq->peer.known)
		str_addf(&s, "cn=%s urn=%s serial=%s left=%d", rq->peer.cn, rq->peer.urn,
			 rq->peer.serial,
			 (int)((rq->peer.not_after_ms - clock_wall_ms()) / 1000 / 3600));
	an->len = s.len;
	an->body = str_take(&s);
}

static bool check(void *ctx, struct node_request *rq, struct http_answer *an)
{
	(void)ctx;
	an->status = 401;
	rq->lazy = strcmp(rq->http.path, "/lazy") == 0;
	return strcmp(rq->http.path, "/bad") == 0;
}

static void on_async(uv_async_t *h)
{
	struct fix *f = h->data;

	if (f->fn != NULL)
		f->fn(f);
	f->fn = NULL;
	(void)sem_post(&f->done);
}

static void on_loop(void (*fn)(struct fix *f))
{
	F.fn = fn;
	(void)uv_async_send(&F.async);
	(void)sem_wait(&F.done);
}

static void *run_loop(void *arg)
{
	struct fix *f = arg;

	(void)uv_run(&f->loop, UV_RUN_DEFAULT);
	return NULL;
}

static void start_on_loop(struct fix *f)
{
	struct err e = {0};

	if (node_server_start(&f->s, &f->loop, &f->o, handler, f, &e) != 0)
		print_message("# %s\n", e.msg);
	assert_non_null(f->s);
}

static void stop_on_loop(struct fix *f)
{
	if (f->s != NULL)
		node_server_stop(f->s);
	f->s = NULL;
}

static void end_on_loop(struct fix *f)
{
	stop_on_loop(f);
	uv_close((uv_handle_t *)&f->async, NULL);
}

static int setup(void **state)
{
	(void)state;
	memset(&F, 0, sizeof(F));
	F.o = (struct node_server_opts){.address = "127.0.0.1",
					.cert_pem = server_id.cert,
					.key_pem = server_id.key,
					.client_ca_pem = ca.cert,
					.gate = {.max_conns = 200},
					.request_ms = 10000,
					.keep_ms = 10000,
					.answer_ms = 10000,
					.queue_max = 16,
					.check = check};
	(void)sem_init(&F.done, 0, 0);
	(void)sem_init(&F.unblock, 0, 0);
	(void)sem_init(&F.blocked, 0, 0);
	assert_int_equal(uv_loop_init(&F.loop), 0);
	assert_int_equal(uv_async_init(&F.loop, &F.async, on_async), 0);
	F.async.data = &F;
	assert_int_equal(pthread_create(&F.thread, NULL, run_loop, &F), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	on_loop(end_on_loop);
	(void)pthread_join(F.thread, NULL);
	assert_int_equal(uv_loop_close(&F.loop), 0);
	return 0;
}

static void start(void)
{
	on_loop(start_on_loop);
}

static struct node_server_stats stats(void)
{
	struct node_server_stats st;

	node_server_stats(F.s, &st);
	return st;
}

/* The counter may be a moment behind what a client saw. */
#define UNTIL(what)                                                                                \
	do {                                                                                       \
		int left_ = 500;                                                                   \
		while (!(what) && left_-- > 0)                                                     \
			(void)usleep(10000);                                                       \
		assert_true(what);                                                                 \
	} while (0)

/* --- clients ---------------------------------------------------------------------------------- */

static int dial(struct tls_peer *p, const struct tls_id *self)
{
	return tls_peer_open(p, node_server_port(F.s), ca.cert, self);
}

static int say(struct tls_peer *p, const char *text)
{
	return tls_peer_send(p, text, strlen(text));
}

static int get(struct tls_peer *p, const char *path, char *out, size_t size)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n", path);
	return say(p, text) != 0 ? -1 : tls_peer_reply(p, out, size);
}

/* A connection of its own; the status, or -1. */
static int once(const struct tls_id *self, const char *path, char *out, size_t size)
{
	struct tls_peer p;
	int rc = dial(&p, self);

	if (rc == 0)
		rc = get(&p, path, out, size);
	tls_peer_close(&p);
	return rc;
}

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

/* --- certificates ----------------------------------------------------------------------------- */

static void a_client_without_a_certificate_is_served_as_nobody(void **state)
{
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(NULL, "/a%20b?x=1", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "GET /a b?x=1 from=127.0.0.1 accept=text/plain auth=- n=0 "));
	assert_null(strstr(out, "cn="));
}

static void a_good_certificate_says_who_it_is(void **state)
{
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(&node, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c7 urn=urn:burst:node:c7:3 serial=4a07 left=23"));
}

/* As node_ca.h and claims know a key: what GnuTLS says is what OpenSSL would. */
static void a_certificate_is_known_by_the_hash_of_its_key(void **state)
{
	unsigned char *der = NULL, hash[SHA256_DIGEST_LENGTH];
	BIO *bio = BIO_new_mem_buf(node.cert, -1);
	X509 *x = PEM_read_bio_X509(bio, NULL, NULL, NULL);
	int n = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(x), &der);
	char out[4096], want[2 * sizeof(hash) + 1];

	(void)state;
	assert_true(n > 0);
	assert_non_null(SHA256(der, (size_t)n, hash));
	for (size_t i = 0; i < sizeof(hash); i++)
		(void)snprintf(want + 2 * i, 3, "%02x", hash[i]);
	start();
	assert_int_equal(once(&node, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, want));
	OPENSSL_free(der);
	X509_free(x);
	BIO_free(bio);
}

/* The loop sleeps on, but no longer than that; with anybody else's request it is woken anyway. */
static void what_is_lazy_waits_for_others_or_a_second(void **state)
{
	int64_t began = clock_boot_ms();
	struct tls_peer lazy, other;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(NULL, "/lazy", out, sizeof(out)), 200);
	assert_in_range(clock_boot_ms() - began, NODE_LAZY_MS, 10000);
	assert_int_equal(dial(&lazy, NULL), 0);
	assert_int_equal(dial(&other, NULL), 0);
	assert_int_equal(say(&lazy, "GET /lazy HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	UNTIL(stats().requests == 2);
	assert_int_equal(get(&other, "/", out, sizeof(out)), 200);
	assert_int_equal(F.served, 3); /* in the same round */
	assert_int_equal(tls_peer_reply(&lazy, out, sizeof(out)), 200);
	tls_peer_close(&lazy);
	tls_peer_close(&other);
}

/* More of them than half a queue do not fill it. */
static void lazy_ones_do_not_fill_the_queue(void **state)
{
	struct tls_peer p[MANY];
	char out[4096];

	(void)state;
	F.o.queue_max = MANY;
	start();
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(dial(&p[i], NULL), 0);
		assert_int_equal(say(&p[i], "GET /lazy HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(tls_peer_reply(&p[i], out, sizeof(out)), 200);
		tls_peer_close(&p[i]);
	}
	assert_int_equal(stats().queue_full, 0);
}

static void a_secret_answer_goes_out_like_any_other(void **state)
{
	char out[4096];

	(void)state;
	start();
	assert_int_equal(once(NULL, "/secret", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "GET /secret"));
}

static void a_bad_certificate_ends_the_handshake(void **state)
{
	const struct {
		const char *name;
		const struct tls_id *id;
	} bad[] = {{"of another CA", &stranger},
		   {"expired", &expired},
		   {"not yet good", &early},
		   {"for servers", &not_client},
		   {"the CA itself", &other_ca}};
	char out[4096];

	(void)state;
	start();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		print_message("# %s\n", bad[i].name);
		assert_int_equal(once(bad[i].id, "/", out, sizeof(out)), -1);
		UNTIL(stats().mute == i + 1);
	}
	assert_int_equal(F.served, 0);
	assert_int_equal(stats().requests, 0);
}

static void renew_on_loop(struct fix *f)
{
	struct err e;

	assert_int_equal(node_server_renew(f->s, "nonsense", server_id.key, ca.cert, &e), -1);
	assert_int_equal(node_server_renew(f->s, other_server.cert, other_server.key, "", &e), -1);
	assert_int_equal(
		node_server_renew(f->s, other_server.cert, other_server.key, other_ca.cert, &e), 0);
}

static int renewed(void)
{
	struct tls_peer p;
	int rc = tls_peer_open(&p, node_server_port(F.s), other_ca.cert, NULL);

	tls_peer_close(&p);
	return rc == 0;
}

static void new_certificates_are_for_new_connections(void **state)
{
	struct tls_peer old, next;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(dial(&old, &node), 0);
	assert_int_equal(get(&old, "/", out, sizeof(out)), 200);
	on_loop(renew_on_loop);
	UNTIL(renewed());
	assert_int_equal(get(&old, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c7"));
	assert_int_equal(tls_peer_open(&next, node_server_port(F.s), other_ca.cert, &stranger), 0);
	assert_int_equal(get(&next, "/", out, sizeof(out)), 200);
	assert_non_null(strstr(out, "cn=c8"));
	tls_peer_close(&next);
	assert_int_equal(tls_peer_open(&next, node_server_port(F.s), ca.cert, NULL), -1);
	tls_peer_close(&next);
	tls_peer_close(&old);
}

/* --- size ------------------------------------------------------------------------------------- */

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

static int with_header(size_t n)
{
	struct tls_peer p;
	char *text = mem_zalloc(n + 128), out[4096];
	int rc;

	(void)snprintf(text, n + 128, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: ");
	memset(text + strlen(text), 'x', n);
	memcpy(text + strlen(text), "\r\n\r\n", 5);
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
	(void)state;
	start();
	assert_int_equal(with_header(8000), 200);
	assert_int_equal(with_header(8300), 431);
	assert_int_not_equal(with_header(100000), 200);
	assert_int_equal(F.served, 1);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Seconds until the other end closes. */
static double closed_after(int fd)
{
	int64_t from = clock_boot_ms();
	char c[256];

	while (recv(fd, c, sizeof(c), 0) > 0)
		;
	return (double)(clock_boot_ms() - from) / 1000;
}

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

static void a_connection_that_rests_is_closed_later(void **state)
{
	struct tls_peer p;
	char out[4096];

	(void)state;
	F.o.request_ms = 1000;
	F.o.keep_ms = 3500;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	(void)usleep(2000000);
	assert_int_equal(get(&p, "/", out, sizeof(out)), 200);
	assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), -1);
	assert_int_equal(stats().slow, 1);
	tls_peer_close(&p);
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
	static const struct node_gate_opts limits[] = {{.max_conns = 3},
						       {.max_per_addr = 3},
						       {.accepts_per_s = 3},
						       {.accepts_per_addr_s = 3}};
	unsigned open;
	int fd[MANY];

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		F.o.gate = limits[i];
		start();
		open = open_many(fd, MANY);
		/* A rate gains tokens meanwhile, on a slow machine more. */
		assert_in_range(open, 3, i < 2 ? 3 : MANY - 1);
		assert_int_equal(i < 2 ? stats().over_number : stats().over_rate, MANY - open);
		assert_int_equal(i < 2 ? stats().over_rate : stats().over_number, 0);
		UNTIL(stats().open == 0);
		on_loop(stop_on_loop);
	}
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

static void a_full_queue_is_503_without_the_loop(void **state)
{
	struct tls_peer blocker, p[3];
	char out[4096];

	(void)state;
	F.o.queue_max = 2;
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

/* --- requests --------------------------------------------------------------------------------- */

static void the_check_answers_before_the_loop(void **state)
{
	struct tls_peer p;
	char out[4096];

	(void)state;
	start();
	assert_int_equal(dial(&p, NULL), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(get(&p, "/bad", out, sizeof(out)), 401);
	assert_int_equal(F.served, 0);
	assert_int_equal(stats().refused, 50);
	assert_int_equal(get(&p, "/good", out, sizeof(out)), 200);
	assert_int_equal(stats().accepted, 1);
	tls_peer_close(&p);
}

static void requests_sent_at_once_are_answered_in_turn(void **state)
{
	struct tls_peer p;
	struct str s;
	char out[4096], want[32];

	(void)state;
	start();
	str_init(&s, 65536);
	for (int i = 0; i < 20; i++)
		str_addf(&s, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i);
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(tls_peer_send(&p, s.p, s.len), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
		(void)snprintf(want, sizeof(want), "POST /%d?", i);
		assert_non_null(strstr(out, want));
	}
	str_fini(&s);
	tls_peer_close(&p);
}

static void what_is_not_TLS_or_not_HTTP_harms_nobody(void **state)
{
	static const char *const rude[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
					   "\x16\x03\x01\xff\xff\x01", "\n\n\n\n"};
	struct tls_peer p;
	char out[4096];

	(void)state;
	F.o.request_ms = 1500;
	start();
	for (size_t i = 0; i < sizeof(rude) / sizeof(rude[0]); i++) {
		int fd = tcp_open(node_server_port(F.s));

		assert_int_equal(send(fd, rude[i], strlen(rude[i]), MSG_NOSIGNAL), strlen(rude[i]));
		(void)closed_after(fd);
		(void)close(fd);
	}
	assert_int_equal(dial(&p, NULL), 0);
	assert_int_equal(say(&p, "what? ever\r\n\r\n"), 0);
	assert_int_not_equal(tls_peer_reply(&p, out, sizeof(out)), 200);
	tls_peer_close(&p);
	assert_int_equal(F.served, 0);
	assert_int_equal(once(NULL, "/", out, sizeof(out)), 200);
}

static void answer_on_loop(struct fix *f)
{
	while (f->nheld > 0) {
		struct http_answer an = {.status = 201, .body = mem_strdup("late"), .len = 4};

		node_server_answer(f->s, f->held[--f->nheld], &an);
		/* Once more, and one that never was: both are ignored, and their bodies freed. */
		an.body = mem_strdup("twice");
		node_server_answer(f->s, f->held[f->nheld], &an);
		an.body = mem_strdup("stray");
		node_server_answer(f->s, f->held[f->nheld] + (UINT64_C(7) << 32), &an);
	}
}

static void answers_come_later_by_ticket(void **state)
{
	struct tls_peer p[MANY];
	char out[4096];

	(void)state;
	start();
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(dial(&p[i], NULL), 0);
		assert_int_equal(say(&p[i], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	}
	UNTIL(F.served == MANY);
	tls_peer_close(&p[0]); /* who went away is no trouble */
	on_loop(answer_on_loop);
	for (int i = 1; i < MANY; i++) {
		assert_int_equal(tls_peer_reply(&p[i], out, sizeof(out)), 201);
		assert_non_null(strstr(out, "\r\n\r\nlate"));
		tls_peer_close(&p[i]);
	}
	assert_int_equal(once(NULL, "/drop", out, sizeof(out)), -1);
	UNTIL(stats().open == 0);
}

static void stopping_closes_all_and_waits_for_nobody(void **state)
{
	struct tls_peer held, idle;
	int raw;
	char out[4096];
	int64_t from;

	(void)state;
	start();
	assert_int_equal(dial(&held, NULL), 0);
	assert_int_equal(say(&held, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
	UNTIL(F.served == 1);
	assert_int_equal(dial(&idle, &node), 0);
	raw = tcp_open(node_server_port(F.s));
	from = clock_boot_ms();
	on_loop(stop_on_loop);
	assert_in_range(clock_boot_ms() - from, 0, 3000);
	assert_int_equal(tls_peer_reply(&held, out, sizeof(out)), -1);
	assert_int_equal(tls_peer_reply(&idle, out, sizeof(out)), -1);
	(void)closed_after(raw);
	(void)close(raw);
	tls_peer_close(&held);
	tls_peer_close(&idle);
}

static void refused_on_loop(struct fix *f)
{
	struct err e = {0};
	struct node_server_opts o = f->o;

	o.address = "localhost";
	assert_int_equal(node_server_start(&f->s, &f->loop, &o, handler, f, &e), -1);
	o = f->o;
	o.key_pem = other_server.key;
	assert_int_equal(node_server_start(&f->s, &f->loop, &o, handler, f, &e), -1);
	assert_non_null(strstr(e.msg, "TLS"));
	o = f->o;
	o.address = "192.0.2.1";
	assert_int_equal(node_server_start(&f->s, &f->loop, &o, handler, f, &e), -1);
	assert_non_null(strstr(e.msg, "cannot listen"));
}

static void what_cannot_start_says_why(void **state)
{
	(void)state;
	on_loop(refused_on_loop);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int make_ids(void **state)
{
	const struct tls_id_opts authority = {.cn = "CA", .ca = true, .from_s = -60, .to_s = DAY},
				 srv = {.cn = "burstd", .server = true, .from_s = -60, .to_s = DAY};
	struct tls_id_opts c = {
		.cn = "c7", .urn = "urn:burst:node:c7:3", .from_s = -60, .to_s = DAY, .serial = 7};

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	tls_id_make(&ca, NULL, &authority);
	tls_id_make(&other_ca, NULL, &authority);
	tls_id_make(&server_id, &ca, &srv);
	tls_id_make(&other_server, &other_ca, &srv);
	tls_id_make(&node, &ca, &c);
	c.from_s = -DAY;
	c.to_s = -1;
	tls_id_make(&expired, &ca, &c);
	c.from_s = 3600;
	c.to_s = DAY;
	tls_id_make(&early, &ca, &c);
	c.from_s = -60;
	c.server = true;
	tls_id_make(&not_client, &ca, &c);
	c.server = false;
	c.cn = "c8";
	tls_id_make(&stranger, &other_ca, &c);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_without_a_certificate_is_served_as_nobody),
		TEST(a_good_certificate_says_who_it_is),
		TEST(a_certificate_is_known_by_the_hash_of_its_key),
		TEST(what_is_lazy_waits_for_others_or_a_second),
		TEST(lazy_ones_do_not_fill_the_queue),
		TEST(a_secret_answer_goes_out_like_any_other),
		TEST(a_bad_certificate_ends_the_handshake),
		TEST(new_certificates_are_for_new_connections),
		TEST(a_body_may_have_64_KiB),
		TEST(headers_may_have_8_KiB),
		TEST(silence_before_TLS_is_cut),
		TEST(a_request_that_dribbles_is_cut),
		TEST(a_connection_that_rests_is_closed_later),
		TEST(an_answer_that_does_not_come_is_503),
		TEST(what_is_too_much_is_dropped_at_accept),
		TEST(asking_too_often_without_a_certificate_is_429),
		TEST(a_full_queue_is_503_without_the_loop),
		TEST(the_check_answers_before_the_loop),
		TEST(requests_sent_at_once_are_answered_in_turn),
		TEST(what_is_not_TLS_or_not_HTTP_harms_nobody),
		TEST(answers_come_later_by_ticket),
		TEST(stopping_closes_all_and_waits_for_nobody),
		TEST(what_cannot_start_says_why),
	};

	return cmocka_run_group_tests(tests, make_ids, NULL);
}
