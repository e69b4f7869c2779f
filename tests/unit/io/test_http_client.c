/* test_http_client.c - http_client against a scripted server in the same loop, and real TLS by
 * openssl(1). */
#include "io/http_client.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "io/loop.h"

enum { BIG = 100000, CONN_IN = 16384 };

struct conn {
	uv_tcp_t tcp;
	uv_timer_t drip;
	const char *drips; /* repeated, a byte at a time */
	size_t ndrip;
	unsigned requests; /* on this connection */
	size_t n, skip;    /* skip: bytes of a body still to come */
	unsigned open;     /* handles */
	char path[64];
	char in[CONN_IN];
};

static struct fix {
	struct loop *l;
	uv_tcp_t srv;
	int port;
	struct http_client *c;
	unsigned ok, bad, notsent, accepted, requests, again;
	bool closed;
	int code;
	long status;
	size_t len;
	char msg[256], retry_after[64], date[64], body[64];
	char request[CONN_IN]; /* the last one's head, as the server saw it */
	uint64_t handle;
	unsigned expired;
} F;

static char big[BIG];

/* --- the server ------------------------------------------------------------------------------- */

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

	assert_int_equal(uv_write(w, (uv_stream_t *)&c->tcp, &b, 1, on_written), 0);
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

static const struct script {
	const char *path;
	enum act act;
	const char *text;
} scripts[] = {
	{"/ok", ACT_REPLY, OK},
	{"/part", ACT_REPLY, "HTTP/1.1 200 OK\r\nRe"},
	{"/hang", ACT_REPLY, ""},
	{"/drop", ACT_CLOSE, ""},
	{"/last", ACT_REPLY_AND_CLOSE, OK},
	{"/short", ACT_REPLY_AND_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi"},
	{"/dated", ACT_REPLY,
	 "HTTP/1.1 429 Too Many\r\ndate: Wed, 21 Oct 2015 07:28:00 GMT\r\n"
	 "RETRY-AFTER: Wed, 21 Oct 2015 07:29:00 GMT\r\nContent-Length: 0\r\n\r\n"},
	{"/interim", ACT_REPLY, "HTTP/1.1 100 Continue\r\n\r\n" OK},
	{"/redirect", ACT_REPLY,
	 "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"},
	{"/gzip", ACT_REPLY,
	 "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b"},
	{"/identity", ACT_REPLY,
	 "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi"},
	{"/garbage", ACT_REPLY_AND_CLOSE, "\x16\x03\x01 this is not HTTP\r\n\r\n"},
	{"/http09", ACT_REPLY_AND_CLOSE, "<html>hello</html>"},
	{"/badlength", ACT_REPLY_AND_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhi"},
	{"/badchunk", ACT_REPLY_AND_CLOSE,
	 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n"},
	{"/slowbody", ACT_DRIP, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"},
	{"/slowhead", ACT_DRIP, ""},
	{"/headers", ACT_FLOOD, "HTTP/1.1 200 OK\r\n"},
	{"/interims", ACT_FLOOD, ""},
	{"/chunks", ACT_FLOOD, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
	{"/big", ACT_FLOOD, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"},
};

/* What comes after the text, for ever (or until the client has had enough). */
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
	F.requests++;
	if (strcmp(c->path, "/second") == 0) { /* F32: whoever comes on a used connection is cut */
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
	(void)snprintf(F.request, sizeof(F.request), "%s", c->in);
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
	(void)uv_tcp_init(loop_uv(F.l), &c->tcp);
	(void)uv_timer_init(loop_uv(F.l), &c->drip);
	c->tcp.data = c->drip.data = c;
	c->open = 2;
	F.accepted++;
	(void)uv_accept(s, (uv_stream_t *)&c->tcp);
	(void)uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
}

/* --- the fixture ------------------------------------------------------------------------------ */

static int setup(void **state)
{
	struct sockaddr_in a;
	int len = sizeof(a);

	(void)state;
	memset(&F, 0, sizeof(F));
	if (loop_new(&F.l, NULL) != 0)
		return -1;
	(void)uv_tcp_init(loop_uv(F.l), &F.srv);
	(void)uv_ip4_addr("127.0.0.1", 0, &a);
	(void)uv_tcp_bind(&F.srv, (struct sockaddr *)&a, 0);
	(void)uv_listen((uv_stream_t *)&F.srv, 512, on_accept);
	(void)uv_tcp_getsockname(&F.srv, (struct sockaddr *)&a, &len);
	F.port = ntohs(a.sin_port);
	return http_client_new(&F.c, F.l, NULL);
}

static void on_closed(void *ctx)
{
	(void)ctx;
	assert_false(F.closed);
	F.closed = true;
}

static void close_all(uv_handle_t *h, void *ctx)
{
	(void)ctx;
	if (uv_is_closing(h))
		return;
	if (h->type == UV_TCP && h != (uv_handle_t *)&F.srv)
		conn_close(h->data);
}

static int teardown(void **state)
{
	(void)state;
	if (F.c != NULL)
		http_client_close(F.c, on_closed, NULL);
	while (!F.closed)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	uv_walk(loop_uv(F.l), close_all, NULL);
	uv_close((uv_handle_t *)&F.srv, NULL);
	loop_free(F.l);
	return 0;
}

static void done(void *ctx, const struct http_reply *r, const struct err *e)
{
	(void)ctx;
	assert_true((r == NULL) != (e == NULL));
	if (e != NULL) {
		F.bad++;
		F.code = e->code;
		F.notsent += e->code == ERR_NOTSENT;
		(void)snprintf(F.msg, sizeof(F.msg), "%s", e->msg);
		return;
	}
	F.ok++;
	F.code = 0;
	F.status = r->status;
	F.len = r->len;
	assert_int_equal(r->body[r->len], 0);
	(void)snprintf(F.body, sizeof(F.body), "%s", r->body);
	(void)snprintf(F.retry_after, sizeof(F.retry_after), "%s",
		       r->retry_after ? r->retry_after : "(none)");
	(void)snprintf(F.date, sizeof(F.date), "%s", r->date ? r->date : "(none)");
}

static int send_call(struct http_call *k, const char *method, const char *url)
{
	k->method = method;
	k->url = url;
	k->timeout_ms = k->timeout_ms ? k->timeout_ms : 5000;
	k->max_reply = k->max_reply ? k->max_reply : 4096;
	return http_client_send(F.c, k, done, NULL, &F.handle, NULL);
}

static const char *url_of(const char *path)
{
	static char url[128];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", F.port, path);
	return url;
}

static void wait_for(unsigned n)
{
	while (F.ok + F.bad < n)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	assert_int_equal(F.ok + F.bad, n);
}

static void begin(const char *method, const char *path, uint32_t ms)
{
	struct http_call k = {.timeout_ms = ms};

	assert_int_equal(send_call(&k, method, url_of(path)), 0);
}

static void ask(const char *method, const char *path, uint32_t ms)
{
	unsigned before = F.ok + F.bad;

	begin(method, path, ms);
	assert_int_equal(F.ok + F.bad, before); /* never from inside */
	wait_for(before + 1);
}

static void on_expired(void *ctx)
{
	(void)ctx;
	F.expired++;
}

static void pass(int64_t ms)
{
	struct timer *t = timer_new(F.l, on_expired, NULL);
	unsigned before = F.expired;

	timer_at(t, loop_now(F.l) + ms);
	while (F.expired == before)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	timer_free(t);
}

/* --- replies ---------------------------------------------------------------------------------- */

static const struct {
	const char *path;
	int code;
	long status;
	const char *body, *retry_after, *date, *msg;
} rows[] = {
	{"/ok", 0, 200, "hi", "7", "(none)", ""},
	{"/dated", 0, 429, "", "Wed, 21 Oct 2015 07:29:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT",
	 ""},
	{"/interim", 0, 200, "hi", "7", "(none)", ""},
	{"/redirect", 0, 302, "", "(none)", "(none)", ""}, /* F31: not followed */
	{"/identity", 0, 200, "hi", "(none)", "(none)", ""},
	{"/drop", ERR_NET, 0, "", "", "", ""},
	{"/part", ERR_NET, 0, "", "", "", ""},
	{"/hang", ERR_NET, 0, "", "", "", ""},
	{"/short", ERR_NET, 0, "", "", "", ""},
	{"/gzip", ERR_NET, 0, "", "", "", "compressed"}, /* F29 */
	{"/garbage", ERR_NET, 0, "", "", "", ""},        /* F30 */
	{"/http09", ERR_NET, 0, "", "", "", ""},
	{"/badlength", ERR_NET, 0, "", "", "", ""},
	{"/badchunk", ERR_NET, 0, "", "", "", ""},
	{"/big", ERR_LIMIT, 0, "", "", "", "longer than 4096"}, /* F29 */
	{"/chunks", ERR_LIMIT, 0, "", "", "", "longer than 4096"},
	{"/headers", ERR_LIMIT, 0, "", "", "", "headers longer"},
	{"/interims", ERR_LIMIT, 0, "", "", "", "headers longer"},
};

static void test_replies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].path);
		F.msg[0] = '\0';
		ask("GET", rows[i].path, 400);
		assert_int_equal(F.code, rows[i].code);
		assert_non_null(strstr(F.msg, rows[i].msg));
		if (rows[i].code != 0)
			continue;
		assert_int_equal(F.status, rows[i].status);
		assert_string_equal(F.body, rows[i].body);
		assert_string_equal(F.retry_after, rows[i].retry_after);
		assert_string_equal(F.date, rows[i].date);
	}
}

static void test_longest_reply(void **state)
{
	struct http_call k = {.max_reply = BIG};

	(void)state;
	assert_int_equal(send_call(&k, "GET", url_of("/big")), 0);
	wait_for(1);
	assert_int_equal(F.code, 0);
	assert_int_equal(F.len, BIG);
	k.max_reply = BIG - 1;
	assert_int_equal(send_call(&k, "GET", url_of("/big")), 0);
	wait_for(2);
	assert_int_equal(F.code, ERR_LIMIT);
}

/* F28: bytes keep coming, so that only a floor on the rate ends it before the deadline. */
static void test_slow_loris(void **state)
{
	static const char *const paths[] = {"/slowbody", "/slowhead"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct http_call k = {.timeout_ms = 20000, .stall_s = 1, .max_reply = BIG};
		int64_t before = loop_now(F.l);

		assert_int_equal(send_call(&k, "GET", url_of(paths[i])), 0);
		wait_for(i + 1);
		assert_int_equal(F.code, ERR_NET);
		assert_in_range(loop_now(F.l) - before, 900, 6000);
	}
}

/* --- requests --------------------------------------------------------------------------------- */

static void test_what_is_sent(void **state)
{
	static const char *const own[] = {"Content-Type: application/json", "X-Token: t", NULL};
	struct http_call k = {.headers = own, .body = "{}\0x", .body_len = 4};

	(void)state;
	assert_int_equal(send_call(&k, "PATCH", url_of("/ok")), 0);
	wait_for(1);
	assert_memory_equal(F.request, "PATCH /ok HTTP/1.1\r\n", 20);
	assert_non_null(strstr(F.request, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(F.request, "\r\nX-Token: t\r\n"));
	assert_non_null(strstr(F.request, "\r\nContent-Length: 4\r\n"));
	assert_null(strstr(F.request, "Accept-Encoding"));
	assert_null(strstr(F.request, "Expect"));
	assert_null(strstr(F.request, "Cookie"));
	ask("POST", "/ok", 1000);
	assert_non_null(strstr(F.request, "\r\nContent-Length: 0\r\n"));
	assert_null(strstr(F.request, "Content-Type"));
	ask("DELETE", "/ok", 1000);
	assert_memory_equal(F.request, "DELETE /ok ", 11);
	assert_null(strstr(F.request, "Content-Length"));
	ask("GET", "/ok", 1000);
	assert_memory_equal(F.request, "GET /ok ", 8);
	assert_int_equal(F.ok, 4);
}

static void test_head(void **state)
{
	(void)state;
	ask("HEAD", "/dated", 1000);
	assert_int_equal(F.status, 429);
	assert_memory_equal(F.request, "HEAD ", 5);
}

/* F32: no waiting for "100 Continue". */
static void test_large_body(void **state)
{
	size_t len = 3 << 20;
	char *body = calloc(1, len);
	struct http_call k = {.body = body, .body_len = len};
	int64_t before = loop_now(F.l);

	(void)state;
	assert_int_equal(send_call(&k, "POST", url_of("/ok")), 0);
	free(body); /* it was borrowed during the send only */
	wait_for(1);
	assert_int_equal(F.code, 0);
	assert_null(strstr(F.request, "Expect"));
	assert_in_range(loop_now(F.l) - before, 0, 900); /* libcurl would wait for 1 s */
}

/* 6.1: header injection. */
static void test_control_bytes_are_refused(void **state)
{
	static const char *const evil[] = {"X-Node: n1\r\nX-Admin: yes", NULL};
	static const struct {
		const char *method, *url;
		const char *const *headers;
	} bad[] = {
		{"GET", "http://127.0.0.1/", evil},
		{"GET", "http://127.0.0.1/\r\nX: y", NULL},
		{"GET", "http://127.0.0.1/a b", NULL},
		{"GET\r\nX: y", "http://127.0.0.1/", NULL},
		{"GET /other", "http://127.0.0.1/", NULL},
		{"GET", "http://127.0.0.1/\x7f", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct http_call k = {.method = bad[i].method,
				      .url = bad[i].url,
				      .headers = bad[i].headers,
				      .timeout_ms = 1000};
		struct err e = {0};

		assert_int_equal(http_client_send(F.c, &k, done, NULL, NULL, &e), -1);
		assert_int_equal(e.code, ERR_INVALID);
	}
	pass(20);
	assert_int_equal(F.ok + F.bad, 0);
}

static void test_no_proxy(void **state)
{
	static const char *const names[] = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(setenv(names[i], "http://127.0.0.1:1", 1), 0);
	ask("GET", "/ok", 1000);
	assert_int_equal(F.code, 0);
	for (size_t i = 0; i < 4; i++)
		(void)unsetenv(names[i]);
}

static void test_descriptors_are_not_inherited(void **state)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *ent;
	unsigned checked = 0;

	(void)state;
	begin("GET", "/hang", 60000);
	while (F.requests == 0)
		(void)uv_run(loop_uv(F.l), UV_RUN_ONCE);
	while ((ent = readdir(d)) != NULL) {
		struct sockaddr_storage a = {0};
		socklen_t len = sizeof(a);
		int fd = atoi(ent->d_name);

		/* libcurl has one that is not TCP and that it does not tell us of: proc.c takes
		 * care. */
		if (getsockname(fd, (struct sockaddr *)&a, &len) != 0 || a.ss_family != AF_INET)
			continue;
		assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		checked++;
	}
	(void)closedir(d);
	assert_int_equal(checked, 3); /* the listener and both ends */
}

/* --- sent or not ------------------------------------------------------------------------------ */

/* F26, F27, F31: no byte of the request can have gone out. */
static void test_not_sent(void **state)
{
	char https[64], user[64];
	const struct {
		const char *name, *url, *ca_file;
	} bad[] = {
		{"refused", "http://127.0.0.1:1/", NULL},
		{"bad port", "http://127.0.0.1:99999/", NULL},
		{"no host", "http:///", NULL},
		{"no URL", "", NULL},
		{"file", "file:///etc/passwd", NULL},
		{"gopher", "gopher://127.0.0.1/", NULL},
		{"name and password", user, NULL},
		{"TLS that is not TLS", https, NULL},
		{"missing CA file", https, "/nowhere/ca.pem"},
	};

	(void)state;
	(void)snprintf(https, sizeof(https), "https://127.0.0.1:%d/ok", F.port);
	(void)snprintf(user, sizeof(user), "http://u:p@127.0.0.1:%d/ok", F.port);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct http_call k = {.ca_file = bad[i].ca_file, .timeout_ms = 300};

		print_message("# %s\n", bad[i].name);
		assert_int_equal(send_call(&k, "POST", bad[i].url), 0);
		wait_for(i + 1);
		assert_int_equal(F.code, ERR_NOTSENT);
	}
	assert_int_equal(F.requests, 0);
}

/* A listener that nobody accepts from: the queue is full, and further SYNs are dropped. */
static void test_connect_timeout_is_not_sent(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct http_call k = {.timeout_ms = 300};
	socklen_t len = sizeof(a);
	int srv = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd[3];
	char url[64];

	(void)state;
	assert_int_equal(bind(srv, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(srv, (struct sockaddr *)&a, &len), 0);
	assert_int_equal(listen(srv, 0), 0);
	for (int i = 0; i < 3; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)connect(fd[i], (struct sockaddr *)&a, sizeof(a));
	}
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(a.sin_port));
	assert_int_equal(send_call(&k, "POST", url), 0);
	wait_for(1);
	assert_int_equal(F.code, ERR_NOTSENT);
	for (int i = 0; i < 3; i++)
		(void)close(fd[i]);
	(void)close(srv);
}

/* Nothing queues inside libcurl, so nothing ends there unsent, however slow the server is. */
static void test_no_queue(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		begin("GET", "/hang", 500);
	wait_for(100);
	assert_int_equal(F.requests, 100);
	assert_int_equal(F.bad, 100);
	assert_int_equal(F.notsent, 0);
}

static void test_cap_on_requests(void **state)
{
	struct http_call k = {.method = "GET", .url = "http://127.0.0.1:1/", .timeout_ms = 5000};
	struct err e = {0};

	(void)state;
	for (int i = 0; i < HTTP_CLIENT_MAX; i++)
		assert_int_equal(http_client_send(F.c, &k, done, NULL, NULL, NULL), 0);
	assert_int_equal(http_client_send(F.c, &k, done, NULL, NULL, &e), -1);
	assert_int_equal(e.code, ERR_NOTSENT);
	wait_for(HTTP_CLIENT_MAX);
	assert_int_equal(F.notsent, HTTP_CLIENT_MAX);
}

/* --- one connection for many requests --------------------------------------------------------- */

static void test_reuse(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		ask(i % 2 ? "GET" : "POST", "/ok", 1000);
	assert_int_equal(F.ok, 5);
	assert_int_equal(F.accepted, 1);
}

/* F32: the server closed the connection while nobody used it, and we know. */
static void test_closed_while_idle(void **state)
{
	(void)state;
	ask("GET", "/last", 1000);
	pass(50);
	ask("POST", "/ok", 1000);
	assert_int_equal(F.ok, 2);
	assert_int_equal(F.accepted, 2);
	assert_int_equal(F.requests, 2);
}

/* F32: the server closes it when our request is on its way.  It may have acted on it. */
static void test_cut_on_a_reused_connection(void **state)
{
	static const struct {
		const char *method;
		bool again;
	} methods[] = {{"POST", false}, {"PUT", false}, {"DELETE", false}, {"PATCH", false},
		       {"post", false}, {"GET", true},  {"HEAD", true}};

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		print_message("# %s\n", methods[i].method);
		ask("GET", "/ok", 1000);
		F.requests = 0;
		ask(methods[i].method, "/second", 1000);
		assert_int_equal(F.requests, methods[i].again ? 2 : 1);
		assert_int_equal(F.code, methods[i].again ? 0 : ERR_NET);
	}
}

