/* What is added to the amounts of budgets, or set instead of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/when.h"

enum { NAME_SIZE = 160, PAGES_MAX = 1000 };

#define FOR_MAX_MS (INT64_C(3660) * 86400000)

struct override_args {
	const char *amount, *reason, *until;
	int64_t for_ms; /* -1: not said */
};

static const struct override_args override_initial = {.for_ms = -1};

struct revoke_args {
	const char *reason;
};

static const struct revoke_args revoke_initial = {.reason = NULL};

struct list_args {
	bool all;
	const char *budget;
};

static const struct list_args list_initial = {.all = false};

/* "physics", or "students/ann" */
static const char *title(char out[NAME_SIZE], const json_t *o)
{
	const char *value = cli_text(o, "value");

	(void)snprintf(out, NAME_SIZE, "%.70s%s%.70s", cli_text(o, "budget"),
		       value[0] != '\0' ? "/" : "", value);
	return out;
}

static const char *change(char out[OUT_MONEY_SIZE], const json_t *o, bool *set)
{
	*set = cli_text(o, "set")[0] != '\0';
	return out_money(out, cli_text(o, *set ? "set" : "added"));
}

/* --- add, set, revoke ----------------------------------------------------------------------------
 */

static int add_until(const struct override_args *a, json_t *rq)
{
	struct err e = {0};
	int64_t at;

	if (a->until != NULL && a->for_ms >= 0)
		return cli_complain(CLI_USAGE, "--until and --for: only one of them");
	if (a->for_ms >= 0)
		at = clock_wall_ms() + a->for_ms;
	else if (a->until == NULL)
		return CLI_OK;
	else if (when_parse_until(a->until, clock_wall_ms(), &at, &e) != 0)
		return cli_complain(CLI_USAGE, e.msg);
	(void)json_object_set_new(rq, "until_ms", json_integer(at));
	return CLI_OK;
}

/* key: of the amount, in the request and as an option.  tell: says what the answer means. */
static int order(const struct cli *c, const struct override_args *a, const char *budget,
		 const char *op, const char *key, void (*tell)(FILE *f, const json_t *r))
{
	const char *slash = strchr(budget, '/');
	json_t *r, *rq;
	int rc;

	if (a->amount == NULL || a->reason == NULL) {
		char text[80];

		(void)snprintf(text, sizeof(text),
			       "say how much, by --%s AMOUNT, and why, by --reason TEXT", key);
		return cli_complain(CLI_USAGE, text);
	}
	rq = json_pack("{s:s, s:s, s:s, s:s%, s:s}", "op", op, key, a->amount, "reason", a->reason,
		       "budget", budget, slash != NULL ? (size_t)(slash - budget) : strlen(budget),
		       "value", slash != NULL ? slash + 1 : "");
	if (rq == NULL)
		return cli_complain(CLI_USAGE, "an argument is not UTF-8");
	rc = add_until(a, rq);
	if (rc != CLI_OK) {
		json_decref(rq);
		return rc;
	}
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		tell(c->out.f, r);
	json_decref(r);
	return CLI_OK;
}

static void tell_added(FILE *f, const json_t *r)
{
	char name[NAME_SIZE], money[OUT_MONEY_SIZE], until[OUT_TIME_SIZE];

	(void)fprintf(f,
		      "override %" PRId64 ": budget %s has %s %s more until %s; \"burstctl "
		      "budget revoke %" PRId64 "\" ends it\n",
		      cli_int(r, "id"), title(name, r), out_money(money, cli_text(r, "added")),
		      cli_text(r, "currency"), out_time(until, cli_int(r, "until_ms")),
		      cli_int(r, "id"));
}

static void tell_set(FILE *f, const json_t *r)
{
	char name[NAME_SIZE], money[OUT_MONEY_SIZE], until[OUT_TIME_SIZE];
	const bool ends = cli_int(r, "until_ms") != 0;

	(void)fprintf(f,
		      "override %" PRId64 ": budget %s has %s %s in each period%s%s, instead "
		      "of burstd.conf's amount; \"burstctl budget revoke %" PRId64 "\" ends it\n",
		      cli_int(r, "id"), title(name, r), out_money(money, cli_text(r, "set")),
		      cli_text(r, "currency"), ends ? " until " : "",
		      ends ? out_time(until, cli_int(r, "until_ms")) : "", cli_int(r, "id"));
}

static int run_override(const struct cli *c, const void *args, char **operands)
{
	return order(c, args, operands[0], "budget-override", "add", tell_added);
}

