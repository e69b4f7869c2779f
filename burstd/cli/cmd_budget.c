#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/budget.h"
#include "cli/cli.h"
#include "cli/table.h"

enum {
	NOTE_SIZE = 160,
	LONG_COLUMNS = 50, /* on a line of its own */
	WORDS_MAX = 65536, /* bytes of a list of names */
	FACT_COLUMNS = 14,
};

struct budget_args {
	const char *user;
};

static const struct budget_args budget_initial = {.user = NULL};

static const struct opt budget_opts[] = {
	{"user", 'u', OPT_TEXT, "USER", "only what this user may see; for admins and finance",
	 offsetof(struct budget_args, user), 0, 0},
};

/* --- asking --------------------------------------------------------------------------------------
 */

static json_t *request(const char *user, bool mine, const char *budget)
{
	json_t *rq = json_pack("{s:s}", "op", "budgets");

	if (user != NULL)
		(void)json_object_set_new(rq, "user", json_string(user));
	if (mine)
		(void)json_object_set_new(rq, "mine", json_true());
	if (budget != NULL)
		(void)json_object_set_new(rq, "budget", json_string(budget));
	return rq;
}

static void print_list(const struct cli *c, const json_t *r)
{
	const struct out *o = &c->out;
	const char *user = cli_text(r, "user");

	if (cli_row(r, "budgets", 0) == NULL && user[0] != '\0') {
		(void)fputs("no budget concerns ", o->f);
		out_text(o, OUT_BOLD, user);
		(void)fputc('\n', o->f);
	} else if (cli_row(r, "budgets", 0) == NULL) {
		(void)fputs("there are no budgets: see burstd.conf(5)\n", o->f);
	} else {
		budget_print_head(o, r);
		budget_print_table(o, r);
		budget_print_notes(o, r);
	}
}

static int run_list(const struct cli *c, json_t *rq)
{
	json_t *r;
	int rc = budget_ask_all(c, rq, &r);

	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		print_list(c, r);
	json_decref(r);
	return CLI_OK;
}

static int run_budget_list(const struct cli *c, const void *args, char **operands)
{
	const struct budget_args *a = args;

	(void)operands;
	return run_list(c, request(a->user, false, NULL));
}

static int run_balance(const struct cli *c, const void *args, char **operands)
{
	const struct budget_args *a = args;

	(void)operands;
	return run_list(c, request(a->user, a->user == NULL, NULL));
}

/* --- one budget ----------------------------------------------------------------------------------
 */

/* "spent         300.00" */
static void print_fact(const struct out *o, enum out_style style, const char *name,
		       const char *text)
{
	(void)fputs("  ", o->f);
	out_column(o, OUT_DIM, name, FACT_COLUMNS);
	out_text(o, style, text);
	(void)fputc('\n', o->f);
}

static void print_amount(const struct out *o, const json_t *b, const char *name, const char *key)
{
	char money[OUT_MONEY_SIZE], text[OUT_MONEY_SIZE];

	(void)snprintf(text, sizeof(text), "%14s", out_money(money, cli_text(b, key)));
	print_fact(o, cli_text(b, key)[0] == '-' ? OUT_BAD : OUT_PLAIN, name, text);
}

static void print_period(const struct out *o, const json_t *b)
{
	const json_t *p = json_object_get(b, "period");
	char from[OUT_TIME_SIZE], to[OUT_TIME_SIZE], text[NOTE_SIZE];

	(void)snprintf(text, sizeof(text), "%.40s, from %s until %s%s", cli_text(p, "name"),
		       out_time(from, cli_int(p, "begin_ms")), out_time(to, cli_int(p, "end_ms")),
		       strcmp(cli_text(b, "when"), "over") == 0      ? ": it is over"
		       : strcmp(cli_text(b, "when"), "not-yet") == 0 ? ": it has not begun"
								     : "");
	print_fact(o, OUT_PLAIN, "period", text);
}

/* "9120.00, between 7000.00 and 12400.00, by 2026-12-01; used up on 2026-11-27" */
static void print_forecast(const struct out *o, const json_t *b)
{
	const json_t *f = json_object_get(b, "forecast");
	char least[OUT_MONEY_SIZE], expected[OUT_MONEY_SIZE], most[OUT_MONEY_SIZE];
	char text[NOTE_SIZE], at[OUT_TIME_SIZE];
	int64_t used_up = cli_int(f, "used_up_ms");

	if (f == NULL)
		return;
	(void)snprintf(text, sizeof(text), "%s at the end, at the pace of the last week",
		       out_money(expected, cli_text(f, "expected")));
	print_fact(o, used_up != 0 ? OUT_BUSY : OUT_PLAIN, "forecast", text);
	(void)snprintf(
		text, sizeof(text), "between %s and %s, at that of its quietest and busiest day",
		out_money(least, cli_text(f, "least")), out_money(most, cli_text(f, "most")));
	print_fact(o, OUT_PLAIN, "", text);
	if (used_up == 0)
		return;
	(void)snprintf(text, sizeof(text), "used up at %s, at that pace", out_time(at, used_up));
	print_fact(o, OUT_BAD, "", text);
}

