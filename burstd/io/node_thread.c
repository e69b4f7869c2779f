#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "io/node_server_private.h"

enum {
	CONN_MEMORY = 16 << 10, /* MHD's for each connection: headers twice, and some of the body */
	SWALLOW_MAX = 4 * NODE_BODY_MAX, /* of a body that is too long; the answer would be lost
					    behind bytes that nobody reads */
	QUERY_MAX = 1024,
	LISTEN_BACKLOG = 1024,
	RUNS_MAX = 16,
	REST_MS = 5,     /* where MHD says there is something to do, and does nothing */
	SCAN_MS = 100,   /* between two looks for who is slow */
	IDLE_MS = 60000, /* ... where there is nobody */
	FULL_RETRY_S = 5,
	NICE = 10, /* the loop comes first */
	MHD_CONNS_MAX = 65536,
};

struct node_conn { /* a connection, from accept to close */
	struct node_conn *next, **prev;
	struct node_server *s;
	struct node_gate_conn gate;
	struct node_tls *tls;
	int fd;
	int64_t since_ms; /* it does what it does now */
	bool spoke;       /* there was a request */
	bool busy;        /* there is one that is not answered */
	bool cut;
	unsigned refused; /* requests */
	bool met;         /* peer is filled in */
	struct node_peer peer;
	char address[NODE_ADDR_SIZE];
	uint16_t port;
	struct node_exchange *waiting; /* for the loop */
};

struct node_exchange { /* a request, from its first line until its answer is out */
	struct node_conn *nc;
	struct MHD_Connection *conn;
	char *query, *body;
	size_t len, cap, swallowed;
	uint32_t slot;
	bool started, too_long, answered;
	struct http_answer an; /* while answered, and not yet handed to MHD */
};

static void count(struct node_server *s, enum node_count what)
{
	(void)atomic_fetch_add_explicit(&s->count[what], 1, memory_order_relaxed);
}

/* --- tickets ---------------------------------------------------------------------------------- */

static uint64_t ticket_take(struct node_server *s, struct node_exchange *x)
{
	uint32_t i = s->free_slot;

	if (i == s->nslots) {
		s->nslots = s->nslots == 0 ? 64 : 2 * s->nslots;
		s->slots = mem_realloc(s->slots, s->nslots * sizeof(*s->slots));
		for (uint32_t k = i; k < s->nslots; k++)
			s->slots[k] = (struct node_slot){.next_free = k + 1};
	}
	s->free_slot = s->slots[i].next_free;
	s->slots[i].x = x;
	x->slot = i;
	return (uint64_t)++s->slots[i].serial << 32 | i;
}

static void ticket_give(struct node_server *s, const struct node_exchange *x)
{
	s->slots[x->slot].x = NULL;
	s->slots[x->slot].next_free = s->free_slot;
	s->free_slot = x->slot;
}

static struct node_exchange *ticket_find(const struct node_server *s, uint64_t ticket)
{
	uint32_t i = (uint32_t)ticket;

	if (i >= s->nslots || s->slots[i].serial != ticket >> 32)
		return NULL;
	return s->slots[i].x;
}

/* --- connections ------------------------------------------------------------------------------ */

/* MHD has no call to close a connection, but it sees that the socket is shut. */
static void cut(struct node_server *s, struct node_conn *nc, enum node_count why)
{
	if (nc->cut)
		return;
	nc->cut = true;
	count(s, why);
	(void)shutdown(nc->fd, SHUT_RDWR);
}

static void oust(struct node_server *s, struct node_gate_conn *c)
{
	if (c != NULL)
		cut(s, (struct node_conn *)((char *)c - offsetof(struct node_conn, gate)),
		    NODE_OUSTED);
}

static struct node_gate_key key_of(const struct sockaddr *sa)
{
	struct node_gate_key k = {.octet = {[10] = 0xff, [11] = 0xff}};
	struct sockaddr_in six4;
	struct sockaddr_in6 six;

	if (sa->sa_family == AF_INET) {
		memcpy(&six4, sa, sizeof(six4));
		memcpy(k.octet + 12, &six4.sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&six, sa, sizeof(six));
		memcpy(k.octet, &six.sin6_addr, 16);
	}
	return k;
}

static uint16_t port_of(const struct sockaddr *sa)
{
	struct sockaddr_in six4 = {0};
	struct sockaddr_in6 six = {0};

	if (sa->sa_family == AF_INET6) {
		memcpy(&six, sa, sizeof(six));
		return ntohs(six.sin6_port);
	}
	memcpy(&six4, sa, sizeof(six4));
	return ntohs(six4.sin_port);
}

