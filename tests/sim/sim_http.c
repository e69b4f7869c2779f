/* sim_http.c - io/http_client.h as a network with a provider at its end, which speaks simcloud's
 * neutral API.
 *
 * From http_client_send() on a request is on the wire, and takes effect when it arrives, whatever
 * becomes of its sender.  The reply is made then and comes later, if it comes. */
#include "io/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim_boot.h"
#include "sim_journal.h"
#include "sim_wire.h"

enum {
	REPLY_MAX = 1 << 20,
	REQUESTS_PER_MINUTE = 120,
	CONSOLE_MS = 5000, /* a delete waits for a console log, and no longer */
};

struct http_client {
	struct world *w;
	struct wire *wires;
	uint64_t last;
};

struct http_client *sim_http_new(struct world *w)
{
	struct http_client *c = mem_zalloc(sizeof(*c));

	c->w = w;
	return c;
}

static void wire_free(struct http_client *c, struct wire *q)
{
	struct wire **at = &c->wires;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	str_fini(&q->body);
	free(q->put);
	free(q);
}

void sim_http_free(struct http_client *c)
{
	while (c->wires != NULL)
		wire_free(c, c->wires);
	free(c);
}

/* The callback, exactly once. */
static void answer(struct wire *q, const struct http_reply *r, const struct err *e)
{
	http_done_fn done = q->done;

	q->done = NULL;
	if (done != NULL && q->kind == WIRE_DELETE)
		sim_limit_delete_back(q->w, r != NULL && r->status == 429, q->retry_s);
	if (done != NULL && r != NULL && r->status == 429)
		q->w->throttled_at = q->w->now;
	if (done != NULL)
		done(q->ctx, r, e);
}

void sim_http_cancel_all(struct http_client *c)
{
	static const struct err cancelled = {.code = ERR_CANCELLED, .msg = "cancelled"};

	for (struct wire *q = c->wires; q != NULL; q = q->next)
		answer(q, NULL, &cancelled);
}

/* --- the wire --------------------------------------------------------------------------------- */

/* Of an answer about several the worst counts. */
static void told(struct world *w, const struct wire *q)
{
	if (strstr(q->body.p, "\"quota\"") != NULL)
		sim_place_told(w, &q->create, q->sent_at, COOL_QUOTA);
	else if (strstr(q->body.p, "\"capacity\"") != NULL &&
		 !sim_fabric_is_used(w->cloud, &q->create))
		sim_place_told(w, &q->create, q->sent_at, COOL_CAPACITY);
	else if (q->status == 200)
		sim_place_sold(w, &q->create, q->sent_at);
}

static void on_reply(struct world *w, void *ctx, uint64_t arg)
{
	struct wire *q = ctx;
	struct http_reply r = {.status = q->status, .body = q->body.p, .len = q->body.len};
	char seconds[12];
	const struct header retry_after = {"Retry-After", seconds};

	if (q->replied_at == 0)
		q->replied_at = w->now;
	r.date_ms = q->replied_at / SIM_SECOND * SIM_SECOND;
	if (q->done != NULL && sim_freeze_holds(w, on_reply, q, arg)) {
		if (q->deadline < w->frozen_until && world_one_in(w, 2))
			sim_wire_no_reply(w, q); /* it is over before anybody reads what has come */
		return;
	}
	if (q->retry_s > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", q->retry_s);
		r.headers = (struct headers){&retry_after, 1};
	}
	if (q->began_at != 0 && q->error.code == 0 && !q->garbage) {
		q->kind = WIRE_CREATE; /* this is its answer */
		q->sent_at = q->began_at;
	}
	if (q->done != NULL && q->error.code == 0 && q->list_run != 0) {
		sim_cloud_listed(w->cloud, q->list_run, q->twin);
		sim_place_listed(w, q->twin);
	}
	if (q->done != NULL && ((q->kind != WIRE_LIST && q->kind != WIRE_NOTICES) ||
				q->status != 200 || q->error.code != 0))
		SIM_TRACE(w, "http %llu: %ld %.150s", (unsigned long long)q->handle,
			  q->error.code != 0 ? -1 : q->status,
			  q->error.code != 0 ? q->error.msg : q->body.p);
	if (q->done != NULL && q->kind == WIRE_OFFERS && q->error.code == 0 && q->status == 200 &&
	    !q->garbage)
		sim_price_told(w, &q->offers, q->twin);
	if (q->done != NULL && q->kind == WIRE_CREATE && q->error.code == 0 && !q->garbage)
		told(w, q);
	if (q->done != NULL && q->kind == WIRE_CREATE && q->error.code == 0 && q->status == 429)
		sim_cloud_throttled(w->cloud, q->create.token);
	if (q->done != NULL && wire_makes(q) &&
	    !(q->status == 202 && q->error.code == 0 && !q->garbage))
		sim_place_answered(w, q->kind == WIRE_CREATE ? &q->create : NULL,
				   q->error.code == 0 ? q->status : 0, q->sent_at);
	if (q->done != NULL && q->kind == WIRE_PATHS)
		sim_topology_told(w, q);
	if (q->done != NULL && q->kind == WIRE_STORE && q->error.code == 0 && q->status == 200)
		sim_store_told(w, q->url, q->body.p);
	answer(q, q->error.code == 0 ? &r : NULL, q->error.code == 0 ? NULL : &q->error);
	wire_free(w->http, q);
}

