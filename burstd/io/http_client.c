#include "io/http_client.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

#include "base/header_lines.h"
#include "base/mem.h"
#include "io/loop.h"

struct xfer { /* one request, from send to callback */
	struct xfer *next, **prevp;
	struct http_client *client;
	CURL *easy;
	struct curl_slist *headers;
	uint64_t handle;
	char *body;
	size_t len, cap, max;
	struct header_lines head; /* of the reply */
	bool too_long;
	bool repeatable; /* no harm if the server gets it twice */
	bool secret;     /* wipe the reply, too */
	char *sent;      /* the body; libcurl borrows it */
	size_t sent_len;
	bool resend; /* libcurl wanted to send it again, and was refused */
	http_done_fn done;
	http_data_fn on_data;
	size_t given; /* bytes of the body that went there */
	void *ctx;
	char errbuf[CURL_ERROR_SIZE];
};

struct sock { /* one socket libcurl asked us to watch */
	uv_poll_t poll;
	struct http_client *client;
	curl_socket_t fd;
};

struct http_client {
	struct loop *loop;
	CURLM *multi;
	struct timer *timer; /* libcurl's; when closing, ours */
	struct timer *rest;  /* when report_one() goes on */
	bool resting;
	struct xfer *xfers;
	unsigned nxfers;
	uint64_t next_handle;
	unsigned socks; /* not yet closed */
	bool closing;
	http_closed_fn closed;
	void *closed_ctx;
};

static void xfer_free(struct xfer *x)
{
	if (x == NULL)
		return;
	curl_easy_cleanup(x->easy);
	for (struct curl_slist *h = x->headers; h != NULL; h = h->next)
		explicit_bzero(h->data, strlen(h->data));
	if (x->sent != NULL)
		explicit_bzero(x->sent, x->sent_len);
	if (x->secret && x->body != NULL)
		explicit_bzero(x->body, x->cap);
	header_lines_fini(&x->head);
	curl_slist_free_all(x->headers);
	free(x->body);
	free(x->sent);
	free(x);
}

static long status_of(struct xfer *x)
{
	long status = 0;

	(void)curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

#define DATE_MAX_S INT64_C(253402300799) /* of the year 9999: what is later is no Date */

/* Take *x out of the client and tell its owner. */
static void xfer_finish(struct xfer *x, const struct err *e)
{
	struct http_reply reply = {.status = status_of(x),
				   .body = x->body ? x->body : "",
				   .len = x->len,
				   .headers = x->head.headers};
	const char *date;
	time_t at;

	(void)curl_multi_remove_handle(x->client->multi, x->easy);
	x->client->nxfers--;
	*x->prevp = x->next;
	if (x->next != NULL)
		x->next->prevp = x->prevp;
	date = headers_get(&reply.headers, "Date");
	at = date != NULL ? curl_getdate(date, NULL) : -1;
	reply.date_ms = at > 0 && at <= DATE_MAX_S ? (int64_t)at * 1000 : 0;
	x->done(x->ctx, e ? NULL : &reply, e);
	xfer_free(x);
}

/* How many bytes of the request went out, over all connections libcurl tried; -1: unknown.  With
 * TLS only what was encrypted counts, so a failed handshake is 0. */
static long bytes_sent(CURL *easy)
{
	long sent = -1;

	return curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &sent) == CURLE_OK ? sent : -1;
}

static enum err_code net_code(struct xfer *x)
{
	return bytes_sent(x->easy) == 0 ? ERR_NOTSENT : ERR_NET;
}

/* burstd asks for no compression, so no driver could read this reply. */
static bool is_compressed(struct xfer *x)
{
	const char *coding = headers_get(&x->head.headers, "Content-Encoding");

	return coding != NULL && strcasecmp(coding, "identity") != 0;
}

