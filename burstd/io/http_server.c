#include "io/http_server.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
	QUERY_MAX = 4096,    /* longer queries are cut, and refused when they are decoded */
	CONN_MEMORY = 32768, /* headers of one request; also MHD's buffer for each connection */
	RUNS_MAX = 16, /* rounds of MHD before other handles of the loop have their turn ... */
	TURN_MS = 3,   /* ... but no more once they took this long */
	REST_MS = 10,  /* between the starts of two full turns: MHD has about a third of the time */
	LISTEN_BACKLOG = 1024, /* a burst of clients, all connecting at once */
	CONNS_TIMES = 2,       /* times the limit: some wait for an answer, some are being closed */
	MHD_CONNS_MAX = 65536,
};

struct conn { /* MHD's socket context */
	struct conn *next, **prev;
	int fd;
	bool waits; /* for http_server_answer() */
	bool cut;
	unsigned asks;
};

struct exchange { /* one request, from its first line until its answer is out */
	struct http_server *s;
	struct MHD_Connection *conn;
	char *query, *body;
	size_t len;
	uint32_t slot;
	bool started, too_long, waiting, answered;
	struct http_answer an; /* while answered, and not yet handed to MHD */
};

struct slot {               /* of the ticket table: ticket = serial << 32 | index */
	struct exchange *x; /* NULL: free */
	uint32_t serial, next_free;
};

struct http_server {
	struct MHD_Daemon *mhd;
	uv_poll_t poll; /* MHD's epoll fd: readable when MHD has work */
	uv_timer_t timer;
	http_handler_fn fn;
	void *ctx;
	size_t max_body;
	unsigned max_asks, max_conns, nconns; /* nconns: those not cut */
	struct conn *conns, **last;           /* accepted or answered longest ago first */
	struct slot *slots;
	uint32_t nslots, free_slot; /* free_slot == nslots: none free */
	unsigned handles;
	bool stopping, resting;
	bool left; /* a connection was closed in this round */
};

static uint64_t ticket_take(struct http_server *s, struct exchange *x)
{
	uint32_t i = s->free_slot;

	if (i == s->nslots) {
		s->nslots = s->nslots == 0 ? 64 : 2 * s->nslots;
		s->slots = mem_realloc(s->slots, s->nslots * sizeof(*s->slots));
		for (uint32_t k = i; k < s->nslots; k++)
			s->slots[k] = (struct slot){.next_free = k + 1};
	}
	s->free_slot = s->slots[i].next_free;
	s->slots[i].x = x;
	x->slot = i;
	return (uint64_t)++s->slots[i].serial << 32 | i;
}

static void ticket_give(struct http_server *s, struct exchange *x)
{
	s->slots[x->slot].x = NULL;
	s->slots[x->slot].next_free = s->free_slot;
	s->free_slot = x->slot;
}

static struct exchange *ticket_find(const struct http_server *s, uint64_t ticket)
{
	uint32_t i = (uint32_t)ticket;

	if (i >= s->nslots || s->slots[i].serial != ticket >> 32)
		return NULL;
	return s->slots[i].x;
}

static struct conn *conn_of(struct MHD_Connection *conn)
{
	return MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void line_up(struct http_server *s, struct conn *c)
{
	c->next = NULL;
	c->prev = s->last;
	*s->last = c;
	s->last = &c->next;
}

static void step_out(struct http_server *s, struct conn *c)
{
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		s->last = c->prev;
}

/* Requeue the connection: it has the full time again, to read its answer and to send a request. */
static void served(struct http_server *s, struct conn *c)
{
	c->asks++;
	step_out(s, c);
	line_up(s, c);
}

/* Has the connection made as many requests as it may? */
static bool is_last(const struct http_server *s, struct MHD_Connection *conn)
{
	return conn_of(conn)->asks >= s->max_asks && s->max_asks > 0;
}

static enum MHD_Result answer(struct http_server *s, struct MHD_Connection *conn,
			      struct http_answer *an)
{
	char seconds[16];
	struct MHD_Response *r;
	enum MHD_Result rc;

