#include "providers/simcloud/face.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/simcloud/ec2.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/sqs.h"

enum { GROUP_MAX = 1 << 30 };

static const char *const field_names[FACE_NFIELDS] = {
	[FACE_CLUSTER] = "cluster",       [FACE_NAME] = "name",
	[FACE_GENERATION] = "generation", [FACE_ID] = "id",
	[FACE_STATE] = "state",           [FACE_TYPE] = "type",
	[FACE_REGION] = "region",         [FACE_ZONE] = "zone",
	[FACE_MARKET] = "market",         [FACE_ADDRESS] = "address",
	[FACE_HOSTNAME] = "hostname",     [FACE_CREATED] = "created_ms",
	[FACE_RECLAIM] = "reclaim_ms",    [FACE_ENDED] = "ended_ms",
	[FACE_FABRIC] = "fabric",
};

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_word(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

static bool is_name(const char *text)
{
	if (!isalnum((unsigned char)text[0]))
		return false;
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr("-_.", *text) == NULL)
			return false;
	return true;
}

static int read_user_data(struct cloud_want *w, const json_t *o, struct err *e)
{
	const json_t *v = json_object_get(o, "user_data");

	if (v == NULL || json_is_null(v))
		return 0;
	if (!json_is_string(v) || json_string_length(v) > USERDATA_MAX)
		return err_set(e, ERR_INVALID, "user_data: want a string of at most %d bytes",
			       USERDATA_MAX);
	w->user_data = userdata_new(json_string_value(v), json_string_length(v));
	return 0;
}

static int read_want(struct cloud_want *w, const json_t *o, struct err *e)
{
	if (!json_is_object(o) || js_get_str(o, "name", w->node, sizeof(w->node), e) != 0 ||
	    js_get_int(o, "generation", &w->gen, e) != 0 ||
	    js_get_int(o, "group", &w->group, e) != 0 || read_user_data(w, o, e) != 0)
		return err_wrap(e, "instances");
	if (!is_name(w->node) || w->group > GROUP_MAX)
		return err_set(e, ERR_INVALID, "instances: want a host name and a small group");
	return 0;
}

/* What stands beside the list is for all in it that have none of their own. */
static int share_user_data(struct face_call *f, const json_t *o, struct err *e)
{
	struct cloud_want all = {0};

	if (read_user_data(&all, o, e) != 0)
		return -1;
	for (size_t i = 0; i < f->n; i++)
		if (f->wants[i].user_data == NULL)
			f->wants[i].user_data = userdata_ref(all.user_data);
	userdata_unref(all.user_data);
	return 0;
}

static int read_create(struct face_call *f, const json_t *o, const struct settings *conf,
		       struct err *e)
{
	const json_t *list = json_object_get(o, "instances"), *v;
	char market[16] = "on-demand";
	size_t i;

	if (js_get_str(o, "token", f->token, sizeof(f->token), e) != 0 ||
	    js_get_str(o, "cluster", f->cluster, sizeof(f->cluster), e) != 0 ||
	    js_get_str(o, "type", f->type, sizeof(f->type), e) != 0 ||
	    js_get_str(o, "region", f->region, sizeof(f->region), e) != 0 ||
	    js_get_str(o, "zone", f->zone, sizeof(f->zone), e) != 0 ||
	    js_get_str(o, "fabric", f->fabric, sizeof(f->fabric), e) != 0 ||
	    js_get_str(o, "market", market, sizeof(market), e) != 0)
		return -1;
	if (!is_word(f->token) || !is_word(f->cluster))
		return err_set(e, ERR_INVALID, "token, cluster: want printable characters");
	if (market_parse(market, &f->market, e) != 0)
		return -1;
	f->n = json_array_size(list);
	if (f->n == 0 || f->n > (size_t)conf->create_max)
		return err_set(e, ERR_INVALID, "instances: want 1 to %d", (int)conf->create_max);
	f->wants = mem_zalloc(f->n * sizeof(*f->wants));
	json_array_foreach(list, i, v) if (read_want(&f->wants[i], v, e) != 0) return -1;
	return share_user_data(f, o, e);
}