/* 0, or -1 with *e. */
static int judge(struct xfer *x, CURLcode rc, struct err *e)
{
	if (x->too_long)
		return err_set(e, ERR_LIMIT, "reply longer than %zu bytes", x->max);
	if (x->head.bytes > HTTP_CLIENT_HEADERS_MAX)
		return err_set(e, ERR_LIMIT, "headers longer than %d bytes",
			       HTTP_CLIENT_HEADERS_MAX);
	if (x->resend)
		return err_set(e, ERR_NET, "connection closed before a reply");
	if (rc != CURLE_OK)
		return err_set(e, net_code(x), "%s",
			       x->errbuf[0] ? x->errbuf : curl_easy_strerror(rc));
	if (is_compressed(x))
		return err_set(e, ERR_NET, "compressed reply, which was not asked for");
	/* libcurl takes "HTTP/22.1 200" for status 22, or for 200: it depends on its release. */
	if (x->head.strange || status_of(x) < 100 || status_of(x) > 999)
		return err_set(e, ERR_NET, "malformed HTTP status line");
	return 0;
}

/* Report one finished transfer; the next waits for the next pass of the loop.  Reading an answer of
 * a thousand instances takes milliseconds, and ten may come at once. */
static void report_one(struct http_client *c)
{
	CURLMsg *m;
	int left;

	while (!c->closing && !c->resting && (m = curl_multi_info_read(c->multi, &left)) != NULL) {
		struct xfer *x = NULL;
		CURLcode rc = m->data.result;
		struct err e;

		if (m->msg != CURLMSG_DONE)
			continue;
		(void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &x);
		c->resting = true;
		if (judge(x, rc, &e) == 0)
			xfer_finish(x, NULL);
		else
			xfer_finish(x, &e);
		timer_at(c->rest, 0); /* after all timers that became due meanwhile */
	}
}

/* Let libcurl handle a socket.  Finished transfers are reported from a timer, after all sockets,
 * and not from here: so each pass of the loop reports only one. */
static void kick(struct http_client *c, curl_socket_t fd, int flags)
{
	int running;
	CURLMcode rc = curl_multi_socket_action(c->multi, fd, flags, &running);

	/* libcurl would never report a transfer that it had no memory for. */
	(void)mem_check(rc == CURLM_OUT_OF_MEMORY ? NULL : &rc);
	if (!c->resting) { /* always: `running` may already be 0 */
		c->resting = true;
		timer_at(c->rest, 0);
	}
}

static void on_timer(void *ctx)
{
	struct http_client *c = ctx;

	if (!c->closing) {
		kick(c, CURL_SOCKET_TIMEOUT, 0);
	} else if (c->socks == 0) {
		timer_free(c->timer);
		timer_free(c->rest);
		c->closed(c->closed_ctx);
		free(c);
	}
}

static void on_rested(void *ctx)
{
	struct http_client *c = ctx;

	c->resting = false;
	report_one(c);
}

/* Never call back into libcurl from here: timer_at() does not, even for 0 ms. */
static int on_curl_timer(CURLM *multi, long ms, void *ctx)
{
	struct http_client *c = ctx;

	(void)multi;
	if (!c->closing)
		timer_at(c->timer, ms < 0 ? INT64_MAX : loop_now(c->loop) + ms);
	return 0;
}

static void on_poll(uv_poll_t *p, int status, int events)
{
	struct sock *s = p->data;
	int flags = 0;

	if (status < 0)
		flags = CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	kick(s->client, s->fd, flags); /* may free *s's socket; do not touch it */
}

static void on_sock_closed(uv_handle_t *h)
{
	struct sock *s = h->data;
	struct http_client *c = s->client;

	free(s);
	if (--c->socks == 0 && c->closing)
		timer_at(c->timer, 0);
}

static struct sock *sock_new(struct http_client *c, curl_socket_t fd)
{
	struct sock *s = mem_zalloc(sizeof(*s));

	s->client = c;
	s->fd = fd;
	if (uv_poll_init_socket(loop_uv(c->loop), &s->poll, fd) != 0) {
		free(s);
		return NULL;
	}
	s->poll.data = s;
	c->socks++;
	(void)curl_multi_assign(c->multi, fd, s);
	return s;
}

