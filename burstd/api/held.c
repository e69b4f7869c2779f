#include "api/held.h"

#include <stdlib.h>
#include <string.h>

#include "api/ctl_api.h"
#include "base/mem.h"
#include "io/loop.h"
#include "io/user_name.h"
#include "jobs/jobs_api.h"
#include "store/journal_events.h"

struct hold {
	struct hold *next, **prevp; /* those that wait for events */
	struct held *all;
	struct ctl_conn *conn;
	struct gate *gate;          /* what it waits for: a gate, ... */
	struct engine_query *query; /* ... or a query, ... */
	struct user_name_ask *name; /* ... or the caller's name; all NULL: events */
	struct ctl_caller who;
	char *json; /* the request as it came; NULL: of a gate */
	size_t len;
};

struct held {
	struct api *api;
	struct loop *loop;
	struct timer *timer; /* to look for events */
	struct hold *watchers;
	int64_t seen; /* the last event they were told of */
	bool due;
};

/* --- gates ---------------------------------------------------------------------------------------
 */

static void put_wait(struct jsonw *w, const struct gate *g)
{
	jsonw_bool(w, "wait", true);
	/* There is no use in waiting for longer than the gate's nodes may take to boot. */
	jsonw_int(w, "deadline_ms", engine_gate_boot_ms(g) + HELD_GATE_EXTRA_MS);
	if (engine_gate_is_unsaid(g))
		jsonw_bool(w, "unsaid", true);
}

static void on_gate(void *ctx, enum gate_end how)
{
	static const char *const answers[] = {[GATE_UP] = "{\"ok\":true,\"up\":true}",
					      [GATE_GONE] = "{\"ok\":true,\"gone\":true}",
					      [GATE_UNPAID] = "{\"ok\":true,\"unpaid\":true}"};
	struct hold *h = ctx;

	ctl_server_answer(h->conn, mem_strdup(answers[how]));
	free(h);
}

int held_gate(struct ctl_reply *r, uint64_t job, const char *nodes)
{
	struct api *a = r->api;
	struct hold *h = mem_zalloc(sizeof(*h));
	const struct gate_ask ask = {
		.job = job, .nodes = nodes, .len = strlen(nodes), .fn = on_gate, .ctx = h};

	*h = (struct hold){.all = a->held, .conn = r->conn};
	if (engine_gate_open(a->engine, &ask, &h->gate, &r->err) != 0) {
		r->code = r->err.code == ERR_INVALID ? "invalid" : "failed";
		free(h);
		return -1;
	}
	if (h->gate != NULL && r->conn != NULL && ctl_server_hold(r->conn, h)) {
		r->held = true;
		return 0;
	}
	if (h->gate == NULL) {
		jsonw_bool(&r->w, "up", true); /* none of its nodes is ours */
	} else {
		put_wait(&r->w, h->gate);
		engine_gate_close(h->gate);
	}
	free(h);
	return 0;
}

/* --- events --------------------------------------------------------------------------------------
 */

static void drop(struct hold *h)
{
	if (h->prevp != NULL)
		*h->prevp = h->next;
	if (h->next != NULL)
		h->next->prevp = h->prevp;
	free(h->json);
	free(h);
}

/* One that is not held yet; NULL: it cannot be. */
static struct hold *prepare(struct ctl_reply *r, const char *json, size_t len)
{
	struct held *all = r->api->held;
	struct hold *h;

	if (all == NULL || r->conn == NULL || len > HELD_REQUEST_MAX)
		return NULL;
	h = mem_zalloc(sizeof(*h));
	*h = (struct hold){.all = all, .conn = r->conn, .who = *r->who, .len = len};
	h->json = mem_zalloc(len + 1);
	memcpy(h->json, json, len);
	return h;
}

/* r->conn is held from now on; NULL: it is not. */
static struct hold *keep(struct ctl_reply *r, const char *json, size_t len)
{
	struct hold *h = prepare(r, json, len);

	if (h == NULL || ctl_server_hold(r->conn, h))
		return h;
	drop(h);
	return NULL;
}

bool held_events(struct ctl_reply *r, const char *json, size_t len)
{
	struct held *all = r->api->held;
	struct hold *h = keep(r, json, len);

	if (h == NULL)
		return false;
	if (all->watchers == NULL)
		all->seen = journal_last_event(all->api->journal); /* its answer had these */
	h->next = all->watchers;
	h->prevp = &all->watchers;
	if (h->next != NULL)
		h->next->prevp = &h->next;
	all->watchers = h;
	return true;
}

