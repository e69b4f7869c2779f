/* flood.c - the node-facing listener under attack, and what the hooks feel of it.
 *
 *	flood serve CERT KEY [alone]
 *	flood attack PORT CLAIMS CONNS SECONDS
 *
 * serve: the real listener and the real control socket on one loop, as in burstd; a call is made
 * durable by one fdatasync.  Prints the port; on SIGTERM the listener's counters, as JSON.  alone:
 * without a control socket.
 *
 * attack: so many bad claims a second over kept connections, and so many new connections; prints
 * what came of them.  It comes from 127.0.0.0/8, which has addresses enough. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "io/ctl_server.h"
#include "io/loop.h"
#include "io/node_claims.h"
#include "io/node_server.h"

enum {
	KEPT = 16,     /* connections that stay */
	ROUND_MS = 20, /* between two batches on each */
	OPENERS = 16,  /* threads that open connections */
	PEM_MAX = 8192,
	ADDRESSES = 250,
};

static void die(const char *what)
{
	(void)fprintf(stderr, "flood: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- serve ------------------------------------------------------------------------------------ */

struct serve {
	struct loop *loop;
	struct ctl_server *ctl;
	struct node_server *nodes;
	struct node_claims *claims;
	uint64_t handled;
	int fd;
};

static char *on_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who,
			const char *json, size_t len)
{
	(void)ctx;
	(void)c;
	(void)who;
	(void)json;
	(void)len;
	return mem_strdup("{\"ok\":false}");
}

static char *on_call(void *ctx, const struct ctl_caller *who, const struct ctl_call *call)
{
	struct serve *s = ctx;

	(void)who;
	if (write(s->fd, call->list, call->list_len) < 0 || fdatasync(s->fd) != 0)
		return mem_strdup("{\"ok\":false}");
	return mem_strdup("{\"ok\":true}");
}

static void on_node(void *ctx, const struct node_request *rq, struct http_answer *an)
{
	struct serve *s = ctx;

	(void)rq;
	s->handled++;
	an->status = 200;
}

static void read_pem(char out[PEM_MAX], const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, PEM_MAX - 1);

	if (n < 0)
		die(path);
	out[n] = '\0';
	(void)close(fd);
}

static void on_end(void *ctx)
{
	struct serve *s = ctx;
	struct node_server_stats st;

	node_server_stats(s->nodes, &st);
	(void)printf("{\"accepted\":%llu,\"over_rate\":%llu,\"over_number\":%llu,\"requests\":%llu,"
		     "\"refused\":%llu,\"loop\":%llu}\n",
		     (unsigned long long)st.accepted, (unsigned long long)st.over_rate,
		     (unsigned long long)st.over_number, (unsigned long long)st.requests,
		     (unsigned long long)st.refused, (unsigned long long)s->handled);
	node_server_stop(s->nodes);
	if (s->ctl != NULL)
		ctl_server_close(s->ctl);
	loop_stop(s->loop);
}