static int read_ids(struct face_call *f, const json_t *o, const struct settings *conf,
		    struct err *e)
{
	const json_t *list = json_object_get(o, "ids"), *v;
	size_t i;

	f->n = json_array_size(list);
	if (f->n == 0 || f->n > (size_t)conf->delete_max)
		return err_set(e, ERR_INVALID, "ids: want 1 to %d", (int)conf->delete_max);
	f->ids = mem_zalloc(f->n * sizeof(*f->ids));
	json_array_foreach(list, i, v)
	{
		if (!json_is_string(v) || json_string_length(v) >= FACE_ID_SIZE)
			return err_set(e, ERR_INVALID, "ids: want strings");
		memcpy(f->ids[i], json_string_value(v), json_string_length(v) + 1);
	}
	return 0;
}

/* "id,state": only these, as many clouds offer for the sake of long lists. */
static int read_fields(unsigned *out, char *text, struct err *e)
{
	char *save = NULL;

	*out = 0;
	for (char *w = strtok_r(text, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save)) {
		unsigned f = 0;

		while (f < FACE_NFIELDS && strcmp(field_names[f], w) != 0)
			f++;
		if (f == FACE_NFIELDS)
			return err_set(e, ERR_INVALID, "fields: an instance has no \"%.40s\"", w);
		*out |= 1U << f;
	}
	return 0;
}

static int read_list(struct face_call *f, const struct http_request *rq,
		     const struct settings *conf, struct err *e)
{
	char limit[16], cursor[32], fields[256], *end = limit;
	int rc;

	f->limit = conf->page_max;
	f->after = -1;
	if (http_query(rq->query, "cluster", f->cluster, sizeof(f->cluster)) < 0)
		return err_set(e, ERR_INVALID, "cluster: malformed");
	rc = http_query(rq->query, "limit", limit, sizeof(limit));
	if (rc == 1)
		f->limit = strtol(limit, &end, 10);
	if (rc < 0 || (rc == 1 && (*end != '\0' || f->limit < 1)))
		return err_set(e, ERR_INVALID, "limit: want a number from 1");
	if (f->limit > conf->page_max)
		f->limit = conf->page_max; /* F16: the cap may be smaller than what was asked */
	f->fields = FACE_ALL;
	rc = http_query(rq->query, "fields", fields, sizeof(fields));
	if (rc < 0)
		return err_set(e, ERR_INVALID, "fields: malformed");
	if (rc == 1 && read_fields(&f->fields, fields, e) != 0)
		return -1;
	if (http_query(rq->query, "cursor", cursor, sizeof(cursor)) < 0)
		return err_set(e, ERR_INVALID, "cursor: malformed");
	if (cursor[0] == '\0')
		return 0;
	f->after = strtol(cursor + 1, &end, 10);
	if (cursor[0] != 'c' || *end != '\0' || f->after < 0 || f->after >= METER_ROWS_MAX)
		return err_set(e, ERR_INVALID, "cursor: not one of ours");
	return 0;
}

static int read_number(const struct http_request *rq, const char *name, int64_t max, int64_t *out,
		       struct err *e)
{
	char text[24];
	int rc = http_query(rq->query, name, text, sizeof(text));

	if (rc == 0 || (rc == 1 && text[0] == '\0'))
		return 0;
	if (rc < 0 || strlen(text) > 18 || text[strspn(text, "0123456789")] != '\0')
		return err_set(e, ERR_INVALID, "%s: want a number", name);
	*out = strtoll(text, NULL, 10);
	*out = *out < max ? *out : max;
	return 0;
}

static int read_notices(struct face_call *f, const struct http_request *rq, struct err *e)
{
	if (http_query(rq->query, "cluster", f->cluster, sizeof(f->cluster)) < 0)
		return err_set(e, ERR_INVALID, "cluster: malformed");
	if (read_number(rq, "after", INT64_MAX, &f->after, e) != 0)
		return -1;
	return read_number(rq, "wait", FACE_WAIT_MAX_MS, &f->wait_ms, e);
}

