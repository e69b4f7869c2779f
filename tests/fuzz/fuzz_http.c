/* fuzz_http.c - any bytes as what a server answers, to io/http_client.c over a real connection, and
 * what it makes of them to driver sim.
 *
 * The first byte says into how large pieces they are cut, the second the method.  The server closes
 * behind the last piece.  Exactly one callback, with a reply within its limits or an error. */
#include <assert.h>
#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "providers/sim.h"
#include "tests/fuzz/driver_check.h"

enum { REPLY_MAX = 4096, TIMEOUT_MS = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct { /* libFuzzer gives no context */
	struct loop *loop;
	struct http_client *client;
	uv_tcp_t server;
	int port;
	void *sim;
	/* of one input */
	const uint8_t *data;
	size_t size, step;
	unsigned called;
} f;

struct peer { /* one connection, as the server has it */
	uv_tcp_t tcp;
	uv_write_t write;
	size_t at, size, step;
	char in[2048];
	char data[]; /* it may outlive the input */
};

static void on_peer_closed(uv_handle_t *h)
{
	free(h->data);
}

static void on_written(uv_write_t *w, int status);

/* The next piece, or the end. */
static void put(struct peer *p)
{
	size_t n = p->size - p->at < p->step ? p->size - p->at : p->step;
	uv_buf_t b = uv_buf_init(p->data + p->at, (unsigned)n);

	p->at += n;
	if ((n == 0 || uv_write(&p->write, (uv_stream_t *)&p->tcp, &b, 1, on_written) != 0) &&
	    !uv_is_closing((uv_handle_t *)&p->tcp))
		uv_close((uv_handle_t *)&p->tcp, on_peer_closed);
}

static void on_written(uv_write_t *w, int status)
{
	struct peer *p = w->data;

	if (status == 0 && !uv_is_closing((uv_handle_t *)&p->tcp))
		put(p);
	else if (!uv_is_closing((uv_handle_t *)&p->tcp))
		uv_close((uv_handle_t *)&p->tcp, on_peer_closed);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
	struct peer *p = h->data;

	(void)want;
	*b = uv_buf_init(p->in, sizeof(p->in));
}

static void on_request(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct peer *p = s->data;

	(void)b;
	if (n == 0 || uv_is_closing((uv_handle_t *)s))
		return;
	if (n < 0)
		uv_close((uv_handle_t *)s, on_peer_closed);
	else if (p->at == 0)
		put(p);
}

static void on_connection(uv_stream_t *s, int status)
{
	struct peer *p = mem_zalloc(sizeof(*p) + f.size);

	p->size = f.size;
	p->step = f.step;
	memcpy(p->data, f.data, f.size);
	assert(status == 0 && uv_tcp_init(s->loop, &p->tcp) == 0);
	p->tcp.data = p->write.data = p;
	if (uv_accept(s, (uv_stream_t *)&p->tcp) != 0 ||
	    uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_request) != 0)
		abort();
}

static void on_done(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	struct provider_reply reply;
	struct provider_result out = {0};

	(void)ctx;
	f.called++;
	loop_stop(f.loop);
	assert((r == NULL) != (e == NULL));
	if (e != NULL) {
		assert(e->code != ERR_NONE && e->msg[0] != '\0');
		return;
	}
	assert(r->status >= 100 && r->status < 1000);
	assert(r->len <= REPLY_MAX && r->body[r->len] == '\0');
	for (size_t i = 0; i < r->headers.n; i++) {
		const char *value = headers_get(&r->headers, r->headers.v[i].name);

		assert(value == NULL || strpbrk(value, "\r\n") == NULL);
	}
	reply = (struct provider_reply){r->status, r->body, r->len, r->headers};
	provider_sim.parse(f.sim, &op, &reply, &out);
	check_result(&op, &out);
	provider_result_fini(&out);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct provider_conf conf = {.name = "sim", .url = "http://127.0.0.1:1"};
	struct sockaddr_in sa;
	int n = sizeof(sa);

	(void)argc;
	(void)argv;
	(void)signal(SIGPIPE, SIG_IGN);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || loop_new(&f.loop, NULL) != 0 ||
	    http_client_new(&f.client, f.loop, NULL) != 0 ||
	    provider_sim.open(&f.sim, &conf, NULL) != 0)
		abort();
	if (uv_ip4_addr("0.0.0.0", 0, &sa) != 0 || uv_tcp_init(loop_uv(f.loop), &f.server) != 0 ||
	    uv_tcp_bind(&f.server, (struct sockaddr *)&sa, 0) != 0 ||
	    uv_listen((uv_stream_t *)&f.server, 128, on_connection) != 0 ||
	    uv_tcp_getsockname(&f.server, (struct sockaddr *)&sa, &n) != 0)
		abort();
	f.port = ntohs(sa.sin_port);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const methods[] = {"GET", "POST", "DELETE", "HEAD"};
	static unsigned count;
	char url[64];
	struct http_call call = {.url = url, .timeout_ms = TIMEOUT_MS, .max_reply = REPLY_MAX};
	struct err e = {0};

	if (size < 2)
		return 0;
	f.step = data[0] == 0 ? size : data[0];
	f.data = data + 2;
	f.size = size - 2;
	f.called = 0;
	/* A server for each few, for what is closed keeps its ports for a minute. */
	count++;
	(void)snprintf(url, sizeof(url), "http://127.%u.%u.1:%d/", 1 + count / 65536 % 250,
		       count / 256 % 256, f.port);
	call.method = methods[data[1] % 4];
	if (http_client_send(f.client, &call, on_done, NULL, NULL, &e) != 0) {
		(void)fprintf(stderr, "%s\n", e.msg);
		abort();
	}
	loop_run(f.loop);
	assert(f.called == 1);
	/* Let what is closed be closed. */
	for (int i = 0; i < 3; i++)
		(void)uv_run(loop_uv(f.loop), UV_RUN_NOWAIT);
	assert(f.called == 1);
	return 0;
}
