#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clamp.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/table.h"

enum {
	PAGES_MAX = 1000,
	NOTE_SIZE = 160,
	TITLE_SIZE = 160,
	BAR_COLUMNS = 10,  /* in a table of 80 columns */
	LONG_COLUMNS = 50, /* on a line of its own */
	FULL = 100,        /* percent */
	NEARLY = 80,
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

/* All pages in one answer: the first, with the rows of the others added. */
static int ask_all(const struct cli *c, json_t *rq, json_t **reply)
{
	bool more = true;
	int rc = CLI_OK;

	*reply = NULL;
	for (unsigned i = 0; i < PAGES_MAX && more && rc == CLI_OK; i++) {
		json_t *page = NULL;

		rc = cli_ask_loudly(c, json_deep_copy(rq), &page);
		if (rc != CLI_OK)
			break;
		more = cli_text(page, "next")[0] != '\0';
		(void)json_object_set_new(rq, "after", json_string(cli_text(page, "next")));
		(void)json_object_set_new(rq, "after_value",
					  json_string(cli_text(page, "next_value")));
		if (*reply == NULL) {
			*reply = json_incref(page);
			(void)json_object_del(page, "next");
			(void)json_object_del(page, "next_value");
		} else {
			(void)json_array_extend(json_object_get(*reply, "budgets"),
						json_object_get(page, "budgets"));
		}
		json_decref(page);
	}
	json_decref(rq);
	if (rc == CLI_OK)
		return CLI_OK;
	json_decref(*reply);
	*reply = NULL;
	return rc;
}

/* --- amounts -------------------------------------------------------------------------------------
 */

static bool has_amount(const json_t *b)
{
	return cli_text(b, "amount")[0] != '\0';
}

/* An amount, maybe below zero; 0: it is none. */
static int64_t nano_of(const json_t *b, const char *key)
{
	const char *text = cli_text(b, key);
	bool minus = text[0] == '-';
	int64_t nano;

	if (fmt_money_parse(text + minus, &nano, NULL) != 0)
		return 0;
	return minus ? -nano : nano;
}

/* How much of the amount that is, in percent, or in other parts of it; rounded down, at least 0. */
static int64_t part_of(const json_t *b, int64_t nano, int64_t parts)
{
	int64_t amount = nano_of(b, "amount");

	if (amount <= 0 || nano <= 0)
		return 0;
	if (nano <= INT64_MAX / parts)
		return nano * parts / amount;
	return nano / (amount >= parts ? amount / parts : 1);
}

static int64_t taken(const json_t *b)
{
	return clamp_add(nano_of(b, "spent"), nano_of(b, "held"));
}

static enum out_style style_of(int64_t percent)
{
	return percent >= FULL ? OUT_BAD : percent >= NEARLY ? OUT_BUSY : OUT_GOOD;
}

/* "#####===..": what is spent, what is set aside, what is left. */
static const char *draw(char *out, const json_t *b, int64_t columns)
{
	int64_t spent = part_of(b, nano_of(b, "spent"), columns);
	int64_t all = part_of(b, taken(b), columns);

	for (int64_t i = 0; i < columns; i++)
		out[i] = i < spent ? '#' : i < all ? '=' : '.';
	out[columns] = '\0';
	return out;
}

static const char *title(char out[TITLE_SIZE], const json_t *b)
{
	const char *value = cli_text(b, "value");

	(void)snprintf(out, TITLE_SIZE, "%.70s%s%.70s", cli_text(b, "name"),
		       value[0] != '\0' ? "/" : "", value);
	return out;
}

/* --- tables --------------------------------------------------------------------------------------
 */

static void add_money(struct table *t, const json_t *b, const char *key)
{
	char money[OUT_MONEY_SIZE];
	const char *text = cli_text(b, key);

	table_add(t, text[0] == '-' ? OUT_BAD : OUT_PLAIN,
		  text[0] != '\0' ? out_money(money, text) : "");
}

/* Of a range, which is long, its last day: "to 2026-06-30". */
static void add_period(struct table *t, const json_t *b)
{
	const char *name = cli_text(json_object_get(b, "period"), "name");
	const char *dots = strstr(name, "..");
	char text[NOTE_SIZE];

	(void)snprintf(text, sizeof(text), "%s%.60s", dots != NULL ? "to " : "",
		       dots != NULL ? dots + 2 : name);
	table_add(t, OUT_PLAIN, text);
}

static void add_budget(struct table *t, const json_t *b)
{
	char name[TITLE_SIZE];

	table_add(t, OUT_BOLD, title(name, b));
	add_period(t, b);
	add_money(t, b, "amount");
	add_money(t, b, "spent");
	add_money(t, b, "held");
	add_money(t, b, "left");
}

static void add_bar(struct table *t, const json_t *b)
{
	char bar[BAR_COLUMNS + 1], text[BAR_COLUMNS + 32];
	int64_t percent = part_of(b, taken(b), FULL);

	if (!has_amount(b)) {
		table_add(t, OUT_PLAIN, "");
		return;
	}
	(void)snprintf(text, sizeof(text), "%s %3" PRId64 "%%", draw(bar, b, BAR_COLUMNS), percent);
	table_add(t, style_of(percent), text);
}

static void print_table(const struct out *o, const json_t *r)
{
	static const struct table_column columns[] = {
		{"BUDGET", false},   {"PERIOD", false}, {"AMOUNT", true}, {"SPENT", true},
		{"SET ASIDE", true}, {"LEFT", true},    {"TAKEN", false}};
	const json_t *b;
	struct table t;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; (b = cli_row(r, "budgets", i)) != NULL; i++) {
		add_budget(&t, b);
		add_bar(&t, b);
	}
	table_print(&t, o, 0);
	table_fini(&t);
}

