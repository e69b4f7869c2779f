/* Sends a provider the requests that only look, one after the other, and keeps the answers. */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check_cloud_private.h"
#include "core/pages.h"
#include "io/http_client.h"
#include "io/loop.h"
#include "io/proc.h"

enum {
	REPLY_MAX = 32 << 20, /* bytes of one answer, as burstd takes them */
	QUOTES_MAX = 100000,  /* likewise */
	LOGIN_STEPS = 16,     /* likewise */
	THROTTLED_MS = 1000,  /* before the next try, if the provider names no time */
	CLOCK_MS = 60000,     /* providers take signatures that are some minutes old */
};

struct asking {
	struct check_cloud *c;
	struct loop *loop;
	struct http_client *http;
	struct proc *proc;
	const struct provider_op *op; /* on the wire */
	struct provider_result *r;    /* takes its answer */
	struct err err;               /* why there is none */
	bool done;
};

/* --- one request -------------------------------------------------------------------------------
 */

static void answered(struct asking *a, const struct provider_reply *reply, const struct err *e)
{
	if (e != NULL)
		a->err = *e;
	else
		a->c->ops->parse(a->c->self, a->op, reply, a->r);
	a->done = true;
	loop_stop(a->loop);
}

static void on_http(void *ctx, const struct http_reply *reply, const struct err *e)
{
	struct asking *a = ctx;
	struct provider_reply r = {0};
	int64_t ahead;

	if (reply != NULL) {
		ahead = reply->date_ms > 0 ? reply->date_ms - loop_wall(a->loop) : 0;
		a->c->ahead_ms = ahead > CLOCK_MS || ahead < -CLOCK_MS ? ahead : 0;
		r = (struct provider_reply){.status = reply->status,
					    .body = reply->body,
					    .len = reply->len,
					    .headers = reply->headers};
	}
	answered(a, &r, e);
}

static void on_proc(void *ctx, const struct proc_reply *reply, const struct err *e)
{
	struct provider_reply r = {0};

	if (reply != NULL)
		r = (struct provider_reply){
			.status = reply->status, .body = reply->out, .len = reply->len};
	answered(ctx, &r, e);
}

static int send_http(struct asking *a, const struct provider_request *p, struct err *e)
{
	const struct http_call call = {.method = p->method,
				       .url = p->url,
				       .headers = (const char *const *)p->headers,
				       .body = p->body,
				       .body_len = p->body_len,
				       .ca_file = a->c->provider->ca_file,
				       .timeout_ms = (uint32_t)a->c->provider->timeout_ms,
				       .max_reply = REPLY_MAX};

	return http_client_send(a->http, &call, on_http, a, NULL, e);
}

static int send_command(struct asking *a, const struct provider_request *p, struct err *e)
{
	static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
	const struct proc_call call = {.argv = (const char *const *)p->argv,
				       .envp = env,
				       .input = p->body,
				       .input_len = p->body_len,
				       .timeout_ms = p->deadline_ms,
				       .max_out = REPLY_MAX};

	return proc_run(a->proc, &call, on_proc, a, e);
}

/* One request and its answer, *r.  false: there is none, and a->err says why. */
static bool ask(struct asking *a, struct provider_op *op, struct provider_result *r)
{
	struct provider_request p = {0};
	int rc;

	op->at_ms = loop_wall(a->loop);
	a->op = op;
	a->r = r;
	a->err = (struct err){0};
	a->done = false;
	rc = a->c->ops->build(a->c->self, op, &p, &a->err);
	if (rc == 0) {
		rc = p.kind == PROVIDER_HTTP ? send_http(a, &p, &a->err)
					     : send_command(a, &p, &a->err);
		provider_request_fini(&p);
	}
	while (rc == 0 && !a->done)
		loop_run(a->loop);
	return a->err.code == 0;
}

/* --- one operation -----------------------------------------------------------------------------
 */