static void test_cut_with_a_body(void **state)
{
	struct http_call k = {.body = "{\"count\":1}", .body_len = 11};

	(void)state;
	ask("GET", "/ok", 1000);
	F.requests = 0;
	assert_int_equal(send_call(&k, "POST", url_of("/second")), 0);
	wait_for(2);
	pass(50);
	assert_int_equal(F.requests, 1);
	assert_int_equal(F.code, ERR_NET);
}

/* --- callbacks -------------------------------------------------------------------------------- */

static void test_many(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++)
		begin("GET", i % 7 ? "/ok" : "/drop", 10000);
	wait_for(400);
	assert_int_equal(F.bad, 58);
	assert_int_equal(F.notsent, 0);
}

static void test_cancel(void **state)
{
	(void)state;
	begin("GET", "/hang", 60000);
	pass(20);
	http_client_cancel(F.c, F.handle + 1);
	assert_int_equal(F.bad, 0);
	http_client_cancel(F.c, F.handle);
	assert_int_equal(F.bad, 1);
	assert_int_equal(F.code, ERR_CANCELLED);
	http_client_cancel(F.c, F.handle);
	pass(20);
	assert_int_equal(F.bad, 1);
}

static void test_cancel_at_once(void **state)
{
	(void)state;
	begin("GET", "/ok", 1000);
	http_client_cancel(F.c, F.handle);
	pass(20);
	assert_int_equal(F.bad, 1);
	assert_int_equal(F.requests, 0);
}