/* Always 0: after an error from here libcurl would never finish any transfer again.  A socket that
 * could not be watched ends by its time-out. */
static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *sockp)
{
	struct http_client *c = ctx;
	struct sock *s = sockp;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		/* Close now, not later: the fd number may come back at once and
		 * libuv allows one poll handle per fd. */
		if (s != NULL) {
			(void)curl_multi_assign(c->multi, fd, NULL);
			uv_close((uv_handle_t *)&s->poll, on_sock_closed);
		}
		return 0;
	}
	if (c->closing)
		return 0; /* curl_multi_cleanup() still talks to us */
	if (s == NULL)
		s = sock_new(c, fd);
	if (what & CURL_POLL_IN)
		events |= UV_READABLE;
	if (what & CURL_POLL_OUT)
		events |= UV_WRITABLE;
	if (s != NULL)
		(void)uv_poll_start(&s->poll, events, on_poll);
	return 0;
}

static size_t on_body(char *data, size_t one, size_t n, void *ctx)
{
	struct xfer *x = ctx;
	size_t need = x->len + n + 1;

	assert(one == 1);
	if (n > x->max - x->len - x->given) {
		x->too_long = true;
		return 0;
	}
	if (x->on_data != NULL && status_of(x) == 200) {
		x->given += n;
		x->on_data(x->ctx, data, n);
		return n;
	}
	if (need > x->cap) {
		/* Never move a secret: a copy would stay behind. */
		size_t cap = x->secret ? x->max + 1 : need < 2048 ? 2048 : 2 * need;

		x->body = mem_realloc(x->body, cap);
		x->cap = cap;
	}
	memcpy(x->body + x->len, data, n);
	x->len += n;
	x->body[x->len] = '\0';
	return n;
}

/* libcurl sends a request again, on a new connection, when a reused one ended before the first byte
 * of a reply: whatever the method, and although the server may have acted on it (F32).  From 7.80
 * on it asks before each sending; before that only a new connection for each such request helps. */
#if LIBCURL_VERSION_NUM >= 0x075000
static int on_before_send(void *ctx, char *peer_ip, char *own_ip, int peer_port, int own_port)
{
	struct xfer *x = ctx;

	(void)peer_ip;
	(void)own_ip;
	(void)peer_port;
	(void)own_port;
	if (x->repeatable || bytes_sent(x->easy) == 0)
		return CURL_PREREQFUNC_OK;
	x->resend = true;
	return CURL_PREREQFUNC_ABORT;
}

static void send_once(struct xfer *x)
{
	(void)curl_easy_setopt(x->easy, CURLOPT_PREREQFUNCTION, on_before_send);
	(void)curl_easy_setopt(x->easy, CURLOPT_PREREQDATA, x);
}
#else
static void send_once(struct xfer *x)
{
	(void)curl_easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, x->repeatable ? 0L : 1L);
}
#endif

/* Read the headers here: curl_easy_header() came with libcurl 7.83, and EL9 has 7.76. */
static size_t on_header(char *data, size_t one, size_t n, void *ctx)
{
	struct xfer *x = ctx;

	return header_lines_take(&x->head, data, one * n) ? one * n : 0;
}

/* Keep the socket from programs that burstd starts. */
static int on_new_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	(void)ctx;
	(void)purpose;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return CURL_SOCKOPT_OK;
}

int http_client_new(struct http_client **out, struct loop *loop, struct err *e)
{
	struct http_client *c = mem_zalloc(sizeof(*c));

	(void)e; /* nothing can fail yet */
	c->multi = mem_check(curl_multi_init());
	c->loop = loop;
	c->timer = timer_new(loop, on_timer, c);
	c->rest = timer_new(loop, on_rested, c);
	(void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	(void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
	(void)curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	(void)curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
	/* No limits: a transfer in libcurl's queue is neither sent nor refused, and its time runs.
	 */
	(void)curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 0L);
	(void)curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 0L);
	(void)curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_CLIENT_IDLE);
	*out = c;
	return 0;
}

