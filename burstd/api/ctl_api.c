#include "api/ctl_api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "api/explain.h"
#include "api/held.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "jobs/jobs_api.h"
#include "parts/parts.h"

enum {
	ERROR_MAX = 2048, /* bytes of a failure's answer, escapes included */
	ROLES_MAX = 128,
};

static void log_order(struct ctl_reply *r, const char *what, const char *outcome)
{
	char uid[FMT_U64_SIZE], pid[FMT_U64_SIZE], roles[CTL_ROLES_SIZE];

	log_write(r->api->log, LOG_INFO, what, "uid", fmt_u64(uid, r->who->uid), "role",
		  ctl_roles_str(roles, r->who->roles), "pid", fmt_i64(pid, r->who->pid), "outcome",
		  outcome, NULL);
}

static int op_reconcile(struct ctl_reply *r)
{
	engine_reconcile(r->api->engine);
	log_order(r, "reconcile asked for", "started");
	return 0;
}

struct reload_reply {
	struct ctl_reply *r;
	bool restart;   /* the first list is closed */
	bool overrides; /* ... and the second */
};

/* Leave out what does not fit: the reload is done, and must not be called a failure. */
static void put_change(void *ctx, const struct conf_change *change)
{
	struct reload_reply *rr = ctx;
	struct jsonw *w = &rr->r->w;
	struct ctl_row row = ctl_reply_row(rr->r);
	struct str text;

	str_init(&text, CTL_REPLY_MAX);
	conf_change_print(change, &text);
	jsonw_open(w, NULL, '{');
	jsonw_text(w, "section", change->section);
	jsonw_text(w, "name", change->title);
	jsonw_text(w, "option", change->option != NULL ? change->option : "");
	if (change->from != NULL)
		jsonw_text(w, "from", change->from);
	if (change->to != NULL)
		jsonw_text(w, "to", change->to);
	jsonw_text(w, "text", text.p);
	jsonw_close(w, '}');
	(void)ctl_reply_fits(rr->r, row);
	str_fini(&text);
}

static void begin_restart(struct reload_reply *rr)
{
	if (rr->restart)
		return;
	rr->restart = true;
	jsonw_close(&rr->r->w, ']');
	jsonw_open(&rr->r->w, "at_restart", '[');
}

static void put_at_restart(void *ctx, const char *sentence)
{
	struct reload_reply *rr = ctx;
	struct ctl_row row;

	begin_restart(rr);
	row = ctl_reply_row(rr->r);
	jsonw_text(&rr->r->w, NULL, sentence);
	(void)ctl_reply_fits(rr->r, row);
}

/* An older burstctl knows of no such list. */
static void put_override(void *ctx, const char *sentence)
{
	struct reload_reply *rr = ctx;
	struct jsonw *w = &rr->r->w;
	struct ctl_row row;

	if (!rr->overrides) {
		jsonw_close(w, ']');
		jsonw_open(w, "overrides", '[');
	}
	rr->overrides = true;
	row = ctl_reply_row(rr->r);
	jsonw_text(w, NULL, sentence);
	(void)ctl_reply_fits(rr->r, row);
}

static int op_reload(struct ctl_reply *r)
{
	struct reload_reply rr = {.r = r};
	const struct api_reload to = {put_change, put_at_restart, &rr};
	int rc;

	jsonw_open(&r->w, "changes", '[');
	rc = r->api->reload(r->api->ctx, &to, &r->err);
	begin_restart(&rr);
	if (rc == 0)
		explain_overrides(r->api->engine, put_override, &rr);
	jsonw_close(&r->w, ']');
	log_order(r, "reload asked for", rc == 0 ? "done" : r->err.msg);
	return rc;
}

static int op_config(struct ctl_reply *r)
{
	struct str text;

	str_init(&text, CTL_REPLY_MAX);
	conf_print(engine_conf(r->api->engine), &text);
	jsonw_text(&r->w, "path", engine_conf(r->api->engine)->path);
	jsonw_text(&r->w, "text", text.p);
	r->text.full |= text.full;
	str_fini(&text);
	return 0;
}