static enum MHD_Result on_accept(void *cls, const struct sockaddr *sa, socklen_t len)
{
	struct node_server *s = cls;
	struct node_gate_key k = key_of(sa);
	struct node_gate_conn *out;

	(void)len;
	switch (node_gate_knock(s->gate, &k, clock_boot_ms(), &out)) {
	case NODE_GATE_OPEN:
		oust(s, out);
		return MHD_YES;
	case NODE_GATE_RATE:
		count(s, NODE_OVER_RATE);
		return MHD_NO;
	case NODE_GATE_FULL:
		break;
	}
	count(s, NODE_OVER_NUMBER);
	return MHD_NO;
}

static void write_address(struct node_conn *nc, const struct node_gate_key *k)
{
	static const uint8_t four[12] = {[10] = 0xff, [11] = 0xff};

	if (memcmp(k->octet, four, sizeof(four)) == 0)
		(void)inet_ntop(AF_INET, k->octet + 12, nc->address, sizeof(nc->address));
	else
		(void)inet_ntop(AF_INET6, k->octet, nc->address, sizeof(nc->address));
}

static void enter(struct node_server *s, struct MHD_Connection *conn, void **place)
{
	struct node_conn *nc = mem_zalloc(sizeof(*nc));
	int64_t now = clock_boot_ms();
	const struct sockaddr *sa =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
	struct node_gate_key k = key_of(sa);

	nc->s = s;
	nc->fd = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	nc->since_ms = now;
	node_gate_enter(s->gate, &nc->gate, &k, now);
	write_address(nc, &k);
	nc->port = port_of(sa);
	nc->tls = node_tls_ref(s->tls);
	node_tls_use(
		nc->tls,
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session);
	nc->next = s->conns;
	nc->prev = &s->conns;
	if (nc->next != NULL)
		nc->next->prev = &nc->next;
	s->conns = nc;
	s->unheard++;
	s->moves++;
	*place = nc;
	count(s, NODE_ACCEPTED);
	count(s, NODE_OPEN);
}

static void leave(struct node_server *s, struct node_conn *nc)
{
	if (!nc->spoke) {
		count(s, NODE_MUTE);
		s->unheard--;
	}
	s->moves++;
	*nc->prev = nc->next;
	if (nc->next != NULL)
		nc->next->prev = nc->prev;
	node_gate_leave(s->gate, &nc->gate, clock_boot_ms());
	(void)atomic_fetch_sub_explicit(&s->count[NODE_OPEN], 1, memory_order_relaxed);
	/* MHD is about to end the session; it has no more use for the credentials. */
	node_tls_unref(nc->tls);
	free(nc);
}

static void on_connection(void *cls, struct MHD_Connection *conn, void **place,
			  enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		enter(cls, conn, place);
	else if (*place != NULL)
		leave(cls, *place);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void wipe(void *body)
{
	char *text = body;

	secret_wipe(&text);
}

static struct MHD_Response *response(const struct http_answer *an)
{
	static char none[1];

	if (an->body == NULL)
		return MHD_create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
	if (an->secret)
		return MHD_create_response_from_buffer_with_free_callback(an->len, an->body, wipe);
	return MHD_create_response_from_buffer(an->len, an->body, MHD_RESPMEM_MUST_FREE);
}

/* Who asks for what he may not have pays for another handshake now and then: of one connection ten
 * thousands of refusals come in a second, and of new ones the gate lets in some. */
static bool is_enough(struct node_conn *nc, unsigned status)
{
	nc->refused += status >= 400 && status < 500;
	return nc->s->o.max_refused > 0 && nc->refused >= nc->s->o.max_refused;
}

static enum MHD_Result answer(struct node_exchange *x, struct http_answer *an)
{
	char seconds[16];
	struct MHD_Response *r;
	enum MHD_Result rc;

	r = an->drop ? NULL : response(an);
	if (r == NULL) {
		node_answer_free(an);
		return MHD_NO;
	}
	(void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				      an->type ? an->type : "text/plain");
	(void)MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	(void)MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (an->retry_after_s > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", (unsigned)an->retry_after_s);
		(void)MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
	}
	if (is_enough(x->nc, an->status))
		(void)MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	x->nc->since_ms = clock_boot_ms();
	rc = MHD_queue_response(x->conn, an->status, r);
	MHD_destroy_response(r);
	return rc;
}

/* MHD calls on_access() once more for it. */
static void resume(struct node_server *s, struct node_exchange *x, const struct http_answer *an)
{
	ticket_give(s, x);
	x->nc->waiting = NULL;
	node_gate_hold(s->gate, &x->nc->gate, false);
	x->answered = true;
	x->an = *an;
	s->moves++;
	MHD_resume_connection(x->conn);
}

/* --- requests --------------------------------------------------------------------------------- */

static void collect(struct node_exchange *x, const char *data, size_t len)
{
	if (x->too_long || len > (size_t)NODE_BODY_MAX - x->len) {
		x->too_long = true;
		x->swallowed += len;
		return;
	}
	if (x->len + len + 1 > x->cap) { /* rarely: what is left behind may be a secret */
		size_t cap = x->cap == 0 ? 4096 : x->cap;
		char *to;

		while (cap < x->len + len + 1)
			cap *= 2;
		to = mem_zalloc(cap);
		if (x->body != NULL)
			memcpy(to, x->body, x->len);
		secret_wipe(&x->body);
		x->body = to;
		x->cap = cap;
	}
	memcpy(x->body + x->len, data, len);
	x->len += len;
	x->body[x->len] = '\0';
}

static const char *header(struct node_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, name);
}

