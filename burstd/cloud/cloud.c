#include "cloud/request_private.h"
#include "engine/times.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "base/netmap.h"
#include "base/secret.h"
#include "io/http_client.h"
#include "io/proc.h"

bool cloud_ready(struct cloud *c, enum provider_op_kind kind)
{
	return !off_is(c) && session_serves(c, kind) &&
	       limit_may(&c->limit, kind, engine_now(c->e));
}

void cloud_complain(struct cloud *c, enum provider_op_kind kind, const char *code, const char *text)
{
	char full[sizeof(c->error)];

	(void)snprintf(full, sizeof(full), "%s: %s", provider_op_str(kind), text);
	c->failed_ms = engine_now(c->e);
	if (strcmp(c->error, full) != 0)
		log_write(c->e->d.log, LOG_WARN, "provider failed", "provider", c->conf->name,
			  "code", code, "error", full, NULL);
	(void)snprintf(c->error, sizeof(c->error), "%s", full);
	if (kind == PROVIDER_DELETE) {
		c->undeleted_ms = c->failed_ms;
		(void)snprintf(c->undeleted, sizeof(c->undeleted), "%s", text);
	}
}

/* A throttle is neither an answer nor a failure, unless it lasts. */
static void note_throttled(struct cloud *c, enum provider_op_kind kind,
			   const struct provider_result *r)
{
	int64_t since = c->limit.kinds[kind].troubled_ms;

	c->throttled_ms = engine_now(c->e);
	if (since != 0 && engine_now(c->e) - since >= ENGINE_THROTTLED_MS)
		cloud_complain(c, kind, provider_code_str(r->code),
			       r->message[0] != '\0' ? r->message : "throttled");
}

static void note(const struct request *rq, const struct provider_result *r)
{
	const enum provider_op_kind kind = rq->op.kind;
	struct cloud *c = rq->cloud;
	bool bad = r->code == PROVIDER_DENIED || r->code == PROVIDER_TRANSIENT ||
		   r->code == PROVIDER_AMBIGUOUS || r->code == PROVIDER_INVALID;

	/* A successful login does not show that the provider serves requests. */
	if (kind == PROVIDER_LOGIN && !bad)
		return;
	if (kind == PROVIDER_NOTICES) {
		if (r->code == PROVIDER_DENIED)
			(void)session_doubt(c, rq->sent_ms);
		return; /* perhaps another service: listen.c notes its state */
	}
	if (kind == PROVIDER_REPORT || kind == PROVIDER_CONSOLE || kind == PROVIDER_TOPOLOGY)
		return; /* nothing else needs these rights, and a denial is shown elsewhere, if at
			   all */
	if (kind != PROVIDER_LOGIN && r->code == PROVIDER_DENIED)
		(void)session_doubt(c, rq->sent_ms);
	if (r->code == PROVIDER_RATE) {
		note_throttled(c, kind, r);
		return;
	}
	if (!bad) {
		c->ok_ms = engine_now(c->e);
		if (kind != PROVIDER_LIST || r->code != PROVIDER_MORE) /* the next page may fail */
			c->error[0] = '\0';
		return;
	}
	cloud_complain(c, kind, provider_code_str(r->code), r->message);
}

/* A request that the provider may hold uses no slot. */
static bool is_held(const struct request *rq)
{
	return rq->op.kind == PROVIDER_NOTICES;
}

/* Note in the limit when the next request of this kind may go. */
static void note_limit(const struct request *rq, const struct provider_result *r)
{
	struct limit *l = &rq->cloud->limit;
	int64_t now = engine_now(rq->cloud->e);
	bool unsure = r->code == PROVIDER_TRANSIENT || r->code == PROVIDER_AMBIGUOUS;

	limit_give(l, rq->counted);
	if (r->code == PROVIDER_RATE || (unsure && r->retry_after_ms > 0)) {
		rq->cloud->throttled[rq->counted]++;
		limit_throttled(l, rq->counted, rq->sent_ms, r->retry_after_ms, now);
	} else if (!unsure) {
		limit_answered(l, rq->counted);
	}
}

static void drop_reader(struct request *rq)
{
	if (rq->reader != NULL)
		rq->reads->read_end(rq->reader, NULL, NULL, NULL, NULL);
	rq->reader = NULL;
}