static void test_close_while_busy(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		begin("GET", "/hang", 60000);
	pass(20);
	http_client_close(F.c, on_closed, NULL);
	F.c = NULL;
	assert_int_equal(F.bad, 20);
	assert_int_equal(F.code, ERR_CANCELLED);
	assert_false(F.closed);
}

static void done_again(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct http_call k = {
		.method = "GET", .url = url_of("/ok"), .timeout_ms = 1000, .max_reply = 100};

	done(ctx, r, e);
	if (++F.again < 50)
		assert_int_equal(http_client_send(F.c, &k, done_again, NULL, NULL, NULL), 0);
}

static void test_send_inside_callback(void **state)
{
	(void)state;
	done_again(NULL, &(struct http_reply){.body = ""}, NULL);
	wait_for(50);
	assert_int_equal(F.ok, 50);
	assert_int_equal(F.accepted, 1);
}

static void done_close(void *ctx, const struct http_reply *r, const struct err *e)
{
	struct http_client *c = F.c;

	done(ctx, r, e);
	F.c = NULL;
	if (c != NULL)
		http_client_close(c, on_closed, NULL);
}

static void test_close_inside_callback(void **state)
{
	struct http_call k = {
		.method = "GET", .url = url_of("/ok"), .timeout_ms = 1000, .max_reply = 100};

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(http_client_send(F.c, &k, done_close, NULL, NULL, NULL), 0);
	wait_for(10);
}

