/* The request about budgets.  Admins and finance see all; everybody else sees those that concern
 * their own jobs: whose these are the kernel and the host's list of users say, never the caller. */
#include <inttypes.h>
#include <string.h>

#include "api/ctl_api.h"
#include "api/ctl_ops.h"
#include "api/ctl_reply.h"
#include "base/str.h"
#include "io/user_name.h"
#include "money/money_api.h"

enum { COUNTED_MAX = 65536 }; /* bytes of what a budget counts, as text */

struct asked {
	const char *budget, *after, *after_value;
	const char *user; /* only what this one may see; NULL: all */
	bool whole;       /* with whose jobs it counts */
};

/* --- for whom ------------------------------------------------------------------------------------
 */

/* The caller's name.  0 and *name NULL: it has to be asked for first, and the request is held. */
static int own_name(struct ctl_reply *r, const char **name)
{
	*name = r->api->names != NULL ? user_names_get(r->api->names, r->who->uid) : "";
	if (*name == NULL && r->no_name != NULL)
		return ctl_reply_refuse(r, "failed",
					"whose budgets to show is not known, for the name of uid "
					"%" PRIu32 " is not: %.300s",
					r->who->uid, r->no_name->msg);
	if (*name == NULL)
		r->wants_name = true;
	else if ((*name)[0] == '\0')
		return ctl_reply_refuse(r, "denied",
					"whose budgets to show is not known: uid %" PRIu32
					" has no name on burstd's host",
					r->who->uid);
	return 0;
}

/* r->wants_name is set: the answer comes later. */
static int read_whose(struct ctl_reply *r, struct asked *a)
{
	bool mine = json_is_true(json_object_get(r->args, "mine"));
	char roles[CTL_ROLES_SIZE];
	const char *user;

	if (ctl_reply_text(r, "user", "", &user) != 0)
		return -1;
	if (ctl_is(r->who, CTL_SEES_BUDGETS) && !mine) {
		a->user = user[0] != '\0' ? user : NULL;
		return 0;
	}
	if (own_name(r, &a->user) != 0)
		return -1;
	if (r->wants_name || user[0] == '\0' || strcmp(user, a->user) == 0)
		return 0;
	return ctl_reply_refuse(r, "denied",
				"\"user\": only admins and finance may see what concerns "
				"somebody else; you are uid %" PRIu32 ", %s",
				r->who->uid, ctl_roles_str(roles, r->who->roles));
}

/* --- one line ------------------------------------------------------------------------------------
 */

static const char *const when_words[] = {
	[PERIOD_NOW] = "now", [PERIOD_NOT_YET] = "not-yet", [PERIOD_OVER] = "over"};
static const char *const each_words[] = {[CONF_EACH_NONE] = "",
					 [CONF_EACH_USER] = "user",
					 [CONF_EACH_ACCOUNT] = "account",
					 [CONF_EACH_PARTITION] = "partition"};
static const char *const reserve_words[] = {[CONF_RESERVE_FULL] = "full",
					    [CONF_RESERVE_LEASE] = "lease",
					    [CONF_RESERVE_MINIMUM] = "minimum"};

/* By whom, those who may see overrides are told. */
static void put_set(struct ctl_reply *r, const struct engine_budget *b)
{
	const struct money_override *x = b->set;
	struct jsonw *w = &r->w;

	if (x == NULL)
		return;
	jsonw_open(w, "set", '{');
	jsonw_money(w, "amount", b->line.own);
	jsonw_money(w, "configured", b->line.budget->amount_nano);
	ctl_reply_time(r, "until_ms", x->until_ms != MONEY_NO_END ? x->until_ms : 0);
	if (ctl_is(r->who, CTL_SEES_BUDGETS)) {
		jsonw_int(w, "id", x->id);
		jsonw_text(w, "by", x->by);
		jsonw_text(w, "reason", x->reason);
	}
	jsonw_close(w, '}');
}