static void request_free(struct request *rq)
{
	assert(rq->prev != NULL);
	*rq->prev = rq->next;
	if (rq->next != NULL)
		rq->next->prev = rq->prev;
	drop_reader(rq);
	secret_wipe(&rq->cursor);
	free(rq->ctx);
	free(rq);
}

/* If it was not sent, nothing happened. */
static struct provider_result result_of(const struct err *e)
{
	struct provider_result r = {.code = e->code == ERR_NOTSENT ? PROVIDER_TRANSIENT
								   : PROVIDER_AMBIGUOUS};

	(void)snprintf(r.message, sizeof(r.message), "%.150s", e->msg);
	return r;
}

/* Denied, perhaps for its session: that says nothing of the place, nor of the machines.  *again:
 * what is returned then. */
static const struct provider_result *
excuse(const struct request *rq, const struct provider_result *r, struct provider_result *again)
{
	const enum provider_op_kind kind = rq->op.kind;
	const bool counts = kind == PROVIDER_CREATE || kind == PROVIDER_DELETE ||
			    kind == PROVIDER_FABRIC_MAKE || kind == PROVIDER_FABRIC_DROP;

	if (r->code != PROVIDER_DENIED || r->denied_for_good || !counts ||
	    !session_doubt(rq->cloud, rq->sent_ms))
		return r;
	*again = *r;
	again->code = PROVIDER_TRANSIENT;
	return again;
}

/* Of an operation that does not end, in the words of its last answer. */
static struct provider_result endless(const struct provider_result *last)
{
	struct provider_result r;
	struct err e = {0};

	(void)err_set(&e, ERR_LIMIT, "an operation of several requests does not end%s%.100s",
		      last->message[0] != '\0' ? ": " : "", last->message);
	r = result_of(&e);
	memcpy(r.request_id, last->request_id, sizeof(r.request_id));
	return r;
}

/* Every answer ends here. */
static void finish(struct request *rq, const struct provider_result *r)
{
	struct provider_result unknown, again;
	struct cloud *c = rq->cloud;
	enum steps steps = STEPS_OVER;

	if (c != NULL) {
		note_limit(rq, r);
		r = excuse(rq, r, &again);
		steps = steps_take(rq, r);
		unknown = endless(r);
		r = steps == STEPS_ENDLESS ? &unknown : r;
		note(rq, r);
		engine_heard(c->e, c, rq->op.kind, r, rq->sent_ms);
		if (steps != STEPS_ON ||
		    (rq->op.kind == PROVIDER_CREATE && r->code == PROVIDER_MORE))
			rq->fn(c, rq->ctx, r);
	}
	if (steps != STEPS_ON)
		request_free(rq);
}

static void fail(struct request *rq, const struct err *e)
{
	const struct provider_result r = result_of(e);

	finish(rq, &r);
}

/* "ID", or "ID, ID" of the first and the last request of an operation. */
static void set_id(struct request *rq, const struct provider_reply *reply,
		   struct provider_result *r)
{
	char id[PROVIDER_REQUEST_MAX + 1] = "";

	if (rq->cloud->ops->request_id != NULL)
		rq->cloud->ops->request_id(rq->cloud->self, reply, id);
	if (rq->first_id[0] == '\0')
		memcpy(rq->first_id, id, sizeof(id));
	(void)snprintf(r->request_id, sizeof(r->request_id), "%s", rq->first_id);
	if (id[0] != '\0' && strcmp(id, rq->first_id) != 0)
		(void)snprintf(r->request_id, sizeof(r->request_id), "%s, %s", rq->first_id, id);
}

/* What is no success came whole, as it is short. */
static void read_reply(struct request *rq, const struct provider_reply *reply,
		       struct provider_result *r)
{
	const struct cloud *c = rq->cloud;
	void *reader = rq->reader;

	if (reader == NULL || reply->status != 200) {
		c->ops->parse(c->self, &rq->op, reply, r);
		return;
	}
	rq->reader = NULL;
	c->ops->read_end(reader, c->self, &rq->op, reply, r);
}

