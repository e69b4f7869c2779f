/* node_listener.h - the node-facing listener on a loop in a thread of its own, so that its clients,
 * also here, can block; and certificates for both. */
#ifndef TESTS_NODE_LISTENER_H
#define TESTS_NODE_LISTENER_H

#include "io/node_server.h"

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
};

static struct fix F;
static struct tls_id ca, other_ca, server_id, other_server, node, expired, early, stranger,
	not_client, own, own_rsa, own_p384;

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
	an->status = strcmp(rq->http.path, "/none") == 0    ? 404
		     : strcmp(rq->http.path, "/wrong") == 0 ? 400
							    : 200;
	str_init(&s, 1 << 20);
	str_addf(&s, "%s %s?%s from=%s accept=%s auth=%s n=%zu ", rq->http.method, rq->http.path,
		 rq->http.query, rq->address,
		 http_header(&rq->http, "accept") ? http_header(&rq->http, "accept") : "-",
		 rq->http.authorization ? rq->http.authorization : "-", rq->http.len);
	str_addf(&s, "port=%u %s", (unsigned)rq->port, rq->peer.self ? "self " : "");
	for (size_t i = 0; (rq->peer.known || rq->peer.self) && i < sizeof(rq->peer.spki); i++)
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

/* Wait for `what`: a counter may be a moment behind what a client saw. */
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

/* Send one request on a new connection; the status, or -1. */
static inline int once(const struct tls_id *self, const char *path, char *out, size_t size)
{
	struct tls_peer p;
	int rc = dial(&p, self);

	if (rc == 0)
		rc = get(&p, path, out, size);
	tls_peer_close(&p);
	return rc;
}

/* Seconds until the other end closes. */
static inline double closed_after(int fd)
{
	int64_t from = clock_boot_ms();
	char c[256];

	while (recv(fd, c, sizeof(c), 0) > 0)
		;
	return (double)(clock_boot_ms() - from) / 1000;
}

/* --- certificates ----------------------------------------------------------------------------- */

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
	/* Self-signed, with a name of ours; expired, as a node's clock may have it. */
	c.cn = "c7";
	c.from_s = -DAY;
	c.to_s = -1;
	tls_id_make(&own, NULL, &c);
	c.rsa = true;
	tls_id_make(&own_rsa, NULL, &c);
	c.rsa = false;
	c.p384 = true;
	tls_id_make(&own_p384, NULL, &c);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