/* Of a budget without an amount there is none of these. */
static void put_amounts(struct ctl_reply *r, const struct engine_budget *b)
{
	const struct budget_line *l = &b->line;
	struct jsonw *w = &r->w;

	if (!l->limited)
		return;
	jsonw_open(w, "period", '{');
	jsonw_text(w, "name", l->period.name);
	jsonw_int(w, "begin_ms", l->period.begin_ms);
	jsonw_int(w, "end_ms", l->period.end_ms);
	jsonw_close(w, '}');
	jsonw_text(w, "when", when_words[l->when]);
	jsonw_money(w, "amount", l->amount);
	put_set(r, b);
	if (l->carried != 0)
		jsonw_money(w, "carried", l->carried);
	if (l->added != 0)
		jsonw_money(w, "added", l->added);
	jsonw_money(w, "spent", l->spent);
	jsonw_money(w, "held", l->held);
	jsonw_money(w, "accrued", b->accrued);
	jsonw_money(w, "later", l->later);
	jsonw_money(w, "left", l->left);
	jsonw_money(w, "beyond", b->beyond);
	if (!b->foreseen)
		return;
	jsonw_open(w, "forecast", '{');
	jsonw_money(w, "pace", b->forecast.pace_nano_h);
	jsonw_money(w, "least", b->forecast.least);
	jsonw_money(w, "expected", b->forecast.expected);
	jsonw_money(w, "most", b->forecast.most);
	ctl_reply_time(r, "used_up_ms", b->forecast.used_up_ms);
	jsonw_close(w, '}');
}

static void put_list(struct jsonw *w, const char *key, char *const *list)
{
	if (list == NULL)
		return;
	jsonw_open(w, key, '[');
	for (; *list != NULL; list++)
		jsonw_text(w, NULL, *list);
	jsonw_close(w, ']');
}

static void put_whose(struct jsonw *w, const struct conf_budget *b)
{
	struct str text;

	jsonw_open(w, "counts", '{');
	put_list(w, "accounts", b->accounts);
	put_list(w, "users", b->users);
	put_list(w, "qos", b->qos);
	put_list(w, "wckeys", b->wckeys);
	put_list(w, "partitions", b->partitions);
	put_list(w, "pools", b->pools);
	put_list(w, "providers", b->providers);
	jsonw_text(w, "market",
		   b->market == CONF_MARKET_ANY
			   ? "any"
			   : provider_market_str((enum provider_market)b->market));
	str_init(&text, COUNTED_MAX);
	budget_print_counted(&text, b);
	jsonw_text(w, "text", text.p);
	str_fini(&text);
	jsonw_close(w, '}');
}

static void put_steps(struct jsonw *w, const struct conf_budget *b)
{
	jsonw_text(w, "reserve", reserve_words[b->reserve]);
	if (b->reserve == CONF_RESERVE_LEASE)
		jsonw_int(w, "lease_ms", b->lease_ms);
	jsonw_open(w, "notify_at", '[');
	for (size_t i = 0; i < b->notify_at.n; i++)
		jsonw_int(w, NULL, b->notify_at.at[i]);
	jsonw_close(w, ']');
	jsonw_int(w, "spot_only_at", b->spot_only_at);
	jsonw_int(w, "stop_at", b->stop_at);
	jsonw_int(w, "drain_at", b->drain_at);
	jsonw_int(w, "requeue_at", b->requeue_at);
	jsonw_int(w, "kill_at", b->kill_at);
	jsonw_int(w, "grace_ms", b->grace_ms);
}

static void put_line(struct ctl_reply *r, const struct engine_budget *b, bool whole)
{
	const struct conf_budget *of = b->line.budget;
	struct jsonw *w = &r->w;

	jsonw_open(w, NULL, '{');
	jsonw_text(w, "name", of->name);
	jsonw_text(w, "each", each_words[of->each]);
	jsonw_text(w, "value", b->line.value);
	put_amounts(r, b);
	jsonw_money(w, "rate", b->line.rate);
	if (of->rate_nano_h != 0)
		jsonw_money(w, "rate_limit", of->rate_nano_h);
	put_steps(w, of);
	jsonw_text(w, "step", budget_step_str(b->step));
	if (b->step != BUDGET_GOES_ON)
		ctl_reply_time(r, "step_ms", b->step_ms);
	jsonw_int(w, "waiting", (int64_t)b->waiting);
	jsonw_text(w, "contact", of->contact != NULL ? of->contact : "");
	if (whole)
		put_whose(w, of);
	jsonw_close(w, '}');
}

