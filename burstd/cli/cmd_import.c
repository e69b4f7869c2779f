/* Allocations of ColdFront become amounts of a budget with each = account. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/date.h"
#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text_file.h"
#include "cli/budget.h"
#include "cli/cli.h"
#include "cli/coldfront.h"
#include "cli/table.h"
#include "cli/when.h"

enum {
	NAME_SIZE = 80,
	SAME_MS = 60000, /* burstd's clock may be set between two answers about one time */
};

struct import_args {
	const char *budget, *attribute, *until, *reason;
	bool dry_run;
};

static const struct import_args import_initial = {.budget = NULL};

enum fate {
	FATE_SAME,   /* it is so already */
	FATE_TO_SET, /* it would be set */
	FATE_SET,
	FATE_OTHER, /* it is set, and the file does not have it */
};

struct entry { /* one account */
	const char *account;
	int64_t allocation; /* 0: of FATE_OTHER */
	int64_t nano;
	int64_t until_ms; /* 0: without end */
	enum fate fate;
	int64_t override; /* that sets it; 0: none does */
};

struct import {
	const struct import_args *args;
	struct coldfront file;
	json_t *budgets; /* burstd's answer */
	const char *currency;
	struct entry *v;
	size_t n;
};

/* --- what is to be done --------------------------------------------------------------------------
 */

/* The end of the day, as a time; 0: there is none. */
static int64_t end_of(const struct import *m, int64_t last_day, int64_t until_ms)
{
	char text[DATE_STR_SIZE];
	int64_t at = 0;

	if (last_day == COLDFRONT_NO_END)
		return m->args->until != NULL ? until_ms : 0;
	(void)when_parse(date_str(text, last_day + 1), clock_wall_ms(), &at, NULL);
	return at;
}

static bool is_same(const struct entry *x, const json_t *set)
{
	int64_t off = cli_int(set, "until_ms") - x->until_ms;

	return set != NULL && budget_nano(set, "amount") == x->nano && off <= SAME_MS &&
	       -off <= SAME_MS;
}

/* Those that are set, and are not in the file. */
static void plan_others(struct import *m)
{
	struct map in_file;
	const json_t *b;

	map_init(&in_file);
	for (size_t i = 0; i < m->file.n; i++)
		map_put(&in_file, m->file.v[i].account, &m->file.v[i]);
	for (size_t i = 0; (b = cli_row(m->budgets, "budgets", i)) != NULL; i++) {
		const json_t *set = json_object_get(b, "set");

		if (set != NULL && map_get(&in_file, cli_text(b, "value")) == NULL)
			m->v[m->n++] = (struct entry){.account = cli_text(b, "value"),
						      .nano = budget_nano(set, "amount"),
						      .until_ms = cli_int(set, "until_ms"),
						      .fate = FATE_OTHER,
						      .override = cli_int(set, "id")};
	}
	map_fini(&in_file);
}

static void plan(struct import *m, int64_t until_ms)
{
	size_t lines = json_array_size(json_object_get(m->budgets, "budgets"));
	struct map sets; /* an account -> what burstd has for it */
	const json_t *b;

	m->v = mem_zalloc((m->file.n + lines + 1) * sizeof(*m->v));
	map_init(&sets);
	for (size_t i = 0; (b = cli_row(m->budgets, "budgets", i)) != NULL; i++)
		if (json_object_get(b, "set") != NULL)
			map_put(&sets, cli_text(b, "value"), json_object_get(b, "set"));
	for (size_t i = 0; i < m->file.n; i++) {
		const struct coldfront_row *row = &m->file.v[i];
		const json_t *set = map_get(&sets, row->account);
		struct entry *x = &m->v[m->n++];

		*x = (struct entry){.account = row->account,
				    .allocation = row->id,
				    .nano = row->nano,
				    .until_ms = end_of(m, row->last_day, until_ms),
				    .fate = FATE_TO_SET};
		if (!is_same(x, set))
			continue;
		x->fate = FATE_SAME;
		x->override = cli_int(set, "id");
	}
	map_fini(&sets);
	plan_others(m);
}

