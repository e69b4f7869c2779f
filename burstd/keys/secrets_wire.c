#include "keys/secrets.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/secret_file.h"
#include "io/http_client.h"

struct secrets_wire {
	struct secrets_wire *next, **prev;
	struct secrets *s; /* NULL: the engine is gone */
	struct secret_op op;
	char version[SECRET_VERSION_MAX + 1];
	struct secret *token, *bundle; /* what op points to */
	secrets_wire_fn fn;
	void *ctx;
	uint64_t handle;
	/* There is nothing to wait for: fn is called in the next turn, never inside secrets_send().
	 */
	bool due;
	struct err unsent;   /* code is set: why it was not sent */
	struct secret *file; /* contents of a file */
	long status;
	char file_version[SECRET_FILE_VERSION_SIZE];
};

static void wire_free(struct secrets_wire *w)
{
	secret_free(w->token);
	secret_free(w->bundle);
	secret_free(w->file);
	free(w);
}

/* Every request ends here. */
static void finish(struct secrets_wire *w, const struct secret_result *r)
{
	struct secrets *s = w->s;

	if (s != NULL) {
		*w->prev = w->next;
		if (w->next != NULL)
			w->next->prev = w->prev;
		w->fn(s, w->ctx, &w->op, r);
	}
	wire_free(w);
}

static void fail(struct secrets_wire *w, const struct err *e)
{
	struct secret_result r = {.code = SECRET_TRANSIENT};

	/* ERR_AUTH: a credential is missing.  ERR_INVALID: there can be no such request. */
	if (e->code == ERR_AUTH)
		r.code = SECRET_DENIED;
	else if (e->code == ERR_INVALID)
		r.code = SECRET_INVALID;
	(void)snprintf(r.message, sizeof(r.message), "%.150s", e->msg);
	finish(w, &r);
}

static void parsed(struct secrets_wire *w, const struct secret_reply *reply)
{
	struct secret_result r = {0};

	w->s->ops->parse(w->s->self, &w->op, reply, &r);
	finish(w, &r);
	secret_result_fini(&r);
}

static void on_http(void *ctx, const struct http_reply *reply, const struct err *e)
{
	struct secrets_wire *w = ctx;
	struct engine *engine = w->s != NULL ? w->s->e : NULL;
	struct secret_reply r = {0};

	if (engine == NULL) {
		wire_free(w);
		return;
	}
	log_hold(engine->d.log);
	if (e != NULL) {
		fail(w, e);
	} else {
		r = (struct secret_reply){.status = reply->status,
					  .body = reply->body,
					  .len = reply->len,
					  .headers = reply->headers};
		parsed(w, &r);
	}
	engine_turn(engine);
	log_release(engine->d.log);
}

static int send_http(struct secrets_wire *w, const struct secret_request *rq, struct err *e)
{
	const struct conf_secrets *c = &w->s->e->conf->secrets;
	const struct http_call call = {.method = rq->method,
				       .url = rq->url,
				       .headers = (const char *const *)rq->headers,
				       .body = rq->body,
				       .body_len = rq->body_len,
				       .ca_file = c->ca_file,
				       .timeout_ms = (uint32_t)c->timeout_ms,
				       .max_reply = SECRET_REPLY_MAX,
				       .secret = true};

	return http_client_send(w->s->e->d.http, &call, on_http, w, &w->handle, e);
}

/* Write only if the file still has the expected version: somebody else may have written it. */
static int write_file(struct secrets_wire *w, const struct secret_request *rq, struct err *e)
{
	struct secret *now = NULL;
	int rc = secret_file_read(rq->url, &now, w->file_version, e);

	secret_free(now);
	if (rc < 0)
		return -1;
	if (strcmp(w->version, w->file_version) != 0) {
		w->status = 409;
		return 0;
	}
	return secret_file_write(rq->url, rq->body, rq->body_len,
				 w->token != NULL ? secret_text(w->token) : NULL, e);
}

/* Read or write a file; the answer is delivered in the next turn, like a server's. */
static void send_file(struct secrets_wire *w, const struct secret_request *rq)
{
	struct err e = {0};
	int rc = 0;

	w->due = true;
	w->status = 200;
	if (rq->body != NULL && write_file(w, rq, &e) < 0)
		rc = -1;
	if (rc == 0 && w->status == 200)
		rc = secret_file_read(rq->url, &w->file, w->file_version, &e);
	if (rc == 1)
		w->status = 404;
	if (rc >= 0)
		return;
	w->status = 403;
	w->file = secret_new(e.msg, strlen(e.msg)); /* the error, which is no secret */
}

void secrets_send(struct secrets *s, const struct secret_op *op, secrets_wire_fn fn, void *ctx)
{
	struct secrets_wire *w = mem_zalloc(sizeof(*w));
	struct secret_request rq = {0};
	struct err e = {0};
	int rc;

	*w = (struct secrets_wire){.s = s, .op = *op, .fn = fn, .ctx = ctx};
	(void)snprintf(w->version, sizeof(w->version), "%s",
		       op->version != NULL ? op->version : "");
	if (op->token != NULL)
		w->token = secret_new(op->token, strlen(op->token));
	if (op->bundle != NULL)
		w->bundle = secret_new(op->bundle, strlen(op->bundle));
	w->op.version = w->version;
	w->op.token = w->token != NULL ? secret_text(w->token) : NULL;
	w->op.bundle = w->bundle != NULL ? secret_text(w->bundle) : NULL;
	w->op.sent_ms = engine_now(s->e);
	w->op.at_ms = engine_wall(s->e, w->op.sent_ms);
	w->op.address = s->at;
	w->next = s->wires;
	w->prev = &s->wires;
	if (w->next != NULL)
		w->next->prev = &w->next;
	s->wires = w;
	s->requests++;
	rc = s->ops->build(s->self, &w->op, &rq, &e);
	if (rc == 0 && rq.kind == SECRET_FILE)
		send_file(w, &rq);
	else if (rc == 0)
		rc = send_http(w, &rq, &e);
	secret_request_fini(&rq);
	if (rc == 0)
		return;
	w->due = true;
	w->unsent = e;
}

static void tell(struct secrets_wire *w)
{
	const struct secret_reply r = {.status = w->status,
				       .body = w->file != NULL ? secret_text(w->file) : "",
				       .len = w->file != NULL ? secret_len(w->file) : 0,
				       .version = w->file_version};

	if (w->unsent.code != 0)
		fail(w, &w->unsent);
	else
		parsed(w, &r);
}

bool secrets_wire_due(const struct secrets *s)
{
	for (const struct secrets_wire *w = s->wires; w != NULL; w = w->next)
		if (w->due)
			return true;
	return false;
}

/* Deliver results that are due.  Requests sent meanwhile are first in the list, and have the next
 * turn. */
void secrets_wire_run(struct secrets *s)
{
	struct secrets_wire *w = s->wires;

	while (w != NULL) {
		struct secrets_wire *next = w->next;

		if (w->due)
			tell(w);
		w = next;
	}
}

void secrets_wire_free(struct secrets *s)
{
	while (s->wires != NULL) {
		struct secrets_wire *w = s->wires;

		s->wires = w->next;
		if (w->next != NULL)
			w->next->prev = &s->wires;
		w->s = NULL;
		if (w->due)
			wire_free(w);
		else
			http_client_cancel(s->e->d.http, w->handle);
	}
}
