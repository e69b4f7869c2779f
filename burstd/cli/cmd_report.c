/* What jobs cost: reports, and the arithmetic of one job.  burst-ledger makes them, for it alone
 * may read the ledger, and decides who sees what. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"

struct report_args {
	const char *by, *from, *to, *period, *user;
	bool csv, mine;
};

static const struct report_args report_initial = {.by = NULL};

#define AT(field) offsetof(struct report_args, field), 0, 0

static const struct opt report_opts[] = {
	{"by", 0, OPT_TEXT, "KEYS",
	 "sum by these, separated by commas: account user partition qos wckey provider market pool "
	 "type class day month job node (default account)",
	 AT(by)},
	{"csv", 0, OPT_FLAG, NULL, "print comma-separated values", AT(csv)},
	{"from", 0, OPT_TEXT, "DAY", "the first day, such as 2026-03-29", AT(from)},
	{"mine", 0, OPT_FLAG, NULL, "only your own jobs; for admins and finance", AT(mine)},
	{"period", 'p', OPT_TEXT, "MONTH", "that month, such as 2026-03 (default: this one)",
	 AT(period)},
	{"to", 0, OPT_TEXT, "DAY", "the last day", AT(to)},
	{"user", 'u', OPT_TEXT, "USER", "only this user's jobs; for admins and finance", AT(user)},
};

#undef AT

struct cost_args {
	bool explain;
};

static const struct cost_args cost_initial = {.explain = false};

static const struct opt cost_opts[] = {
	{"explain", 0, OPT_FLAG, NULL, "with the arithmetic of each piece",
	 offsetof(struct cost_args, explain), 0, 0},
};

static void add(json_t *rq, const char *key, const char *text)
{
	if (text != NULL)
		(void)json_object_set_new(rq, key, json_string(text));
}

/* Lines of a text that may hold anybody's words. */
static void print_lines(const struct cli *c, const char *text)
{
	char *copy = mem_strdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		char *clean = out_clean(line);

		if (rest != NULL || line[0] != '\0')
			(void)fprintf(c->out.f, "%s\n", clean);
		free(clean);
	}
	free(copy);
}

static void warn(const json_t *r)
{
	if (cli_text(r, "warning")[0] != '\0')
		(void)cli_complain(CLI_OK, cli_text(r, "warning"));
}

static int run_report(const struct cli *c, const void *args, char **operands)
{
	const struct report_args *a = args;
	json_t *rq, *r;
	int rc;

	(void)operands;
	if (c->json && a->csv)
		return cli_complain(CLI_USAGE, "want --json or --csv, not both");
	if (a->period != NULL && (a->from != NULL || a->to != NULL))
		return cli_complain(CLI_USAGE, "want --period, or --from and --to");
	rq = json_pack("{s:s, s:s}", "op", "report", "form",
		       c->json  ? "json"
		       : a->csv ? "csv"
				: "table");
	add(rq, "by", a->by);
	add(rq, "from", a->from);
	add(rq, "to", a->to);
	add(rq, "period", a->period);
	add(rq, "user", a->user);
	if (a->mine)
		(void)json_object_set_new(rq, "mine", json_true());
	rc = cli_ask_ledger(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else if (a->csv)
		(void)fputs(cli_text(r, "text"), c->out.f); /* nothing in it steers a terminal */
	else
		print_lines(c, cli_text(r, "text"));
	warn(r);
	json_decref(r);
	return CLI_OK;
}

static int run_cost_job(const struct cli *c, const void *args, char **operands)
{
	const struct cost_args *a = args;
	json_t *rq = json_pack("{s:s, s:s, s:b}", "op", "job", "job", operands[0], "explain",
			       (int)a->explain);
	json_t *r;
	int rc;

	if (c->json)
		add(rq, "form", "json");
	rc = cli_ask_ledger(c, rq, &r);
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		print_lines(c, cli_text(r, "text"));
	json_decref(r);
	return CLI_OK;
}

const struct cli_command cmd_report = {
	.name = "report",
	.operands = "",
	.summary = "show what was spent, by account, day, class and more",
	.about = "Users see what their own jobs cost, admins and finance all.  Amounts are by what "
		 "is known now: of the current day some minutes may be missing.",
	.example = "burstctl report --by user,class --period 2026-03",
	.opts = report_opts,
	.nopts = sizeof(report_opts) / sizeof(report_opts[0]),
	.initial = &report_initial,
	.size = sizeof(report_initial),
	.run = run_report,
};

const struct cli_command cmd_cost_job = {
	.name = "cost job",
	.operands = "ID",
	.min = 1,
	.max = 1,
	.summary = "show what a job cost, and with --explain why",
	.about = "Each attempt and each machine of the job; of a machine that several jobs had the "
		 "share of this one.  Users see their own jobs, admins and finance all.",
	.example = "burstctl cost job 4711 --explain",
	.opts = cost_opts,
	.nopts = sizeof(cost_opts) / sizeof(cost_opts[0]),
	.initial = &cost_initial,
	.size = sizeof(cost_initial),
	.run = run_cost_job,
};
