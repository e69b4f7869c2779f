/* http_script.h - a scripted HTTP server in the loop of a test: its reply depends only on the
 * path. */
#ifndef TESTS_HTTP_SCRIPT_H
#define TESTS_HTTP_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "io/loop.h"

enum { BIG = 100000, CONN_IN = 16384 };

struct http_script;

struct conn {
	struct http_script *server;
	uv_tcp_t tcp;
	uv_timer_t drip;
	const char *drips; /* text that is sent over and over, a byte at a time */
	size_t ndrip;
	unsigned requests; /* on this connection */
	size_t n, skip;    /* skip: bytes of a body still to come */
	unsigned open;     /* open handles */
	char path[64];
	char in[CONN_IN];
};

struct http_script {
	struct loop *loop;
	uv_tcp_t srv;
	int port;
	unsigned accepted, requests;
	char request[CONN_IN]; /* head of the last request, as the server saw it */
};

static void on_conn_closed(uv_handle_t *h)
{
	struct conn *c = h->data;

	if (--c->open == 0)
		free(c);
}

static void conn_close(struct conn *c)
{
	if (uv_is_closing((uv_handle_t *)&c->tcp))
		return;
	uv_close((uv_handle_t *)&c->tcp, on_conn_closed);
	uv_close((uv_handle_t *)&c->drip, on_conn_closed);
}

static void on_alloc(uv_handle_t *h, size_t want, uv_buf_t *b)
{
	struct conn *c = h->data;

	(void)want;
	*b = uv_buf_init(c->in + c->n, (unsigned)(sizeof(c->in) - 1 - c->n));
}

static void on_written(uv_write_t *w, int status)
{
	(void)status;
	free(w);
}

static void put(struct conn *c, const char *s, size_t n)
{
	uv_write_t *w = malloc(sizeof(*w));
	uv_buf_t b = uv_buf_init((char *)(uintptr_t)s, (unsigned)n);

	if (uv_write(w, (uv_stream_t *)&c->tcp, &b, 1, on_written) != 0)
		abort();
}

static void on_drip(uv_timer_t *t)
{
	struct conn *c = t->data;

	put(c, c->drips + c->ndrip, 1);
	c->ndrip = (c->ndrip + 1) % strlen(c->drips);
}

static void drip(struct conn *c, const char *what, unsigned every_ms)
{
	c->drips = what;
	(void)uv_timer_start(&c->drip, on_drip, every_ms, every_ms);
}

enum act { ACT_REPLY, ACT_CLOSE, ACT_REPLY_AND_CLOSE, ACT_DRIP, ACT_FLOOD };

#define OK "HTTP/1.1 200 OK\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nhi"

#define TEN(x) x x x x x x x x x x