static int run_set(const struct cli *c, const void *args, char **operands)
{
	return order(c, args, operands[0], "budget-set", "amount", tell_set);
}

static int run_revoke(const struct cli *c, const void *args, char **operands)
{
	const struct revoke_args *a = args;
	char name[NAME_SIZE], money[OUT_MONEY_SIZE];
	json_t *r, *rq;
	bool set;
	char *end;
	int64_t id = strtoll(operands[0], &end, 10);
	int rc;

	if (*end != '\0' || id <= 0)
		return cli_complain(
			CLI_USAGE, "want the number of an override: \"burstctl budget overrides\"");
	if (a->reason == NULL)
		return cli_complain(CLI_USAGE, "say why, by --reason TEXT");
	rq = json_pack("{s:s, s:I, s:s}", "op", "budget-revoke", "id", (json_int_t)id, "reason",
		       a->reason);
	if (rq == NULL)
		return cli_complain(CLI_USAGE, "an argument is not UTF-8");
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	(void)change(money, r, &set);
	if (c->json)
		cli_print_json(c, r);
	else
		(void)fprintf(c->out.f,
			      "override %" PRId64
			      " has ended: budget %s %s %s %s%s; jobs that it let "
			      "start run on\n",
			      id, title(name, r), set ? "is no longer set to" : "has", money,
			      cli_text(r, "currency"), set ? "" : " less");
	json_decref(r);
	return CLI_OK;
}

/* --- list ----------------------------------------------------------------------------------------
 */

/* All pages in one answer. */
static int ask_all(const struct cli *c, const struct list_args *a, json_t **reply)
{
	int64_t before = 0;
	int rc = CLI_OK;

	*reply = NULL;
	for (unsigned i = 0; i < PAGES_MAX && rc == CLI_OK && (i == 0 || before != 0); i++) {
		json_t *page,
			*rq = json_pack("{s:s, s:b}", "op", "budget-overrides", "ended", a->all);

		if (before != 0)
			(void)json_object_set_new(rq, "before", json_integer(before));
		if (a->budget != NULL)
			(void)json_object_set_new(rq, "budget", json_string(a->budget));
		rc = cli_ask_loudly(c, rq, &page);
		if (rc != CLI_OK)
			break;
		before = cli_int(page, "next");
		(void)json_object_del(page, "next");
		if (*reply == NULL)
			*reply = json_incref(page);
		else
			(void)json_array_extend(json_object_get(*reply, "overrides"),
						json_object_get(page, "overrides"));
		json_decref(page);
	}
	if (rc != CLI_OK)
		json_decref(*reply);
	return rc;
}

static void add_row(struct table *t, const json_t *o)
{
	char name[NAME_SIZE], money[OUT_MONEY_SIZE], at[OUT_TIME_SIZE], id[FMT_U64_SIZE];
	bool revoked = cli_text(o, "revoked_by")[0] != '\0';
	bool set, active = json_is_true(json_object_get(o, "active"));

	table_add(t, OUT_PLAIN, fmt_i64(id, cli_int(o, "id")));
	table_add(t, OUT_BOLD, title(name, o));
	(void)change(money, o, &set);
	table_add(t, OUT_PLAIN, set ? "set to" : "add");
	table_add(t, OUT_PLAIN, money);
	table_add(t, active ? OUT_GOOD : OUT_PLAIN, out_time(at, cli_int(o, "until_ms")));
	table_add(t, OUT_PLAIN, cli_text(o, "by"));
	table_add(t, OUT_PLAIN, cli_text(o, "reason"));
	table_add(t, OUT_PLAIN, revoked ? cli_text(o, "revoked_why") : "");
}

static void print_list(const struct cli *c, const json_t *r, bool all)
{
	static const struct table_column columns[] = {
		{"ID", true},     {"BUDGET", false}, {"CHANGE", false}, {"AMOUNT", true},
		{"UNTIL", false}, {"BY", false},     {"REASON", false}, {"REVOKED", false}};
	const json_t *o;
	struct table t;

	if (cli_row(r, "overrides", 0) == NULL) {
		(void)fputs(all ? "the amount of no budget was ever changed\n"
				: "nothing changes the amounts of burstd.conf; --all lists what "
				  "did\n",
			    c->out.f);
		return;
	}
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (o = cli_row(r, "overrides", i)) != NULL; i++)
		add_row(&t, o);
	table_print(&t, &c->out, 0);
	table_fini(&t);
}

