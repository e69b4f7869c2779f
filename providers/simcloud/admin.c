#include "providers/simcloud/admin.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/neutral.h"

enum { REPLY_MAX = 1 << 30, NOTICE_MS = 120000 };

/* One admin request.  Its visit_fn fills s, or returns -1 with *e (404 when e->code is ERR_IO, else
 * 400). */
struct visit {
	struct front *front;
	const struct http_request *rq;
	const json_t *body; /* an object; empty when the request had none */
	struct str *s;
	int64_t now;
};

typedef int (*visit_fn)(const struct visit *v, struct err *e);

static int put_count(const struct visit *v, const char *key, int64_t n)
{
	js_open(v->s, NULL, '{');
	js_int(v->s, key, n);
	js_close(v->s, '}');
	return 0;
}

static int get_faults(const struct visit *v, struct err *e)
{
	(void)e;
	faults_write(&v->front->faults, v->s);
	return 0;
}

static int post_faults(const struct visit *v, struct err *e)
{
	int id = faults_add(&v->front->faults, v->body, e);

	return id < 0 ? -1 : put_count(v, "id", id);
}

static int delete_faults(const struct visit *v, struct err *e)
{
	const char *id = strrchr(v->rq->path, '/') + 1;
	char *end;
	unsigned long n = strtoul(id, &end, 10);

	if (strcmp(id, "faults") == 0) {
		v->front->faults.n = 0;
		return put_count(v, "faults", 0);
	}
	if (*end != '\0' || n > UINT32_MAX || !faults_remove(&v->front->faults, (unsigned)n))
		return err_set(e, ERR_IO, "no such rule");
	return put_count(v, "faults", v->front->faults.n);
}

static int get_held(const struct visit *v, struct err *e)
{
	(void)e;
	front_write_held(v->front, v->s, v->now);
	return 0;
}

static int post_release(const struct visit *v, struct err *e)
{
	int64_t id = 0;
	unsigned n;

	if (js_get_int(v->body, "id", &id, e) != 0 || id > UINT32_MAX)
		return -1;
	n = front_release(v->front, (unsigned)id, v->now);
	if (id != 0 && n == 0)
		return err_set(e, ERR_IO, "no such request is held");
	return put_count(v, "released", n);
}

static int get_capacity(const struct visit *v, struct err *e)
{
	const struct cloud *c = v->front->cloud;

	(void)e;
	js_open(v->s, NULL, '{');
	js_open(v->s, "pools", '[');
	for (size_t i = 0; i < c->npools; i++) {
		const struct cloud_pool *p = c->pools[i];

		js_open(v->s, NULL, '{');
		js_str(v->s, "type", p->type);
		js_str(v->s, "region", p->region);
		js_str(v->s, "zone", p->zone);
		js_str(v->s, "market", market_word(p->market));
		js_bool(v->s, "offered", p->offered);
		if (p->capacity >= 0)
			js_int(v->s, "capacity", p->capacity);
		else
			js_null(v->s, "capacity");
		js_int(v->s, "used", p->used);
		js_close(v->s, '}');
	}
	js_close(v->s, ']');
	js_close(v->s, '}');
	return 0;
}

/* What a body selects pools and instances by; "": any. */
struct which {
	char id[FACE_ID_SIZE], node[SETTINGS_WORD_SIZE], zone[SETTINGS_WORD_SIZE];
	char type[SETTINGS_WORD_SIZE], region[SETTINGS_WORD_SIZE], market[16];
};

static int read_which(struct which *w, const json_t *o, struct err *e)
{
	enum market market;

	*w = (struct which){0};
	if (js_get_str(o, "id", w->id, sizeof(w->id), e) != 0 ||
	    js_get_str(o, "node", w->node, sizeof(w->node), e) != 0 ||
	    js_get_str(o, "zone", w->zone, sizeof(w->zone), e) != 0 ||
	    js_get_str(o, "type", w->type, sizeof(w->type), e) != 0 ||
	    js_get_str(o, "region", w->region, sizeof(w->region), e) != 0 ||
	    js_get_str(o, "market", w->market, sizeof(w->market), e) != 0)
		return -1;
	return w->market[0] == '\0' ? 0 : market_parse(w->market, &market, e);
}

static bool is_any(const char *want, const char *have)
{
	return want[0] == '\0' || strcmp(want, have) == 0;
}

static bool pool_is(const struct which *w, const struct cloud_pool *p)
{
	return is_any(w->type, p->type) && is_any(w->region, p->region) &&
	       is_any(w->zone, p->zone) && is_any(w->market, market_word(p->market));
}

