/* io/http_client.h as a network with a provider at its end, which speaks simcloud's neutral face.
 *
 * A request is on the wire from http_client_send(): whatever becomes of its sender, it takes effect
 * when it arrives.  The reply is made then and comes later, if it comes. */
#include "io/http_client.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "sim_boot.h"
#include "sim_cloud.h"
#include "sim_journal.h"
#include "world.h"

enum { REPLY_MAX = 1 << 20, REQUESTS_PER_MINUTE = 120, NOTICES_HOLD_MS = 20000 };

enum kind { CREATE, LIST, DELETE, OFFERS, NOTICES, REPORT, MAKE, NAMES, DROP, STORE, NONE };

struct wire { /* one request, from send to reply */
	struct wire *next;
	struct world *w;
	uint64_t handle;
	http_done_fn done; /* NULL: nobody waits any more */
	void *ctx;
	bool here; /* the request has not arrived, or its reply has not */
	enum kind kind;
	struct create_request create; /* of MAKE and DROP the fabric and the cluster */
	uint32_t ids[CLOUD_WANTS_MAX];
	size_t nids;
	bool single; /* DELETE /v1/instances/ID */
	int64_t sent_at, replied_at;
	int64_t hold_ms; /* the answer waits for something to tell */
	char cursor[48];
	bool twin;     /* asked by the account's other name */
	char url[160]; /* of STORE */
	int64_t deadline;
	/* the reply */
	struct err error; /* code set: there is none */
	long status;
	struct str body;
	enum sim_fails fails; /* its place does */
	unsigned retry_s;     /* Retry-After; 0: none */
	uint32_t list_run;    /* not 0: the last page of this list */
	bool garbled;         /* nobody can read it */
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
	if (done != NULL && q->kind == DELETE)
		sim_limit_delete_back(q->w, r != NULL && r->status == 429, q->retry_s);
	if (done != NULL)
		done(q->ctx, r, e);
}

void sim_http_cancel_all(struct http_client *c)
{
	static const struct err cancelled = {.code = ERR_CANCELLED, .msg = "cancelled"};

	for (struct wire *q = c->wires; q != NULL; q = q->next)
		answer(q, NULL, &cancelled);
}

/* --- reading the request -----------------------------------------------------------------------
 */

static uint64_t hash(const char *p, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	return h;
}

static void copy(char *out, size_t size, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	(void)snprintf(out, size, "%s", s != NULL ? s : "");
}

