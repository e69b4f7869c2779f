#include "providers/simcloud/neutral.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "providers/simcloud/js.h"

const char *const neutral_field_names[NEUTRAL_NFIELDS] = {
	[NEUTRAL_CLUSTER] = "cluster",       [NEUTRAL_NAME] = "name",
	[NEUTRAL_GENERATION] = "generation", [NEUTRAL_ID] = "id",
	[NEUTRAL_STATE] = "state",           [NEUTRAL_TYPE] = "type",
	[NEUTRAL_REGION] = "region",         [NEUTRAL_ZONE] = "zone",
	[NEUTRAL_MARKET] = "market",         [NEUTRAL_ADDRESS] = "address",
	[NEUTRAL_HOSTNAME] = "hostname",     [NEUTRAL_CREATED] = "created_ms",
	[NEUTRAL_RECLAIM] = "reclaim_ms",    [NEUTRAL_ENDED] = "ended_ms",
	[NEUTRAL_FABRIC] = "fabric",
};

/* --- answering -------------------------------------------------------------------------------- */

static void put_str(struct str *s, unsigned fields, enum neutral_field f, const char *text)
{
	if ((fields >> f & 1) != 0)
		js_str(s, neutral_field_names[f], text);
}

static void put_int(struct str *s, unsigned fields, enum neutral_field f, int64_t v)
{
	if ((fields >> f & 1) != 0)
		js_int(s, neutral_field_names[f], v);
}

static void put_body(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		     unsigned fields, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	char text[METER_ID_SIZE];
	enum cloud_state shown = cloud_shown(i, now);

	put_str(s, fields, NEUTRAL_ID, meter_id(text, i->row));
	put_str(s, fields, NEUTRAL_STATE, cloud_state_word(shown));
	put_str(s, fields, NEUTRAL_TYPE, row->type);
	put_str(s, fields, NEUTRAL_REGION, row->region);
	put_str(s, fields, NEUTRAL_ZONE, row->zone);
	put_str(s, fields, NEUTRAL_MARKET, market_word(row->market));
	put_str(s, fields, NEUTRAL_ADDRESS, now >= i->address_at ? addr_text(text, i->addr) : "");
	put_str(s, fields, NEUTRAL_HOSTNAME, row->node);
	put_int(s, fields, NEUTRAL_CREATED, row->start_ms);
	if (i->reclaim_at >= 0)
		put_int(s, fields, NEUTRAL_RECLAIM, i->reclaim_at);
	if (shown == CLOUD_ENDED)
		put_int(s, fields, NEUTRAL_ENDED, row->end_ms);
	if (i->block != CLOUD_NO_BLOCK) {
		char block[SETTINGS_WORD_SIZE + FMT_U64_SIZE];

		(void)snprintf(block, sizeof(block), "%s/%u", row->zone, (unsigned)i->block);
		put_str(s, fields, NEUTRAL_FABRIC, block);
	}
}

