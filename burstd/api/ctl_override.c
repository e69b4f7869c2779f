/* Requests about what is added to the amounts of budgets, or set instead of them: each has a
 * reason, and stays on record. */
#include <inttypes.h>
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/fmt.h"
#include "base/plain.h"
#include "money/money_api.h"
#include "store/journal_budget.h"

#define UNTIL_MAX_MS INT64_C(253402300800000) /* the end of the year 9999, which dates reach to */

/* An operator who is of finance, too, has the right to it as the latter. */
static const char *by(char out[CTL_BY_SIZE], const struct ctl_caller *who)
{
	struct ctl_caller as = *who;

	as.roles &= ~(unsigned)CTL_OPERATOR;
	return ctl_reply_by(out, &as);
}

static void log_it(struct ctl_reply *r, const char *what, const char *about, int rc)
{
	char uid[FMT_U64_SIZE], roles[CTL_ROLES_SIZE];

	log_write(r->api->log, LOG_INFO, what, "about", about, "uid", fmt_u64(uid, r->who->uid),
		  "role", ctl_roles_str(roles, r->who->roles), "outcome",
		  rc == 0 ? "done" : r->err.msg, NULL);
}

static int read_reason(struct ctl_reply *r, const char **out)
{
	if (ctl_reply_text(r, "reason", NULL, out) != 0)
		return -1;
	if ((*out)[strspn(*out, " ")] == '\0')
		return ctl_reply_refuse(r, "invalid", "\"reason\": say why; it stays on record");
	if (strlen(*out) > JOURNAL_OVERRIDE_TEXT_MAX || !plain_is(*out))
		return ctl_reply_refuse(r, "invalid",
					"\"reason\": want at most %d bytes of plain text",
					JOURNAL_OVERRIDE_TEXT_MAX);
	return 0;
}

/* The order has its amount under this key. */
static int read_override(struct ctl_reply *r, struct engine_override *o, const char *key)
{
	const char *amount;
	struct err e = {0};
	int64_t until;

	if (ctl_reply_text(r, "budget", NULL, &o->budget) != 0 ||
	    ctl_reply_text(r, "value", "", &o->value) != 0 ||
	    ctl_reply_text(r, key, NULL, &amount) != 0 ||
	    ctl_reply_int(r, "until_ms", UNTIL_MAX_MS, 0, &until) != 0 ||
	    read_reason(r, &o->reason) != 0)
		return -1;
	if (strlen(o->value) > BUDGET_VALUE_MAX || !plain_is(o->value))
		return ctl_reply_refuse(r, "invalid",
					"\"value\": want at most %d bytes of plain text",
					BUDGET_VALUE_MAX);
	if (fmt_money_parse(amount, &o->nano, &e) != 0)
		return ctl_reply_refuse(r, "invalid", "\"%s\": %s", key, e.msg);
	if (o->nano < 0 || (o->nano == 0 && !o->set))
		return ctl_reply_refuse(r, "invalid", "\"%s\": want more than 0", key);
	o->until_ms = until != 0 ? engine_from_wall(r->api->engine, until) : 0;
	return 0;
}

static void put_override(struct ctl_reply *r, const struct money_override *x)
{
	struct jsonw *w = &r->w;

	jsonw_int(w, "id", x->id);
	jsonw_text(w, "budget", x->budget);
	jsonw_text(w, "value", x->value);
	jsonw_money(w, x->set ? "set" : "added", x->nano);
	ctl_reply_time(r, "made_ms", x->made_ms);
	ctl_reply_time(r, "until_ms", x->until_ms != MONEY_NO_END ? x->until_ms : 0);
	jsonw_bool(w, "active", x->until_ms > engine_now(r->api->engine));
	jsonw_text(w, "by", x->by);
	jsonw_text(w, "reason", x->reason);
	jsonw_text(w, "revoked_by", x->revoked_by);
	jsonw_text(w, "revoked_why", x->revoked_why);
}

static const struct money_override *find(const struct ctl_reply *r, int64_t id)
{
	size_t n;
	const struct money_override *all = engine_overrides(r->api->engine, &n);

	for (size_t i = 0; i < n; i++)
		if (all[i].id == id)
			return &all[i];
	return NULL;
}

static int answer(struct ctl_reply *r, int rc, int64_t id)
{
	const struct money_override *x;

	if (rc != 0)
		return r->err.code == ERR_INVALID || r->err.code == ERR_LIMIT
			       ? ctl_reply_refuse(r, "invalid", "%s", r->err.msg)
			       : -1;
	x = find(r, id);
	if (x == NULL)
		return err_set(&r->err, ERR_INVALID, "override %" PRId64 " is gone", id);
	put_override(r, x);
	jsonw_text(&r->w, "currency", engine_conf(r->api->engine)->currency);
	return 0;
}

static int order(struct ctl_reply *r, bool set, const char *key)
{
	struct engine_override o = {.set = set};
	char who[CTL_BY_SIZE];
	int64_t id = 0;
	int rc;

	if (read_override(r, &o, key) != 0)
		return -1;
	o.by = by(who, r->who);
	rc = engine_override(r->api->engine, &o, &id, &r->err);
	log_it(r, "override of a budget asked for", o.budget, rc);
	return answer(r, rc, id);
}

int ctl_override_add(struct ctl_reply *r)
{
	return order(r, false, "add");
}

int ctl_override_set(struct ctl_reply *r)
{
	return order(r, true, "amount");
}

int ctl_override_revoke(struct ctl_reply *r)
{
	char who[CTL_BY_SIZE], about[FMT_U64_SIZE];
	const char *reason;
	int64_t id;
	int rc;

	if (ctl_reply_int(r, "id", INT64_MAX, 0, &id) != 0 || read_reason(r, &reason) != 0)
		return -1;
	rc = engine_revoke(r->api->engine, id, by(who, r->who), reason, &r->err);
	log_it(r, "end of an override asked for", fmt_i64(about, id), rc);
	return answer(r, rc, id);
}

/* Newest first; "before": those with a lower number, for the next page. */
int ctl_override_list(struct ctl_reply *r)
{
	size_t n, shown = 0;
	const struct money_override *all = engine_overrides(r->api->engine, &n);
	bool ended = json_is_true(json_object_get(r->args, "ended"));
	int64_t before, last = 0;
	const char *budget;

	if (ctl_reply_int(r, "before", INT64_MAX, INT64_MAX, &before) != 0 ||
	    ctl_reply_text(r, "budget", "", &budget) != 0)
		return -1;
	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	jsonw_text(&r->w, "currency", engine_conf(r->api->engine)->currency);
	jsonw_open(&r->w, "overrides", '[');
	for (size_t i = n; i-- > 0;) {
		struct ctl_row row = ctl_reply_row(r);

		if (all[i].id >= before ||
		    (budget[0] != '\0' && strcmp(all[i].budget, budget) != 0) ||
		    (!ended && all[i].until_ms <= engine_now(r->api->engine)))
			continue;
		if (shown == CTL_API_BUDGETS_MAX) {
			last = all[i].id + 1;
			break;
		}
		jsonw_open(&r->w, NULL, '{');
		put_override(r, &all[i]);
		jsonw_close(&r->w, '}');
		if (!ctl_reply_fits(r, row)) {
			last = all[i].id + 1;
			break;
		}
		shown++;
	}
	jsonw_close(&r->w, ']');
	jsonw_int(&r->w, "next", last);
	return 0;
}