static int read_reason(struct face_call *f, const json_t *o, struct err *e)
{
	static const char *const known[] = {"reason", NULL};

	return js_only(o, known, e) != 0 ? -1
					 : js_get_str(o, "reason", f->reason, sizeof(f->reason), e);
}

static int read_body(struct face_call *f, const struct http_request *rq,
		     const struct settings *conf, struct err *e)
{
	json_error_t je;
	json_t *o = json_loadb(rq->body, rq->len, JSON_REJECT_DUPLICATES, &je);
	int rc;

	if (!json_is_object(o))
		rc = err_set(e, ERR_INVALID, "body: %.100s",
			     o == NULL ? je.text : "want an object");
	else
		rc = f->op == OP_CREATE   ? read_create(f, o, conf, e)
		     : f->op == OP_REPORT ? read_reason(f, o, e)
					  : read_ids(f, o, conf, e);
	json_decref(o);
	f->body_hash = token_hash(rq->body, rq->len);
	f->body_len = rq->len;
	return rc;
}

/* Of a report's path what stands before the last word. */
static int read_one_id(struct face_call *f, const char *id, struct err *e)
{
	size_t n = f->op == OP_REPORT ? (size_t)(strrchr(id, '/') - id) : strlen(id);

	if (n == 0 || n >= FACE_ID_SIZE)
		return err_set(e, ERR_INVALID, "want an id");
	f->n = 1;
	f->ids = mem_zalloc(sizeof(*f->ids));
	memcpy(f->ids[0], id, n);
	return 0;
}

static bool is_report(const char *path)
{
	const char *tail = strrchr(path, '/');

	return tail != NULL && strcmp(tail, "/report") == 0;
}

/* What is asked for, from method and path; -1: nothing of ours. */
static int route(const struct http_request *rq, const char **id, bool *many)
{
	static const char all[] = "/v1/instances";
	bool get = strcmp(rq->method, "GET") == 0, post = strcmp(rq->method, "POST") == 0;

	*id = NULL;
	*many = post && strcmp(rq->path, "/v1/instances/delete") == 0;
	if (*many)
		return OP_DELETE;
	if (get && strcmp(rq->path, "/v1/offers") == 0)
		return OP_OFFERS;
	if (get && strcmp(rq->path, "/v1/notices") == 0)
		return OP_NOTICES;
	if (strncmp(rq->path, all, sizeof(all) - 1) != 0)
		return -1;
	if (rq->path[sizeof(all) - 1] == '\0')
		return post ? OP_CREATE : get ? OP_LIST : -1;
	if (rq->path[sizeof(all) - 1] != '/')
		return -1;
	*id = rq->path + sizeof(all);
	if (post && is_report(*id))
		return OP_REPORT;
	return get ? OP_GET : strcmp(rq->method, "DELETE") == 0 ? OP_DELETE : -1;
}

enum code face_parse(struct face_call **out, const struct http_request *rq,
		     const struct settings *conf, struct err *e)
{
	struct face_call *f;
	const char *id;
	bool many;
	int op = route(rq, &id, &many), rc = 0;

	*out = NULL;
	if (face_fabric_is(rq))
		return face_fabric_parse(out, rq, e);
	if (op < 0) {
		(void)err_set(e, ERR_INVALID, "no such method and path");
		return CODE_NOT_FOUND;
	}
	f = mem_zalloc(sizeof(*f));
	f->op = (enum op)op;
	f->many = many;
	if (id != NULL)
		rc = read_one_id(f, id, e);
	if (rc != 0 || (id != NULL && op != OP_REPORT) || op == OP_OFFERS)
		; /* that is all there is */
	else if (op == OP_LIST)
		rc = read_list(f, rq, conf, e);
	else if (op == OP_NOTICES)
		rc = read_notices(f, rq, e);
	else
		rc = read_body(f, rq, conf, e);
	if (rc != 0) {
		face_call_free(f);
		return CODE_INVALID;
	}
	*out = f;
	return CODE_OK;
}

/* --- answering -------------------------------------------------------------------------------- */