	if (an->drop) {
		free(an->body);
		return MHD_NO;
	}
	r = an->body != NULL
		    ? MHD_create_response_from_buffer(an->len, an->body, MHD_RESPMEM_MUST_FREE)
		    : MHD_create_response_from_buffer(0, seconds, MHD_RESPMEM_MUST_COPY);
	if (r == NULL) {
		free(an->body);
		return MHD_NO;
	}
	(void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				      an->type ? an->type : "text/plain");
	(void)MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (an->retry_after_s > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", (unsigned)an->retry_after_s);
		(void)MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
	}
	served(s, conn_of(conn));
	if (is_last(s, conn))
		(void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	for (int i = 0; i < HTTP_MORE_MAX && an->more[i].name != NULL; i++)
		(void)MHD_add_response_header(r, an->more[i].name, an->more[i].value);
	rc = MHD_queue_response(conn, an->status, r);
	MHD_destroy_response(r);
	return rc;
}

static void collect(struct http_server *s, struct exchange *x, const char *data, size_t len)
{
	if (x->too_long || len > s->max_body - x->len) {
		x->too_long = true; /* swallow the rest, then say 413 */
		return;
	}
	x->body = mem_realloc(x->body, x->len + len + 1);
	memcpy(x->body + x->len, data, len);
	x->len += len;
	x->body[x->len] = '\0';
}

static const char *header_of(void *from, const char *name)
{
	return MHD_lookup_connection_value(from, MHD_HEADER_KIND, name);
}

const char *http_header(const struct http_request *rq, const char *name)
{
	return rq->header != NULL ? rq->header(rq->headers_from, name) : NULL;
}

/* "" if it is neither IPv4 nor IPv6. */
static const char *address_of(struct MHD_Connection *conn, char out[INET6_ADDRSTRLEN])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = info == NULL ? NULL : info->client_addr;

	out[0] = '\0';
	if (a != NULL && a->sa_family == AF_INET)
		(void)uv_ip4_name((const struct sockaddr_in *)a, out, INET6_ADDRSTRLEN);
	else if (a != NULL && a->sa_family == AF_INET6)
		(void)uv_ip6_name((const struct sockaddr_in6 *)a, out, INET6_ADDRSTRLEN);
	return out;
}

static enum MHD_Result handle(struct http_server *s, struct exchange *x, const char *method,
			      const char *path)
{
	struct http_answer an = {.status = 500};
	char from[INET6_ADDRSTRLEN];
	struct http_request rq = {
		.from = address_of(x->conn, from),
		.method = method,
		.path = path,
		.query = x->query != NULL ? x->query : "",
		.authorization = header_of(x->conn, "Authorization"),
		.body = x->body != NULL ? x->body : "",
		.len = x->len,
		.ticket = ticket_take(s, x),
		.header = header_of,
		.headers_from = x->conn,
	};

	s->fn(s->ctx, &rq, &an);
	if (!an.later) {
		ticket_give(s, x);
		return answer(s, x->conn, &an);
	}
	x->waiting = conn_of(x->conn)->waits = true;
	MHD_suspend_connection(x->conn);
	return MHD_YES;
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *conn, const char *path,
				 const char *method, const char *version, const char *data,
				 size_t *len, void **con_cls)
{
	struct http_server *s = cls;
	struct exchange *x = *con_cls;

	(void)version;
	if (s->stopping)
		return MHD_NO;
	if (!x->started) { /* headers are in, no body yet */
		x->started = true;
		x->conn = conn;
		return MHD_YES;
	}
	if (*len > 0) {
		collect(s, x, data, *len);
		*len = 0;
		return MHD_YES;
	}
	if (x->answered) {
		x->answered = false; /* its body is MHD's now */
		return answer(s, conn, &x->an);
	}
	if (x->too_long)
		return answer(s, conn, &(struct http_answer){.status = 413});
	return handle(s, x, method, path);
}

/* The only place where MHD shows the query as it was sent; what we return becomes *con_cls. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
{
	struct exchange *x = mem_zalloc(sizeof(*x));
	const char *query = strchr(uri, '?');

	(void)conn;
	x->s = cls;
	if (query != NULL)
		x->query = mem_check(strndup(query + 1, QUERY_MAX));
	return x;
}

/* --- room ------------------------------------------------------------------------------------- */

/* Cut the oldest connection that does not wait for an answer, so that clients with no request, or
 * half of one, cannot keep others out.  MHD has no call to close a connection, but notices that the
 * socket is shut down. */
static void make_room(struct http_server *s)
{
	struct conn *c = s->conns;

	while (c != NULL && (c->waits || c->cut))
		c = c->next;
	if (c == NULL)
		return;
	c->cut = true;
	s->nconns--;
	(void)shutdown(c->fd, SHUT_RDWR);
}

static void conn_open(struct http_server *s, struct MHD_Connection *conn, void **place)
{
	struct conn *c = mem_zalloc(sizeof(*c));

	c->fd = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	if (s->max_conns > 0 && s->nconns >= s->max_conns)
		make_room(s);
	s->nconns++;
	line_up(s, c);
	*place = c;
}

static void conn_close(struct http_server *s, struct conn *c)
{
	s->nconns -= !c->cut;
	s->left = true;
	step_out(s, c);
	free(c);
}

static void on_connection(void *cls, struct MHD_Connection *conn, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		conn_open(cls, conn, place);
	} else if (*place != NULL) {
		conn_close(cls, *place);
		*place = NULL;
	}
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con_cls,
			 enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *con_cls;