/* Everybody here knows machines by the addresses that slurmctld, and burstd's listener, see. */
static void translate(const struct cloud *c, struct provider_result *r)
{
	const char *map = c->conf->address_map;

	if (map == NULL || map[0] == '\0')
		return;
	for (size_t i = 0; i < r->nitems; i++)
		netmap_translate(map, r->items[i].instance.addr, PROVIDER_ADDR_MAX + 1);
	for (size_t i = 0; i < r->ninstances; i++)
		netmap_translate(map, r->instances[i].addr, PROVIDER_ADDR_MAX + 1);
}

static void parsed(struct request *rq, const struct provider_reply *reply)
{
	struct provider_result r = {0};

	assert(rq->cloud != NULL);
	read_reply(rq, reply, &r);
	translate(rq->cloud, &r);
	set_id(rq, reply, &r);
	/* Convert the pause for all users of it: rows, limit.h and listen.c. */
	if (r.retry_after_ms > LIMIT_PAUSE_MAX_MS)
		r.retry_after_ms = LIMIT_PAUSE_MAX_MS;
	finish(rq, &r);
	provider_result_fini(&r);
}

/* NULL: the engine is gone. */
static struct engine *engine_of(const struct request *rq)
{
	if (rq->cloud == NULL)
		return NULL;
	assert(rq->cloud->e != NULL);
	return rq->cloud->e;
}

/* Take a reply, or the error. */
static void answered(struct request *rq, const struct provider_reply *reply, const struct err *e)
{
	static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};
	struct engine *engine = engine_of(rq);
	struct log *log = engine != NULL ? engine->d.log : NULL;

	log_hold(log);
	if (e != NULL || engine == NULL)
		fail(rq, e != NULL ? e : &gone);
	else
		parsed(rq, reply);
	if (engine != NULL)
		engine_turn(engine);
	log_release(log);
}

int64_t engine_clock_ahead(const struct engine *e, size_t provider)
{
	int64_t now = engine_now(e);

	return engine_wall(e, now) - times_of(&e->cloud->all[provider], now);
}

static void on_http(void *ctx, const struct http_reply *reply, const struct err *e)
{
	struct request *rq = ctx;
	struct provider_reply r = {0};

	if (reply != NULL && rq->cloud != NULL)
		times_date(rq->cloud, rq->sent_ms, engine_now(rq->cloud->e), reply->date_ms);

	if (reply != NULL)
		r = (struct provider_reply){.status = reply->status,
					    .body = reply->body,
					    .len = reply->len,
					    .headers = reply->headers};
	answered(ctx, &r, e);
}

static void on_proc(void *ctx, const struct proc_reply *reply, const struct err *e)
{
	struct provider_reply r = {0};

	if (reply != NULL)
		r = (struct provider_reply){
			.status = reply->status, .body = reply->out, .len = reply->len};
	answered(ctx, &r, e);
}

static void on_data(void *ctx, const char *data, size_t len)
{
	struct request *rq = ctx;

	rq->reads->read_some(rq->reader, data, len);
}

/* Nobody waits for a console log longer (console.c), so it shall keep no slot. */
static uint32_t timeout_of(const struct request *rq)
{
	uint32_t all = (uint32_t)rq->cloud->conf->timeout_ms;

	return rq->op.kind == PROVIDER_CONSOLE && all > ENGINE_CONSOLE_MS ? ENGINE_CONSOLE_MS : all;
}

static int send_http(struct request *rq, const struct provider_request *p, struct err *e)
{
	struct cloud *c = rq->cloud;
	uint32_t held_ms = is_held(rq) ? rq->op.u.notices.wait_ms : 0;
	struct http_call call = {.method = p->method,
				 .url = p->url,
				 .headers = (const char *const *)p->headers,
				 .body = p->body,
				 .body_len = p->body_len,
				 .ca_file = c->conf->ca_file,
				 .timeout_ms = timeout_of(rq) + held_ms,
				 .held = held_ms > 0,
				 .max_reply = ENGINE_REPLY_MAX};

	drop_reader(rq); /* of the page before, if that was no success */
	rq->reads = c->ops;
	if (c->ops->read_begin != NULL)
		rq->reader = c->ops->read_begin(c->self, &rq->op);
	if (rq->reader != NULL)
		call.on_data = on_data;
	rq->http = true;
	return http_client_send(c->e->d.http, &call, on_http, rq, &rq->handle, e);
}