static void put_str(struct str *s, unsigned fields, enum face_field f, const char *text)
{
	if ((fields >> f & 1) != 0)
		js_str(s, field_names[f], text);
}

static void put_int(struct str *s, unsigned fields, enum face_field f, int64_t v)
{
	if ((fields >> f & 1) != 0)
		js_int(s, field_names[f], v);
}

static void put_body(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		     unsigned fields, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	char text[METER_ID_SIZE];
	enum cloud_state shown = cloud_shown(i, now);

	put_str(s, fields, FACE_ID, meter_id(text, i->row));
	put_str(s, fields, FACE_STATE, cloud_state_word(shown));
	put_str(s, fields, FACE_TYPE, row->type);
	put_str(s, fields, FACE_REGION, row->region);
	put_str(s, fields, FACE_ZONE, row->zone);
	put_str(s, fields, FACE_MARKET, market_word(row->market));
	put_str(s, fields, FACE_ADDRESS, now >= i->address_at ? addr_text(text, i->addr) : "");
	put_str(s, fields, FACE_HOSTNAME, row->node);
	put_int(s, fields, FACE_CREATED, row->start_ms);
	if (i->reclaim_at >= 0)
		put_int(s, fields, FACE_RECLAIM, i->reclaim_at);
	if (shown == CLOUD_ENDED)
		put_int(s, fields, FACE_ENDED, row->end_ms);
	if (i->block != CLOUD_NO_BLOCK) {
		char block[SETTINGS_WORD_SIZE + FMT_U64_SIZE];

		(void)snprintf(block, sizeof(block), "%s/%u", row->zone, (unsigned)i->block);
		put_str(s, fields, FACE_FABRIC, block);
	}
}

void face_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		   unsigned fields, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];

	js_open(s, NULL, '{');
	put_str(s, fields, FACE_CLUSTER, row->cluster);
	put_str(s, fields, FACE_NAME, row->node);
	put_int(s, fields, FACE_GENERATION, (int64_t)row->gen);
	put_body(s, c, i, fields, now);
	js_close(s, '}');
}

static void put_created(struct str *s, const struct cloud *c, const struct cloud_want *w,
			int32_t result, int64_t now)
{
	const struct cloud_instance *i = result >= 0 ? cloud_of_row(c, (uint32_t)result) : NULL;
	char id[METER_ID_SIZE];

	js_open(s, NULL, '{');
	js_str(s, "name", w->node);
	js_int(s, "generation", w->gen);
	if (result < 0) {
		face_put_error(s, (enum code) - result, NULL, 0);
	} else if (i != NULL) {
		put_body(s, c, i, FACE_ALL, now);
	} else { /* an old token, and the instance is long forgotten */
		js_str(s, "id", meter_id(id, (uint32_t)result));
		js_str(s, "state", cloud_state_word(CLOUD_ENDED));
	}
	js_close(s, '}');
}

static void run_create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		       int64_t now, struct face_reply *out)
{
	struct cloud_create rq = {.token = f->token,
				  .cluster = f->cluster,
				  .type = f->type,
				  .region = f->region,
				  .zone = f->zone,
				  .fabric = f->fabric,
				  .market = f->market,
				  .wants = f->wants,
				  .nwants = f->n,
				  .body_hash = f->body_hash,
				  .body_len = f->body_len};
	int32_t *results = mem_zalloc(f->n * sizeof(*results));
	enum code code;
	struct str s;

	for (size_t i = 0; i < f->n; i++)
		f->wants[i].refuse =
			face_left_out(rule, f->wants[i].node, i, f->n) ? rule->code : CODE_OK;
	code = cloud_create(c, &rq, results, now);
	if (code != CODE_OK) {
		face_error(out, code,
			   code == CODE_INVALID ? "no such type, region, zone or fabric" : NULL);
	} else {
		str_init(&s, FACE_BODY_MAX);
		js_open(&s, NULL, '{');
		js_open(&s, "instances", '[');
		for (size_t i = 0; i < f->n; i++) {
			put_created(&s, c, &f->wants[i], results[i], now);
			out->items[results[i] < 0 ? -results[i] : CODE_OK]++;
		}
		js_close(&s, ']');
		js_close(&s, '}');
		face_body(out, &s);
	}
	free(results);
}

