#include "io/node_server.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "io/node_server_private.h"

enum {
	TURN_MAX = 32, /* requests per round of the loop: a hook waits for no more than these ... */
	TURN_MS = 5,   /* ... nor longer than this and one: 64 KiB of JSON take a while to read */
};

enum {
	CONNS_MAX =
		14000, /* ten thousand nodes keep one connection each, some for a while a second */
	CONNS_MIN = 64,
	STRANGERS_MAX = 2000, /* so that a stranger has 10 s even when 200 come in a second */
	FILES_LEFT = 256,     /* descriptors left for everything else, at least */
};

void node_server_limits(struct node_server_opts *o, uint64_t files)
{
	uint64_t rest = files / 8 > FILES_LEFT ? files / 8 : FILES_LEFT,
		 conns = files > 2 * rest ? files - rest : files / 2;

	conns = conns > CONNS_MAX ? CONNS_MAX : conns < CONNS_MIN ? CONNS_MIN : conns;
	o->gate = (struct node_gate_opts){
		/* Ten thousand nodes reconnect within a minute, even in one network (/64). */
		.accepts_per_s = 200,
		.accepts_per_addr_s = 50,
		.asks_per_addr_s = 50,
		/* A node sends a heartbeat every 30 s, and a few requests more after a fault. */
		.asks_per_key_s = 20,
		.max_conns = (unsigned)conns,
		.max_strangers = conns < 4 * STRANGERS_MAX ? (unsigned)conns / 4 : STRANGERS_MAX,
		.max_per_addr = STRANGERS_MAX / 4,
		.max_per_key = 8};
	o->request_ms = 10000;
	o->keep_ms = 60000;
	o->answer_ms = 30000;
	o->max_refused = NODE_REFUSED_MAX;
	o->queue_max = 2048; /* six seconds of heartbeats of ten thousand nodes: with so many nodes
				the loop may be busy for that long */
}

/* --- mail ------------------------------------------------------------------------------------- */

void node_job_free(struct node_job *j)
{
	free(j->path);
	free(j->query);
	free(j->accept);
	secret_wipe(&j->authorization);
	free(j->content_type);
	secret_wipe(&j->body);
	free(j);
}

void node_answer_free(struct http_answer *an)
{
	if (an->secret)
		secret_wipe(&an->body);
	free(an->body);
}

int node_mail_send(struct node_server *s, struct node_job *j, int64_t now_ms)
{
	struct node_mail *m = &s->mail;
	bool wakes = !j->rq.lazy;
	int rc = -1;

	(void)pthread_mutex_lock(&m->lock);
	if (m->n < s->o.queue_max && !m->stop) {
		m->ring[(m->first + m->n++) % s->o.queue_max] = j;
		wakes = wakes || m->n > s->o.queue_max / 2; /* lazy ones must not fill it */
		if (wakes)
			m->lazy_ms = 0; /* lazy ones go along */
		else if (m->lazy_ms == 0)
			m->lazy_ms = now_ms;
		rc = 0;
	}
	(void)pthread_mutex_unlock(&m->lock);
	if (rc == 0 && wakes)
		(void)uv_async_send(&s->async);
	return rc;
}

bool node_mail_waits(struct node_server *s)
{
	bool waits;

	(void)pthread_mutex_lock(&s->mail.lock);
	waits = s->mail.lazy_ms != 0;
	(void)pthread_mutex_unlock(&s->mail.lock);
	return waits;
}

void node_mail_push(struct node_server *s, int64_t now_ms)
{
	struct node_mail *m = &s->mail;
	bool due;

	(void)pthread_mutex_lock(&m->lock);
	due = m->lazy_ms != 0 && now_ms >= m->lazy_ms + NODE_LAZY_MS;
	if (due)
		m->lazy_ms = 0;
	(void)pthread_mutex_unlock(&m->lock);
	if (due)
		(void)uv_async_send(&s->async);
}

static struct node_job *receive(struct node_server *s)
{
	struct node_mail *m = &s->mail;
	struct node_job *j = NULL;

	(void)pthread_mutex_lock(&m->lock);
	if (m->n > 0) {
		j = m->ring[m->first];
		m->first = (m->first + 1) % s->o.queue_max;
		m->n--;
	}
	(void)pthread_mutex_unlock(&m->lock);
	return j;
}

static void wake(const struct node_server *s)
{
	ssize_t n = write(s->wake, &(uint64_t){1}, sizeof(uint64_t));

	(void)n; /* it can only be full, and then the thread will wake up */
}

static void reply(struct node_server *s, uint64_t ticket, const struct http_answer *an)
{
	struct node_reply *r = mem_zalloc(sizeof(*r));

	r->ticket = ticket;
	r->an = *an;
	(void)pthread_mutex_lock(&s->mail.lock);
	*s->mail.last = r;
	s->mail.last = &r->next;
	(void)pthread_mutex_unlock(&s->mail.lock);
	wake(s);
}

/* --- the loop --------------------------------------------------------------------------------- */