/* What the table does not say of a budget: "2 jobs wait for money". */
static void add_part(struct str *s, const char *text)
{
	str_addf(s, "%s%s", s->len > 0 ? "; " : "", text);
}

static void add_rate(struct str *s, const json_t *b, const char *currency)
{
	char now[OUT_MONEY_SIZE], most[OUT_MONEY_SIZE], text[NOTE_SIZE];

	if (cli_text(b, "rate_limit")[0] == '\0')
		return;
	(void)snprintf(text, sizeof(text), "%s of %s %.3s per hour in use",
		       out_money(now, cli_text(b, "rate")),
		       out_money(most, cli_text(b, "rate_limit")), currency);
	add_part(s, text);
}

static void add_waiting(struct str *s, const json_t *b)
{
	int64_t n = cli_int(b, "waiting");
	char text[NOTE_SIZE];

	if (n == 0)
		return;
	(void)snprintf(text, sizeof(text), "%" PRId64 " %s for money%s%.100s", n,
		       n == 1 ? "job waits" : "jobs wait",
		       cli_text(b, "contact")[0] != '\0' ? ": ask " : "", cli_text(b, "contact"));
	add_part(s, text);
}

static void add_later(struct str *s, const json_t *b)
{
	char money[OUT_MONEY_SIZE], text[NOTE_SIZE];

	if (nano_of(b, "later") <= 0)
		return;
	(void)snprintf(text, sizeof(text), "%s of the next period set aside",
		       out_money(money, cli_text(b, "later")));
	add_part(s, text);
}

static void add_when(struct str *s, const json_t *b)
{
	const char *when = cli_text(b, "when");

	if (strcmp(when, "over") == 0)
		add_part(s, "its period is over");
	else if (strcmp(when, "not-yet") == 0)
		add_part(s, "its period has not begun");
}

static void print_notes(const struct out *o, const json_t *r)
{
	char name[TITLE_SIZE];
	const json_t *b;
	bool first = true;

	for (size_t i = 0; (b = cli_row(r, "budgets", i)) != NULL; i++) {
		struct str s;

		str_init(&s, WORDS_MAX);
		add_when(&s, b);
		add_waiting(&s, b);
		add_rate(&s, b, cli_text(r, "currency"));
		add_later(&s, b);
		if (s.len > 0) {
			(void)fputs(first ? "\n" : "", o->f);
			out_text(o, OUT_BOLD, title(name, b));
			(void)fputs(": ", o->f);
			out_text(o, cli_int(b, "waiting") > 0 ? OUT_BUSY : OUT_PLAIN, s.p);
			(void)fputc('\n', o->f);
			first = false;
		}
		str_fini(&s);
	}
}