/* Of lines key=value. */
static void copy_line(char *out, size_t size, const char *text, const char *key)
{
	const char *at = strstr(text, key);

	at = at != NULL ? at + strlen(key) : "";
	(void)snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* What stage0 would find in its user-data. */
static void read_user_data(struct create_request *rq, const json_t *o)
{
	const char *text = json_string_value(json_object_get(o, "user_data"));
	const char *id = text != NULL ? strstr(text, " ID='") : NULL;
	const char *secret = text != NULL ? strstr(text, "\nprintf %s '") : NULL;

	if (text != NULL) {
		copy_line(rq->lines.token, sizeof(rq->lines.token), text, "\nwrap_token=");
		copy_line(rq->lines.node, sizeof(rq->lines.node), text, "\nnode=");
		copy_line(rq->lines.gen, sizeof(rq->lines.gen), text, "\ngeneration=");
	}
	if (id == NULL || secret == NULL)
		return;
	(void)snprintf(rq->claim_id, sizeof(rq->claim_id), "%.*s", (int)strcspn(id + 5, "'"),
		       id + 5);
	(void)snprintf(rq->claim_secret, sizeof(rq->claim_secret), "%.*s",
		       (int)strcspn(secret + 12, "'"), secret + 12);
}

static int read_create(struct wire *q, const json_t *o)
{
	const json_t *list = json_object_get(o, "instances");
	struct create_request *rq = &q->create;

	copy(rq->token, sizeof(rq->token), o, "token");
	copy(rq->cluster, sizeof(rq->cluster), o, "cluster");
	copy(rq->type, sizeof(rq->type), o, "type");
	copy(rq->region, sizeof(rq->region), o, "region");
	copy(rq->market, sizeof(rq->market), o, "market");
	copy(rq->fabric, sizeof(rq->fabric), o, "fabric");
	read_user_data(rq, o);
	rq->n = json_array_size(list);
	if (rq->n == 0 || rq->n > CLOUD_WANTS_MAX || rq->token[0] == '\0')
		return -1;
	for (size_t i = 0; i < rq->n; i++) {
		const json_t *v = json_array_get(list, i);

		copy(rq->wants[i].node, sizeof(rq->wants[i].node), v, "name");
		rq->wants[i].gen = (uint64_t)json_integer_value(json_object_get(v, "generation"));
		rq->wants[i].group = (uint32_t)json_integer_value(json_object_get(v, "group"));
	}
	return 0;
}

static int read_id(struct wire *q, const char *id)
{
	if (id == NULL || strncmp(id, "i-", 2) != 0 || q->nids == CLOUD_WANTS_MAX)
		return -1;
	q->ids[q->nids++] = (uint32_t)strtoul(id + 2, NULL, 10);
	return 0;
}

static int read_body(struct wire *q, const struct http_call *call)
{
	json_t *o = json_loadb(call->body, call->body_len, 0, NULL);
	int rc = -1;

	q->create.hash = hash(call->body, call->body_len);
	if (q->kind == MAKE) {
		copy(q->create.fabric, sizeof(q->create.fabric), o, "name");
		copy(q->create.cluster, sizeof(q->create.cluster), o, "cluster");
		rc = q->create.fabric[0] != '\0' ? 0 : -1;
	} else if (q->kind == CREATE)
		rc = read_create(q, o);
	else if (o != NULL) {
		const json_t *ids = json_object_get(o, "ids"), *v;
		size_t i;

		rc = json_array_size(ids) > 0 ? 0 : -1;
		json_array_foreach(ids, i, v) rc = rc | read_id(q, json_string_value(v));
	}
	json_decref(o);
	return rc;
}

static int read_request(struct http_client *c, struct wire *q, const struct http_call *call)
{
	const char *path = call->url + strlen(c->w->url), *at;
	bool get = strcmp(call->method, "GET") == 0, post = strcmp(call->method, "POST") == 0;

	q->kind = NONE;
	if (strncmp(call->url, "https://", 8) == 0) {
		q->kind = STORE;
		(void)snprintf(q->url, sizeof(q->url), "%s", call->url);
		return 0;
	}
	if (get && strncmp(path, "/v1/offers", 10) == 0)
		q->kind = OFFERS;
	else if (get && strncmp(path, "/v1/instances?", 14) == 0)
		q->kind = LIST;
	else if (get && strncmp(path, "/v1/notices?wait=", 17) == 0)
		q->kind = NOTICES;
	else if (post && strcmp(path, "/v1/fabrics") == 0)
		q->kind = MAKE;
	else if (get && strncmp(path, "/v1/fabrics?", 12) == 0)
		q->kind = NAMES;
	else if (post && strcmp(path, "/v1/instances") == 0)
		q->kind = CREATE;
	else if (post && strcmp(path, "/v1/instances/delete") == 0)
		q->kind = DELETE;
	if (q->kind == CREATE || q->kind == DELETE || q->kind == MAKE)
		return read_body(q, call);
	at = strstr(path, "/report");
	if (post && strncmp(path, "/v1/instances/", 14) == 0 && at != NULL) {
		char id[24];

		q->kind = REPORT;
		(void)snprintf(id, sizeof(id), "%.*s", (int)(at - path - 14), path + 14);
		return read_id(q, id);
	}
	if (strcmp(call->method, "DELETE") == 0 && strncmp(path, "/v1/fabrics/", 12) == 0) {
		q->kind = DROP;
		(void)snprintf(q->create.fabric, sizeof(q->create.fabric), "%.63s", path + 12);
	}
	at = q->kind == LIST ? strstr(path, "cursor=") : NULL;
	if (at != NULL)
		(void)snprintf(q->cursor, sizeof(q->cursor), "%.*s", (int)strcspn(at + 7, "&"),
			       at + 7);
	if (strcmp(call->method, "DELETE") == 0 && strncmp(path, "/v1/instances/", 14) == 0) {
		q->kind = DELETE;
		q->single = true;
		return read_id(q, path + 14);
	}
	return q->kind == NONE ? -1 : 0;
}

/* --- the provider's answers --------------------------------------------------------------------
 */

/* Count a fault for every incarnation that the request is about. */
static void met(struct world *w, enum sim_fault f, const struct wire *q)
{
	for (size_t i = 0; q->kind == CREATE && i < q->create.n; i++)
		world_met(w, f, q->create.wants[i].node, q->create.wants[i].gen);
	for (size_t i = 0; q->kind == DELETE && i < q->nids; i++) {
		const struct inst *in = sim_cloud_find(w->cloud, q->ids[i]);

		if (in != NULL)
			world_met(w, f, in->node, in->gen);
	}
	if (q->kind == LIST)
		sim_journal_met_all(w->journal, f);
}

static void error(struct wire *q, long status, const char *code)
{
	str_clear(&q->body);
	q->status = status;
	str_addf(&q->body, "{\"error\":{\"code\":\"%s\",\"message\":\"%s it is\"}}", code, code);
}

static void no_reply(struct world *w, struct wire *q)
{
	(void)err_set(&q->error, ERR_NET, "no reply");
	q->deadline = w->now + w->set.timeout_ms;
}

static void reply_create(struct world *w, struct wire *q, bool lie)
{
	static const char *const codes[] = {"capacity", "rate", "internal"};
	uint32_t made[CLOUD_WANTS_MAX];

	sim_cloud_create(w->cloud, &q->create, lie, made);
	str_adds(&q->body, "{\"instances\":[");
	for (size_t i = 0; i < q->create.n; i++) {
		/* Who asks for one fabric has one answer. */
		bool one = w->cloud->single || q->create.fabric[0] != '\0';
		const char *code = codes[one ? 0 : (q->handle + i) % 3];

		str_adds(&q->body, i > 0 ? "," : "");
		if (made[i] != 0)
			sim_cloud_show(w->cloud, &q->body, sim_cloud_find(w->cloud, made[i]),
				       false);
		else if (strcmp(code, codes[0]) == 0)
			sim_cloud_refuse(w->cloud, q->create.token, q->create.wants[i].node);
		if (made[i] == 0)
			str_addf(&q->body,
				 "{\"name\":\"%s\",\"generation\":%llu,\"error\":{\"code\":"
				 "\"%s\",\"message\":\"none left\"}}",
				 q->create.wants[i].node,
				 (unsigned long long)q->create.wants[i].gen, code);
	}
	str_adds(&q->body, "]}");
}

static void refuse(struct world *w, struct wire *q, const char *code)
{
	for (size_t i = 0; strcmp(code, "rate") != 0 && i < q->create.n; i++)
		sim_cloud_refuse(w->cloud, q->create.token, q->create.wants[i].node);
	if (q->kind == MAKE)
		sim_fabric_refuse(w->cloud, q->create.fabric);
	error(q, strcmp(code, "rate") == 0 ? 429 : strcmp(code, "capacity") == 0 ? 503 : 403, code);
}

static void on_create(struct world *w, struct wire *q)
{
	bool lie = false;

	if (w->cloud->none != NULL) {
		refuse(w, q, w->cloud->none);
		return;
	}
	if (world_fault(w, SIM_QUOTA)) {
		met(w, SIM_QUOTA, q);
		refuse(w, q, "quota");
		return;
	}
	if (q->create.fabric[0] != '\0' && !sim_fabric_there(w->cloud, q->create.fabric)) {
		error(q, 400, "invalid");
		return;
	}
	if (world_fault(w, SIM_CAPACITY))
		sim_place_runs_out(w, &q->create);
	if (sim_place_is_out(w, &q->create)) {
		met(w, SIM_CAPACITY, q);
		refuse(w, q, "capacity");
		return;
	}
	lie = world_fault(w, SIM_REFUSED_YET_MADE);
	reply_create(w, q, lie);
	if (lie) {
		met(w, SIM_REFUSED_YET_MADE, q);
		refuse(w, q, "capacity");
	} else if (world_fault(w, SIM_FAIL_THEN_SUCCESS)) {
		met(w, SIM_FAIL_THEN_SUCCESS, q);
		q->status = 502;
		str_clear(&q->body);
		str_adds(&q->body, "<html>Bad Gateway</html>");
	}
}

static void on_delete(struct world *w, struct wire *q)
{
	str_adds(&q->body, q->single ? "" : "{\"results\":[");
	for (size_t i = 0; i < q->nids; i++) {
		const char *word = sim_cloud_delete(w->cloud, q->ids[i]);

		if (strcmp(word, "ok") == 0)
			str_addf(&q->body, "%s{\"id\":\"i-%u\",\"state\":\"stopping\"}",
				 i > 0 ? "," : "", (unsigned)q->ids[i]);
		else
			str_addf(&q->body,
				 "%s{\"id\":\"i-%u\",\"error\":{\"code\":\"%s\",\"message\":"
				 "\"no\"}}",
				 i > 0 ? "," : "", (unsigned)q->ids[i], word);
		if (q->single && strcmp(word, "ok") != 0)
			error(q, strcmp(word, "not-found") == 0 ? 404 : 403, word);
	}
	str_adds(&q->body, q->single ? "" : "]}");
}

static void on_list(struct world *w, struct wire *q)
{
	unsigned run = 0, after = 0;
	uint32_t r, next;

	if (q->cursor[0] != '\0' && sscanf(q->cursor, "c%u.%u", &run, &after) != 2) {
		error(q, 400, "invalid");
		return;
	}
	r = run;
	str_adds(&q->body, "{\"instances\":[");
	sim_cloud_list(w->cloud, &q->body, &r, after, &next);
	str_adds(&q->body, "],\"cursor\":\"");
	if (next != 0)
		str_addf(&q->body, "c%u.%u", (unsigned)r, (unsigned)next);
	else
		q->list_run = r;
	str_adds(&q->body, "\"}");
}

static void on_offers(struct world *w, struct wire *q)
{
	char price[FMT_MONEY_SIZE];

	if (w->no_offers) {
		error(q, 500, "internal");
		return;
	}
	str_adds(&q->body, "{\"offers\":[");
	for (size_t i = 0; i < w->set.npools; i++)
		for (size_t k = 0; k < SIM_RUNGS; k++)
			str_addf(&q->body,
				 "%s{\"type\":\"%s\",\"region\":\"%s\",\"zone\":\"z\",\"market\":"
				 "\"%s\",\"price\":\"%s\",\"currency\":\"USD\",\"available\":null}",
				 i + k > 0 ? "," : "", w->set.pools[i].type, k == 2 ? "r2" : "r",
				 k == 1 ? "spot" : "on-demand",
				 fmt_money(price, w->set.pools[i].price));
	str_adds(&q->body, "]}");
}

static void on_fabric(struct world *w, struct wire *q)
{
	const char *word = "ok";
	bool refused;

	if (q->kind == NAMES) {
		sim_fabric_list(w->cloud, &q->body);
		return;
	}
	if (q->kind == DROP)
		word = sim_fabric_drop(w->cloud, q->create.fabric);
	else if (w->cloud->no_make)
		word = "denied";
	else if (world_fault(w, SIM_QUOTA)) /* of fabrics; or we have not the right to make one */
		word = q->handle % 2 ? "quota" : "denied";
	else
		word = sim_fabric_make(w->cloud, q->create.fabric, q->create.cluster);
	str_adds(&q->body, "{}");
	refused = strcmp(word, "quota") == 0 || strcmp(word, "denied") == 0;
	if (refused)
		sim_fabric_refuse(w->cloud, q->create.fabric);
	if (strcmp(word, "ok") != 0)
		error(q, strcmp(word, "not-found") == 0 ? 404 : refused ? 403 : 409, word);
}

/* It has none to tell. */
static void on_notices(struct wire *q)
{
	str_adds(&q->body, "{\"notices\":[],\"cursor\":\"0\"}");
	q->hold_ms = NOTICES_HOLD_MS;
}

static bool makes(const struct wire *q)
{
	return q->kind == CREATE || q->kind == MAKE;
}

static bool ends(const struct wire *q)
{
	return q->kind == DELETE || q->kind == DROP;
}

/* What goes wrong on the way back, after the effect. */
static void spoil(struct world *w, struct wire *q)
{
	enum sim_fault lost = makes(q)  ? SIM_CREATE_REPLY_LOST
			      : ends(q) ? SIM_DELETE_REPLY_LOST
					: SIM_LIST_BROKEN;

	if (q->status == 200 && world_fault(w, lost)) {
		met(w, lost, q);
		no_reply(w, q);
	} else if (q->status == 200 && world_fault(w, SIM_GARBAGE)) {
		met(w, SIM_GARBAGE, q);
		q->list_run = 0;
		q->garbled = true;
		if (world_one_in(w, 2) && q->body.len > 0)
			q->body.len = world_below(w, (uint32_t)q->body.len);
		else
			memset(q->body.p, 'x', q->body.len);
		q->body.p[q->body.len] = '\0';
	}
}

static enum sim_limit_kind limit_of(const struct wire *q)
{
	switch (q->kind) {
	case CREATE:
	case MAKE:
		return SIM_LIMIT_CREATE;
	case LIST:
		return SIM_LIMIT_LIST;
	case DELETE:
		return SIM_LIMIT_DELETE;
	default:
		return SIM_LIMIT_REST;
	}
}

/* By its buckets, or for no reason that anybody would know. */
static bool throttled(struct world *w, struct wire *q)
{
	if (!sim_limit_refuses(w, limit_of(q), &q->retry_s)) {
		if (!world_fault(w, SIM_THROTTLED))
			return false;
		q->retry_s = world_one_in(w, 2) ? (unsigned)world_between(w, 1, 20) : 0;
	}
	met(w, SIM_THROTTLED, q);
	error(q, 429, "rate");
	return true;
}

/* Is nobody there?  Asked when it is sent. */
static bool is_away(struct world *w, struct wire *q)
{
	struct sim_away *a = &w->cloud->away[q->twin];

	if (q->kind == STORE)
		return false;
	if (w->now >= a->until && world_fault(w, SIM_AWAY)) {
		a->until = w->now + world_between(w, 20, 900) * SIM_SECOND;
		a->how = world_below(w, 3);
		SIM_TRACE(w, "*** the provider is away%s", q->twin ? ", by its other name" : "");
	}
	return w->now < a->until;
}

/* Refused at the door, before any effect.  true: it was. */
static bool at_the_door(struct world *w, struct wire *q)
{
	enum sim_fault lost = makes(q) ? SIM_CREATE_REPLY_LOST : SIM_DELETE_REPLY_LOST;
	const struct sim_away *a = &w->cloud->away[q->twin];

	if (w->now < a->until && a->how != AWAY_REFUSES) {
		met(w, SIM_AWAY, q);
		if (a->how == AWAY_FAILS)
			error(q, 500, "internal");
		else
			no_reply(w, q);
		return true;
	}
	if ((q->kind == LIST && w->cloud->no_lists) || q->fails == FAILS_SAYS_SO) {
		error(q, 500, "internal");
		return true;
	}
	if (world_fault(w, SIM_AUTH))
		w->cloud->auth_until = w->now + world_between(w, 5, 300) * SIM_SECOND;
	if (w->now < w->cloud->auth_until) {
		met(w, SIM_AUTH, q);
		refuse(w, q, "denied");
		return true;
	}
	if (throttled(w, q))
		return true;
	if ((ends(q) || q->kind == LIST) &&
	    world_fault(w, q->kind == LIST ? SIM_LIST_BROKEN : SIM_DELETE_5XX)) {
		met(w, q->kind == LIST ? SIM_LIST_BROKEN : SIM_DELETE_5XX, q);
		error(q, 500, "internal");
		return true;
	}
	if ((makes(q) || ends(q)) && world_fault(w, lost)) {
		met(w, lost, q);
		no_reply(w, q);
		return true;
	}
	return false;
}

static void on_report(struct world *w, struct wire *q)
{
	const struct inst *in = sim_cloud_find(w->cloud, q->ids[0]);

	if (in == NULL || world_one_in(w, 5))
		error(q, 404, "not-found");
	else
		str_adds(&q->body, "{}");
}

static void serve(struct world *w, struct wire *q)
{
	q->status = 200;
	if (q->kind == STORE) {
		if (!sim_store_serve(w, q->url, &q->body, &q->status))
			no_reply(w, q);
		return;
	}
	if (at_the_door(w, q))
		return;
	if (q->kind == CREATE)
		on_create(w, q);
	else if (q->kind == DELETE)
		on_delete(w, q);
	else if (q->kind == LIST)
		on_list(w, q);
	else if (q->kind == NOTICES)
		on_notices(q);
	else if (q->kind == REPORT)
		on_report(w, q);
	else if (q->kind != OFFERS)
		on_fabric(w, q);
	else
		on_offers(w, q);
	spoil(w, q);
}

/* --- the wire --------------------------------------------------------------------------------- */

static void on_reply(struct world *w, void *ctx, uint64_t arg)
{
	struct wire *q = ctx;
	struct http_reply r = {.status = q->status, .body = q->body.p, .len = q->body.len};
	char seconds[12];

	if (q->replied_at == 0)
		q->replied_at = w->now;
	r.date_ms = q->replied_at / SIM_SECOND * SIM_SECOND;
	if (q->done != NULL && sim_freeze_holds(w, on_reply, q, arg)) {
		if (q->deadline < w->frozen_until && world_one_in(w, 2))
			no_reply(w, q); /* it is over before anybody reads what has come */
		return;
	}
	if (q->retry_s > 0) {
		(void)snprintf(seconds, sizeof(seconds), "%u", q->retry_s);
		r.retry_after = seconds;
	}
	if (q->done != NULL && q->error.code == 0 && q->list_run != 0) {
		sim_cloud_listed(w->cloud, q->list_run);
		w->listed_at[q->twin] = w->now;
	}
	if (q->done != NULL &&
	    ((q->kind != LIST && q->kind != NOTICES) || q->status != 200 || q->error.code != 0))
		SIM_TRACE(w, "http %llu: %ld %.150s", (unsigned long long)q->handle,
			  q->error.code != 0 ? -1 : q->status,
			  q->error.code != 0 ? q->error.msg : q->body.p);
	if (q->done != NULL && q->kind == CREATE && q->error.code == 0 && !q->garbled &&
	    (strstr(q->body.p, "\"capacity\"") != NULL || strstr(q->body.p, "\"quota\"") != NULL))
		sim_place_told(w, &q->create, q->sent_at);
	if (q->done != NULL && q->kind == CREATE && q->error.code == 0 && q->status == 429)
		sim_cloud_throttled(w->cloud, q->create.token);
	if (q->done != NULL && makes(q))
		sim_place_answered(w, q->kind == CREATE ? &q->create : NULL,
				   q->error.code == 0 ? q->status : 0, q->sent_at);
	if (q->done != NULL && q->kind == STORE && q->error.code == 0 && q->status == 200)
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
		serve(w, q);
	if (q->kind == CREATE && w->set.limits.slow)
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

	t->creates += q->kind == CREATE;
	t->deletes += q->kind == DELETE;
	t->lists += q->kind == LIST;
	if (q->kind == STORE)
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
	if (q->kind == CREATE)
		sim_audit_take(c->w, sim_journal_audit(c->w->journal), "create", q->create.token);
	if (q->kind == DELETE)
		check_delete(c, q);
	if (q->kind == REPORT)
		check_report(c, q);
	if (q->kind == MAKE || q->kind == DROP)
		sim_audit_take(c->w, sim_journal_audit(c->w->journal),
			       q->kind == MAKE ? "fabric-make" : "fabric-drop", q->create.fabric);
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
	if (read_request(c, q, call) != 0)
		world_fail(c->w, "the driver sent what no provider understands: %s %s",
			   call->method, call->url);
	q->w = c->w;
	q->done = done;
	q->ctx = ctx;
	(void)e;
	sim_absent_asked(c->w, call->url);
	if (q->kind == DELETE)
		sim_limit_delete_sent(c->w);
	if (!world_alive(c->w))
		return 0; /* the callback comes when the dead engine is freed */
	if (q->kind != LIST && q->kind != NOTICES)
		trace_send(c, q, call);
	count(c, q);
	if (q->kind == CREATE) /* first: the record of one that may not be is no better than it */
		sim_cloud_check_create(c->w->cloud, &q->create);
	check_audit(c, q);
	for (size_t i = 0; q->kind == DELETE && i < q->nids; i++)
		if (sim_cloud_find(c->w->cloud, q->ids[i]) != NULL)
			sim_cloud_find(c->w->cloud, q->ids[i])->asked = true;
	q->twin = strncmp(call->url, c->w->twin_url, strlen(c->w->twin_url)) == 0;
	if (q->kind == CREATE)
		q->fails = sim_place_fails(c->w, &q->create, q->twin);
	if (is_away(c->w, q) && c->w->cloud->away[q->twin].how == AWAY_REFUSES) {
		met(c->w, SIM_AWAY, q);
		(void)err_set(&q->error, ERR_NOTSENT, "nobody listens");
	} else if (q->fails == FAILS_IS_SILENT) {
		no_reply(c->w, q);
	} else if (q->fails == FAILS_REFUSES || world_fault(c->w, SIM_NOT_SENT)) {
		if (q->fails == FAILS_NOT)
			met(c->w, SIM_NOT_SENT, q);
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
