/* spheron_run.c - runs a call of Spheron's API on the cloud, and answers it. */
#include <string.h>

#include "providers/simcloud/js.h"
#include "providers/simcloud/spheron.h"

/* --- create ----------------------------------------------------------------------------------- */

static bool has_os(const char *os)
{
	for (const char *const *own = spheron_os; *own != NULL; own++)
		if (strcmp(os, *own) == 0)
			return true;
	return false;
}

/* The first thing that the create says wrong of its offer; NULL: none.  Texts are invented. */
static const char *mistake(const struct spheron_wish *w, const struct spheron_offer *o)
{
	if (strcmp(w->provider, o->provider->name) != 0)
		return "provider does not match the offer";
	if (strcmp(w->gpu, o->gpu_name) != 0)
		return "gpuType does not match the offer";
	if (w->count != (int64_t)o->gpu.count)
		return "gpuCount does not match the offer";
	if (strcmp(w->region, o->pool->region) != 0)
		return "region does not match the offer";
	if (strcmp(w->kind, o->kind) != 0)
		return "instanceType does not match the offer";
	return has_os(w->os) ? NULL : "operatingSystem does not match the offer";
}

static enum code make(const struct face_call *f, struct cloud *c, const struct spheron_offer *o,
		      int64_t now, uint32_t *row)
{
	const struct spheron_call *x = f->own;
	struct cloud_want want = f->wants[0];
	struct cloud_create rq = {.token = "",
				  .cluster = f->cluster,
				  .type = o->pool->type,
				  .region = o->pool->region,
				  .zone = o->pool->zone,
				  .market = o->pool->market,
				  .wants = &want,
				  .nwants = 1,
				  .order = x->order};
	int32_t result = 0;
	enum code code;

	if (!o->provider->cloud_init)
		want.user_data = NULL;
	code = cloud_create(c, &rq, &result, now);
	if (code != CODE_OK)
		return code;
	*row = result < 0 ? 0 : (uint32_t)result;
	return result < 0 ? (enum code) - result : CODE_OK;
}

static void refuse(struct face_reply *out, enum code code, const char *why)
{
	out->items[code]++;
	spheron_error(out, code, why);
}

static void create(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		   int64_t now, struct face_reply *out)
{
	const struct spheron_call *x = f->own;
	struct spheron_offer o;
	const char *wrong = spheron_offer_find(&o, c, x->wish.offer) ? mistake(&x->wish, &o)
								     : "Offer not found";
	enum code code = face_left_out(rule, f->wants[0].node, 0, 1) ? rule->code : CODE_OK;
	uint32_t row = 0;
	struct str s;

	if (wrong == NULL && x->order->key[0] != '\0' &&
	    sshkeys_find(&c->sshkeys, x->order->key) == NULL)
		wrong = "SSH key not found";
	if (wrong != NULL) {
		refuse(out, CODE_INVALID, wrong);
		return;
	}
	if (code == CODE_OK)
		code = make(f, c, &o, now, &row);
	if (code != CODE_OK) {
		refuse(out, code, NULL);
		return;
	}
	out->items[CODE_OK]++;
	str_init(&s, SPHERON_BODY_MAX);
	spheron_put(&s, NULL, c, cloud_of_row(c, row), now);
	face_body(out, &s);
}

/* --- list ------------------------------------------------------------------------------------- */

struct asked {
	const char *status;
	int64_t now;
};

static bool is_active(const char *status)
{
	return strcmp(status, "deploying") == 0 || strcmp(status, "running") == 0 ||
	       strcmp(status, "stopped") == 0;
}

static bool is_asked(const void *ctx, const struct cloud_instance *i)
{
	const struct asked *a = ctx;
	const char *status = spheron_status(i, a->now);

	if (a->status[0] == '\0')
		return true;
	if (strcmp(a->status, "active") == 0)
		return is_active(status);
	if (strcmp(a->status, "inactive") == 0)
		return !is_active(status);
	return strcmp(a->status, status) == 0;
}

static void put_all(struct str *s, const struct cloud *c, const struct found *all, size_t from,
		    const struct fault_rule *rule, size_t n, int64_t now)
{
	for (size_t k = 0; k < n; k++) {
		const struct cloud_instance *i = all->v[from + k];

		if (!face_hides(rule, c->meter->rows[i->row].node, k, n))
			spheron_put(s, NULL, c, i, now);
	}
}