static int run_list(const struct cli *c, const void *args, char **operands)
{
	struct list_args a = *(const struct list_args *)args;
	json_t *r;
	int rc;

	a.budget = operands[0];
	rc = ask_all(c, &a, &r);
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		print_list(c, r, a.all);
	json_decref(r);
	return CLI_OK;
}

/* --- commands ------------------------------------------------------------------------------------
 */

#define AT(field) offsetof(struct override_args, field)

static const struct opt override_opts[] = {
	{"add", 0, OPT_TEXT, "AMOUNT", "how much more, such as 500.00", AT(amount), 0, 0},
	{"reason", 0, OPT_TEXT, "TEXT", "why; it stays on record", AT(reason), 0, 0},
	{"until", 0, OPT_TEXT, "TIME", "when it ends, such as 2026-12-24; else with the period",
	 AT(until), 0, 0},
	{"for", 0, OPT_DURATION, "TIME", "when it ends, from now, such as 3d", AT(for_ms), 60000,
	 FOR_MAX_MS},
};

static const struct opt set_opts[] = {
	{"amount", 0, OPT_TEXT, "AMOUNT", "how much, such as 500.00; 0: nothing may be spent",
	 AT(amount), 0, 0},
	{"reason", 0, OPT_TEXT, "TEXT", "why; it stays on record", AT(reason), 0, 0},
	{"until", 0, OPT_TEXT, "TIME", "when it ends, such as 2026-12-24; else when it is revoked",
	 AT(until), 0, 0},
	{"for", 0, OPT_DURATION, "TIME", "when it ends, from now, such as 90d", AT(for_ms), 60000,
	 FOR_MAX_MS},
};

static const struct opt revoke_opts[] = {
	{"reason", 0, OPT_TEXT, "TEXT", "why; it stays on record",
	 offsetof(struct revoke_args, reason), 0, 0},
};

static const struct opt list_opts[] = {
	{"all", 'a', OPT_FLAG, NULL, "also those that have ended", offsetof(struct list_args, all),
	 0, 0},
};

const struct cli_command cmd_budget_override = {
	.name = "budget override",
	.operands = "BUDGET",
	.min = 1,
	.max = 1,
	.summary = "add to the amount of a budget, for a time and a reason",
	.about = "BUDGET/NAME, such as students/ann, if the budget is one for each.  It counts "
		 "at once, in each period until it ends.  Jobs that wait for money are tried "
		 "again.",
	.example = "burstctl budget override physics --add 500 --reason \"paper deadline\"",
	.opts = override_opts,
	.nopts = sizeof(override_opts) / sizeof(override_opts[0]),
	.initial = &override_initial,
	.size = sizeof(override_initial),
	.run = run_override,
};

const struct cli_command cmd_budget_set = {
	.name = "budget set",
	.operands = "BUDGET",
	.min = 1,
	.max = 1,
	.summary = "set the amount that a budget has instead of burstd.conf's",
	.about = "BUDGET/NAME, such as students/ann, if the budget is one for each.  It counts "
		 "at once, in each period until it ends; then burstd.conf's amount counts.  What "
		 "was set before ends.  What overrides add comes on top.  Jobs that wait for money "
		 "are tried again; those that run go on, unless the budget ends jobs when it is "
		 "used up.",
	.example = "burstctl budget set physics --amount 12000 --reason \"board of 2026-11-24\"",
	.opts = set_opts,
	.nopts = sizeof(set_opts) / sizeof(set_opts[0]),
	.initial = &override_initial,
	.size = sizeof(override_initial),
	.run = run_set,
};

const struct cli_command cmd_budget_revoke = {
	.name = "budget revoke",
	.operands = "ID",
	.min = 1,
	.max = 1,
	.summary = "end an override of a budget now",
	.about = "Of one that sets an amount, burstd.conf's counts again.  Nothing is taken from "
		 "jobs that it let start.",
	.example = "burstctl budget revoke 7 --reason \"the grant is over\"",
	.opts = revoke_opts,
	.nopts = sizeof(revoke_opts) / sizeof(revoke_opts[0]),
	.initial = &revoke_initial,
	.size = sizeof(revoke_initial),
	.run = run_revoke,
};

const struct cli_command cmd_budget_overrides = {
	.name = "budget overrides",
	.operands = "[BUDGET]",
	.max = 1,
	.summary = "list what is added to budgets, or set, by whom and why",
	.about = "The newest first.",
	.example = "burstctl budget overrides --all",
	.opts = list_opts,
	.nopts = sizeof(list_opts) / sizeof(list_opts[0]),
	.initial = &list_initial,
	.size = sizeof(list_initial),
	.run = run_list,
};
