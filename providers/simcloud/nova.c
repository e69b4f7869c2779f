#include "providers/simcloud/nova.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "providers/simcloud/js.h"

static void not_found(const struct nova_call *x, struct face_reply *out)
{
	char text[NOVA_TEXT_SIZE];

	(void)snprintf(text, sizeof(text), "Instance %.200s could not be found.", x->id);
	nova_fault(out, x, 404, text);
	out->items[CODE_NOT_FOUND]++;
}

static void run_get(const struct face_call *f, struct cloud *c, int64_t now, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	struct nova_item it;
	struct str s;

	if (!nova_find(c, x->id, f->region, now, &it)) {
		not_found(x, out);
		return;
	}
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "server", '{');
	nova_put_server(&s, f, c, &it, now);
	js_close(&s, '}');
	js_close(&s, '}');
	nova_answer(out, x, 200, &s);
}

/* An instance has to rest for min_rental: invented, since no cloud with Nova is known to do it. */
static void run_delete(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		       int64_t now, struct face_reply *out)
{
	const struct nova_call *x = f->own;
	struct nova_item it;
	int64_t retry_ms = 0;
	enum code code = CODE_OK;

	if (!nova_find(c, x->id, f->region, now, &it)) {
		not_found(x, out);
		return;
	}
	if (face_left_out(rule, face_node(f, c, 0), 0, 1)) {
		nova_error(out, rule->code, NULL);
		out->items[rule->code]++;
		return;
	}
	if (it.i != NULL)
		code = cloud_delete(c, f->ids[0], now, &retry_ms);
	out->items[code]++;
	if (code != CODE_OK) {
		nova_fault(out, x, 409, "Cannot 'delete' instance: it is to live longer");
		out->retry_ms = retry_ms;
		return;
	}
	if (it.k != NULL)
		it.k->dropped = true;
	nova_answer(out, x, 204, NULL);
}

/* nova/api/openstack/compute/console_output.py */
static void run_console(const struct face_call *f, struct cloud *c, int64_t now,
			struct face_reply *out)
{
	const struct nova_call *x = f->own;
	char text[NOVA_TEXT_SIZE], *log;
	struct nova_item it;
	struct str s;

	if (!nova_find(c, x->id, f->region, now, &it)) {
		not_found(x, out);
		return;
	}
	if (it.i == NULL || cloud_shown(it.i, now) == CLOUD_PENDING) {
		(void)snprintf(text, sizeof(text), "Instance %.200s is not ready", x->id);
		nova_fault(out, x, 409, text);
		return;
	}
	log = cloud_console(c, it.i, now);
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_str(&s, "output", cloud_console_lines(log, x->lines));
	js_close(&s, '}');
	free(log);
	nova_answer(out, x, 200, &s);
}

/* nova/api/openstack/compute/admin_actions.py.  [invented] A server that another face made, or that
 * has no machine, stays as it is. */
static void run_reset(const struct face_call *f, struct cloud *c, int64_t now,
		      struct face_reply *out)
{
	const struct nova_call *x = f->own;
	struct nova_item it;

	if (!nova_find(c, x->id, f->region, now, &it)) {
		not_found(x, out);
		return;
	}
	if (it.k != NULL)
		it.k->in_error = x->to_error;
	nova_answer(out, x, 202, NULL);
}

static void run_versions(const struct nova_call *x, struct face_reply *out)
{
	struct str s;

	str_init(&s, OS_BODY_MAX);
	nova_put_versions(&s, x);
	nova_answer(out, x, 200, &s);
}