/* Who set the amount, and what burstd.conf says. */
static void print_set(const struct out *o, const json_t *b)
{
	const json_t *set = json_object_get(b, "set");
	char money[OUT_MONEY_SIZE];
	struct str s;

	if (set == NULL)
		return;
	str_init(&s, WORDS_MAX);
	budget_add_set(&s, b);
	str_addf(&s, "; in burstd.conf %s", out_money(money, cli_text(set, "configured")));
	print_fact(o, OUT_BUSY, "", s.p);
	str_fini(&s);
}

static void print_amounts(const struct out *o, const json_t *b)
{
	char bar[LONG_COLUMNS + 1], text[LONG_COLUMNS + 32];
	int64_t percent = budget_percent(b);

	print_period(o, b);
	print_amount(o, b, "amount", "amount");
	print_set(o, b);
	if (cli_text(b, "carried")[0] != '\0')
		print_amount(o, b, "  rolled over", "carried");
	if (cli_text(b, "added")[0] != '\0')
		print_amount(o, b, "  overrides", "added");
	print_amount(o, b, "spent", "spent");
	print_amount(o, b, "set aside", "held");
	print_amount(o, b, "  used of that", "accrued");
	print_amount(o, b, "left", "left");
	(void)snprintf(text, sizeof(text), "%s %" PRId64 "%%", budget_draw(bar, b, LONG_COLUMNS),
		       percent);
	print_fact(o, budget_style(percent), "", text);
	if (budget_nano(b, "later") > 0)
		print_amount(o, b, "next period", "later");
	print_amount(o, b, "beyond it", "beyond");
	print_forecast(o, b);
}

static void print_line(const struct out *o, const json_t *b, const char *currency)
{
	char name[BUDGET_TITLE_SIZE];
	struct str s;

	out_text(o, OUT_BOLD, budget_title(name, b));
	(void)fputs(", in ", o->f);
	out_text(o, OUT_PLAIN, currency);
	(void)fputc('\n', o->f);
	if (budget_has_amount(b))
		print_amounts(o, b);
	print_amount(o, b, "per hour now", "rate");
	if (cli_text(b, "rate_limit")[0] != '\0')
		print_amount(o, b, "at most", "rate_limit");
	str_init(&s, WORDS_MAX);
	budget_add_waiting(&s, b);
	if (s.len > 0)
		print_fact(o, OUT_BUSY, "waiting", s.p);
	str_fini(&s);
}

static void print_reserve(const struct out *o, const json_t *b)
{
	const char *mode = cli_text(b, "reserve");
	char text[NOTE_SIZE], time[FMT_DUR_SIZE];

	if (strcmp(mode, "full") == 0)
		(void)snprintf(text, sizeof(text), "what a job may cost until its time limit");
	else if (strcmp(mode, "lease") == 0)
		(void)snprintf(text, sizeof(text), "what a job may cost in %s, again and again",
			       fmt_duration(time, cli_int(b, "lease_ms")));
	else if (strcmp(mode, "minimum") == 0)
		(void)snprintf(text, sizeof(text), "the least that its machines are billed");
	else
		(void)snprintf(text, sizeof(text), "%.60s", mode);
	print_fact(o, OUT_PLAIN, "sets aside", text);
}

static void add_step(struct str *s, const json_t *b, const char *key, const char *what)
{
	if (cli_int(b, key) > 0)
		str_addf(s, "%s%s at %" PRId64 "%%", s->len > 0 ? "; " : "", what, cli_int(b, key));
}

/* How far the ladder has got. */
static void print_reached(const struct out *o, const json_t *b)
{
	static const char *const words[][2] = {{"drain", "the nodes of its machines are drained"},
					       {"requeue", "its jobs are requeued"},
					       {"kill", "its jobs are cancelled"}};
	char text[NOTE_SIZE], at[OUT_TIME_SIZE], grace[FMT_DUR_SIZE];
	const char *step = cli_text(b, "step");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(step, words[i][0]) != 0)
			continue;
		(void)snprintf(text, sizeof(text), "since %s %s%s%s",
			       out_time(at, cli_int(b, "step_ms")), words[i][1],
			       i > 0 ? ", each after " : "",
			       i > 0 ? fmt_duration(grace, cli_int(b, "grace_ms")) : "");
		print_fact(o, OUT_BAD, "now", text);
	}
}