static void on_arrival(struct world *w, void *ctx, uint64_t arg)
{
	struct wire *q = ctx;
	int64_t back = world_between(w, 5, w->set.limits.some ? 50 : 300);

	(void)arg;
	if (q->error.code == 0)
		sim_wire_serve(w, q);
	if (q->kind == WIRE_CREATE && w->set.limits.slow)
		back = world_between(w, w->set.timeout_ms / 2, w->set.timeout_ms - SIM_SECOND);
	back += q->hold_ms;
	if (q->error.code == ERR_NET)
		back = q->deadline - w->now;
	world_at(w, w->now + back, on_reply, q, 0);
}

static void count(struct http_client *c, const struct wire *q)
{
	struct sim_totals *t = c->w->totals;
	unsigned most;

	t->creates += q->kind == WIRE_CREATE;
	t->deletes += q->kind == WIRE_DELETE;
	t->lists += q->kind == WIRE_LIST;
	if (q->kind == WIRE_STORE)
		return;
	/* Of each provider; where a page is an instance or two, a list is many. */
	most = REQUESTS_PER_MINUTE * (c->w->set.twins ? 2U : 1U) *
	       (c->w->set.limits.some ? 2U : 1U);
	if (++c->w->requests > most)
		world_fail(c->w, "I30: more than %u requests in a minute", most);
}

static void trace_send(struct http_client *c, const struct wire *q, const struct http_call *call)
{
	SIM_TRACE(c->w, "http %llu: %s %s %.*s", (unsigned long long)q->handle, call->method,
		  call->url + strlen(c->w->url), (int)(call->body_len < 120 ? call->body_len : 120),
		  call->body != NULL ? (const char *)call->body : "");
}

/* Each instance by its id, once; from then on it is enough to say which nodes. */
static void check_delete(const struct http_client *c, const struct wire *q)
{
	char ids[16 * CLOUD_WANTS_MAX] = "", names[24 * CLOUD_WANTS_MAX] = "";
	size_t n = 0, m = 0;
	bool asked = true;

	for (size_t i = 0; i < q->nids; i++) {
		const struct inst *in = sim_cloud_find(c->w->cloud, q->ids[i]);
		const char *comma = i > 0 ? "," : "";

		n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%si-%u", comma, q->ids[i]);
		m += (size_t)snprintf(names + m, sizeof(names) - m, "%s%s", comma,
				      in != NULL ? in->node : "");
		asked = asked && in != NULL && in->asked;
		if (in != NULL)
			sim_cloud_check_delete(c->w->cloud, in);
	}
	if (asked && !sim_audit_has(sim_journal_audit(c->w->journal), "delete", ids))
		sim_audit_take_nodes(c->w, sim_journal_audit(c->w->journal), "delete-again", names);
	else
		sim_audit_take(c->w, sim_journal_audit(c->w->journal), "delete", ids);
}

/* Many providers lose the log with the machine.  Nobody waits for it longer than that, from the
 * moment that it failed: a busy disk may take some of it. */
static void check_consoles(const struct http_client *c, const struct wire *del)
{
	for (const struct wire *q = c->wires; q != NULL; q = q->next)
		for (size_t i = 0; i < del->nids; i++)
			if (q->kind == WIRE_CONSOLE && q->done != NULL &&
			    q->ids[0] == del->ids[i] && c->w->now - q->sent_at < CONSOLE_MS &&
			    c->w->slow_until + 2 * CONSOLE_MS < c->w->now)
				world_fail(c->w,
					   "i-%u is deleted while its console log is asked for",
					   del->ids[i]);
}

static void check_report(const struct http_client *c, const struct wire *q)
{
	char id[24];

	const struct inst *in = sim_cloud_find(c->w->cloud, q->ids[0]);

	(void)snprintf(id, sizeof(id), "i-%u", q->ids[0]);
	if (in != NULL && in->asked)
		world_fail(c->w, "%s is reported as broken, and a delete of it is out", id);
	sim_audit_take(c->w, sim_journal_audit(c->w->journal), "report", id);
}