void neutral_instance(struct str *s, const struct cloud *c, const struct cloud_instance *i,
		      unsigned fields, int64_t now)
{
	const struct meter_row *row = &c->meter->rows[i->row];

	js_open(s, NULL, '{');
	put_str(s, fields, NEUTRAL_CLUSTER, row->cluster);
	put_str(s, fields, NEUTRAL_NAME, row->node);
	put_int(s, fields, NEUTRAL_GENERATION, (int64_t)row->gen);
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
		neutral_put_error(s, (enum code) - result, NULL, 0);
	} else if (i != NULL) {
		put_body(s, c, i, NEUTRAL_ALL, now);
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
				  .image = f->image,
				  .market = f->market,
				  .wants = f->wants,
				  .nwants = f->n,
				  .body_hash = f->body_hash,
				  .body_len = f->body_len};
	int32_t *results = mem_zalloc(f->n * sizeof(*results));
	enum code code;
	struct str s;
	bool unknown;

	for (size_t i = 0; i < f->n; i++)
		f->wants[i].refuse =
			face_left_out(rule, f->wants[i].node, i, f->n) ? rule->code : CODE_OK;
	unknown = settings_glob(&c->conf->image_unknown, f->image, f->image);
	code = unknown ? CODE_INVALID : cloud_create(c, &rq, results, now);
	if (code != CODE_OK) {
		neutral_error(out, code,
			      unknown                  ? "no such image"
			      : code == CODE_INVALID   ? "no such type, region or zone"
			      : code == CODE_NOT_FOUND ? "no such fabric"
						       : NULL);
	} else {
		str_init(&s, NEUTRAL_BODY_MAX);
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
	return c->conf->tags ? asked : asked & ~(unsigned)NEUTRAL_TAGS;
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
		neutral_instance(&p->s, p->c, i, p->fields, p->now);
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

	str_init(&p.s, NEUTRAL_BODY_MAX);
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
		neutral_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	str_init(&s, NEUTRAL_BODY_MAX);
	neutral_instance(&s, c, i, shown_fields(c, NEUTRAL_ALL), now);
	face_body(out, &s);
}

static enum code refuse_one(struct str *s, const char *id, enum code code)
{
	js_open(s, NULL, '{');
	js_str(s, "id", id);
	neutral_put_error(s, code, NULL, 0);
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
		neutral_put_error(s, code, NULL, *retry_ms);
	else
		js_str(s, "state", cloud_state_word(i != NULL ? cloud_shown(i, now) : CLOUD_ENDED));
	js_close(s, '}');
	return code;
}

static void run_delete(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		       int64_t now, struct face_reply *out)
{
	struct str s;

	str_init(&s, NEUTRAL_BODY_MAX);
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

	str_init(&s, NEUTRAL_BODY_MAX);
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
		js_int(&s, "minimum_ms", c->conf->min_rental_ms);
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

static bool waits(const struct face_call *f, struct cloud *c, int64_t now)
{
	const struct notice *n;

	(void)now;
	if (f->op != OP_NOTICES || f->wait_ms == 0)
		return false;
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

	str_init(&s, NEUTRAL_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "notices", '[');
	for (; n != NULL && told < NEUTRAL_NOTICES_MAX; n = notices_after(&c->notices, n->seq)) {
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
		neutral_error(out, code,
			      code == CODE_INVALID ? "the instance is stopping or ended" : NULL);
		return;
	}
	str_init(&s, NEUTRAL_BODY_MAX);
	js_open(&s, NULL, '{');
	js_close(&s, '}');
	face_body(out, &s);
}

static void run_console(const struct face_call *f, struct cloud *c, int64_t now,
			struct face_reply *out)
{
	const struct cloud_instance *i = cloud_find(c, f->ids[0], now);
	struct str s;
	char *log;

	if (i == NULL) {
		neutral_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	log = cloud_console(c, i, now);
	str_init(&s, NEUTRAL_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "console", log);
	js_close(&s, '}');
	free(log);
	face_body(out, &s);
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
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
	case OP_CONSOLE:
		run_console(f, c, now, out);
		break;
	case OP_FABRIC:
		neutral_fabric_run(f, c, now, out);
		break;
	case OP_OFFERS:
	case OP_LOGIN:
	case OP_COUNT:
		run_offers(c, now, out);
		break;
	}
}

static bool is(const struct face_visit *v)
{
	(void)v;
	return true;
}

static enum code authorize(struct face_visit *v, struct err *e)
{
	if (v->keys->token == NULL || face_bearer(v->rq->authorization, v->keys->token))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "want the header Authorization: Bearer TOKEN");
	return CODE_DENIED;
}

const struct face face_neutral = {
	.name = "neutral",
	.type = "application/json",
	.is = is,
	.authorize = authorize,
	.parse = neutral_parse,
	.waits = waits,
	.run = run,
	.error = neutral_error,
	.id_header = "X-Request-Id",
	.id_prefix = "sim-",
};