static void on_pause(void *ctx)
{
	struct asking *a = ctx;

	a->done = true;
	loop_stop(a->loop);
}

static void pause_for(struct asking *a, int64_t ms)
{
	struct timer *t;

	if (ms <= 0)
		return;
	t = timer_new(a->loop, on_pause, a);
	a->done = false;
	timer_at(t, loop_now(a->loop) + ms);
	while (!a->done)
		loop_run(a->loop);
	timer_free(t);
}

static void keep(struct check_cloud_answer *out, enum provider_code code, const char *words)
{
	out->code = code;
	(void)snprintf(out->words, sizeof(out->words), "%s", words);
}

/* What an operation does with each of its answers that has a part of it.  -1: *e, it fails. */
typedef int (*take_fn)(struct asking *a, struct provider_result *r, struct err *e);

/* What to do after an answer: true: ask for `p`'s cursor; false: *out has the end of it. */
static bool goes_on(struct asking *a, struct pages *p, struct provider_result *r, take_fn take,
		    struct check_cloud_answer *out)
{
	enum pages_next next = pages_answered(p, r, loop_now(a->loop));
	int64_t pause_ms =
		next == PAGES_AGAIN && r->retry_after_ms == 0 ? THROTTLED_MS : r->retry_after_ms;
	struct err e = {0};

	keep(out, r->code, r->message);
	if (next == PAGES_ENDLESS)
		keep(out, PROVIDER_INVALID, "its pages do not end");
	else if ((next == PAGES_DONE || next == PAGES_MORE) && take(a, r, &e) != 0)
		keep(out, PROVIDER_INVALID, e.msg);
	else if (next == PAGES_MORE || next == PAGES_AGAIN) {
		if (loop_now(a->loop) + pause_ms < p->began_ms + a->c->provider->timeout_ms) {
			pause_for(a, pause_ms);
			return true;
		}
		if (next == PAGES_MORE)
			keep(out, PROVIDER_TRANSIENT, "it does not end within the timeout");
	}
	return false;
}

static void ask_all(struct asking *a, struct provider_op op, take_fn take,
		    struct check_cloud_answer *out)
{
	struct pages *p = mem_zalloc(sizeof(*p));
	bool more = true;

	*out = (struct check_cloud_answer){0};
	pages_begin(p, loop_now(a->loop));
	while (more) {
		struct provider_result r = {0};

		op.cursor = p->cursor;
		p->due = false;
		more = ask(a, &op, &r);
		if (more) {
			out->answered = true;
			more = goes_on(a, p, &r, take, out);
		} else {
			keep(out, PROVIDER_TRANSIENT, a->err.msg);
		}
		provider_result_fini(&r);
	}
	explicit_bzero(p->cursor, sizeof(p->cursor)); /* a login's may be a secret */
	free(p);
}

/* --- the operations ----------------------------------------------------------------------------
 */

static int take_login(struct asking *a, struct provider_result *r, struct err *e)
{
	int rc;

	if (r->code != PROVIDER_OK)
		return 0; /* asked about until it has ended */
	if (r->session == NULL)
		return err_set(e, ERR_INVALID, "no session");
	rc = a->c->ops->renew(a->c->self, r->session, e);
	if (rc == 0 && a->c->ops->good_until(a->c->self) <= loop_wall(a->loop))
		return err_set(e, ERR_INVALID, "the session has ended already");
	return rc < 0 ? -1 : 0;
}

/* Steps until there is a session: until then the driver says that it has none. */
static void login(struct asking *a)
{
	const struct provider_op op = {.kind = PROVIDER_LOGIN};
	struct check_cloud *c = a->c;

	for (int step = 0; step < LOGIN_STEPS; step++) {
		if (c->ops->good_until(c->self) > loop_wall(a->loop))
			return;
		ask_all(a, op, take_login, &c->login);
		if (c->login.code != PROVIDER_OK)
			return;
	}
	keep(&c->login, PROVIDER_INVALID, "too many steps");
}

