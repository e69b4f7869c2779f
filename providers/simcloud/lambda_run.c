/* lambda_run.c - runs a call of Lambda's API on the cloud, and answers it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lambda.h"

static void begin(struct str *s, char bracket)
{
	str_init(s, LAMBDA_BODY_MAX);
	js_open(s, NULL, '{');
	js_open(s, "data", bracket);
}

static void finish(struct str *s, char bracket, struct face_reply *out)
{
	js_close(s, bracket);
	js_close(s, '}');
	face_body(out, s);
}

/* --- launch ----------------------------------------------------------------------------------- */

static enum code make(const struct face_call *f, struct cloud *c, int64_t now, uint32_t *row)
{
	const struct lambda_call *x = f->own;
	struct cloud_create rq = {.token = "",
				  .cluster = f->cluster,
				  .type = f->type,
				  .region = f->region,
				  .zone = "",
				  .market = MARKET_ON_DEMAND,
				  .wants = f->wants,
				  .nwants = 1,
				  .order = x->order};
	int32_t result = 0;
	enum code code = cloud_create(c, &rq, &result, now);

	if (code != CODE_OK)
		return code;
	*row = result < 0 ? 0 : (uint32_t)result;
	return result < 0 ? (enum code) - result : CODE_OK;
}

static void launch(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		   int64_t now, struct face_reply *out)
{
	enum code code = face_left_out(rule, f->wants[0].node, 0, 1) ? rule->code : CODE_OK;
	char id[METER_ID_SIZE];
	uint32_t row = 0;
	struct str s;

	if (code == CODE_OK)
		code = make(f, c, now, &row);
	out->items[code]++;
	if (code == CODE_INVALID) {
		lambda_error(out, CODE_NOT_FOUND,
			     "global/object-does-not-exist: There is no such instance type in the "
			     "region.");
		return;
	}
	if (code != CODE_OK) {
		lambda_error(out, code, NULL);
		return;
	}
	begin(&s, '{');
	js_open(&s, "instance_ids", '[');
	js_str(&s, NULL, meter_id(id, row));
	js_close(&s, ']');
	finish(&s, '}', out);
}

/* --- lists ------------------------------------------------------------------------------------ */

struct found { /* the instances of a list, in order */
	const struct cloud_instance **v;
	size_t n, cap;
};

static void keep(void *ctx, const struct cloud_instance *i)
{
	struct found *l = ctx;

	if (l->n == l->cap) {
		l->cap = l->cap == 0 ? 64 : 2 * l->cap;
		l->v = mem_realloc(l->v, l->cap * sizeof(struct cloud_instance *));
	}
	l->v[l->n++] = i;
}

static void list(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		 int64_t now, struct face_reply *out)
{
	struct cloud_query q = {.cluster = "", .after = -1, .limit = INT64_MAX, .now = now};
	struct found l = {0};
	struct str s;

	if (f->cluster[0] == '\0') /* no instance is of one of Lambda's clusters */
		(void)cloud_list(c, &q, keep, &l);
	begin(&s, '[');
	for (size_t i = 0; i < l.n; i++)
		if (!face_hides(rule, c->meter->rows[l.v[i]->row].node, i, l.n))
			lambda_put_instance(&s, NULL, c, l.v[i], now);
	finish(&s, ']', out);
	free(l.v);
}