static const char *header_of(void *from, const char *name)
{
	const struct node_job *j = from;

	if (strcasecmp(name, "accept") == 0)
		return j->accept;
	if (strcasecmp(name, "authorization") == 0)
		return j->authorization;
	return strcasecmp(name, "content-type") == 0 ? j->content_type : NULL;
}

static void on_mail(uv_async_t *h)
{
	struct node_server *s = h->data;
	int64_t end = clock_boot_ms() + TURN_MS;

	for (int i = 0; i < TURN_MAX && (i == 0 || clock_boot_ms() < end); i++) {
		struct node_job *j = receive(s);
		struct http_answer an = {.status = 500};

		if (j == NULL)
			return;
		j->rq.http.header = header_of;
		j->rq.http.headers_from = j;
		s->fn(s->ctx, &j->rq, &an);
		if (!an.later)
			reply(s, j->rq.http.ticket, &an);
		node_job_free(j);
	}
	(void)uv_async_send(h);
}

void node_server_answer(struct node_server *s, uint64_t ticket, const struct http_answer *an)
{
	assert(!an->later);
	reply(s, ticket, an);
}

int node_server_renew(struct node_server *s, const char *cert_pem, const char *key_pem,
		      const char *client_ca_pem, struct err *e)
{
	struct node_tls *t, *before;

	if (node_tls_new(&t, cert_pem, key_pem, client_ca_pem, e) != 0)
		return -1;
	(void)pthread_mutex_lock(&s->mail.lock);
	before = s->mail.tls;
	s->mail.tls = t;
	(void)pthread_mutex_unlock(&s->mail.lock);
	node_tls_unref(before); /* the thread has not seen it */
	wake(s);
	return 0;
}

uint16_t node_server_port(const struct node_server *s)
{
	return s->port;
}

int node_server_fd(const struct node_server *s)
{
	return s->fd;
}

void node_server_stats(const struct node_server *s, struct node_server_stats *out)
{
	uint64_t *to[NODE_NCOUNTS] = {
		&out->accepted,    &out->over_rate,
		&out->over_number, &out->mute,
		&out->slow,        &out->ousted,
		&out->requests,    &out->too_long,
		&out->refused,     &out->asked_too_often,
		&out->queue_full,  &out->unanswered,
		&out->answered,    &out->open,
	};

	for (int i = 0; i < NODE_NCOUNTS; i++)
		*to[i] = atomic_load_explicit(&s->count[i], memory_order_relaxed);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void free_all(struct node_server *s)
{
	struct node_job *j;

	while ((j = receive(s)) != NULL)
		node_job_free(j);
	while (s->mail.replies != NULL) {
		struct node_reply *r = s->mail.replies;

		s->mail.replies = r->next;
		node_answer_free(&r->an);
		free(r);
	}
	node_tls_unref(s->mail.tls);
	free(s->mail.ring);
	(void)pthread_mutex_destroy(&s->mail.lock);
	node_thread_close(s);
	free(s);
}

static void on_closed(uv_handle_t *h)
{
	free_all(h->data);
}

/* Block all signals in the thread: they are for the loop. */
static int start_thread(struct node_server *s, struct err *e)
{
	sigset_t all, before;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->thread, NULL, node_thread_run, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0 ? 0 : err_set(e, ERR_IO, "cannot start a thread: %s", strerror(rc));
}

static struct node_server *new_server(const struct node_server_opts *o)
{
	struct node_server *s = mem_zalloc(sizeof(*s));

	s->o = *o;
	s->o.address = s->o.cert_pem = s->o.key_pem = s->o.client_ca_pem = NULL;
	(void)pthread_mutex_init(&s->mail.lock, NULL);
	s->mail.ring = mem_zalloc(o->queue_max * sizeof(struct node_job *));
	s->mail.last = &s->mail.replies;
	s->epoll = s->wake = -1;
	return s;
}

int node_server_start(struct node_server **out, struct uv_loop_s *loop,
		      const struct node_server_opts *o, node_handler_fn fn, void *ctx,
		      struct err *e)
{
	struct node_server *s;
	int rc;

	*out = NULL;
	assert(o->queue_max > 0);
	s = new_server(o);
	s->fn = fn;
	s->ctx = ctx;
	if (node_thread_open(s, o, e) != 0) {
		free_all(s);
		return -1;
	}
	rc = uv_async_init(loop, &s->async, on_mail);
	if (rc != 0) {
		free_all(s);
		return err_set(e, ERR_IO, "cannot listen: %s", uv_strerror(rc));
	}
	s->async.data = s;
	if (start_thread(s, e) != 0) {
		uv_close((uv_handle_t *)&s->async, on_closed);
		return -1;
	}
	*out = s;
	return 0;
}

void node_server_stop(struct node_server *s)
{
	(void)pthread_mutex_lock(&s->mail.lock);
	s->mail.stop = true;
	(void)pthread_mutex_unlock(&s->mail.lock);
	wake(s);
	(void)pthread_join(s->thread, NULL);
	uv_close((uv_handle_t *)&s->async, on_closed);
}