static int post_capacity(const struct visit *v, struct err *e)
{
	static const char *const known[] = {"type", "region", "zone", "market", "capacity", NULL};
	struct cloud *c = v->front->cloud;
	int64_t capacity = -1, n = 0;
	struct which w;

	if (js_only(v->body, known, e) != 0 || read_which(&w, v->body, e) != 0 ||
	    js_get_int(v->body, "capacity", &capacity, e) != 0)
		return -1;
	for (size_t i = 0; i < c->npools; i++)
		if (pool_is(&w, c->pools[i])) {
			c->pools[i]->capacity = capacity;
			n++;
		}
	return n > 0 ? put_count(v, "matched", n) : err_set(e, ERR_IO, "no such pool");
}

static bool instance_is(const struct which *w, const struct cloud *c,
			const struct cloud_instance *i)
{
	char id[METER_ID_SIZE];

	return is_any(w->id, meter_id(id, i->row)) && pool_is(w, i->pool) &&
	       (w->node[0] == '\0' || fnmatch(w->node, c->meter->rows[i->row].node, 0) == 0);
}

enum { CAPACITY_STAYS = -2 };

struct blow {
	bool kill; /* else announce an event of `kind`, in notice_ms */
	enum notice_kind kind;
	int64_t notice_ms;
	int64_t capacity; /* new capacity of the pools that are hit */
};

static bool strike_one(struct cloud *c, struct cloud_instance *i, const struct blow *b, int64_t now)
{
	if (b->capacity != CAPACITY_STAYS)
		i->pool->capacity = b->capacity;
	if (b->kill)
		cloud_kill(c, i, "killed", now);
	else if (b->kind != NOTICE_RECLAIM)
		return cloud_warn(c, i, b->kind, b->notice_ms, now);
	return b->kill || cloud_reclaim(c, i, b->notice_ms, now);
}

/* Strike every live instance that the body selects. */
static int strike(const struct visit *v, const struct blow *b, struct err *e)
{
	static const char *const known[] = {"id",     "node",      "zone",     "type", "region",
					    "market", "notice_ms", "capacity", "kind", NULL};
	struct cloud *c = v->front->cloud;
	struct which w;
	int64_t n = 0;

	if (js_only(v->body, known, e) != 0 || read_which(&w, v->body, e) != 0)
		return -1;
	if (w.id[0] == '\0' && w.node[0] == '\0' && w.zone[0] == '\0' && w.type[0] == '\0' &&
	    w.region[0] == '\0' && w.market[0] == '\0')
		return err_set(e, ERR_INVALID, "want id, node, zone, type, region or market");
	for (uint32_t k = c->first; k < c->meter->n; k++) {
		struct cloud_instance *i = cloud_of_row(c, k);

		if (i != NULL && i->state != CLOUD_ENDED && instance_is(&w, c, i))
			n += strike_one(c, i, b, v->now);
	}
	/* Pools in which no instance runs get the new capacity, too. */
	for (size_t i = 0;
	     b->capacity != CAPACITY_STAYS && w.id[0] == '\0' && w.node[0] == '\0' && i < c->npools;
	     i++)
		if (pool_is(&w, c->pools[i]))
			c->pools[i]->capacity = b->capacity;
	return n > 0 ? put_count(v, "matched", n) : err_set(e, ERR_IO, "no such instance");
}

static int post_reclaim(const struct visit *v, struct err *e)
{
	struct blow b = {.notice_ms = NOTICE_MS, .capacity = CAPACITY_STAYS};
	char kind[16] = "reclaim";

	if (js_get_int(v->body, "notice_ms", &b.notice_ms, e) != 0 ||
	    js_get_int(v->body, "capacity", &b.capacity, e) != 0 ||
	    js_get_str(v->body, "kind", kind, sizeof(kind), e) != 0 ||
	    notice_parse(kind, &b.kind, e) != 0)
		return -1;
	return strike(v, &b, e);
}

static int post_kill(const struct visit *v, struct err *e)
{
	return strike(v, &(struct blow){.kill = true, .capacity = CAPACITY_STAYS}, e);
}

static int get_instances(const struct visit *v, struct err *e)
{
	const struct cloud *c = v->front->cloud;

	(void)e;
	js_open(v->s, NULL, '{');
	js_open(v->s, "instances", '[');
	for (uint32_t k = c->first; k < c->meter->n; k++) {
		const struct cloud_instance *i = cloud_of_row(c, k);

		/* Show it as of the far future: no lag, nothing hidden. */
		if (i != NULL)
			neutral_instance(v->s, c, i, NEUTRAL_ALL, INT64_MAX);
	}
	js_close(v->s, ']');
	js_close(v->s, '}');
	return 0;
}