static void print_steps(const struct out *o, const json_t *b)
{
	const json_t *at = json_object_get(b, "notify_at");
	struct str s;

	str_init(&s, WORDS_MAX);
	for (size_t i = 0; i < json_array_size(at); i++)
		str_addf(&s, "%s%" PRId64,
			 i == 0                        ? "noted at "
			 : i + 1 < json_array_size(at) ? ", "
						       : " and ",
			 (int64_t)json_integer_value(json_array_get(at, i)));
	if (json_array_size(at) > 0)
		str_adds(&s, "%");
	if (cli_int(b, "spot_only_at") > 0)
		str_addf(&s, "%sspot only from %" PRId64 "%%", s.len > 0 ? "; " : "",
			 cli_int(b, "spot_only_at"));
	if (cli_int(b, "stop_at") > 0)
		str_addf(&s, "%sno new job beyond %" PRId64 "%%", s.len > 0 ? "; " : "",
			 cli_int(b, "stop_at"));
	add_step(&s, b, "drain_at", "nodes drained");
	add_step(&s, b, "requeue_at", "jobs requeued");
	add_step(&s, b, "kill_at", "jobs cancelled");
	if (budget_has_amount(b))
		print_fact(o, OUT_PLAIN, "steps", s.len > 0 ? s.p : "none");
	str_fini(&s);
	print_reached(o, b);
}

static void print_shown(const struct cli *c, const json_t *r)
{
	const struct out *o = &c->out;
	const json_t *b = cli_row(r, "budgets", 0);

	if (b == NULL) {
		(void)fputs("nobody has used this budget yet\n", o->f);
		return;
	}
	if (cli_row(r, "budgets", 1) == NULL) {
		print_line(o, b, cli_text(r, "currency"));
	} else {
		budget_print_head(o, r);
		budget_print_table(o, r);
		budget_print_notes(o, r);
		(void)fputc('\n', o->f);
	}
	if (json_object_get(b, "counts") != NULL)
		print_fact(o, OUT_PLAIN, "counts", cli_text(json_object_get(b, "counts"), "text"));
	print_reserve(o, b);
	print_steps(o, b);
	if (cli_text(b, "contact")[0] != '\0')
		print_fact(o, OUT_PLAIN, "contact", cli_text(b, "contact"));
}

/* Leave only the budget of that value: "ann" of students/ann. */
static void keep_value(json_t *r, const char *value)
{
	json_t *all = json_object_get(r, "budgets");

	for (size_t i = json_array_size(all); i > 0; i--)
		if (strcmp(cli_text(json_array_get(all, i - 1), "value"), value) != 0)
			(void)json_array_remove(all, i - 1);
}

static int run_budget_show(const struct cli *c, const void *args, char **operands)
{
	const struct budget_args *a = args;
	char *name = mem_strdup(operands[0]), *slash = strchr(name, '/');
	json_t *r;
	int rc;

	if (slash != NULL)
		*slash = '\0';
	rc = budget_ask_all(c, request(a->user, false, name), &r);
	if (rc == CLI_OK && slash != NULL)
		keep_value(r, slash + 1);
	free(name);
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		print_shown(c, r);
	json_decref(r);
	return CLI_OK;
}

#define ABOUT_TAKEN                                                                                \
	"TAKEN is what is spent (#) and set aside (=), in percent of the amount.  Set aside is "   \
	"what jobs that run, and their machines, may still cost."

const struct cli_command cmd_budget_list = {
	.name = "budget list",
	.operands = "",
	.summary = "list budgets: what is spent, set aside and left",
	.about = "Admins and finance see all budgets, other users those that concern "
		 "them.\n" ABOUT_TAKEN,
	.example = "burstctl budget list",
	.opts = budget_opts,
	.nopts = sizeof(budget_opts) / sizeof(budget_opts[0]),
	.initial = &budget_initial,
	.size = sizeof(budget_initial),
	.folds = true,
	.run = run_budget_list,
};

const struct cli_command cmd_budget_show = {
	.name = "budget show",
	.operands = "BUDGET",
	.min = 1,
	.max = 1,
	.summary = "show one budget, and the rules by which it holds",
	.about = "BUDGET/NAME, such as students/ann, shows one of a budget that is one for each.  "
		 "\"beyond it\" is how much more than the amount may be spent, if all that the "
		 "budget pays for is ended when it is used up.  Whose jobs it counts only admins "
		 "and finance are shown.",
	.example = "burstctl budget show physics",
	.opts = budget_opts,
	.nopts = sizeof(budget_opts) / sizeof(budget_opts[0]),
	.initial = &budget_initial,
	.size = sizeof(budget_initial),
	.folds = true,
	.run = run_budget_show,
};

const struct cli_command cmd_balance = {
	.name = "balance",
	.operands = "",
	.summary = "show what is left in your own budgets",
	.about = "Your own are those that have your name, and those from which your jobs have "
		 "spent something in this period, or hold something.\n" ABOUT_TAKEN,
	.example = "burstctl balance",
	.opts = budget_opts,
	.nopts = sizeof(budget_opts) / sizeof(budget_opts[0]),
	.initial = &budget_initial,
	.size = sizeof(budget_initial),
	.folds = true,
	.run = run_balance,
};