static const char *header_of(void *from, const char *name)
{
	return header(from, name);
}

static char *copy_of(const char *text)
{
	return text != NULL ? mem_strdup(text) : NULL;
}

static struct node_job *job_of(struct node_exchange *x, const struct node_request *rq)
{
	struct node_job *j = mem_zalloc(sizeof(*j));

	j->rq = *rq;
	(void)snprintf(j->method, sizeof(j->method), "%s", rq->http.method);
	j->path = mem_strdup(rq->http.path);
	j->query = mem_strdup(rq->http.query);
	j->accept = copy_of(header(x, "Accept"));
	j->authorization = copy_of(rq->http.authorization);
	j->content_type = copy_of(header(x, "Content-Type"));
	j->body = x->body != NULL ? x->body : mem_strdup("");
	x->body = NULL;
	j->rq.http.method = j->method;
	j->rq.http.path = j->path;
	j->rq.http.query = j->query;
	j->rq.http.authorization = j->authorization;
	j->rq.http.body = j->body;
	return j;
}

/* To the loop; the connection sleeps until resume(). */
static enum MHD_Result hand_over(struct node_server *s, struct node_exchange *x,
				 struct node_request *rq)
{
	struct http_answer full = {.status = 503, .retry_after_s = FULL_RETRY_S};
	struct node_job *j;

	rq->http.ticket = ticket_take(s, x);
	j = job_of(x, rq);
	if (node_mail_send(s, j, clock_boot_ms()) != 0) {
		node_job_free(j);
		ticket_give(s, x);
		count(s, NODE_QUEUE_FULL);
		return answer(x, &full);
	}
	x->nc->waiting = x;
	node_gate_hold(s->gate, &x->nc->gate, true);
	x->nc->since_ms = clock_boot_ms();
	MHD_suspend_connection(x->conn);
	return MHD_YES;
}

static enum MHD_Result handle(struct node_server *s, struct node_exchange *x, const char *method,
			      const char *path)
{
	struct http_answer an = {.status = 500};
	struct node_request rq = {
		.http = {.method = method,
			 .path = path,
			 .query = x->query != NULL ? x->query : "",
			 .authorization = header(x, "Authorization"),
			 .body = x->body != NULL ? x->body : "",
			 .len = x->len,
			 .header = header_of,
			 .headers_from = x},
	};

	count(s, NODE_REQUESTS);
	rq.peer = x->nc->peer;
	memcpy(rq.address, x->nc->address, sizeof(rq.address));
	rq.port = x->nc->port;
	if (s->o.check != NULL && s->o.check(s->o.check_ctx, &rq, &an)) {
		count(s, NODE_REFUSED);
		return answer(x, &an);
	}
	if (!node_gate_ask(s->gate, &x->nc->gate, clock_boot_ms())) {
		count(s, NODE_ASKED_TOO_OFTEN);
		return answer(x, &(struct http_answer){.status = 429, .retry_after_s = 1});
	}
	return hand_over(s, x, &rq);
}

/* -1: its certificate cannot be read, or is over by now. */
static int meet(struct node_exchange *x)
{
	struct node_conn *nc = x->nc;

	if (!nc->met) {
		if (node_tls_peer(&nc->peer, MHD_get_connection_info(
						     x->conn, MHD_CONNECTION_INFO_GNUTLS_SESSION)
						     ->tls_session) != 0)
			return -1;
		nc->met = true;
		if (nc->peer.known)
			oust(nc->s, node_gate_know(nc->s->gate, &nc->gate, nc->peer.spki,
						   clock_boot_ms()));
	}
	return nc->peer.known && nc->peer.not_after_ms < clock_wall_ms() ? -1 : 0;
}