static int send_command(struct request *rq, const struct provider_request *p, struct err *e)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
	struct proc_call call = {.argv = (const char *const *)p->argv,
				 .envp = env,
				 .input = p->body,
				 .input_len = p->body_len,
				 .timeout_ms = p->deadline_ms,
				 .max_out = ENGINE_REPLY_MAX};

	return proc_run(rq->cloud->e->d.proc, &call, on_proc, rq, e);
}

static uint32_t instances_of(const struct provider_op *op)
{
	if (op->kind == PROVIDER_CREATE)
		return (uint32_t)op->u.create.nwants;
	return op->kind == PROVIDER_DELETE ? (uint32_t)op->u.del.nids : 0;
}

struct request *cloud_reserve(struct cloud *c, const struct provider_op *op, request_fn fn,
			      void *ctx)
{
	struct request *rq = mem_zalloc(sizeof(*rq));

	*rq = (struct request){
		.cloud = c, .op = *op, .fn = fn, .ctx = ctx, .began_ms = engine_now(c->e)};
	if (rq->op.cursor == NULL)
		rq->op.cursor = "";
	rq->counted = steps_counted(rq);
	rq->next = c->e->cloud->requests;
	rq->prev = &c->e->cloud->requests;
	if (rq->next != NULL)
		rq->next->prev = &rq->next;
	c->e->cloud->requests = rq;
	limit_take(&c->limit, rq->counted, rq->counted == PROVIDER_STEP ? 0 : instances_of(op),
		   engine_now(c->e));
	(void)err_set(&rq->unsent, ERR_NOTSENT, "it was not sent");
	return rq;
}

void cloud_send_reserved(struct request *rq)
{
	struct cloud *c = rq->cloud;
	struct provider_request p = {0};
	struct err e = {0};
	int rc;

	rq->unsent = (struct err){0};
	rq->sent_ms = engine_now(c->e);
	rq->op.at_ms = times_of(c, rq->sent_ms);
	c->sent[rq->counted]++;
	rc = rq->op.kind == PROVIDER_LOGIN || session_good(c)
		     ? c->ops->build(c->self, &rq->op, &p, &e)
		     : err_set(&e, ERR_NOTSENT, "the session has ended");
	if (rc == 0) {
		rc = p.kind == PROVIDER_HTTP ? send_http(rq, &p, &e) : send_command(rq, &p, &e);
		provider_request_fini(&p);
	} else {
		e.code = ERR_NOTSENT;
	}
	if (rc == 0)
		return;
	rq->unsent = e; /* fn is called from the next turn, never from here */
	c->e->cloud->unsent = true;
}

void cloud_send(struct cloud *c, const struct provider_op *op, request_fn fn, void *ctx)
{
	cloud_send_reserved(cloud_reserve(c, op, fn, ctx));
}

void cloud_fail_unsent(struct engine *e)
{
	struct request *rq = e->cloud->requests;

	if (!e->cloud->unsent)
		return;
	e->cloud->unsent = false;
	while (rq != NULL && !e->dead) {
		struct request *next = rq->next;

		if (rq->unsent.code != 0)
			fail(rq, &rq->unsent);
		rq = next;
	}
}

bool cloud_quiet(const struct engine *e)
{
	const struct request *rq = e->cloud->requests;

	while (rq != NULL && is_held(rq))
		rq = rq->next;
	return rq == NULL;
}

void cloud_cancel_all(struct engine *e)
{
	while (e->cloud->requests != NULL) {
		struct request *rq = e->cloud->requests;

		e->cloud->requests = rq->next;
		if (rq->next != NULL)
			rq->next->prev = &e->cloud->requests;
		rq->next = NULL;
		rq->prev = &rq->detached;
		rq->cloud = NULL; /* the answer will be dropped */
		if (rq->unsent.code != 0 || rq->rests)
			fail(rq, &rq->unsent);
		else if (rq->http)
			http_client_cancel(e->d.http, rq->handle);
	}
}

uint64_t cloud_body_hash(const struct provider_request *rq)
{
	uint64_t h = fnv_text(FNV_BEGIN, rq->url != NULL ? rq->url : "");

	return fnv_bytes(h, rq->body, rq->body_len) >> 1; /* SQLite's integers are signed */
}

void cloud_hurry(struct cloud *c)
{
	c->list_step = ENGINE_LOOK_MS;
	c->waits = true;
}
