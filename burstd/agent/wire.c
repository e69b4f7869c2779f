#include "agent/wire.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/origin.h"
#include "agent/poller.h"
#include "agent/tls.h"
#include "base/clock.h"
#include "base/mem.h"

enum {
	WIRE_READ = 4096,
	WIRE_READS_MAX = 32, /* in one turn; then others have theirs */
};

/*  IDLE --wire_send()--> START -+--it was kept--------------------> SEND -> READING -> IDLE
 *                               |                                    ^      (kept, or closed)
 *                               +-----------> CONNECT -+-------------+
 *                               +-> LOOKUP ------^     +-TLS-> SHAKE-+
 * A kept connection that was closed meanwhile leads back to START, an address that cannot be
 * reached to CONNECT with the next one; every other failure to IDLE, without a connection. */
enum wire_state {
	WIRE_IDLE,
	WIRE_START,
	WIRE_LOOKUP,
	WIRE_CONNECT,
	WIRE_SHAKE,
	WIRE_SEND,
	WIRE_READING
};

struct wire {
	struct poller *poller;
	struct origin *origin;
	struct tls *tls;
	struct poller_item it;
	enum wire_state state;
	int64_t deadline;
	SSL *ssl;
	bool reused; /* a kept connection: if it was closed, a new one is tried, once */
	bool heard;  /* a byte of the answer has come */
	bool clock_wrong;
	struct str out;
	size_t sent;
	struct answer in;
	size_t answer_max;
	wire_done_fn done;
	void *ctx;
	pid_t lookup;
	unsigned untried; /* addresses of the origin, for this request */
	size_t found_n;
	struct origin_addr found[ORIGIN_ADDR_MAX];
};

static void on_event(struct poller_item *it, short got, int64_t now);

struct wire *wire_new(struct poller *p, struct origin *origin, struct tls *tls)
{
	struct wire *w = mem_zalloc(sizeof(*w));

	assert(!origin->tls || tls != NULL);
	w->poller = p;
	w->origin = origin;
	w->tls = origin->tls ? tls : NULL;
	w->it.fd = -1;
	w->it.fn = on_event;
	w->it.ctx = w;
	str_init(&w->out, WIRE_REQUEST_MAX);
	return w;
}

bool wire_busy(const struct wire *w)
{
	return w->state != WIRE_IDLE;
}

bool wire_clock_wrong(const struct wire *w)
{
	return w->clock_wrong;
}

/* Set what the poller waits for.  A new descriptor is added anew, so that events of the old one are
 * not taken for its own. */
static void watch(struct wire *w, int fd, short want)
{
	if (fd == w->it.fd && w->it.prevp != NULL) {
		w->it.want = want;
		w->it.deadline = w->deadline;
		return;
	}
	poller_del(w->poller, &w->it);
	w->it.fd = fd;
	w->it.want = want;
	w->it.deadline = w->deadline;
	poller_add(w->poller, &w->it);
}

static void hang_up(struct wire *w)
{
	poller_del(w->poller, &w->it);
	if (w->state == WIRE_LOOKUP)
		(void)origin_found(w->origin, w->lookup, w->found, 0, clock_boot_ms());
	SSL_free(w->ssl); /* no close_notify: the connection is over either way */
	w->ssl = NULL;
	ERR_clear_error();
	if (w->it.fd >= 0)
		(void)close(w->it.fd);
	w->it.fd = -1;
}

void wire_drop(struct wire *w)
{
	hang_up(w);
	if (w->state != WIRE_IDLE)
		answer_fini(&w->in);
	w->state = WIRE_IDLE;
	w->done = NULL;
}

void wire_free(struct wire *w)
{
	if (w == NULL)
		return;
	wire_drop(w);
	explicit_bzero(w->out.p, w->out.len); /* may have a metadata service's session token */
	str_fini(&w->out);
	free(w);
}

static void finish(struct wire *w, const struct err *e)
{
	struct answer a = w->in;
	wire_done_fn done = w->done;
	void *ctx = w->ctx;

	if (e != NULL || a.close)
		hang_up(w);
	w->state = WIRE_IDLE;
	w->done = NULL;
	if (w->it.fd >= 0) {
		w->deadline = POLLER_NEVER;
		watch(w, w->it.fd, POLLIN); /* notice at once when it is closed */
	}
	done(ctx, e == NULL ? &a : NULL, e);
	answer_fini(&a);
}

static void start(struct wire *w, int64_t now);
static void connect_now(struct wire *w, int64_t now);

static void fail(struct wire *w, const struct err *e, int64_t now)
{
	if (w->reused && !w->heard && now < w->deadline) {
		hang_up(w); /* the kept one was closed meanwhile; every request may be repeated */
		start(w, now);
		return;
	}
	if (w->state == WIRE_CONNECT || w->state == WIRE_SHAKE)
		w->origin->at++;
	if (w->state == WIRE_CONNECT && w->untried > 0) {
		hang_up(w);
		connect_now(w, now);
		return;
	}
	finish(w, e);
}