/* Headers are in, no body yet. */
static enum MHD_Result begin(struct node_exchange *x, struct MHD_Connection *conn)
{
	size_t headers =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;

	x->started = true;
	x->conn = conn;
	x->nc = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	x->nc->s->unheard -= !x->nc->spoke;
	x->nc->spoke = true;
	if (meet(x) != 0)
		return MHD_NO;
	if (headers <= NODE_HEADER_MAX)
		return MHD_YES;
	count(x->nc->s, NODE_TOO_LONG);
	return answer(x, &(struct http_answer){.status = 431});
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *conn, const char *path,
				 const char *method, const char *version, const char *data,
				 size_t *len, void **con_cls)
{
	struct node_server *s = cls;
	struct node_exchange *x = *con_cls;

	(void)version;
	s->moves++;
	if (!x->started)
		return begin(x, conn);
	if (*len > 0) {
		collect(x, data, *len);
		*len = 0;
		return x->swallowed <= SWALLOW_MAX ? MHD_YES : MHD_NO;
	}
	if (x->answered) {
		x->answered = false; /* its body is MHD's now */
		return answer(x, &x->an);
	}
	if (x->too_long) {
		count(s, NODE_TOO_LONG);
		return answer(x, &(struct http_answer){.status = 413});
	}
	return handle(s, x, method, path);
}

/* The first line is in; what we return becomes *con_cls.  From here on a kept connection has the
 * time of a request. */
static void *on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
{
	struct node_exchange *x = mem_zalloc(sizeof(*x));
	const char *query = strchr(uri, '?');
	struct node_conn *nc =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

	(void)cls;
	if (nc->spoke)
		nc->since_ms = clock_boot_ms();
	nc->busy = true;
	x->nc = nc;
	if (query != NULL)
		x->query = mem_check(strndup(query + 1, QUERY_MAX));
	return x;
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con_cls,
			 enum MHD_RequestTerminationCode why)
{
	struct node_exchange *x = *con_cls;

	(void)cls;
	(void)conn;
	(void)why;
	if (x == NULL)
		return;
	assert(x->nc->waiting != x); /* MHD lets a sleeping connection be */
	x->nc->busy = false;
	x->nc->since_ms = clock_boot_ms();
	if (x->answered)
		node_answer_free(&x->an);
	free(x->query);
	secret_wipe(&x->body);
	free(x);
	*con_cls = NULL;
}

/* --- the thread ------------------------------------------------------------------------------- */

static void read_mail(struct node_server *s, bool *stop)
{
	struct node_reply *r;
	struct node_tls *tls;
	uint64_t n;
	ssize_t got = read(s->wake, &n, sizeof(n));

	(void)got;
	(void)pthread_mutex_lock(&s->mail.lock);
	r = s->mail.replies;
	s->mail.replies = NULL;
	s->mail.last = &s->mail.replies;
	tls = s->mail.tls;
	s->mail.tls = NULL;
	*stop = s->mail.stop;
	(void)pthread_mutex_unlock(&s->mail.lock);
	if (tls != NULL) {
		node_tls_unref(s->tls);
		s->tls = tls;
	}
	while (r != NULL) {
		struct node_reply *next = r->next;
		struct node_exchange *x = ticket_find(s, r->ticket);

		if (x != NULL) {
			count(s, NODE_ANSWERED);
			resume(s, x, &r->an);
		} else {
			node_answer_free(&r->an);
		}
		free(r);
		r = next;
	}
}

/* Only who has shown a certificate may keep a connection for long: stage0 has a new one each time.
 */
static int64_t patience(const struct node_server *s, const struct node_conn *nc)
{
	return nc->spoke && !nc->busy && nc->peer.known ? s->o.keep_ms : s->o.request_ms;
}

static void scan(struct node_server *s, int64_t now)
{
	for (struct node_conn *nc = s->conns; nc != NULL; nc = nc->next) {
		int64_t ms = now - nc->since_ms;

		if (nc->waiting != NULL) {
			if (ms <= s->o.answer_ms)
				continue;
			count(s, NODE_UNANSWERED);
			resume(s, nc->waiting,
			       &(struct http_answer){.status = 503, .retry_after_s = FULL_RETRY_S});
		} else if (ms > patience(s, nc)) {
			cut(s, nc, NODE_SLOW);
		}
	}
	node_mail_push(s, now);
	s->scan_ms = now + SCAN_MS;
}

static int sleep_max(struct node_server *s)
{
	return s->conns == NULL && !node_mail_waits(s) ? IDLE_MS : SCAN_MS;
}