/* A provider without tags cannot show any. */
static unsigned shown_fields(const struct cloud *c, unsigned asked)
{
	return c->conf->tags ? asked : asked & ~(unsigned)FACE_TAGS;
}

struct page {
	struct str s;
	const struct cloud *c;
	const struct fault_rule *rule;
	size_t n;
	int64_t limit, now;
	unsigned fields;
};

static void put_listed(void *ctx, const struct cloud_instance *i)
{
	struct page *p = ctx;
	const char *node = p->c->meter->rows[i->row].node;

	if (!face_hides(p->rule, node, p->n++, (size_t)p->limit))
		face_instance(&p->s, p->c, i, p->fields, p->now);
}

static void run_list(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		     int64_t now, struct face_reply *out)
{
	struct page p = {.c = c,
			 .rule = rule,
			 .limit = f->limit,
			 .now = now,
			 .fields = shown_fields(c, f->fields)};
	struct cloud_query q = {
		.cluster = f->cluster, .after = f->after, .limit = f->limit, .now = now};
	char cursor[FACE_CURSOR_SIZE];
	int64_t next;

	str_init(&p.s, FACE_BODY_MAX);
	js_open(&p.s, NULL, '{');
	js_open(&p.s, "instances", '[');
	next = cloud_list(c, &q, put_listed, &p);
	js_close(&p.s, ']');
	js_str(&p.s, "cursor", face_cursor(cursor, rule, next));
	js_close(&p.s, '}');
	face_body(out, &p.s);
}

