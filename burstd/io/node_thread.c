#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/node_thread_private.h"

enum {
	CONN_MEMORY = 16 << 10, /* MHD's for each connection: headers twice, and some of the body */
	LISTEN_BACKLOG = 1024,
	RUNS_MAX = 16,
	REST_MS = 5,     /* if MHD reports work but does none */
	SCAN_MS = 100,   /* between two scans for slow connections */
	IDLE_MS = 60000, /* ... if there are none */
	NICE = 10,       /* the loop comes first */
	MHD_CONNS_MAX = 65536,
};

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
		struct node_exchange *x = node_exchange_find(s, r->ticket);

		if (x != NULL) {
			node_count_add(s, NODE_ANSWERED);
			node_exchange_resume(s, x, &r->an);
		} else {
			node_answer_free(&r->an);
		}
		free(r);
		r = next;
	}
}

/* Only a peer with a certificate may keep a connection for long: stage0 makes a new one each time.
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
			node_count_add(s, NODE_UNANSWERED);
			node_exchange_resume(
				s, nc->waiting,
				&(struct http_answer){.status = 503,
						      .retry_after_s = NODE_FULL_RETRY_S});
		} else if (ms > patience(s, nc)) {
			node_conn_cut(s, nc, NODE_SLOW);
		}
	}
	node_mail_push(s, now);
	s->scan_ms = now + SCAN_MS;
}

static int sleep_max(struct node_server *s)
{
	return s->conns == NULL && !node_mail_waits(s) ? IDLE_MS : SCAN_MS;
}

/* Run MHD, and return how long to sleep: until its next timeout, or the next scan.  MHD always
 * reports work for a handshake that only waits for its peer; its input will wake us. */
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
	/* On Linux this is for this thread only. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), getpriority(PRIO_PROCESS, 0) + NICE);
	while (!stop) {
		struct epoll_event ev[2];

		(void)epoll_wait(s->epoll, ev, 2, ms);
		read_mail(s, &stop);
		ms = work(s);
	}
	/* MHD_stop_daemon() might shut it down, for everybody who has a copy. */
	s->fd = MHD_quiesce_daemon(s->mhd);
	if (s->fd != MHD_INVALID_SOCKET)
		(void)close(s->fd);
	/* MHD_stop_daemon() ends the process if a connection is still suspended. */
	for (uint32_t i = 0; i < s->nslots; i++)
		if (s->slots[i].x != NULL)
			node_exchange_resume(s, s->slots[i].x, &(struct http_answer){.drop = true});
	MHD_stop_daemon(s->mhd);
	s->mhd = NULL;
	return NULL;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static struct MHD_Daemon *start_daemon(struct node_server *s, const struct node_server_opts *o,
				       unsigned flags, struct sockaddr *sa)
{
	return MHD_start_daemon(
		flags, o->port, node_conn_on_accept, s, node_exchange_on_access, s,
		MHD_OPTION_SOCK_ADDR, sa, MHD_OPTION_URI_LOG_CALLBACK, node_exchange_on_uri, s,
		MHD_OPTION_NOTIFY_COMPLETED, node_exchange_on_completed, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, node_conn_on_connection, s,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)MHD_CONNS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONN_MEMORY,
		MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)LISTEN_BACKLOG, MHD_OPTION_LISTEN_SOCKET,
		o->fd > 0 ? o->fd : MHD_INVALID_SOCKET, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_HTTPS_MEM_CERT, o->cert_pem, MHD_OPTION_HTTPS_MEM_KEY, o->key_pem,
		MHD_OPTION_HTTPS_PRIORITIES, NODE_TLS_PRIORITIES, MHD_OPTION_END);
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
	s->fd = MHD_get_daemon_info(s->mhd, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd;
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