/* How long to sleep: until MHD's next time-out, or the next scan.  A handshake that waits for its
 * peer is to MHD one that has something to do, and so it has always; what comes wakes us. */
static int work(struct node_server *s)
{
	MHD_UNSIGNED_LONG_LONG ms = 0;
	int64_t now = clock_boot_ms();
	int max;

	if (now >= s->scan_ms)
		scan(s, now);
	for (int i = 0; i < RUNS_MAX && ms == 0; i++) {
		uint64_t before = s->moves;

		(void)MHD_run(s->mhd);
		if (MHD_get_timeout(s->mhd, &ms) != MHD_YES)
			return sleep_max(s);
		if (ms == 0 && s->moves == before && s->unheard > 0)
			ms = REST_MS;
	}
	max = sleep_max(s);
	return ms < (unsigned)max ? (int)ms : max;
}

void *node_thread_run(void *server)
{
	struct node_server *s = server;
	bool stop = false;
	int ms = 0;

	(void)pthread_setname_np(pthread_self(), "burstd-nodes");
	/* Of this thread alone, says Linux. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + NICE);
	while (!stop) {
		struct epoll_event ev[2];

		(void)epoll_wait(s->epoll, ev, 2, ms);
		read_mail(s, &stop);
		ms = work(s);
	}
	/* MHD_stop_daemon() ends the process if a connection still sleeps. */
	for (uint32_t i = 0; i < s->nslots; i++)
		if (s->slots[i].x != NULL)
			resume(s, s->slots[i].x, &(struct http_answer){.drop = true});
	MHD_stop_daemon(s->mhd);
	s->mhd = NULL;
	return NULL;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static struct MHD_Daemon *start_daemon(struct node_server *s, const struct node_server_opts *o,
				       unsigned flags, struct sockaddr *sa)
{
	return MHD_start_daemon(
		flags, o->port, on_accept, s, on_access, s, MHD_OPTION_SOCK_ADDR, sa,
		MHD_OPTION_URI_LOG_CALLBACK, on_uri, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed,
		NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)MHD_CONNS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONN_MEMORY,
		MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)LISTEN_BACKLOG,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_HTTPS_MEM_CERT, o->cert_pem,
		MHD_OPTION_HTTPS_MEM_KEY, o->key_pem, MHD_OPTION_HTTPS_PRIORITIES,
		NODE_TLS_PRIORITIES, MHD_OPTION_END);
}

static int listen_on(struct node_server *s, const struct node_server_opts *o, struct err *e)
{
	struct sockaddr_storage sa = {0};
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TLS;

	if (uv_ip4_addr(o->address, o->port, (struct sockaddr_in *)&sa) != 0) {
		if (uv_ip6_addr(o->address, o->port, (struct sockaddr_in6 *)&sa) != 0)
			return err_set(e, ERR_INVALID, "not an IP address: %s", o->address);
		flags |= MHD_USE_DUAL_STACK;
	}
	errno = 0;
	s->mhd = start_daemon(s, o, flags, (struct sockaddr *)&sa);
	if (s->mhd == NULL)
		return err_set(e, ERR_IO, "cannot listen on %s port %u: %s", o->address,
			       (unsigned)o->port,
			       errno != 0 ? strerror(errno) : "refused by libmicrohttpd");
	s->port = MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_BIND_PORT)->port;
	return 0;
}

static int watch(struct node_server *s, struct err *e)
{
	struct epoll_event in = {.events = EPOLLIN};

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll < 0 || s->wake < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->wake, &in) != 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD,
		      MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, &in) != 0)
		return err_set(e, ERR_IO, "cannot listen: %s", strerror(errno));
	return 0;
}

int node_thread_open(struct node_server *s, const struct node_server_opts *o, struct err *e)
{
	uint64_t seed = 0;

	if (node_tls_new(&s->tls, o->cert_pem, o->key_pem, o->client_ca_pem, e) != 0)
		return -1;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return err_set(e, ERR_IO, "cannot get random bytes: %s", strerror(errno));
	s->gate = node_gate_new(&o->gate, seed, clock_boot_ms());
	if (listen_on(s, o, e) != 0)
		return -1;
	return watch(s, e);
}

void node_thread_close(struct node_server *s)
{
	if (s->mhd != NULL)
		MHD_stop_daemon(s->mhd);
	if (s->epoll >= 0)
		(void)close(s->epoll);
	if (s->wake >= 0)
		(void)close(s->wake);
	node_gate_free(s->gate);
	node_tls_unref(s->tls);
	free(s->slots);
}