static void run_get(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct cloud_instance *i = cloud_find(c, f->ids[0], now);
	struct str s;

	if (i == NULL) {
		face_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	str_init(&s, FACE_BODY_MAX);
	face_instance(&s, c, i, shown_fields(c, FACE_ALL), now);
	face_body(out, &s);
}

static enum code refuse_one(struct str *s, const char *id, enum code code)
{
	js_open(s, NULL, '{');
	js_str(s, "id", id);
	face_put_error(s, code, NULL, 0);
	js_close(s, '}');
	return code;
}

static enum code delete_one(struct str *s, struct cloud *c, const char *id, int64_t now,
			    int64_t *retry_ms)
{
	const struct cloud_instance *i;
	enum code code = cloud_delete(c, id, now, retry_ms);

	js_open(s, NULL, '{');
	js_str(s, "id", id);
	i = cloud_find(c, id, now);
	if (code != CODE_OK)
		face_put_error(s, code, NULL, *retry_ms);
	else
		js_str(s, "state", cloud_state_word(i != NULL ? cloud_shown(i, now) : CLOUD_ENDED));
	js_close(s, '}');
	return code;
}

static void run_delete(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		       int64_t now, struct face_reply *out)
{
	struct str s;

	str_init(&s, FACE_BODY_MAX);
	if (f->many) {
		js_open(&s, NULL, '{');
		js_open(&s, "results", '[');
	}
	for (size_t i = 0; i < f->n; i++) {
		int64_t retry_ms = 0;
		enum code code;

		if (face_left_out(rule, face_node(f, c, i), i, f->n))
			code = refuse_one(&s, f->ids[i], rule->code);
		else
			code = delete_one(&s, c, f->ids[i], now, &retry_ms);
		out->items[code]++;
		if (!f->many) {
			out->code = code;
			out->status = code_status(code);
			out->retry_ms = retry_ms;
		}
	}
	if (f->many) {
		js_close(&s, ']');
		js_close(&s, '}');
	}
	face_body(out, &s);
}

static void run_offers(const struct cloud *c, int64_t now, struct face_reply *out)
{
	char price[FMT_MONEY_SIZE];
	struct str s;

	str_init(&s, FACE_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "offers", '[');
	for (size_t i = 0; i < c->npools; i++) {
		const struct cloud_pool *p = c->pools[i];

		if (!p->offered)
			continue;
		js_open(&s, NULL, '{');
		js_str(&s, "type", p->type);
		js_str(&s, "region", p->region);
		js_str(&s, "zone", p->zone);
		js_str(&s, "market", market_word(p->market));
		js_str(&s, "price", fmt_money(price, cloud_price(c, p, now)));
		js_str(&s, "currency", p->currency);
		if (p->capacity < 0)
			js_null(&s, "available");
		else
			js_int(&s, "available", p->capacity > p->used ? p->capacity - p->used : 0);
		js_close(&s, '}');
	}
	js_close(&s, ']');
	js_close(&s, '}');
	face_body(out, &s);
}

/* --- notices ---------------------------------------------------------------------------------- */

static bool is_told(const struct face_call *f, const struct cloud *c, const struct notice *n)
{
	return n->kind != NOTICE_ENDED &&
	       (f->cluster[0] == '\0' || strcmp(c->meter->rows[n->row].cluster, f->cluster) == 0);
}

bool face_waits(const struct face_call *f, struct cloud *c, int64_t now)
{
	const struct notice *n;

	if (f->op != OP_NOTICES || f->wait_ms == 0)
		return false;
	if (f->sqs != NULL)
		return notices_visible(&c->notices, now) == NULL;
	n = notices_after(&c->notices, f->after);
	while (n != NULL && !is_told(f, c, n))
		n = notices_after(&c->notices, n->seq);
	return n == NULL;
}

static void run_notices(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	const struct notice *n = notices_after(&c->notices, f->after);
	char text[FMT_U64_SIZE];
	int64_t last = f->after;
	unsigned told = 0;
	struct str s;

	str_init(&s, FACE_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "notices", '[');
	for (; n != NULL && told < FACE_NOTICES_MAX; n = notices_after(&c->notices, n->seq)) {
		last = n->seq;
		if (!is_told(f, c, n))
			continue;
		told++;
		js_open(&s, NULL, '{');
		js_int(&s, "seq", n->seq);
		js_str(&s, "id", meter_id(text, n->row));
		js_str(&s, "kind", notice_word(n->kind));
		js_int(&s, "at_ms", n->at_ms);
		js_int(&s, "told_ms", n->told_ms);
		js_close(&s, '}');
	}
	js_close(&s, ']');
	js_str(&s, "cursor", fmt_i64(text, last));
	js_close(&s, '}');
	face_body(out, &s);
}

static void run_report(const struct face_call *f, struct cloud *c, int64_t now,
		       struct face_reply *out)
{
	enum code code = cloud_report(c, f->ids[0], f->reason, now);
	struct str s;

	if (code != CODE_OK) {
		face_error(out, code, code == CODE_INVALID ? "it is on its way out" : NULL);
		return;
	}
	str_init(&s, FACE_BODY_MAX);
	js_open(&s, NULL, '{');
	js_close(&s, '}');
	face_body(out, &s);
}

enum face_style face_style_of(const struct face_call *f)
{
	return f->ec2 != NULL ? FACE_XML : f->sqs != NULL ? FACE_SQS : FACE_JSON;
}

void face_run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
	      int64_t now, struct face_reply *out)
{
	*out = (struct face_reply){.code = CODE_OK, .status = 200, .style = face_style_of(f)};
	if (f->ec2 != NULL) {
		ec2_run(f, c, rule, now, out);
		return;
	}
	if (f->sqs != NULL) {
		sqs_run(f, c, now, out);
		return;
	}
	switch (f->op) {
	case OP_CREATE:
		run_create(f, c, rule, now, out);
		break;
	case OP_LIST:
		run_list(f, c, rule, now, out);
		break;
	case OP_GET:
		run_get(f, c, now, out);
		break;
	case OP_DELETE:
		run_delete(f, c, rule, now, out);
		break;
	case OP_NOTICES:
		run_notices(f, c, out);
		break;
	case OP_REPORT:
		run_report(f, c, now, out);
		break;
	case OP_FABRIC:
		face_fabric_run(f, c, out);
		break;
	case OP_OFFERS:
	case OP_COUNT:
		run_offers(c, now, out);
		break;
	}
}