static void check_audit(const struct http_client *c, const struct wire *q)
{
	if (q->kind == WIRE_CREATE)
		sim_audit_take(c->w, sim_journal_audit(c->w->journal), "create", q->create.token);
	if (q->kind == WIRE_DELETE)
		check_delete(c, q);
	if (q->kind == WIRE_DELETE)
		check_consoles(c, q);
	if (q->kind == WIRE_REPORT)
		check_report(c, q);
	if (q->kind == WIRE_MAKE || q->kind == WIRE_DROP)
		sim_audit_take(c->w, sim_journal_audit(c->w->journal),
			       q->kind == WIRE_MAKE ? "fabric-make" : "fabric-drop",
			       q->create.fabric);
}

/* Nothing is bought in it, or about to be. */
static void check_drop(const struct http_client *c, const struct wire *q)
{
	sim_fabric_check_drop(c->w->cloud, q->create.fabric);
	for (const struct wire *x = c->wires; x != NULL; x = x->next)
		if ((x->kind == WIRE_CREATE || x->kind == WIRE_MAKE) && x->done != NULL &&
		    strcmp(x->create.fabric, q->create.fabric) == 0)
			world_fail(c->w, "fabric %s is dropped while it is made or filled",
				   q->create.fabric);
}

/* Nor while a drop of it is under way, if the answer may still come. */
static void check_filled(const struct http_client *c, const struct wire *q)
{
	for (const struct wire *x = c->wires; x != NULL; x = x->next)
		if (x->kind == WIRE_DROP && x->done != NULL &&
		    strcmp(x->create.fabric, q->create.fabric) == 0)
			world_fail(c->w, "fabric %s is made or filled while it is dropped",
				   q->create.fabric);
}

int http_client_send(struct http_client *c, const struct http_call *call, http_done_fn done,
		     void *ctx, uint64_t *handle, struct err *e)
{
	struct wire *q = mem_zalloc(sizeof(*q));

	str_init(&q->body, REPLY_MAX);
	q->handle = ++c->last;
	q->sent_at = c->w->now;
	q->next = c->wires;
	c->wires = q;
	if (handle != NULL)
		*handle = q->handle;
	if (sim_wire_read(c->w, q, call) != 0)
		world_fail(c->w, "the driver sent what no provider understands: %s %s",
			   call->method, call->url);
	q->w = c->w;
	q->done = done;
	q->ctx = ctx;
	(void)e;
	sim_absent_asked(c->w, call->url);
	if (q->kind == WIRE_DELETE)
		sim_limit_delete_sent(c->w);
	if (!world_alive(c->w))
		return 0; /* the callback comes when the dead engine is freed */
	if (q->kind != WIRE_LIST && q->kind != WIRE_NOTICES)
		trace_send(c, q, call);
	count(c, q);
	if (q->kind ==
	    WIRE_CREATE) /* first: the record of one that may not be is no better than it */
		sim_cloud_check_create(c->w->cloud, &q->create);
	if (q->kind == WIRE_DROP)
		check_drop(c, q);
	if ((q->kind == WIRE_CREATE && q->create.fabric[0] != '\0') || q->kind == WIRE_MAKE)
		check_filled(c, q);
	check_audit(c, q);
	for (size_t i = 0; q->kind == WIRE_DELETE && i < q->nids; i++)
		if (sim_cloud_find(c->w->cloud, q->ids[i]) != NULL)
			sim_cloud_find(c->w->cloud, q->ids[i])->asked = true;
	q->twin = strncmp(call->url, c->w->twin_url, strlen(c->w->twin_url)) == 0;
	if (q->kind == WIRE_PATHS)
		sim_topology_asked(c->w, q, c->wires);
	if (q->kind == WIRE_CREATE)
		q->fails = sim_place_fails(c->w, &q->create, q->twin);
	if (sim_wire_away(c->w, q) && c->w->cloud->away[q->twin].how == AWAY_REFUSES) {
		sim_wire_met(c->w, SIM_AWAY, q);
		(void)err_set(&q->error, ERR_NOTSENT, "nobody listens");
	} else if (q->fails == FAILS_IS_SILENT) {
		sim_wire_no_reply(c->w, q);
	} else if (q->fails == FAILS_REFUSES || world_fault(c->w, SIM_NOT_SENT)) {
		if (q->fails == FAILS_NOT)
			sim_wire_met(c->w, SIM_NOT_SENT, q);
		(void)err_set(&q->error, ERR_NOTSENT, "connection refused");
	}
	world_at(c->w, c->w->now + world_between(c->w, 5, c->w->set.limits.some ? 100 : 1500),
		 on_arrival, q, 0);
	(void)world_alive(c->w);
	return 0;
}

void http_client_cancel(struct http_client *c, uint64_t handle)
{
	static const struct err cancelled = {.code = ERR_CANCELLED, .msg = "cancelled"};
	struct wire *q = c->wires;

	while (q != NULL && q->handle != handle)
		q = q->next;
	if (q != NULL)
		answer(q, NULL, &cancelled);
}