static void get(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct cloud_instance *i = cloud_find(c, f->ids[0], now);
	struct str s;

	if (i == NULL) {
		lambda_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	str_init(&s, LAMBDA_BODY_MAX);
	js_open(&s, NULL, '{');
	lambda_put_instance(&s, "data", c, i, now);
	js_close(&s, '}');
	face_body(out, &s);
}

/* The switches above an instance, the nearest first. */
static void put_path(struct str *s, const struct cloud *c, const struct cloud_instance *i)
{
	const struct meter_row *row = &c->meter->rows[i->row];
	char block[SETTINGS_WORD_SIZE + 16];
	const char *const path[] = {block, row->zone, row->region};

	(void)snprintf(block, sizeof(block), "%s/%u", row->zone, (unsigned)i->block);
	js_open(s, NULL, '{');
	js_str(s, "id", meter_id((char[METER_ID_SIZE]){0}, i->row));
	js_open(s, "networkPath", '[');
	for (size_t k = i->block == CLOUD_NO_BLOCK; k < 3; k++) {
		js_open(s, NULL, '{');
		js_str(s, "id", path[k]);
		js_close(s, '}');
	}
	js_close(s, ']');
	js_close(s, '}');
}

static void topology(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		     int64_t now, struct face_reply *out)
{
	struct cloud_query q = {.cluster = "",
				.region = f->region[0] != '\0' ? f->region : NULL,
				.after = f->after,
				.limit = f->limit,
				.now = now};
	char token[FACE_CURSOR_SIZE];
	struct found l = {0};
	int64_t next = cloud_list(c, &q, keep, &l);
	struct str s;

	begin(&s, '[');
	for (size_t i = 0; i < l.n; i++)
		if (!face_hides(rule, c->meter->rows[l.v[i]->row].node, i, l.n))
			put_path(&s, c, l.v[i]);
	js_close(&s, ']');
	if (face_cursor(token, rule, next)[0] != '\0')
		js_str(&s, "page_token", token);
	js_close(&s, '}');
	face_body(out, &s);
	free(l.v);
}

/* --- terminate -------------------------------------------------------------------------------- */

static bool all_known(const struct face_call *f, const struct cloud *c, int64_t now)
{
	for (size_t i = 0; i < f->n; i++)
		if (cloud_find(c, f->ids[i], now) == NULL)
			return false;
	return true;
}

/* The answer has the instances that are terminated; one unknown id fails all. */
static void terminate(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		      int64_t now, struct face_reply *out)
{
	struct str s;

	if (!all_known(f, c, now)) {
		out->items[CODE_NOT_FOUND] += f->n;
		lambda_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	begin(&s, '{');
	js_open(&s, "terminated_instances", '[');
	for (size_t i = 0; i < f->n; i++) {
		int64_t retry_ms;
		enum code code = face_left_out(rule, face_node(f, c, i), i, f->n)
					 ? rule->code
					 : cloud_delete(c, f->ids[i], now, &retry_ms);

		out->items[code]++;
		if (code == CODE_OK)
			lambda_put_instance(&s, NULL, c, cloud_find(c, f->ids[i], now), now);
	}
	js_close(&s, ']');
	finish(&s, '}', out);
}

/* --- instance types --------------------------------------------------------------------------- */

static bool is_sold(const struct cloud_pool *p, const char *type)
{
	return p->offered && p->market == MARKET_ON_DEMAND && strcmp(p->type, type) == 0;
}

/* Is there a pool before `at` of the same type that counts? */
static bool is_first(const struct cloud *c, size_t at, bool with_room)
{
	const struct cloud_pool *p = c->pools[at];

	for (size_t k = 0; k < at; k++) {
		const struct cloud_pool *o = c->pools[k];

		if (is_sold(o, p->type) &&
		    (!with_room || (strcmp(o->region, p->region) == 0 &&
				    (o->capacity < 0 || o->used < o->capacity))))
			return false;
	}
	return true;
}

static void put_regions(struct str *s, const struct cloud *c, const char *type)
{
	js_open(s, "regions_with_capacity_available", '[');
	for (size_t k = 0; k < c->npools; k++) {
		const struct cloud_pool *p = c->pools[k];

		if (is_sold(p, type) && (p->capacity < 0 || p->used < p->capacity) &&
		    is_first(c, k, true))
			lambda_put_region(s, NULL, p->region);
	}
	js_close(s, ']');
}

static void instance_types(const struct cloud *c, int64_t now, struct face_reply *out)
{
	struct str s;

	begin(&s, '{');
	for (size_t k = 0; k < c->npools; k++) {
		const struct cloud_pool *p = c->pools[k];

		if (!is_sold(p, p->type) || !is_first(c, k, false))
			continue;
		js_open(&s, p->type, '{');
		lambda_put_type(&s, p->type, cloud_price(c, p, now));
		put_regions(&s, c, p->type);
		js_close(&s, '}');
	}
	finish(&s, '}', out);
}

/* ---------------------------------------------------------------------------------------------- */

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	switch (f->op) {
	case OP_CREATE:
		launch(f, c, rule, now, out);
		break;
	case OP_LIST:
		list(f, c, rule, now, out);
		break;
	case OP_GET:
		get(f, c, now, out);
		break;
	case OP_DELETE:
		terminate(f, c, rule, now, out);
		break;
	case OP_FABRIC:
		topology(f, c, rule, now, out);
		break;
	case OP_OFFERS:
	case OP_NOTICES:
	case OP_REPORT:
	case OP_CONSOLE:
	case OP_LOGIN:
	case OP_COUNT:
		instance_types(c, now, out);
		break;
	}
}

const struct face face_lambda = {
	.name = "Lambda",
	.type = "application/json",
	.is = lambda_is,
	.authorize = lambda_authorize,
	.parse = lambda_parse,
	.run = run,
	.error = lambda_error,
	.free_own = lambda_call_free,
};