static int take_list(struct asking *a, struct provider_result *r, struct err *e)
{
	(void)e;
	for (size_t i = 0; i < r->ninstances; i++)
		a->c->instances += r->instances[i].state != PROVIDER_ENDED &&
				   strcmp(r->instances[i].cluster, a->c->cluster) == 0;
	return 0;
}

static int take_quotes(struct asking *a, struct provider_result *r, struct err *e)
{
	struct check_cloud *c = a->c;

	if (c->nquoted + r->nquotes > QUOTES_MAX)
		return err_set(e, ERR_LIMIT, "too many quotes");
	if (r->nquotes == 0)
		return 0;
	c->quoted = mem_realloc(c->quoted, (c->nquoted + r->nquotes) * sizeof(*c->quoted));
	memcpy(c->quoted + c->nquoted, r->quotes, r->nquotes * sizeof(*c->quoted));
	c->nquoted += r->nquotes;
	return 0;
}

static bool has(const char *const *types, size_t n, const char *type)
{
	while (n > 0 && strcmp(types[n - 1], type) != 0)
		n--;
	return n > 0;
}

/* The types that pools buy from it, each once; NULL types: only say how many offers there are. */
static size_t types_of(const struct check_cloud *c, const char **types)
{
	size_t n, some = 0;

	for (size_t i = 0; i < c->conf->npools; i++) {
		const struct conf_offer *rungs = conf_rungs(&c->conf->pools[i], &n);

		for (size_t k = 0; k < n; k++) {
			if (&c->conf->providers[rungs[k].provider_index] != c->provider)
				continue;
			if (types != NULL && has(types, some, rungs[k].type))
				continue;
			if (types != NULL)
				types[some] = rungs[k].type;
			some++;
		}
	}
	return some;
}

/* Without a pool that buys there burstd asks for no quotes worth reading. */
static void ask_quotes(struct asking *a)
{
	struct provider_op op = {.kind = PROVIDER_QUOTES};
	const char **types;

	a->c->ntypes = types_of(a->c, NULL);
	if (a->c->ntypes == 0)
		return;
	types = mem_zalloc(a->c->ntypes * sizeof(*types));
	a->c->ntypes = op.u.quotes.ntypes = types_of(a->c, types);
	op.u.quotes.types = types;
	ask_all(a, op, take_quotes, &a->c->quotes);
	if (a->c->quotes.code == PROVIDER_OK && a->c->nquoted == 0)
		keep(&a->c->quotes, PROVIDER_INVALID, "none at all: burstd does not believe that");
	free(types);
}

static void ask_in_turn(struct asking *a)
{
	struct provider_op op = {.kind = PROVIDER_LIST};
	struct check_cloud *c = a->c;

	/* INT64_MAX before any: this provider, as configured, has none. */
	c->has_login = c->ops->good_until != NULL && c->ops->good_until(c->self) != INT64_MAX;
	if (c->has_login)
		login(a);
	if (c->login.code != PROVIDER_OK)
		return; /* without a session nothing else can be asked */
	op.u.list.cluster = c->cluster;
	ask_all(a, op, take_list, &c->list);
	ask_quotes(a);
}

static void on_closed(void *ctx)
{
	(void)ctx;
}

void check_cloud_ask(struct check_cloud *c)
{
	struct asking a = {.c = c};
	struct err e = {0};

	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	if (loop_new(&a.loop, &e) == 0) {
		if (http_client_new(&a.http, a.loop, &e) == 0) {
			a.proc = proc_new(a.loop);
			ask_in_turn(&a);
			proc_close(a.proc);
			http_client_close(a.http, on_closed, NULL);
		}
		loop_free(a.loop);
	}
	if (e.code != 0)
		keep(&c->list, PROVIDER_TRANSIENT, e.msg);
	curl_global_cleanup();
}