/* --- all lines -----------------------------------------------------------------------------------
 */

/* The first line of the page. */
static int first_line(struct ctl_reply *r, const struct asked *a, const struct engine_budgets *all,
		      size_t *from)
{
	const struct conf_budget *after;
	size_t i = 0;

	*from = 0;
	if (a->after[0] == '\0')
		return 0;
	after = conf_budget_named(engine_conf(r->api->engine), a->after);
	if (after == NULL)
		return ctl_reply_refuse(r, "not-found", "no budget is named \"%.60s\" any more",
					a->after);
	while (i < all->n && (all->v[i].line.budget < after ||
			      (all->v[i].line.budget == after &&
			       strcmp(all->v[i].line.value, a->after_value) <= 0)))
		i++;
	*from = i;
	return 0;
}

/* Keep those of the one that is named.  Who may not see one is not told that it is there. */
static int keep_named(struct ctl_reply *r, const struct asked *a, struct engine_budgets *all)
{
	size_t n = 0;

	if (a->budget[0] == '\0')
		return 0;
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].line.budget->name, a->budget) == 0)
			all->v[n++] = all->v[i];
	all->n = n;
	if (n > 0)
		return 0;
	if (a->user != NULL)
		return ctl_reply_refuse(r, "not-found", "no budget \"%.60s\" concerns %.60s",
					a->budget, a->user);
	if (conf_budget_named(engine_conf(r->api->engine), a->budget) != NULL)
		return 0;
	return ctl_reply_refuse(r, "not-found", "no budget is named \"%.60s\"", a->budget);
}

static void put_page(struct ctl_reply *r, const struct asked *a, const struct engine_budgets *all,
		     size_t from)
{
	size_t at = from;

	ctl_reply_time(r, "now_ms", engine_now(r->api->engine));
	jsonw_text(&r->w, "currency", engine_conf(r->api->engine)->currency);
	if (a->user != NULL)
		jsonw_text(&r->w, "user", a->user);
	if (a->whole)
		jsonw_text(&r->w, "each",
			   each_words[conf_budget_named(engine_conf(r->api->engine), a->budget)
					      ->each]);
	jsonw_open(&r->w, "budgets", '[');
	for (; at < all->n && at - from < CTL_API_BUDGETS_MAX; at++) {
		struct ctl_row row = ctl_reply_row(r);

		put_line(r, &all->v[at], a->whole);
		if (!ctl_reply_fits(r, row))
			break;
	}
	jsonw_close(&r->w, ']');
	jsonw_text(&r->w, "next", at > from && at < all->n ? all->v[at - 1].line.budget->name : "");
	jsonw_text(&r->w, "next_value", at > from && at < all->n ? all->v[at - 1].line.value : "");
}

int ctl_show_budgets(struct ctl_reply *r)
{
	struct engine_budgets all;
	struct asked a = {.user = NULL};
	size_t from;
	int rc;

	if (ctl_reply_text(r, "budget", "", &a.budget) != 0 ||
	    ctl_reply_text(r, "after", "", &a.after) != 0 ||
	    ctl_reply_text(r, "after_value", "", &a.after_value) != 0 || read_whose(r, &a) != 0)
		return -1;
	if (r->wants_name)
		return 0;
	a.whole = a.budget[0] != '\0' && ctl_is(r->who, CTL_SEES_BUDGETS);
	engine_budgets(r->api->engine, a.user, &all);
	rc = keep_named(r, &a, &all);
	if (rc == 0)
		rc = first_line(r, &a, &all, &from);
	if (rc == 0)
		put_page(r, &a, &all, from);
	engine_budgets_fini(&all);
	return rc;
}