static int open_socket(struct wire *w, struct err *e)
{
	const struct origin_addr *a = &w->origin->addr[w->origin->at % w->origin->n];
	int fd, yes = 1;

	fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, ERR_NOTSENT, "%s: socket: %s", w->origin->name, strerror(errno));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	if (connect(fd, (const struct sockaddr *)&a->sa, a->len) != 0 && errno != EINPROGRESS) {
		(void)err_set(e, ERR_NOTSENT, "%s: %s", w->origin->name, strerror(errno));
		(void)close(fd);
		return -1;
	}
	return fd;
}

static void connect_now(struct wire *w, int64_t now)
{
	struct err e = {0};
	int fd = open_socket(w, &e);

	w->state = WIRE_CONNECT;
	if (w->untried > 0)
		w->untried--;
	if (fd < 0)
		fail(w, &e, now);
	else
		watch(w, fd, POLLOUT);
}

/* Send the request on a new connection. */
static void start(struct wire *w, int64_t now)
{
	struct err e = {0};
	int fd;

	w->reused = w->heard = w->clock_wrong = false;
	w->sent = 0;
	w->untried = w->origin->n;
	if (!origin_stale(w->origin, now)) {
		connect_now(w, now);
		return;
	}
	w->found_n = 0;
	fd = origin_lookup(w->origin, &w->lookup, &e);
	if (fd < 0) {
		fail(w, &e, now);
		return;
	}
	w->state = WIRE_LOOKUP;
	watch(w, fd, POLLIN);
}

static void on_lookup(struct wire *w, int64_t now)
{
	ssize_t n = read(w->it.fd, (char *)w->found + w->found_n, sizeof(w->found) - w->found_n);
	struct err e = {0};
	int rc;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		w->found_n += (size_t)n;
	if (n > 0 && w->found_n < sizeof(w->found))
		return;
	rc = origin_found(w->origin, w->lookup, w->found, w->found_n, now);
	w->state = WIRE_START; /* the child is gone */
	hang_up(w);
	w->untried = w->origin->n;
	if (rc == 0) {
		connect_now(w, now);
		return;
	}
	(void)err_set(&e, ERR_NOTSENT, "%s: no address for this name", w->origin->host);
	fail(w, &e, now);
}

static void move_on(struct wire *w, int64_t now);

static void on_connect(struct wire *w, int64_t now)
{
	socklen_t len = sizeof(int);
	struct err e = {0};
	int code = 0;

	if (getsockopt(w->it.fd, SOL_SOCKET, SO_ERROR, &code, &len) != 0)
		code = errno;
	if (code != 0) {
		(void)err_set(&e, ERR_NOTSENT, "%s: %s", w->origin->name, strerror(code));
		fail(w, &e, now);
		return;
	}
	w->state = WIRE_SEND;
	if (w->tls != NULL) {
		w->ssl = tls_session(w->tls, w->origin);
		mem_check(SSL_set_fd(w->ssl, w->it.fd) == 1 ? w->ssl : NULL);
		w->state = WIRE_SHAKE;
	}
	move_on(w, now);
}

/* Handle OpenSSL's result.  0: wait, and the poller knows for what; -1: *e. */
static int ssl_wait(struct wire *w, int rc, struct err *e)
{
	int saved = errno, why = SSL_get_error(w->ssl, rc);
	long verify = SSL_get_verify_result(w->ssl);

	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
		watch(w, w->it.fd, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT);
		return 0;
	}
	if (w->state == WIRE_SHAKE && verify != X509_V_OK)
		(void)err_set(e, ERR_AUTH, "%s: untrusted certificate: %s", w->origin->name,
			      X509_verify_cert_error_string(verify));
	else if (why == SSL_ERROR_SSL)
		(void)tls_err(e, w->origin->name);
	else if (why == SSL_ERROR_SYSCALL && saved != 0)
		(void)err_set(e, ERR_NET, "%s: %s", w->origin->name, strerror(saved));
	else
		(void)err_set(e, ERR_NET, "%s: the connection was closed", w->origin->name);
	ERR_clear_error();
	return -1;
}

/* Send or receive: returns how many bytes; 0: wait; -1: *e, or (reading, *eof) the end. */
static int put(struct wire *w, struct err *e)
{
	const char *p = w->out.p + w->sent;
	const size_t len = w->out.len - w->sent;
	ssize_t n;

	ERR_clear_error();
	errno = 0;
	if (w->ssl != NULL) {
		int rc = SSL_write(w->ssl, p, (int)len);

		return rc > 0 ? rc : ssl_wait(w, rc, e);
	}
	n = send(w->it.fd, p, len, MSG_NOSIGNAL);
	if (n >= 0)
		return (int)n;
	if (errno != EAGAIN && errno != EINTR)
		return err_set(e, ERR_NET, "%s: %s", w->origin->name, strerror(errno));
	watch(w, w->it.fd, POLLOUT);
	return 0;
}

static int take(struct wire *w, char *to, bool *eof, struct err *e)
{
	ssize_t n;

	*eof = false;
	ERR_clear_error();
	errno = 0;
	if (w->ssl != NULL) {
		int rc = SSL_read(w->ssl, to, WIRE_READ);

		return rc > 0 ? rc : ssl_wait(w, rc, e);
	}
	n = recv(w->it.fd, to, WIRE_READ, 0);
	if (n > 0)
		return (int)n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		watch(w, w->it.fd, POLLIN);
		return 0;
	}
	*eof = n == 0;
	return err_set(e, ERR_NET, "%s: %s", w->origin->name,
		       n == 0 ? "the connection was closed" : strerror(errno));
}