/* --- TLS, by openssl(1) ----------------------------------------------------------------------- */

struct tls {
	char dir[32], cert[64], other[64], key[64];
	pid_t pid;
	int port;
};

static int quietly(const char *const *argv)
{
	union {
		const char *const *in;
		char **out;
	} u = {.in = argv};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		(void)dup2(null, 0);
		(void)dup2(null, 1);
		(void)dup2(null, 2);
		(void)execvp(u.out[0], u.out);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make_cert(const struct tls *t, const char *cert, const char *san)
{
	const char *const argv[] = {"openssl",
				    "req",
				    "-x509",
				    "-newkey",
				    "ec",
				    "-pkeyopt",
				    "ec_paramgen_curve:P-256",
				    "-nodes",
				    "-days",
				    "2",
				    "-subj",
				    "/CN=test",
				    "-addext",
				    san,
				    "-keyout",
				    t->key,
				    "-out",
				    cert,
				    NULL};

	return quietly(argv);
}

static void tls_child(const struct tls *t, int out)
{
	int null = open("/dev/null", O_RDWR);

	(void)dup2(null, 0);
	(void)dup2(out, 1);
	(void)dup2(null, 2);
	(void)execlp("openssl", "openssl", "s_server", "-4", "-accept", "127.0.0.1:0", "-cert",
		     t->cert, "-key", t->key, "-www", (char *)NULL);
	_exit(127);
}

static void tls_start(struct tls *t, const char *san)
{
	char line[256];
	int fd[2];
	FILE *f;

	t->pid = 0;
	t->port = 0;
	assert_int_equal(make_cert(t, t->cert, san), 0);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	t->pid = fork();
	if (t->pid == 0)
		tls_child(t, fd[1]);
	(void)close(fd[1]);
	f = fdopen(fd[0], "r");
	while (t->port == 0 && fgets(line, sizeof(line), f) != NULL)
		(void)sscanf(line, "ACCEPT 127.0.0.1:%d", &t->port);
	(void)fclose(f);
}

static void tls_stop(struct tls *t)
{
	if (t->pid > 0) {
		(void)kill(t->pid, SIGKILL);
		(void)waitpid(t->pid, NULL, 0);
	}
	t->pid = 0;
}

/* F27: which certificates are trusted, and that a request to others is not sent. */
static const struct {
	const char *name, *san;
	bool own_ca; /* trust the server's certificate; else another's, or the system's */
	bool other_ca;
	int code;
} certs[] = {
	{"our own CA", "subjectAltName=IP:127.0.0.1", true, false, 0},
	{"the system's CAs", "subjectAltName=IP:127.0.0.1", false, false, ERR_NOTSENT},
	{"another CA", "subjectAltName=IP:127.0.0.1", false, true, ERR_NOTSENT},
	{"wrong host", "subjectAltName=DNS:example.org", true, false, ERR_NOTSENT},
	{"wrong address", "subjectAltName=IP:127.0.0.2", true, false, ERR_NOTSENT},
};

static void check_cert(struct tls *t, size_t i)
{
	struct http_call k = {.max_reply = 65536};
	unsigned before = F.ok + F.bad;
	char url[64];

	print_message("# %s\n", certs[i].name);
	tls_start(t, certs[i].san);
	if (certs[i].own_ca)
		k.ca_file = t->cert;
	else if (certs[i].other_ca)
		k.ca_file = t->other;
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%d/", t->port);
	assert_int_equal(send_call(&k, "GET", url), 0);
	wait_for(before + 1);
	tls_stop(t);
	assert_int_equal(F.code, certs[i].code);
	assert_true(F.code != 0 || F.status == 200);
}

static void test_tls(void **state)
{
	static const char *const version[] = {"openssl", "version", NULL};
	struct tls t = {.dir = "/tmp/httpsXXXXXX"};

	(void)state;
	if (quietly(version) != 0)
		skip();
	assert_non_null(mkdtemp(t.dir));
	(void)snprintf(t.cert, sizeof(t.cert), "%s/cert.pem", t.dir);
	(void)snprintf(t.other, sizeof(t.other), "%s/other.pem", t.dir);
	(void)snprintf(t.key, sizeof(t.key), "%s/key.pem", t.dir);
	assert_int_equal(make_cert(&t, t.other, "subjectAltName=IP:127.0.0.1"), 0);
	for (size_t i = 0; i < sizeof(certs) / sizeof(certs[0]); i++)
		check_cert(&t, i);
	(void)unlink(t.cert);
	(void)unlink(t.other);
	(void)unlink(t.key);
	(void)rmdir(t.dir);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_replies),
		T(test_longest_reply),
		T(test_slow_loris),
		T(test_what_is_sent),
		T(test_head),
		T(test_large_body),
		T(test_control_bytes_are_refused),
		T(test_no_proxy),
		T(test_descriptors_are_not_inherited),
		T(test_not_sent),
		T(test_connect_timeout_is_not_sent),
		T(test_no_queue),
		T(test_cap_on_requests),
		T(test_reuse),
		T(test_closed_while_idle),
		T(test_cut_on_a_reused_connection),
		T(test_cut_with_a_body),
		T(test_many),
		T(test_cancel),
		T(test_cancel_at_once),
		T(test_close_while_busy),
		T(test_send_inside_callback),
		T(test_close_inside_callback),
		T(test_tls),
	};
#undef T
	int rc;

	(void)curl_global_init(CURL_GLOBAL_ALL);
	rc = cmocka_run_group_tests_name("http_client", tests, NULL, NULL);
	curl_global_cleanup();
	return rc;
}