/* Clients met two forms: a list alone, and here whoever asks for a page gets one in an object. */
static void list(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		 int64_t now, struct face_reply *out)
{
	const struct spheron_call *x = f->own;
	struct asked asked = {x->status, now};
	struct found all = {.keep = is_asked, .ctx = &asked};
	size_t from = 0, limit = (size_t)x->limit, n;
	struct str s;

	found_list(&all, c, now);
	if (x->page > 0)
		from = (size_t)(x->page - 1) * limit;
	n = all.n > from ? all.n - from : 0;
	if (x->page > 0 && n > limit)
		n = limit;
	str_init(&s, SPHERON_BODY_MAX);
	if (x->page > 0)
		js_open(&s, NULL, '{');
	js_open(&s, x->page > 0 ? "deployments" : NULL, '[');
	put_all(&s, c, &all, from, rule, n, now);
	js_close(&s, ']');
	if (x->page > 0) {
		js_int(&s, "total", (int64_t)all.n);
		js_int(&s, "page", x->page);
		js_int(&s, "limit", x->limit);
		js_int(&s, "totalPages", (int64_t)((all.n + limit - 1) / limit));
		js_close(&s, '}');
	}
	face_body(out, &s);
	found_fini(&all);
}

/* --- one deployment --------------------------------------------------------------------------- */

/* How long it must still run; 0: it may end. */
static int64_t remaining(const struct cloud *c, const struct cloud_instance *i, int64_t now)
{
	int64_t until = c->meter->rows[i->row].start_ms + c->conf->min_rental_ms;

	return until > now ? until - now : 0;
}

static void may_end(const struct cloud *c, const struct cloud_instance *i, int64_t now,
		    struct face_reply *out)
{
	bool gone = spheron_is_gone(i, now);
	int64_t left = gone ? 0 : remaining(c, i, now);
	struct str s;

	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_bool(&s, "canTerminate", !gone && left == 0);
	js_int(&s, "minimumRuntime", spheron_minutes(c->conf->min_rental_ms));
	js_int(&s, "timeRemaining", spheron_minutes(left));
	if (gone)
		js_str(&s, "reason", "Instance has already been terminated.");
	else if (left > 0)
		js_str(&s, "reason", "Minimum runtime not met");
	else
		js_null(&s, "reason");
	js_close(&s, '}');
	face_body(out, &s);
}

static void about_one(const struct face_call *f, struct cloud *c, int64_t now,
		      struct face_reply *out)
{
	const struct spheron_call *x = f->own;
	struct cloud_instance *i = cloud_find(c, f->ids[0], now);
	struct str s;

	if (i == NULL) {
		spheron_error(out, CODE_NOT_FOUND, NULL);
		return;
	}
	if (x->action == SPHERON_CAN_TERMINATE) {
		may_end(c, i, now, out);
		return;
	}
	if (x->action == SPHERON_RENAME) {
		if (i->order == NULL)
			i->order = order_new();
		memcpy(i->order->name, x->name, sizeof(x->name));
	}
	str_init(&s, SPHERON_BODY_MAX);
	spheron_put(&s, NULL, c, i, now);
	face_body(out, &s);
}

static enum code end(struct cloud *c, const char *id, int64_t now, struct face_reply *out)
{
	const struct cloud_instance *i = cloud_find(c, id, now);
	int64_t retry_ms = 0;
	enum code code;

	if (i != NULL && spheron_is_gone(i, now)) {
		spheron_already(out, spheron_status(i, INT64_MAX)); /* its real one */
		return CODE_INVALID;
	}
	code = cloud_delete(c, id, now, &retry_ms);
	if (code == CODE_NOT_YET)
		spheron_too_early(out, retry_ms, c->conf->min_rental_ms);
	else if (code != CODE_OK)
		spheron_error(out, code, NULL);
	return code;
}

static void drop(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		 int64_t now, struct face_reply *out)
{
	enum code code;
	struct str s;

	if (face_left_out(rule, face_node(f, c, 0), 0, 1)) {
		refuse(out, rule->code, NULL);
		return;
	}
	code = end(c, f->ids[0], now, out);
	out->items[code]++;
	if (code != CODE_OK)
		return;
	str_init(&s, SPHERON_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "message", "Instance terminated successfully");
	spheron_put(&s, "deployment", c, cloud_find(c, f->ids[0], now), now);
	js_close(&s, '}');
	face_body(out, &s);
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	switch (((const struct spheron_call *)f->own)->action) {
	case SPHERON_CREATE:
		create(f, c, rule, now, out);
		break;
	case SPHERON_LIST:
		list(f, c, rule, now, out);
		break;
	case SPHERON_GET:
	case SPHERON_RENAME:
	case SPHERON_CAN_TERMINATE:
		about_one(f, c, now, out);
		break;
	case SPHERON_DELETE:
		drop(f, c, rule, now, out);
		break;
	case SPHERON_OFFERS:
		spheron_offers(f, c, now, out);
		break;
	default:
		spheron_account(f, c, now, out);
		break;
	}
}

const struct face face_spheron = {
	.name = "Spheron",
	.type = "application/json",
	.is = spheron_is,
	.authorize = spheron_authorize,
	.parse = spheron_parse,
	.run = run,
	.error = spheron_error,
	.free_own = spheron_call_free,
};