/* Abort if setopt had no memory, or the request would be another one.  Its other errors are
 * programming mistakes. */
static void check_set(CURLcode rc)
{
	(void)mem_check(rc == CURLE_OUT_OF_MEMORY ? NULL : &rc);
}

static void set_peer(struct xfer *x, const struct http_call *call)
{
	check_set(curl_easy_setopt(x->easy, CURLOPT_URL, call->url));
#if LIBCURL_VERSION_NUM >= 0x075500
	(void)curl_easy_setopt(x->easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	(void)curl_easy_setopt(x->easy, CURLOPT_PROTOCOLS,
			       (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	(void)curl_easy_setopt(x->easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	(void)curl_easy_setopt(x->easy, CURLOPT_FOLLOWLOCATION, 0L);
	(void)curl_easy_setopt(x->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl_easy_setopt(x->easy, CURLOPT_NOSIGNAL, 1L);
	check_set(curl_easy_setopt(x->easy, CURLOPT_PROXY, ""));
	(void)curl_easy_setopt(x->easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	(void)curl_easy_setopt(x->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	(void)curl_easy_setopt(x->easy, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
	if (call->ca_file != NULL) {
		check_set(curl_easy_setopt(x->easy, CURLOPT_CAINFO, call->ca_file));
		/* Else the system's directory would be trusted, too. */
		(void)curl_easy_setopt(x->easy, CURLOPT_CAPATH, NULL);
	}
}

/* Of what is read as it comes, libcurl takes a hundred pieces of this size before it returns. */
enum { PIECE_BYTES = 2048 };

static void set_limits(struct xfer *x, const struct http_call *call)
{
	long connect_ms = call->timeout_ms < HTTP_CLIENT_CONNECT_MS ? (long)call->timeout_ms
								    : HTTP_CLIENT_CONNECT_MS;
	long stall_s = call->stall_s > 0 ? (long)call->stall_s : HTTP_CLIENT_STALL_S;

	(void)curl_easy_setopt(x->easy, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
	(void)curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
	(void)curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_LIMIT,
			       call->held ? 0L : (long)HTTP_CLIENT_STALL_RATE);
	(void)curl_easy_setopt(x->easy, CURLOPT_LOW_SPEED_TIME, call->held ? 0L : stall_s);
	if (call->on_data != NULL)
		(void)curl_easy_setopt(x->easy, CURLOPT_BUFFERSIZE, (long)PIECE_BYTES);
	(void)curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
	(void)curl_easy_setopt(x->easy, CURLOPT_HEADERFUNCTION, on_header);
	(void)curl_easy_setopt(x->easy, CURLOPT_HEADERDATA, x);
}

static bool is_one_of(const char *method, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(method, *list) == 0)
			return true;
	return false;
}

static void set_body(struct xfer *x, const struct http_call *call)
{
	static const char *const with_body[] = {"POST", "PUT", "PATCH", NULL};

	if (strcmp(call->method, "HEAD") == 0)
		(void)curl_easy_setopt(x->easy, CURLOPT_NOBODY, 1L);
	if (call->body == NULL && !is_one_of(call->method, with_body))
		return;
	/* Send the length of an empty body, too: many servers insist on one. */
	(void)curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
	x->sent_len = call->body_len;
	x->sent = mem_zalloc(x->sent_len + 1);
	if (call->body != NULL && x->sent_len > 0)
		memcpy(x->sent, call->body, x->sent_len);
	(void)curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, x->sent);
}

static void add_header(struct xfer *x, const char *line)
{
	x->headers = mem_check(curl_slist_append(x->headers, line));
}

static void set_headers(struct xfer *x, const struct http_call *call)
{
	bool has_type = false;

	for (const char *const *h = call->headers; h != NULL && *h != NULL; h++) {
		has_type = has_type || strncasecmp(*h, "Content-Type:", 13) == 0;
		add_header(x, *h);
	}
	/* A name without a value keeps libcurl from adding that header.  A body is no form unless
	 * the caller says so, and waiting for "100 Continue" may take for ever (F32). */
	if (!has_type)
		add_header(x, "Content-Type:");
	add_header(x, "Expect:");
	(void)curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
	check_set(curl_easy_setopt(x->easy, CURLOPT_USERAGENT, "burstd"));
}

static void set_options(struct xfer *x, const struct http_call *call)
{
	static const char *const repeatable[] = {"GET", "HEAD", NULL};

	x->repeatable = is_one_of(call->method, repeatable);
	(void)curl_easy_setopt(x->easy, CURLOPT_PRIVATE, x);
	(void)curl_easy_setopt(x->easy, CURLOPT_ERRORBUFFER, x->errbuf);
	set_peer(x, call);
	set_limits(x, call);
	send_once(x);
	set_headers(x, call);
	set_body(x, call);
	/* After the body, which would make it a POST. */
	check_set(curl_easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, call->method));
}

/* Refuse control bytes: a line break could add a header, or a request. */
static int check_call(const struct http_call *call, struct err *e)
{
	if (headers_has_control(call->method) || strchr(call->method, ' ') != NULL)
		return err_set(e, ERR_INVALID, "control character or blank in the method");
	if (headers_has_control(call->url) || strchr(call->url, ' ') != NULL)
		return err_set(e, ERR_INVALID, "control character or blank in the URL");
	for (const char *const *h = call->headers; h != NULL && *h != NULL; h++)
		if (headers_has_control(*h))
			return err_set(e, ERR_INVALID, "control character in a header");
	return 0;
}

static void xfer_link(struct http_client *c, struct xfer *x)
{
	x->handle = ++c->next_handle;
	x->next = c->xfers;
	x->prevp = &c->xfers;
	if (x->next != NULL)
		x->next->prevp = &x->next;
	c->xfers = x;
	c->nxfers++;
}

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	struct xfer *x;
	CURLMcode rc;

	assert(!c->closing);
	assert(call->timeout_ms > 0);
	if (check_call(call, e) != 0)
		return -1;
	if (c->nxfers >= HTTP_CLIENT_MAX)
		return err_set(e, ERR_NOTSENT, "%d requests are under way", HTTP_CLIENT_MAX);
	x = mem_zalloc(sizeof(*x));
	x->client = c;
	x->done = done;
	x->ctx = ctx;
	x->max = call->max_reply;
	x->on_data = call->on_data;
	x->secret = call->secret;
	header_lines_init(&x->head, HTTP_CLIENT_HEADERS_MAX);
	x->easy = mem_check(curl_easy_init());
	set_options(x, call);
	rc = curl_multi_add_handle(c->multi, x->easy);
	if (rc != CURLM_OK) {
		xfer_free(x);
		return err_set(e, ERR_NOTSENT, "%s", curl_multi_strerror(rc));
	}
	xfer_link(c, x);
	if (handle != NULL)
		*handle = x->handle;
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	struct err e;

	(void)err_set(&e, ERR_CANCELLED, "cancelled");
	for (struct xfer *x = c->xfers; x != NULL; x = x->next)
		if (x->handle == handle) {
			xfer_finish(x, &e);
			return;
		}
}

void http_client_close(struct http_client *c, http_closed_fn closed, void *ctx)
{
	struct err e;

	assert(!c->closing);
	c->closing = true;
	c->closed = closed;
	c->closed_ctx = ctx;
	(void)err_set(&e, ERR_CANCELLED, "cancelled");
	while (c->xfers != NULL) /* each takes itself out of the list, which the analyser misses */
		xfer_finish(c->xfers, &e);  /* NOLINT(clang-analyzer-unix.Malloc) */
	(void)curl_multi_cleanup(c->multi); /* closes idle sockets via on_curl_socket */
	timer_at(c->timer, 0); /* calls closed(), unless sockets are still to be closed */
}