/* burst-prolog waits until the nodes of its job are up. */
static int op_gate(struct ctl_reply *r)
{
	const char *nodes;
	int64_t job;

	if (ctl_reply_int(r, "job", INT64_MAX, 0, &job) != 0 ||
	    ctl_reply_text(r, "nodes", NULL, &nodes) != 0)
		return -1;
	if (job == 0)
		return ctl_reply_refuse(r, "invalid", "\"job\": want the number of a job");
	return held_gate(r, (uint64_t)job, nodes);
}

/* Who may ask what.  Where an answer has more for some than for others: enum ctl_sight. */
static const struct {
	const char *op;
	unsigned roles; /* who may, besides admins and our own; CTL_VIEWER: everybody */
	int (*handler)(struct ctl_reply *r);
} ops[] = {
	{"status", CTL_VIEWER, ctl_show_status},
	{"nodes", CTL_VIEWER, ctl_show_nodes},
	{"node", CTL_VIEWER, ctl_show_node},
	{"events", CTL_VIEWER, ctl_show_events},
	{"pools", CTL_VIEWER, ctl_show_pools},
	{"plan", CTL_VIEWER, ctl_show_plan},
	{"budgets", CTL_VIEWER, ctl_show_budgets},
	{"budget-overrides", CTL_FINANCE, ctl_override_list},
	{"budget-override", CTL_FINANCE, ctl_override_add},
	{"budget-set", CTL_FINANCE, ctl_override_set},
	{"budget-revoke", CTL_FINANCE, ctl_override_revoke},
	{"alerts", CTL_FINANCE, ctl_show_alerts},
	{"alert-test", CTL_ADMIN, ctl_alert_test},
	{"audit", CTL_OPERATOR | CTL_FINANCE, ctl_audit_show},
	{"audit-verify", CTL_OPERATOR | CTL_FINANCE, ctl_audit_verify},
	{"config", CTL_ADMIN, op_config},
	{"reconcile", CTL_OPERATOR, op_reconcile},
	{"reload", CTL_ADMIN, op_reload},
	{"drain", CTL_OPERATOR, ctl_order_drain},
	{"terminate", CTL_OPERATOR, ctl_order_terminate},
	{"notice", CTL_OPERATOR, ctl_order_notice},
	{"pause", CTL_OPERATOR, ctl_order_pause},
	{"resume", CTL_OPERATOR, ctl_order_resume},
	{"retry", CTL_OPERATOR, ctl_order_retry},
	{"images", CTL_VIEWER, ctl_images_show},
	{"image-stop", CTL_OPERATOR, ctl_images_stop},
	{"image-resume", CTL_OPERATOR, ctl_images_resume},
	{"secrets", CTL_VIEWER, ctl_secrets_show},
	{"secrets-enroll", CTL_ADMIN, ctl_secrets_enroll},
	{"secrets-rotation", CTL_VIEWER, ctl_rotate_show},
	{"secrets-rotate", CTL_ADMIN, ctl_rotate_order},
	{"gate", CTL_OWN, op_gate},
};

/* Name the role that is wanted, and the one that is there. */
static int refuse_role(struct ctl_reply *r, const char *op, unsigned roles)
{
	char mine[CTL_ROLES_SIZE];
	struct str who;
	int rc;

	str_init(&who, ROLES_MAX);
	ctl_roles_name(&who, roles);
	rc = ctl_reply_refuse(r, "denied", "%s is for %s; you are uid %" PRIu32 ", %s", op, who.p,
			      r->who->uid, ctl_roles_str(mine, r->who->roles));
	str_fini(&who);
	return rc;
}

