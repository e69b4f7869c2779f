/* A node's request, from its first line until its answer is sent.  Requests that need no decision
 * are refused here; all others go to the loop, and the connection is suspended meanwhile. */
#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/secret.h"
#include "io/node_thread_private.h"

enum {
	SWALLOW_MAX = 4 * NODE_BODY_MAX, /* dropped of a body that is too long: with bytes left
					    unread the answer would be lost */
	QUERY_MAX = 1024,
};

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

struct node_exchange *node_exchange_find(const struct node_server *s, uint64_t ticket)
{
	uint32_t i = (uint32_t)ticket;

	if (i >= s->nslots || s->slots[i].serial != ticket >> 32)
		return NULL;
	return s->slots[i].x;
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

/* Has the connection had enough refusals to be closed?  Its peer then pays for another handshake:
 * one connection can get ten thousands of refusals a second, and the gate limits new ones. */
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

/* MHD calls node_exchange_on_access() again to send the answer. */
void node_exchange_resume(struct node_server *s, struct node_exchange *x,
			  const struct http_answer *an)
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
	if (x->len + len + 1 > x->cap) { /* grow seldom, and wipe the old one: it may be a secret */
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

/* Pass the request to the loop; the connection is suspended until node_exchange_resume(). */
static enum MHD_Result hand_over(struct node_server *s, struct node_exchange *x,
				 struct node_request *rq)
{
	struct http_answer full = {.status = 503, .retry_after_s = NODE_FULL_RETRY_S};
	struct node_job *j;

	rq->http.ticket = ticket_take(s, x);
	j = job_of(x, rq);
	if (node_mail_send(s, j, clock_boot_ms()) != 0) {
		node_job_free(j);
		ticket_give(s, x);
		node_count_add(s, NODE_QUEUE_FULL);
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

	node_count_add(s, NODE_REQUESTS);
	rq.peer = x->nc->peer;
	memcpy(rq.address, x->nc->address, sizeof(rq.address));
	rq.port = x->nc->port;
	if (s->o.check != NULL && s->o.check(s->o.check_ctx, &rq, &an)) {
		node_count_add(s, NODE_REFUSED);
		return answer(x, &an);
	}
	if (!node_gate_ask(s->gate, &x->nc->gate, clock_boot_ms())) {
		node_count_add(s, NODE_ASKED_TOO_OFTEN);
		return answer(x, &(struct http_answer){.status = 429, .retry_after_s = 1});
	}
	return hand_over(s, x, &rq);
}

/* Read the peer's certificate, once.  -1: it is unreadable, or has expired by now. */
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
			node_conn_oust(nc->s, node_gate_know(nc->s->gate, &nc->gate, nc->peer.spki,
							     clock_boot_ms()));
	}
	return nc->peer.known && nc->peer.not_after_ms < clock_wall_ms() ? -1 : 0;
}

static enum MHD_Result count_header(void *cls, enum MHD_ValueKind kind, const char *key,
				    size_t key_len, const char *value, size_t len)
{
	struct node_exchange *x = cls;

	(void)kind;
	(void)key;
	(void)value;
	x->head += key_len + strlen(": ") + len + strlen("\r\n");
	return MHD_YES;
}

/* Headers are in, no body yet.  Their length is counted here: MHD's own, REQUEST_HEADER_SIZE, is -2
 * whatever the request in 0.9.72, which EL9 has. */
static enum MHD_Result begin(struct node_exchange *x, struct MHD_Connection *conn,
			     const char *method, const char *version)
{
	x->head += strlen(method) + strlen(version) + strlen("  \r\n\r\n");
	(void)MHD_get_connection_values_n(conn, MHD_HEADER_KIND, count_header, x);
	x->started = true;
	x->conn = conn;
	x->nc = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	x->nc->s->unheard -= !x->nc->spoke;
	x->nc->spoke = true;
	/* An older libmicrohttpd takes a first line without a version for a request. */
	if (strncmp(version, "HTTP/1.", strlen("HTTP/1.")) != 0 || meet(x) != 0)
		return MHD_NO;
	if (x->head <= NODE_HEADER_MAX)
		return MHD_YES;
	node_count_add(x->nc->s, NODE_TOO_LONG);
	return answer(x, &(struct http_answer){.status = 431});
}

enum MHD_Result node_exchange_on_access(void *cls, struct MHD_Connection *conn, const char *path,
					const char *method, const char *version, const char *data,
					size_t *len, void **con_cls)
{
	struct node_server *s = cls;
	struct node_exchange *x = *con_cls;

	s->moves++;
	if (!x->started)
		return begin(x, conn, method, version);
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
		node_count_add(s, NODE_TOO_LONG);
		return answer(x, &(struct http_answer){.status = 413});
	}
	return handle(s, x, method, path);
}

/* The first line was read; the return value becomes *con_cls.  From here on a kept connection has
 * the time of a request. */
void *node_exchange_on_uri(void *cls, const char *uri, struct MHD_Connection *conn)
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
	x->head = strlen(uri);
	if (query != NULL)
		x->query = mem_check(strndup(query + 1, QUERY_MAX));
	return x;
}

void node_exchange_on_completed(void *cls, struct MHD_Connection *conn, void **con_cls,
				enum MHD_RequestTerminationCode why)
{
	struct node_exchange *x = *con_cls;

	(void)cls;
	(void)conn;
	(void)why;
	if (x == NULL)
		return;
	assert(x->nc->waiting != x); /* MHD does not end a suspended connection */
	x->nc->busy = false;
	x->nc->since_ms = clock_boot_ms();
	if (x->answered)
		node_answer_free(&x->an);
	free(x->query);
	secret_wipe(&x->body);
	free(x);
	*con_cls = NULL;
}