static void print_head(const struct out *o, const json_t *r)
{
	char now[OUT_TIME_SIZE];

	if (cli_text(r, "user")[0] != '\0') {
		(void)fputs("budgets of ", o->f);
		out_text(o, OUT_BOLD, cli_text(r, "user"));
		(void)fputs(", ", o->f);
	}
	(void)fprintf(o->f, "in ");
	out_text(o, OUT_PLAIN, cli_text(r, "currency"));
	(void)fprintf(o->f, ", %s\n\n", out_time(now, cli_int(r, "now_ms")));
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
		print_head(o, r);
		print_table(o, r);
		print_notes(o, r);
	}
}

static int run_list(const struct cli *c, json_t *rq)
{
	json_t *r;
	int rc = ask_all(c, rq, &r);

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

static void print_amounts(const struct out *o, const json_t *b)
{
	char bar[LONG_COLUMNS + 1], text[LONG_COLUMNS + 32];
	int64_t percent = part_of(b, taken(b), FULL);

	print_period(o, b);
	print_amount(o, b, "amount", "amount");
	print_amount(o, b, "spent", "spent");
	print_amount(o, b, "set aside", "held");
	print_amount(o, b, "  used of that", "accrued");
	print_amount(o, b, "left", "left");
	(void)snprintf(text, sizeof(text), "%s %" PRId64 "%%", draw(bar, b, LONG_COLUMNS), percent);
	print_fact(o, style_of(percent), "", text);
	if (nano_of(b, "later") > 0)
		print_amount(o, b, "next period", "later");
	print_amount(o, b, "beyond it", "beyond");
}

static void print_line(const struct out *o, const json_t *b, const char *currency)
{
	char name[TITLE_SIZE];
	struct str s;

	out_text(o, OUT_BOLD, title(name, b));
	(void)fputs(", in ", o->f);
	out_text(o, OUT_PLAIN, currency);
	(void)fputc('\n', o->f);
	if (has_amount(b))
		print_amounts(o, b);
	print_amount(o, b, "per hour now", "rate");
	if (cli_text(b, "rate_limit")[0] != '\0')
		print_amount(o, b, "at most", "rate_limit");
	str_init(&s, WORDS_MAX);
	add_waiting(&s, b);
	if (s.len > 0)
		print_fact(o, OUT_BUSY, "waiting", s.p);
	str_fini(&s);
}

/* "accounts physics, chemistry; pools h100; machines of any market" */
static void print_counts(const struct out *o, const json_t *b)
{
	static const char *const lists[] = {"accounts",   "users", "qos",      "wckeys",
					    "partitions", "pools", "providers"};
	const json_t *counts = json_object_get(b, "counts");
	const char *market = cli_text(counts, "market");
	struct str s;

	if (counts == NULL)
		return;
	str_init(&s, WORDS_MAX);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const json_t *list = json_object_get(counts, lists[i]);

		if (json_array_size(list) > 0)
			add_part(&s, lists[i]);
		for (size_t k = 0; k < json_array_size(list); k++)
			str_addf(&s, "%s %s", k > 0 ? "," : "",
				 json_string_value(json_array_get(list, k)));
	}
	if (strcmp(market, "any") != 0)
		str_addf(&s, "%s%s machines", s.len > 0 ? "; " : "", market);
	print_fact(o, OUT_PLAIN, "counts", s.len > 0 ? s.p : "all machines");
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
	if (has_amount(b))
		print_fact(o, OUT_PLAIN, "steps", s.len > 0 ? s.p : "none");
	str_fini(&s);
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
		print_head(o, r);
		print_table(o, r);
		print_notes(o, r);
		(void)fputc('\n', o->f);
	}
	print_counts(o, b);
	print_reserve(o, b);
	print_steps(o, b);
	if (cli_text(b, "contact")[0] != '\0')
		print_fact(o, OUT_PLAIN, "contact", cli_text(b, "contact"));
}

static int run_budget_show(const struct cli *c, const void *args, char **operands)
{
	const struct budget_args *a = args;
	json_t *r;
	int rc = ask_all(c, request(a->user, false, operands[0]), &r);

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
	.about = "\"beyond it\" is how much more than the amount may be spent, if all that the "
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