/* Cores and memory are as unlimited as Nova has it: -1. */
static void run_limits(const struct nova_call *x, struct cloud *c, struct face_reply *out)
{
	size_t failed = nova_failed(nova_book(c)), groups;
	struct str s;

	(void)nova_groups(nova_book(c), &groups);
	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "limits", '{');
	js_open(&s, "rate", '[');
	js_close(&s, ']');
	js_open(&s, "absolute", '{');
	js_int(&s, "maxTotalCores", -1);
	js_int(&s, "maxTotalInstances", c->conf->quota);
	js_int(&s, "maxTotalKeypairs", 100);
	js_int(&s, "maxServerMeta", 128);
	js_int(&s, "maxTotalRAMSize", -1);
	js_int(&s, "maxServerGroups", c->conf->fabric_max);
	js_int(&s, "maxServerGroupMembers", -1);
	js_int(&s, "totalRAMUsed", 0);
	js_int(&s, "totalCoresUsed", 0);
	js_int(&s, "totalInstancesUsed", c->live + (int64_t)failed);
	js_int(&s, "totalServerGroupsUsed", (int64_t)groups);
	js_close(&s, '}');
	js_close(&s, '}');
	js_close(&s, '}');
	nova_answer(out, x, 200, &s);
}

static bool is_first_of_zone(const struct cloud *c, size_t at, const char *region)
{
	for (size_t i = 0; i < at; i++)
		if (c->pools[i]->offered && strcmp(c->pools[i]->region, region) == 0 &&
		    strcmp(c->pools[i]->zone, c->pools[at]->zone) == 0)
			return false;
	return c->pools[at]->offered && strcmp(c->pools[at]->region, region) == 0;
}

static void run_zones(const struct face_call *f, const struct cloud *c, struct face_reply *out)
{
	struct str s;

	str_init(&s, OS_BODY_MAX);
	js_open(&s, NULL, '{');
	js_open(&s, "availabilityZoneInfo", '[');
	for (size_t i = 0; i < c->npools; i++) {
		if (!is_first_of_zone(c, i, f->region))
			continue;
		js_open(&s, NULL, '{');
		js_str(&s, "zoneName", c->pools[i]->zone);
		js_open(&s, "zoneState", '{');
		js_bool(&s, "available", true);
		js_close(&s, '}');
		js_null(&s, "hosts");
		js_close(&s, '}');
	}
	js_close(&s, ']');
	js_close(&s, '}');
	nova_answer(out, f->own, 200, &s);
}

static void run(const struct face_call *f, struct cloud *c, const struct fault_rule *rule,
		int64_t now, struct face_reply *out)
{
	const struct nova_call *x = f->own;

	if (x->refused != 0) {
		nova_fault(out, x, x->refused, x->why);
		return;
	}
	switch (x->what) {
	case NOVA_VERSIONS:
	case NOVA_VERSION:
		run_versions(x, out);
		break;
	case NOVA_CREATE:
		nova_run_create(f, c, rule, now, out);
		break;
	case NOVA_LIST:
		nova_run_list(f, c, rule, now, out);
		break;
	case NOVA_GET:
		run_get(f, c, now, out);
		break;
	case NOVA_DELETE:
		run_delete(f, c, rule, now, out);
		break;
	case NOVA_CONSOLE:
		run_console(f, c, now, out);
		break;
	case NOVA_RESET:
		run_reset(f, c, now, out);
		break;
	case NOVA_FLAVORS:
	case NOVA_FLAVOR:
		nova_run_flavors(f, c, out);
		break;
	case NOVA_MAKE_GROUP:
	case NOVA_GROUPS:
	case NOVA_GROUP:
	case NOVA_DROP_GROUP:
		nova_run_group(f, c, now, out);
		break;
	case NOVA_LIMITS:
		run_limits(x, c, out);
		break;
	case NOVA_ZONES:
		run_zones(f, c, out);
		break;
	}
}

static enum code authorize(struct face_visit *v, struct err *e)
{
	struct os_token t;

	if (nova_is_open(v) || os_token_read(&t, http_header(v->rq, "X-Auth-Token"), v))
		return CODE_OK;
	(void)err_set(e, ERR_AUTH, "token");
	return CODE_DENIED;
}

const struct face face_nova = {
	.name = "Nova",
	.type = "application/json",
	.is = nova_is,
	.authorize = authorize,
	.parse = nova_parse,
	.run = run,
	.error = nova_error,
	.id_prefix = "req-5c000000-0000-4000-8000-",
	.free_own = nova_call_free,
};