static const struct script {
	const char *path;
	enum act act;
	const char *text;
} scripts[] = {
	{"/ok", ACT_REPLY, OK},
	{"/created", ACT_REPLY, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi"},
	{"/part", ACT_REPLY, "HTTP/1.1 200 OK\r\nRe"},
	{"/hang", ACT_REPLY, ""},
	{"/drop", ACT_CLOSE, ""},
	{"/last", ACT_REPLY_AND_CLOSE, OK},
	{"/short", ACT_REPLY_AND_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi"},
	{"/dated", ACT_REPLY,
	 "HTTP/1.1 429 Too Many\r\ndate: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
	 "RETRY-AFTER: Wed, 21 Oct 2015 07:29:00 GMT\r\nContent-Length: 0\r\n\r\n"},
	{"/control", ACT_REPLY,
	 "HTTP/1.1 503 Busy\r\nRetry-After: \r8\r\nDate: Wed\x01\r\nContent-Length: 0\r\n\r\n"},
	{"/empty", ACT_REPLY,
	 "HTTP/1.1 503 Busy\r\nRetry-After:\r\nDate: \r\nContent-Length: 0\r\n\r\n"},
	{"/interim", ACT_REPLY, "HTTP/1.1 100 Continue\r\n\r\n" OK},
	{"/redirect", ACT_REPLY,
	 "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"},
	{"/gzip", ACT_REPLY,
	 "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"},
	{"/identity", ACT_REPLY,
	 "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi"},
	{"/garbage", ACT_REPLY_AND_CLOSE, "\x16\x03\x01 this is not HTTP\r\n\r\n"},
	{"/version", ACT_REPLY_AND_CLOSE,
	 "HTTP/222222222222221.1 201 OK\r\nContent-Length: 0\r\n\r\n"},
	{"/version22", ACT_REPLY_AND_CLOSE, "HTTP/22.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
	{"/http09", ACT_REPLY_AND_CLOSE, "<html>hello</html>"},
	{"/lateday", ACT_REPLY,
	 "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 300000000 08:49:37 GMT\r\nContent-Length: "
	 "0\r\n\r\n"},
	{"/badlength", ACT_REPLY_AND_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhi"},
	{"/badchunk", ACT_REPLY_AND_CLOSE,
	 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n"},
	{"/grows", ACT_REPLY,
	 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11\r\nanswer of a store\r\n"
	 "898\r\n" TEN(TEN("abcdefghijklmnopqrstuv")) "\r\n0\r\n\r\n"},
	{"/slowbody", ACT_DRIP, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"},
	{"/slowhead", ACT_DRIP, ""},
	{"/headers", ACT_FLOOD, "HTTP/1.1 200 OK\r\n"},
	{"/interims", ACT_FLOOD, ""},
	{"/chunks", ACT_FLOOD, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
	{"/big", ACT_FLOOD, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"},
};

/* The text that follows for ever (or until the client has had enough). */
static const char *flood_text(const char *path)
{
	if (strcmp(path, "/headers") == 0)
		return "X-More: 0123456789012345678901234567890123456789\r\n";
	if (strcmp(path, "/interims") == 0)
		return "HTTP/1.1 103 Early Hints\r\nX-More: 012345678901234567890123456789\r\n\r\n";
	if (strcmp(path, "/chunks") == 0)
		return "10\r\n0123456789abcdef\r\n";
	return "0123456789"; /* BIG is a multiple of its length */
}

static void flood(struct conn *c, const char *text, int times)
{
	static char big[BIG];
	size_t len = strlen(text), n = 0;

	while (n + len <= sizeof(big)) {
		memcpy(big + n, text, len);
		n += len;
	}
	for (int i = 0; i < times; i++)
		put(c, big, n);
}

static void play(struct conn *c, const struct script *s)
{
	if (s->text[0] != '\0')
		put(c, s->text, strlen(s->text));
	if (s->act == ACT_DRIP)
		drip(c, s->text[0] ? "x" : "HTTP/1.1 200 OK ", 100);
	if (s->act == ACT_FLOOD)
		flood(c, flood_text(s->path), strcmp(s->path, "/big") == 0 ? 1 : 10);
	if (s->act == ACT_CLOSE)
		conn_close(c);
	if (s->act == ACT_REPLY_AND_CLOSE)
		conn_close(c); /* libuv wrote it at once: it is short */
}

static void answer(struct conn *c)
{
	c->requests++;
	c->server->requests++;
	if (strcmp(c->path, "/second") == 0) { /* F32: the second request on a connection is cut */
		if (c->requests > 1)
			conn_close(c);
		else
			put(c, OK, strlen(OK));
		return;
	}
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (strcmp(c->path, scripts[i].path) == 0)
			play(c, &scripts[i]);
}

static void on_read(uv_stream_t *st, ssize_t n, const uv_buf_t *b)
{
	struct conn *c = st->data;
	const char *end, *length;
	size_t had;

	(void)b;
	if (n < 0) {
		conn_close(c);
		return;
	}
	if (c->skip > 0) { /* the rest of a body */
		c->skip -= (size_t)n < c->skip ? (size_t)n : c->skip;
		if (c->skip == 0)
			answer(c);
		return;
	}
	c->n += (size_t)n;
	c->in[c->n] = '\0';
	end = strstr(c->in, "\r\n\r\n");
	if (end == NULL)
		return;
	(void)snprintf(c->server->request, sizeof(c->server->request), "%s", c->in);
	c->path[0] = '\0';
	(void)sscanf(c->in, "%*s %63s", c->path);
	length = strstr(c->in, "Content-Length: ");
	had = c->n - (size_t)(end + 4 - c->in);
	c->n = 0;
	if (length != NULL && (size_t)atol(length + 16) > had)
		c->skip = (size_t)atol(length + 16) - had;
	else
		answer(c);
}

static void on_accept(uv_stream_t *s, int status)
{
	struct conn *c = calloc(1, sizeof(*c));

	(void)status;
	c->server = s->data;
	(void)uv_tcp_init(s->loop, &c->tcp);
	(void)uv_timer_init(s->loop, &c->drip);
	c->tcp.data = c->drip.data = c;
	c->open = 2;
	c->server->accepted++;
	(void)uv_accept(s, (uv_stream_t *)&c->tcp);
	(void)uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
}

static void http_script_start(struct http_script *h, struct loop *l)
{
	struct sockaddr_in a;
	int len = sizeof(a);

	h->loop = l;
	(void)uv_tcp_init(loop_uv(l), &h->srv);
	h->srv.data = h;
	(void)uv_ip4_addr("127.0.0.1", 0, &a);
	(void)uv_tcp_bind(&h->srv, (struct sockaddr *)&a, 0);
	if (uv_listen((uv_stream_t *)&h->srv, 512, on_accept) != 0)
		abort();
	(void)uv_tcp_getsockname(&h->srv, (struct sockaddr *)&a, &len);
	h->port = ntohs(a.sin_port);
}

static void close_conns(uv_handle_t *h, void *ctx)
{
	const struct http_script *s = ctx;

	if (h->type == UV_TCP && h != (const uv_handle_t *)&s->srv)
		conn_close(h->data);
}

/* Close the server and its connections; loop_free() waits for that. */
static void http_script_stop(struct http_script *h)
{
	uv_walk(loop_uv(h->loop), close_conns, h);
	uv_close((uv_handle_t *)&h->srv, NULL);
}

#endif