static int send_one(const struct cli *c, const struct import *m, struct entry *x)
{
	char money[FMT_MONEY_SIZE];
	json_t *r, *rq = json_pack("{s:s, s:s, s:s, s:s, s:s}", "op", "budget-set", "budget",
				   m->args->budget, "value", x->account, "amount",
				   fmt_money(money, x->nano), "reason", m->args->reason);
	int rc;

	if (rq == NULL)
		return cli_complain(CLI_USAGE, "an argument is not UTF-8");
	if (x->until_ms != 0)
		(void)json_object_set_new(rq, "until_ms", json_integer(x->until_ms));
	rc = cli_ask_loudly(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	x->fate = FATE_SET;
	x->override = cli_int(r, "id");
	json_decref(r);
	return CLI_OK;
}

static int send_all(const struct cli *c, struct import *m)
{
	int rc = CLI_OK;

	for (size_t i = 0; i < m->n && rc == CLI_OK && !m->args->dry_run; i++)
		if (m->v[i].fate == FATE_TO_SET)
			rc = send_one(c, m, &m->v[i]);
	return rc;
}

/* --- what was done -------------------------------------------------------------------------------
 */

static size_t count(const struct import *m, enum fate f)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += m->v[i].fate == f;
	return n;
}

static const char *const fate_words[] = {[FATE_SAME] = "same",
					 [FATE_TO_SET] = "to-set",
					 [FATE_SET] = "set",
					 [FATE_OTHER] = "not-in-file"};

static void print_json(const struct cli *c, const struct import *m)
{
	json_t *rows = json_array(), *r;
	char money[FMT_MONEY_SIZE];

	for (size_t i = 0; i < m->n; i++) {
		const struct entry *x = &m->v[i];

		(void)json_array_append_new(
			rows, json_pack("{s:s, s:I, s:s, s:I, s:s, s:I}", "account", x->account,
					"allocation", (json_int_t)x->allocation, "amount",
					fmt_money(money, x->nano), "until_ms",
					(json_int_t)x->until_ms, "result", fate_words[x->fate],
					"override", (json_int_t)x->override));
	}
	r = mem_check(json_pack("{s:s, s:s, s:b, s:o, s:I, s:I}", "budget", m->args->budget,
				"currency", m->currency, "dry_run", m->args->dry_run, "accounts",
				rows, "inactive", (json_int_t)m->file.inactive, "without",
				(json_int_t)m->file.without));
	cli_print_json(c, r);
	json_decref(r);
}

static void add_row(struct table *t, const struct entry *x)
{
	static const char *const words[] = {[FATE_SAME] = "as it was",
					    [FATE_TO_SET] = "would be set",
					    [FATE_SET] = "set",
					    [FATE_OTHER] = "not in the file"};
	static const enum out_style styles[] = {[FATE_SAME] = OUT_PLAIN,
						[FATE_TO_SET] = OUT_BUSY,
						[FATE_SET] = OUT_GOOD,
						[FATE_OTHER] = OUT_BUSY};
	char money[FMT_MONEY_SIZE], shown[OUT_MONEY_SIZE], at[OUT_TIME_SIZE], id[FMT_U64_SIZE];

	table_add(t, OUT_BOLD, x->account);
	table_add(t, OUT_PLAIN, out_money(shown, fmt_money(money, x->nano)));
	table_add(t, OUT_PLAIN, out_time(at, x->until_ms));
	table_add(t, OUT_PLAIN, x->allocation != 0 ? fmt_i64(id, x->allocation) : "");
	table_add(t, styles[x->fate], words[x->fate]);
	table_add(t, OUT_PLAIN, x->override != 0 ? fmt_i64(id, x->override) : "");
}

static void print_table(const struct cli *c, const struct import *m)
{
	static const struct table_column columns[] = {{"ACCOUNT", false}, {"AMOUNT", true},
						      {"UNTIL", false},   {"ALLOCATION", true},
						      {"RESULT", false},  {"OVERRIDE", true}};
	struct table t;

	if (m->n > 0) {
		table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < m->n; i++)
			add_row(&t, &m->v[i]);
		table_print(&t, &c->out, 0);
		table_fini(&t);
		(void)fputc('\n', c->out.f);
	}
	(void)fprintf(
		c->out.f,
		"budget %s, in %s: %zu set, %zu to set, %zu as they were; allocations that are "
		"not active: %zu, without that attribute: %zu\n",
		m->args->budget, m->currency, count(m, FATE_SET), count(m, FATE_TO_SET),
		count(m, FATE_SAME), m->file.inactive, m->file.without);
}

/* --- the command ---------------------------------------------------------------------------------
 */

