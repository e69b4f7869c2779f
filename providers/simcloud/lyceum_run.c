/* lyceum_run.c - runs a call of Lyceum's API on the cloud, and answers it. */
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "providers/simcloud/js.h"
#include "providers/simcloud/lyceum.h"

/* --- create ----------------------------------------------------------------------------------- */

static bool sells(const struct cloud *c, const char *profile, enum market market)
{
	for (unsigned k = 0; k < LYCEUM_COUNTS; k++)
		if (lyceum_pool(c, profile, lyceum_counts[k], market) != NULL)
			return true;
	return false;
}

static enum code make(const struct face_call *f, struct cloud *c, int64_t now, uint32_t *row)
{
	const struct lyceum_call *x = f->own;
	const struct cloud_pool *p = lyceum_pool(c, x->profile, x->count, f->market);
	struct cloud_create rq = {.token = "",
				  .cluster = f->cluster,
				  .market = f->market,
				  .wants = f->wants,
				  .nwants = 1,
				  .order = x->order};
	int32_t result = 0;
	enum code code;

	if (p == NULL)
		return sells(c, x->profile, f->market) ? CODE_CAPACITY : CODE_INVALID;
	rq.type = p->type;
	rq.region = p->region;
	rq.zone = p->zone;
	code = cloud_create(c, &rq, &result, now);
	if (code != CODE_OK)
		return code;
	*row = result < 0 ? 0 : (uint32_t)result;
	return result < 0 ? (enum code) - result : CODE_OK;
}

static void create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		   int64_t now, struct face_reply *out)
{
	enum code code = face_left_out(rule, f->wants[0].node, 0, 1) ? rule->code : CODE_OK;
	uint32_t row = 0;
	struct str s;

	if (code == CODE_OK)
		code = make(f, c, now, &row);
	out->items[code]++;
	if (code != CODE_OK) {
		lyceum_error(out, code, NULL);
		return;
	}
	str_init(&s, LYCEUM_BODY_MAX);
	lyceum_put_created(&s, c, cloud_of_row(c, row));
	face_body(out, &s);
}

/* --- list ------------------------------------------------------------------------------------- */

struct shown {
	unsigned hidden;
	int64_t now;
};

static bool is_shown(const void *ctx, const struct cloud_instance *i)
{
	const struct shown *w = ctx;

	return (w->hidden >> lyceum_state(i, w->now) & 1) == 0;
}

static void list(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		 int64_t now, struct face_reply *out)
{
	struct shown shown = {((const struct lyceum_call *)f->own)->hidden, now};
	struct found all = {.keep = is_shown, .ctx = &shown};
	int64_t total = 0;
	struct str s;

	found_list(&all, c, now);
	str_init(&s, LYCEUM_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "vms", '[');
	for (size_t k = 0; k < all.n; k++) {
		if (face_hides(rule, c->meter->rows[all.v[k]->row].node, k, all.n))
			continue;
		lyceum_put_listed(&s, c, all.v[k], now);
		total++;
	}
	js_close(&s, ']');
	js_int(&s, "total", total);
	js_close(&s, '}');
	face_body(out, &s);
	found_fini(&all);
}

/* --- one machine ------------------------------------------------------------------------------ */

static void status(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	struct lyceum_call *x = f->own;
	struct cloud_instance *i = cloud_find(c, f->ids[0], now);
	struct str s;

	if (i == NULL) {
		lyceum_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	if (x->action == LYCEUM_RENAME) {
		if (i->order == NULL)
			i->order = order_new();
		memcpy(i->order->name, x->name, sizeof(x->name));
	}
	str_init(&s, LYCEUM_BODY_MAX);
	lyceum_put_status(&s, c, i, now);
	face_body(out, &s);
}

/* A machine that had failed or ended by itself has been deleted as well: the answer says that it is
 * terminated, and so do lists from then on.  (Nobody has recorded such a list.) */
static void mark_deleted(struct cloud *c, const char *id, int64_t now)
{
	struct cloud_instance *i = cloud_find(c, id, now);

	if (i != NULL && i->state == CLOUD_ENDED)
		i->why = "deleted";
}

static void drop(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		 int64_t now, struct face_reply *out)
{
	int64_t retry_ms = 0;
	enum code code = face_left_out(rule, face_node(f, c, 0), 0, 1)
				 ? rule->code
				 : cloud_delete(c, f->ids[0], now, &retry_ms);
	char text[FACE_ID_SIZE + 32];
	struct str s;

	out->items[code]++;
	if (code != CODE_OK) {
		lyceum_error(out, code, NULL);
		return;
	}
	mark_deleted(c, f->ids[0], now);
	(void)snprintf(text, sizeof(text), "VM %s has been terminated", f->ids[0]);
	str_init(&s, LYCEUM_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "vm_id", f->ids[0]);
	js_str(&s, "status", "terminated");
	js_str(&s, "message", text);
	js_close(&s, '}');
	face_body(out, &s);
}

/* --- the account ------------------------------------------------------------------------------ */

static void session(const struct lyceum_call *x, struct face_reply *out)
{
	struct str s;

	str_init(&s, LYCEUM_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "access_token", x->access);
	js_str(&s, "refresh_token", x->refresh);
	js_str(&s, "token_type", "bearer");
	js_int(&s, "expires_in", LYCEUM_TOKEN_MS / 1000);
	js_close(&s, '}');
	face_body(out, &s);
}

static void account(const struct lyceum_call *x, struct face_reply *out)
{
	struct str s;

	str_init(&s, LYCEUM_BODY_MAX);
	str_adds(&s, x->answer);
	face_body(out, &s);
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	const struct lyceum_call *x = f->own;

	switch (x->action) {
	case LYCEUM_CREATE:
		create(f, c, rule, now, out);
		break;
	case LYCEUM_LIST:
		list(f, c, rule, now, out);
		break;
	case LYCEUM_STATUS:
	case LYCEUM_RENAME:
		status(f, c, now, out);
		break;
	case LYCEUM_DELETE:
		drop(f, c, rule, now, out);
		break;
	case LYCEUM_AVAILABILITY:
		lyceum_availability(c, now, out);
		break;
	case LYCEUM_PRICING:
		lyceum_pricing(c, now, out);
		break;
	case LYCEUM_ACCOUNT:
		account(x, out);
		break;
	case LYCEUM_SESSION:
		session(x, out);
		break;
	}
}

const struct face face_lyceum = {
	.name = "Lyceum",
	.type = "application/json",
	.is = lyceum_is,
	.authorize = lyceum_authorize,
	.parse = lyceum_parse,
	.run = run,
	.error = lyceum_error,
	.free_own = lyceum_call_free,
};