static int handle(struct ctl_reply *r)
{
	int64_t version;
	const char *op;

	if (!json_is_object(r->args))
		return ctl_reply_refuse(r, "invalid", "a request is a JSON object");
	if (ctl_reply_int(r, "v", INT32_MAX, 0, &version) != 0)
		return -1;
	if (version != CTL_API_VERSION)
		return ctl_reply_refuse(r, "invalid", "\"v\": burstd %s speaks version %d only",
					BURSTD_VERSION, CTL_API_VERSION);
	if (ctl_reply_text(r, "op", NULL, &op) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(op, ops[i].op) != 0)
			continue;
		if (ops[i].roles != CTL_VIEWER && !ctl_is(r->who, ops[i].roles))
			return refuse_role(r, op, ops[i].roles);
		return ops[i].handler(r);
	}
	return ctl_reply_refuse(r, "invalid", "\"op\": burstd %s knows no \"%.40s\"",
				BURSTD_VERSION, op);
}

static char *failure(const char *code, const char *sentence)
{
	struct str s;
	struct jsonw w = {.out = &s, .first = true};

	str_init(&s, ERROR_MAX);
	jsonw_open(&w, NULL, '{');
	jsonw_bool(&w, "ok", false);
	jsonw_text(&w, "code", code);
	jsonw_text(&w, "error", sentence);
	jsonw_close(&w, '}');
	return str_take(&s);
}

static char *answer(struct ctl_reply *r)
{
	int rc;

	str_init(&r->text, CTL_REPLY_MAX);
	r->w = (struct jsonw){.out = &r->text, .first = true};
	jsonw_open(&r->w, NULL, '{');
	jsonw_bool(&r->w, "ok", true);
	rc = handle(r);
	jsonw_close(&r->w, '}');
	if (rc == 0 && r->text.full)
		rc = ctl_reply_refuse(r, "failed", "the answer is longer than %d bytes",
				      CTL_REPLY_MAX);
	if (rc == 0)
		return str_take(&r->text);
	str_fini(&r->text);
	return failure(r->code, r->err.msg);
}

static char *answer_json(struct ctl_reply *r, const char *json, size_t len)
{
	json_error_t je;
	json_t *args = json_loadb(json, len, JSON_REJECT_DUPLICATES, &je);
	char *text;

	if (args == NULL)
		return failure("invalid", "the request is not JSON");
	r->args = args;
	text = answer(r);
	json_decref(args);
	return text;
}

char *ctl_api_request(void *ctx, struct ctl_conn *c, const struct ctl_caller *who, const char *json,
		      size_t len)
{
	struct ctl_reply r = {.api = ctx, .conn = c, .who = who, .code = "failed"};
	char *text = answer_json(&r, json, len);

	if ((r.about[0] != '\0' && !held_job(&r, json, len)) ||
	    (r.wants_name && !held_name(&r, json, len))) {
		free(text);
		return failure("failed", "too many requests wait for an answer: ask again");
	}
	if (r.about[0] != '\0' || r.wants_name || r.held ||
	    (r.nothing && held_events(&r, json, len))) {
		free(text);
		text = NULL;
	}
	return text;
}

char *ctl_api_job(struct api *a, const struct ctl_caller *who, const char *json, size_t len,
		  const struct engine_job *job, const struct err *why)
{
	struct ctl_reply r = {.api = a, .who = who, .code = "failed", .job = job, .no_job = why};

	return answer_json(&r, json, len);
}

char *ctl_api_named(struct api *a, const struct ctl_caller *who, const char *json, size_t len,
		    const struct err *why)
{
	static const struct err lost = {.code = ERR_CANCELLED,
					.msg = "it was forgotten: ask again"};
	struct ctl_reply r = {
		.api = a, .who = who, .code = "failed", .no_name = why != NULL ? why : &lost};

	return answer_json(&r, json, len);
}

char *ctl_api_again(struct api *a, const struct ctl_caller *who, const char *json, size_t len,
		    bool *nothing)
{
	struct ctl_reply r = {.api = a, .who = who, .code = "failed"};
	char *text = answer_json(&r, json, len);

	*nothing = r.nothing;
	return text;
}