static int get_meter(const struct visit *v, struct err *e)
{
	char cluster[SETTINGS_WORD_SIZE];

	if (http_query(v->rq->query, "cluster", cluster, sizeof(cluster)) < 0)
		return err_set(e, ERR_INVALID, "cluster: malformed");
	meter_write(v->front->cloud->meter, v->s, v->now, cluster);
	return 0;
}

static int get_stats(const struct visit *v, struct err *e)
{
	(void)e;
	front_write_stats(v->front, v->s, v->now);
	return 0;
}

static int delete_stats(const struct visit *v, struct err *e)
{
	(void)e;
	v->front->stats = (struct front_stats){0};
	return put_count(v, "requests", 0);
}

static int get_events(const struct visit *v, struct err *e)
{
	char after[24];

	if (http_query(v->rq->query, "after", after, sizeof(after)) < 0)
		return err_set(e, ERR_INVALID, "after: malformed");
	events_write(v->front->cloud->events, strtoull(after, NULL, 10), v->s);
	return 0;
}

static int get_config(const struct visit *v, struct err *e)
{
	(void)e;
	js_raw(v->s, NULL, v->front->conf->doc);
	return 0;
}

static int post_config(const struct visit *v, struct err *e)
{
	if (settings_merge(v->front->conf, v->body, e) != 0)
		return -1;
	/* Only for new offers: otherwise capacities set by /admin/capacity would be lost. */
	if (json_object_get(v->body, "offers") != NULL)
		cloud_reconf(v->front->cloud);
	return get_config(v, e);
}

static const struct {
	const char *method, *path;
	visit_fn fn;
} routes[] = {
	{"GET", "/admin/faults", get_faults},       {"POST", "/admin/faults", post_faults},
	{"DELETE", "/admin/faults", delete_faults}, {"DELETE", "/admin/faults/*", delete_faults},
	{"GET", "/admin/held", get_held},           {"POST", "/admin/release", post_release},
	{"GET", "/admin/capacity", get_capacity},   {"POST", "/admin/capacity", post_capacity},
	{"POST", "/admin/reclaim", post_reclaim},   {"POST", "/admin/kill", post_kill},
	{"GET", "/admin/instances", get_instances}, {"GET", "/admin/meter", get_meter},
	{"GET", "/admin/stats", get_stats},         {"DELETE", "/admin/stats", delete_stats},
	{"GET", "/admin/events", get_events},       {"GET", "/admin/config", get_config},
	{"POST", "/admin/config", post_config},
};

static visit_fn find(const struct http_request *rq)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strcmp(routes[i].method, rq->method) == 0 &&
		    fnmatch(routes[i].path, rq->path, FNM_PATHNAME) == 0)
			return routes[i].fn;
	return NULL;
}

static void refuse(struct http_answer *an, enum code code, const char *message, unsigned status)
{
	struct face_reply r = {0};

	neutral_error(&r, code, message);
	an->status = status;
	an->body = r.body;
	an->len = r.len;
}

void admin_handle(struct admin *a, const struct http_request *rq, struct http_answer *an,
		  int64_t now)
{
	visit_fn fn = find(rq);
	json_t *body = rq->len > 0 ? json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, NULL)
				   : json_object();
	struct err e = {0};
	struct str s;

	str_init(&s, REPLY_MAX);
	an->type = "application/json";
	if (a->token != NULL && !face_bearer(rq->authorization, a->token)) {
		refuse(an, CODE_DENIED, "want the admin's token", 401);
	} else if (fn == NULL) {
		refuse(an, CODE_NOT_FOUND, "no such method and path", 404);
	} else if (!json_is_object(body)) {
		refuse(an, CODE_INVALID, "body: want a JSON object", 400);
	} else if (fn(
			   &(struct visit){
				   .front = a->front, .rq = rq, .body = body, .s = &s, .now = now},
			   &e) != 0) {
		refuse(an, e.code == ERR_IO ? CODE_NOT_FOUND : CODE_INVALID, e.msg,
		       e.code == ERR_IO ? 404 : 400);
	} else {
		an->status = 200;
		an->len = s.len;
		an->body = str_take(&s);
	}
	str_fini(&s);
	json_decref(body);
}