	(void)cls;
	(void)conn;
	(void)why;
	if (x == NULL)
		return;
	if (x->waiting)
		ticket_give(x->s, x);
	if (x->answered) /* the client closed before it got the answer */
		free(x->an.body);
	free(x->query);
	free(x->body);
	free(x);
	*con_cls = NULL;
}

static void on_timer(uv_timer_t *t);

/* Never 0 ms: libuv (before 1.48) runs such a timer again in the same pass when it is set in its
 * own callback, and looks at nothing else for as long as that goes on. */
static void wake_in(struct http_server *s, uint64_t ms)
{
	(void)uv_timer_start(&s->timer, on_timer, ms > 0 ? ms : 1, 0);
}

void http_server_answer(struct http_server *s, uint64_t ticket, const struct http_answer *an)
{
	struct exchange *x = ticket_find(s, ticket);

	if (x == NULL) {
		free(an->body);
		return;
	}
	assert(x->waiting && !an->later);
	ticket_give(s, x);
	x->waiting = conn_of(x->conn)->waits = false;
	x->answered = true;
	x->an = *an;
	MHD_resume_connection(x->conn);
	/* MHD without threads does not wake up for that. */
	if (!s->stopping && !s->resting)
		wake_in(s, 0);
}

static void on_poll(uv_poll_t *p, int status, int events);

/* Run MHD while it has work, and the turn has time.  True: MHD has more to do. */
static bool work(struct http_server *s, uint64_t *ms)
{
	int64_t end = clock_boot_ms() + TURN_MS;
	MHD_UNSIGNED_LONG_LONG wait = 0;

	for (int i = 0; i < RUNS_MAX && (i == 0 || clock_boot_ms() < end); i++) {
		s->left = false;
		(void)MHD_run(s->mhd);
		*ms = UINT64_MAX;
		if (s->left) /* MHD may have been full: it accepts again in its next round */
			continue;
		if (MHD_get_timeout(s->mhd, &wait) != MHD_YES)
			return false;
		*ms = wait;
		if (wait > 0)
			return false;
	}
	return true;
}

/* Let MHD do what it can, then sleep until its fd is readable or its timer is due.  If clients ask
 * faster than that, pause, so that the loop has time for others. */
static void run(struct http_server *s)
{
	uint64_t ms;

	if (work(s, &ms)) {
		s->resting = true;
		(void)uv_poll_stop(&s->poll);
		wake_in(s, REST_MS);
		return;
	}
	if (s->resting)
		(void)uv_poll_start(&s->poll, UV_READABLE, on_poll);
	s->resting = false;
	if (ms == UINT64_MAX)
		(void)uv_timer_stop(&s->timer);
	else
		wake_in(s, ms);
}

static void on_timer(uv_timer_t *t)
{
	run(t->data);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
	(void)status;
	(void)events;
	run(p->data);
}