static int shake(struct wire *w, struct err *e)
{
	int rc;

	ERR_clear_error();
	errno = 0;
	rc = SSL_do_handshake(w->ssl);
	if (rc != 1)
		return ssl_wait(w, rc, e);
	w->clock_wrong = tls_clock_wrong(w->ssl);
	w->state = WIRE_SEND;
	return 1;
}

static int send_some(struct wire *w, struct err *e)
{
	int n = put(w, e);

	if (n > 0)
		w->sent += (size_t)n;
	if (w->sent == w->out.len) {
		w->state = WIRE_READING;
		watch(w, w->it.fd, POLLIN);
	}
	return n > 0 ? 1 : n;
}

/* 2: the answer is complete. */
static int read_some(struct wire *w, struct err *e)
{
	char buf[WIRE_READ];
	bool eof;
	int n = take(w, buf, &eof, e), rc;

	if (n < 0 && eof && w->heard)
		return answer_eof(&w->in, e) == 1 ? 2 : -1;
	if (n <= 0)
		return n;
	w->heard = true;
	rc = answer_feed(&w->in, buf, (size_t)n, e);
	if (rc < 0)
		return err_wrap(e, "%s", w->origin->name);
	return rc == 1 ? 2 : 1;
}

static void move_on(struct wire *w, int64_t now)
{
	struct err e = {0};
	int rc = 1;

	for (int i = 0; i < WIRE_READS_MAX && rc == 1; i++) {
		rc = w->state == WIRE_SHAKE  ? shake(w, &e)
		     : w->state == WIRE_SEND ? send_some(w, &e)
					     : read_some(w, &e);
	}
	if (rc < 0) {
		fail(w, &e, now);
	} else if (rc == 2) {
		finish(w, NULL);
	} else if (rc == 1) {
		/* OpenSSL may hold bytes that the socket no longer shows. */
		w->it.deadline = now;
	}
}

static void expired(struct wire *w)
{
	static const char *const doing[] = {"",
					    "starting",
					    "resolving its name",
					    "connecting",
					    "doing the TLS handshake",
					    "sending",
					    "waiting for its answer"};
	struct err e = {0};

	(void)err_set(&e, ERR_NET, "%s: timed out while %s", w->origin->name, doing[w->state]);
	if (w->state == WIRE_CONNECT || w->state == WIRE_SHAKE)
		w->origin->at++;
	finish(w, &e);
}

/* Close a kept connection on which something came: its end, or bytes that nobody asked for. */
static void on_idle(struct wire *w)
{
	struct err e = {0};
	char buf[WIRE_READ];
	bool eof;

	if (take(w, buf, &eof, &e) != 0)
		hang_up(w);
}

static void on_event(struct poller_item *it, short got, int64_t now)
{
	struct wire *w = it->ctx;

	if (w->state != WIRE_IDLE && now >= w->deadline) {
		expired(w);
		return;
	}
	it->deadline = w->deadline;
	switch (w->state) {
	case WIRE_IDLE:
		on_idle(w);
		break;
	case WIRE_START:
		w->reused = it->fd >= 0;
		w->heard = false;
		w->state = WIRE_SEND;
		if (w->reused)
			move_on(w, now);
		else
			start(w, now);
		break;
	case WIRE_LOOKUP:
		on_lookup(w, now);
		break;
	case WIRE_CONNECT:
		if (got != 0)
			on_connect(w, now);
		break;
	case WIRE_SHAKE:
	case WIRE_SEND:
	case WIRE_READING:
		move_on(w, now);
		break;
	}
}

static void build(struct wire *w, const struct wire_call *c)
{
	str_clear(&w->out);
	str_addf(&w->out, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: burst-agent/%s\r\n%s",
		 c->method, c->path, w->origin->name, BURSTD_VERSION,
		 c->headers != NULL ? c->headers : "");
	if (c->body != NULL)
		str_addf(&w->out, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			 strlen(c->body), c->body);
	else if (strcmp(c->method, "GET") != 0)
		str_adds(&w->out, "Content-Length: 0\r\n\r\n");
	else
		str_adds(&w->out, "\r\n");
	assert(!w->out.full);
}

void wire_send(struct wire *w, const struct wire_call *call, wire_done_fn done, void *ctx)
{
	const int64_t now = clock_boot_ms();

	assert(w->state == WIRE_IDLE && call->timeout_ms > 0);
	build(w, call);
	w->sent = 0;
	answer_init(&w->in, call->answer_max, w->tls == NULL);
	w->done = done;
	w->ctx = ctx;
	w->state = WIRE_START;
	w->deadline = now + call->timeout_ms;
	/* Begin in the poller's next turn. */
	poller_del(w->poller, &w->it);
	w->it.want = 0;
	w->it.deadline = now;
	poller_add(w->poller, &w->it);
}