static void on_timer(void *ctx)
{
	struct held *all = ctx;
	struct hold *next;

	all->due = false;
	all->seen = journal_last_event(all->api->journal);
	for (struct hold *h = all->watchers; h != NULL; h = next) {
		bool nothing;
		char *text = ctl_api_again(all->api, &h->who, h->json, h->len, &nothing);

		next = h->next;
		if (nothing) { /* new for its node or pool */
			free(text);
			continue;
		}
		ctl_server_answer(h->conn, text);
		drop(h);
	}
}

void held_turned(struct held *h)
{
	if (h == NULL || h->watchers == NULL || h->due ||
	    journal_last_event(h->api->journal) == h->seen)
		return;
	h->due = true;
	timer_at(h->timer, loop_now(h->loop) + HELD_EVENTS_MS);
}

/* --- jobs ----------------------------------------------------------------------------------------
 */

static void on_job(void *ctx, const struct engine_job *j, const struct err *err)
{
	struct hold *h = ctx;

	ctl_server_answer(h->conn, ctl_api_job(h->all->api, &h->who, h->json, h->len, j, err));
	drop(h);
}

bool held_job(struct ctl_reply *r, const char *json, size_t len)
{
	struct hold *h = keep(r, json, len);

	if (h == NULL)
		return false;
	h->query = engine_query_job(
		r->api->engine, r->about,
		ctl_is(r->who, CTL_SEES_JOBS) ? ENGINE_ANYBODY : (int64_t)r->who->uid, on_job, h);
	return true;
}

static char *silence(struct api *a, struct hold *h)
{
	struct err e = {0};
	char *text;

	(void)err_set(&e, ERR_NET, "slurmctld did not describe the job within %d s",
		      CTL_HOLD_MS / 1000);
	engine_query_cancel(h->query);
	text = ctl_api_job(a, &h->who, h->json, h->len, NULL, &e);
	drop(h);
	return text;
}

/* --- names ---------------------------------------------------------------------------------------
 */

static void on_name(void *ctx, const struct err *err)
{
	struct hold *h = ctx;

	ctl_server_answer(h->conn, ctl_api_named(h->all->api, &h->who, h->json, h->len, err));
	drop(h);
}

bool held_name(struct ctl_reply *r, const char *json, size_t len)
{
	struct hold *h = prepare(r, json, len);

	if (h == NULL)
		return false;
	h->name = user_names_ask(r->api->names, r->who->uid, on_name, h, &r->err);
	if (h->name != NULL && ctl_server_hold(r->conn, h))
		return true;
	if (h->name != NULL)
		user_name_cancel(h->name);
	drop(h);
	return false;
}

static char *nameless(struct api *a, struct hold *h)
{
	struct err e = {0};
	char *text;

	(void)err_set(&e, ERR_NET, "it was not found within %d s", CTL_HOLD_MS / 1000);
	user_name_cancel(h->name);
	text = ctl_api_named(a, &h->who, h->json, h->len, &e);
	drop(h);
	return text;
}

/* --- all -----------------------------------------------------------------------------------------
 */

char *held_expired(void *ctx, void *hold)
{
	struct hold *h = hold;
	struct str s;
	struct jsonw w = {.out = &s, .first = true};
	bool nothing;
	char *text;

	if (h->query != NULL)
		return silence(ctx, h);
	if (h->name != NULL)
		return nameless(ctx, h);
	if (h->gate == NULL) {
		text = ctl_api_again(ctx, &h->who, h->json, h->len, &nothing);
		drop(h);
		return text;
	}
	str_init(&s, 256);
	jsonw_open(&w, NULL, '{');
	jsonw_bool(&w, "ok", true);
	put_wait(&w, h->gate);
	jsonw_close(&w, '}');
	engine_gate_close(h->gate);
	free(h);
	return str_take(&s);
}

void held_gone(void *ctx, void *hold)
{
	struct hold *h = hold;

	(void)ctx;
	if (h->query != NULL)
		engine_query_cancel(h->query);
	if (h->name != NULL)
		user_name_cancel(h->name);
	if (h->gate == NULL) {
		drop(h);
		return;
	}
	engine_gate_close(h->gate);
	free(h);
}

struct held *held_new(struct api *a, struct loop *l)
{
	struct held *h = mem_zalloc(sizeof(*h));

	h->api = a;
	h->loop = l;
	h->timer = timer_new(l, on_timer, h);
	return h;
}

void held_free(struct held *h)
{
	if (h == NULL)
		return;
	timer_free(h->timer);
	free(h);
}