/* The day that it is here. */
static int64_t today(void)
{
	char text[OUT_TIME_SIZE];
	int64_t day = 0;

	(void)out_time(text, clock_wall_ms());
	text[strlen("2026-11-30")] = '\0';
	(void)date_parse(text, &day);
	return day;
}

static int read_file(struct import *m, const char *path)
{
	char usual[NAME_SIZE], *text;
	struct err e = {0};
	size_t len;
	int rc;

	if (text_file_read(path, COLDFRONT_FILE_MAX, &text, &len, &e) != 0)
		return cli_complain(CLI_USAGE, e.msg);
	(void)snprintf(usual, sizeof(usual), "Cloud Budget (%.30s)", m->currency);
	rc = coldfront_parse(&m->file, text, len,
			     m->args->attribute != NULL ? m->args->attribute : usual, today(), &e);
	free(text);
	if (rc == 0)
		return CLI_OK;
	(void)err_wrap(&e, "%.100s", path);
	return cli_complain(CLI_USAGE, e.msg);
}

static int ask(const struct cli *c, struct import *m)
{
	json_t *rq = json_pack("{s:s, s:s}", "op", "budgets", "budget", m->args->budget);
	int rc;

	if (rq == NULL)
		return cli_complain(CLI_USAGE, "an argument is not UTF-8");
	rc = budget_ask_all(c, rq, &m->budgets);
	if (rc != CLI_OK)
		return rc;
	m->currency = cli_text(m->budgets, "currency");
	if (strcmp(cli_text(m->budgets, "each"), "account") != 0)
		return cli_complain(CLI_USAGE, "--budget: want one with each = account, and to be "
					       "an admin or finance");
	return CLI_OK;
}

static int run_import(const struct cli *c, const void *args, char **operands)
{
	struct import m = {.args = args};
	struct err e = {0};
	int64_t until_ms = 0;
	int rc;

	if (m.args->budget == NULL || m.args->reason == NULL)
		return cli_complain(
			CLI_USAGE,
			"say which budget, by --budget BUDGET, and why, by --reason TEXT");
	if (m.args->until != NULL &&
	    when_parse_until(m.args->until, clock_wall_ms(), &until_ms, &e) != 0)
		return cli_complain(CLI_USAGE, e.msg);
	rc = ask(c, &m);
	if (rc == CLI_OK)
		rc = read_file(&m, operands[0]);
	if (rc == CLI_OK) {
		plan(&m, until_ms);
		rc = send_all(c, &m);
		if (c->json)
			print_json(c, &m);
		else
			print_table(c, &m);
	}
	free(m.v);
	coldfront_fini(&m.file);
	json_decref(m.budgets);
	return rc;
}

#define AT(field) offsetof(struct import_args, field)

static const struct opt import_opts[] = {
	{"budget", 0, OPT_TEXT, "BUDGET", "the budget; it has each = account", AT(budget), 0, 0},
	{"attribute", 0, OPT_TEXT, "TEXT",
	 "ColdFront's attribute with the amount; else \"Cloud Budget (EUR)\", with burstd's "
	 "currency",
	 AT(attribute), 0, 0},
	{"until", 0, OPT_TEXT, "TIME", "when amounts end whose allocation has no end_date",
	 AT(until), 0, 0},
	{"reason", 0, OPT_TEXT, "TEXT", "why; it stays on record", AT(reason), 0, 0},
	{"dry-run", 'n', OPT_FLAG, NULL, "only say what would be done", AT(dry_run), 0, 0},
};

const struct cli_command cmd_budget_import = {
	.name = "budget import",
	.operands = "FILE",
	.min = 1,
	.max = 1,
	.summary = "set what accounts may spend, from allocations of ColdFront",
	.about = "FILE is what ColdFront's REST API says to GET "
		 "/api/allocations/?allocation_attributes=true.  Of each active allocation the "
		 "account (slurm_account_name) is set to the amount, as by \"budget set\", until "
		 "the allocation's end_date, if it has one.  What is so already is left alone.  "
		 "If anything in the file is wrong, nothing is changed.",
	.example = "burstctl budget import allocations.json --budget cloud --reason \"ColdFront\"",
	.opts = import_opts,
	.nopts = sizeof(import_opts) / sizeof(import_opts[0]),
	.initial = &import_initial,
	.size = sizeof(import_initial),
	.run = run_import,
};