static int serve(const char *cert_path, const char *key_path, bool alone)
{
	struct serve s = {.claims = node_claims_new()};
	const struct ctl_server_opts co = {.path = PATHS_SOCKET};
	const struct ctl_handler h = {.request = on_request, .call = on_call, .ctx = &s};
	char cert[PEM_MAX], key[PEM_MAX];
	const struct node_server_opts no = {
		.address = "127.0.0.1",
		.cert_pem = cert,
		.key_pem = key,
		.client_ca_pem = cert,
		.gate = {.accepts_per_s = 100,
			 .accepts_per_addr_s = 10,
			 .asks_per_addr_s = 50,
			 .max_conns = 512,
			 .max_per_addr = 32},
		.request_ms = 10000,
		.keep_ms = 60000,
		.answer_ms = 15000,
		.queue_max = 256,
		.check = node_claims_check,
		.check_ctx = s.claims,
	};
	struct err e = {0};

	read_pem(cert, cert_path);
	read_pem(key, key_path);
	s.fd = open("/var/spool/burstd/calls", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (s.fd < 0)
		die("/var/spool/burstd/calls");
	if (loop_new(&s.loop, &e) != 0 ||
	    (!alone && ctl_server_new(&s.ctl, s.loop, &co, &h, &e) != 0) ||
	    node_server_start(&s.nodes, loop_uv(s.loop), &no, on_node, &s, &e) != 0 ||
	    loop_on_signal(s.loop, SIGTERM, on_end, &s, &e) != 0) {
		(void)fprintf(stderr, "flood: %s\n", e.msg);
		return 1;
	}
	(void)printf("%u\n", (unsigned)node_server_port(s.nodes));
	(void)fflush(stdout);
	loop_run(s.loop);
	loop_free(s.loop);
	node_claims_free(s.claims);
	return 0;
}

/* --- attack ----------------------------------------------------------------------------------- */

struct attack {
	uint16_t port;
	unsigned claims, conns; /* a second */
	int64_t until;
	gnutls_certificate_credentials_t cred;
	atomic_uint_least64_t sent, refused, tried, opened;
};

struct peer {
	gnutls_session_t tls;
	int fd;
};

/* From the n-th address of its own. */
static int dial(const struct attack *a, unsigned n)
{
	struct sockaddr_in from = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(0x7f010000 + n % ADDRESSES + 1)};
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(a->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval wait = {.tv_sec = 2};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	union {
		struct sockaddr_in *in;
		struct sockaddr *any;
	} u = {.in = &from}, v = {.in = &to};

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, u.any, sizeof(from)) == 0 && connect(fd, v.any, sizeof(to)) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static int open_peer(const struct attack *a, struct peer *p, unsigned n)
{
	int rc;

	p->fd = dial(a, n);
	if (p->fd < 0)
		return -1;
	(void)gnutls_init(&p->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
	(void)gnutls_set_default_priority(p->tls);
	(void)gnutls_credentials_set(p->tls, GNUTLS_CRD_CERTIFICATE, a->cred);
	gnutls_transport_set_int(p->tls, p->fd);
	do
		rc = gnutls_handshake(p->tls);
	while (rc < 0 && gnutls_error_is_fatal(rc) == 0 && rc != GNUTLS_E_AGAIN);
	if (rc == 0)
		return 0;
	gnutls_deinit(p->tls);
	(void)close(p->fd);
	return -1;
}

static void *opener(void *arg)
{
	struct attack *a = arg;
	int64_t every = 1000 * OPENERS / a->conns;

	for (int64_t next = now_ms(); next < a->until; next += every) {
		struct peer p;
		unsigned n = (unsigned)atomic_fetch_add(&a->tried, 1);

		if (open_peer(a, &p, n) == 0) {
			(void)atomic_fetch_add(&a->opened, 1);
			gnutls_deinit(p.tls);
			(void)close(p.fd);
		}
		if (next + every > now_ms())
			(void)usleep((useconds_t)(next + every - now_ms()) * 1000);
	}
	return NULL;
}

static const char claim[] = "POST /v1/claim HTTP/1.1\r\nHost: burstd\r\nAccept: text/plain\r\n"
			    "Content-Length: 107\r\n\r\n"
			    "{\"v\":1,\"claim_id\":\"b-000000000000\",\"claim_secret\":"
			    "\"0123456789abcdef0123456789abcdef0123456789abcdef\",\"n\":1}";

/* Read n answers. */
static unsigned answers(struct peer *p, unsigned n)
{
	static _Thread_local char buf[65536];
	unsigned got = 0;

	while (got < n) {
		ssize_t len = gnutls_record_recv(p->tls, buf, sizeof(buf) - 1);

		if (len < 0 && len != GNUTLS_E_AGAIN && gnutls_error_is_fatal((int)len) == 0)
			continue;
		if (len <= 0)
			return got;
		buf[len] = '\0';
		for (const char *q = buf; (q = strstr(q, "HTTP/1.1 401")) != NULL; q += 12)
			got++;
	}
	return got;
}

/* A batch on every connection, then all the answers, then the next. */
static void claims(struct attack *a)
{
	static struct peer p[KEPT];
	unsigned batch = (a->claims * ROUND_MS + 1000 * KEPT - 1) / (1000 * KEPT), n = 0;
	size_t len = sizeof(claim) - 1;
	char *text = mem_zalloc(batch * len + 1);

	for (unsigned i = 0; i < batch; i++)
		memcpy(text + i * len, claim, len);
	for (unsigned i = 0; i < KEPT; i++)
		if (open_peer(a, &p[n], ADDRESSES / 2 + i) == 0)
			n++;
	for (int64_t round = now_ms(); round < a->until; round += ROUND_MS) {
		int64_t left = round - now_ms();

		if (left > 0)
			(void)usleep((useconds_t)left * 1000);
		for (unsigned i = 0; i < n; i++)
			if (gnutls_record_send(p[i].tls, text, batch * len) > 0)
				(void)atomic_fetch_add(&a->sent, batch);
		for (unsigned i = 0; i < n; i++)
			(void)atomic_fetch_add(&a->refused, answers(&p[i], batch));
	}
	free(text);
}

static int attack(char **argv)
{
	struct attack a = {.port = (uint16_t)strtoul(argv[0], NULL, 10),
			   .claims = (unsigned)strtoul(argv[1], NULL, 10),
			   .conns = (unsigned)strtoul(argv[2], NULL, 10)};
	pthread_t t[OPENERS];
	int64_t began = now_ms();
	double s;

	a.until = began + strtol(argv[3], NULL, 10) * 1000;
	(void)signal(SIGPIPE, SIG_IGN);
	if (gnutls_certificate_allocate_credentials(&a.cred) != 0)
		return 1;
	for (int i = 0; i < OPENERS; i++)
		if (pthread_create(&t[i], NULL, opener, &a) != 0)
			return 1;
	claims(&a);
	for (int i = 0; i < OPENERS; i++)
		(void)pthread_join(t[i], NULL);
	s = (double)(now_ms() - began) / 1000;
	(void)printf("{\"claims_per_s\":%.0f,\"refused_per_s\":%.0f,\"tried_per_s\":%.0f,"
		     "\"opened_per_s\":%.0f}\n",
		     (double)a.sent / s, (double)a.refused / s, (double)a.tried / s,
		     (double)a.opened / s);
	return 0;
}

int main(int argc, char **argv)
{
	if ((argc == 4 || argc == 5) && strcmp(argv[1], "serve") == 0)
		return serve(argv[2], argv[3], argc == 5);
	if (argc == 6 && strcmp(argv[1], "attack") == 0)
		return attack(argv + 2);
	(void)fprintf(stderr,
		      "usage: flood serve CERT KEY [alone] | attack PORT CLAIMS CONNS SECONDS\n");
	return 2;
}