static struct MHD_Daemon *start_daemon(struct http_server *s, const struct http_server_opts *o,
				       unsigned flags, struct sockaddr *sa)
{
	return MHD_start_daemon(flags, o->port, NULL, NULL, on_access, s, MHD_OPTION_SOCK_ADDR, sa,
				MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_NOTIFY_COMPLETED,
				on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
				MHD_OPTION_CONNECTION_TIMEOUT, o->idle_s,
				MHD_OPTION_CONNECTION_LIMIT,
				o->max_conns > 0 ? CONNS_TIMES * o->max_conns : MHD_CONNS_MAX,
				MHD_OPTION_PER_IP_CONNECTION_LIMIT, o->max_per_ip,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONN_MEMORY,
				MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)LISTEN_BACKLOG,
				MHD_OPTION_LISTEN_SOCKET, o->fd > 0 ? o->fd : MHD_INVALID_SOCKET,
				MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

int http_server_fd(const struct http_server *s)
{
	return MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd;
}

/* Connections inherit the TTL of the listening socket. */
static void limit_hops(struct http_server *s, int hops)
{
	int fd = http_server_fd(s);

	if (hops > 0)
		(void)setsockopt(fd, IPPROTO_IP, IP_TTL, &hops, sizeof(hops));
}

int http_server_start(struct http_server **out, struct uv_loop_s *loop,
		      const struct http_server_opts *o, http_handler_fn fn, void *ctx,
		      struct err *e)
{
	struct http_server *s;
	struct sockaddr_storage sa = {0};
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
	int rc;

	*out = NULL;
	if (uv_ip4_addr(o->address, o->port, (struct sockaddr_in *)&sa) != 0) {
		if (uv_ip6_addr(o->address, o->port, (struct sockaddr_in6 *)&sa) != 0)
			return err_set(e, ERR_INVALID, "not an IP address: %s", o->address);
		flags |= MHD_USE_IPv6;
	}
	s = mem_zalloc(sizeof(*s));
	s->fn = fn;
	s->ctx = ctx;
	s->max_body = o->max_body;
	s->max_asks = o->max_asks;
	s->max_conns = o->max_conns;
	s->last = &s->conns;
	errno = 0;
	s->mhd = start_daemon(s, o, flags, (struct sockaddr *)&sa);
	if (s->mhd == NULL) {
		free(s);
		return err_set(e, ERR_IO, "cannot listen on %s port %u: %s", o->address,
			       (unsigned)o->port,
			       errno != 0 ? strerror(errno) : "refused by libmicrohttpd");
	}
	limit_hops(s, o->hops);
	rc = uv_poll_init(loop, &s->poll,
			  MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
	if (rc != 0) {
		MHD_stop_daemon(s->mhd);
		free(s);
		return err_set(e, ERR_IO, "cannot listen on %s port %u: %s", o->address,
			       (unsigned)o->port, uv_strerror(rc));
	}
	(void)uv_timer_init(loop, &s->timer);
	s->poll.data = s->timer.data = s;
	s->handles = 2;
	(void)uv_poll_start(&s->poll, UV_READABLE, on_poll);
	*out = s;
	return 0;
}

uint16_t http_server_port(const struct http_server *s)
{
	return MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_BIND_PORT)->port;
}

static void on_closed(uv_handle_t *h)
{
	struct http_server *s = h->data;

	if (--s->handles > 0)
		return;
	MHD_stop_daemon(s->mhd);
	free(s->slots);
	free(s);
}

void http_server_stop(struct http_server *s)
{
	const int fd = MHD_quiesce_daemon(s->mhd);

	s->stopping = true;
	/* MHD_stop_daemon() might shut it down, for everybody who has a copy. */
	if (fd != MHD_INVALID_SOCKET)
		(void)close(fd);
	/* MHD_stop_daemon() ends the process if a connection is still suspended. */
	for (uint32_t i = 0; i < s->nslots; i++)
		if (s->slots[i].x != NULL)
			http_server_answer(s, (uint64_t)s->slots[i].serial << 32 | i,
					   &(struct http_answer){.drop = true});
	uv_close((uv_handle_t *)&s->poll, on_closed);
	uv_close((uv_handle_t *)&s->timer, on_closed);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int decode(const char *text, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = text[i] == '+' ? ' ' : text[i];

		if (c == '%') {
			if (len - i < 3 || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0)
				return -1;
			c = hex(text[i + 1]) * 16 + hex(text[i + 2]);
			i += 2;
		}
		if (c == 0 || n + 1 >= size)
			return -1;
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return 1;
}

int http_query(const char *query, const char *key, char *out, size_t size)
{
	size_t want = strlen(key);
	int rc = 0;

	assert(size > 0);
	for (const char *p = query; *p != '\0';) {
		size_t len = strcspn(p, "&"), name = strcspn(p, "=&");

		if (name == want && memcmp(p, key, want) == 0) {
			p += name + (p[name] == '=');
			rc = decode(p, strcspn(p, "&"), out, size);
			break;
		}
		p += len + (p[len] == '&');
	}
	if (rc != 1)
		out[0] = '\0';
	return rc;
}
