#include "cli/cli.h"

static void print_reconcile(const struct cli *c, const json_t *r)
{
	(void)r;
	(void)fputs("burstd compares Slurm, the providers and its journal now; \"burstctl events "
		    "-f\" shows what comes of it\n",
		    c->out.f);
}

static int run_reconcile(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	return cli_show(c, json_pack("{s:s}", "op", "reconcile"), print_reconcile);
}

const struct cli_command cmd_reconcile = {
	.name = "reconcile",
	.operands = "",
	.summary = "ask slurmctld and all providers now, and compare",
	.about = "burstd does so by itself at least every 30 s.  It never does any harm.",
	.example = "burstctl reconcile",
	.run = run_reconcile,
};

static void print_lines(const struct cli *c, const json_t *r, const char *key, const char *member)
{
	const json_t *row;

	for (size_t i = 0; (row = cli_row(r, key, i)) != NULL; i++) {
		(void)fputs("  ", c->out.f);
		out_text(&c->out, OUT_PLAIN,
			 member != NULL        ? cli_text(row, member)
			 : json_is_string(row) ? json_string_value(row)
					       : "");
		(void)fputc('\n', c->out.f);
	}
}

static void print_reload(const struct cli *c, const json_t *r)
{
	const json_t *changes = json_object_get(r, "changes");

	if (json_array_size(changes) > 0)
		(void)fputs("burstd uses the new configuration:\n", c->out.f);
	else if (json_is_array(changes))
		(void)fputs("nothing changed\n", c->out.f);
	else /* an older burstd does not say */
		(void)fputs("burstd uses the new configuration\n", c->out.f);
	print_lines(c, r, "changes", "text");
	if (cli_row(r, "at_restart", 0) != NULL)
		(void)fputs("only when burstd is restarted:\n", c->out.f);
	print_lines(c, r, "at_restart", NULL);
	if (cli_row(r, "overrides", 0) != NULL)
		(void)fputs("what was added to budgets, or set, and has no effect:\n", c->out.f);
	print_lines(c, r, "overrides", NULL);
}

static int run_reload(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	return cli_show(c, json_pack("{s:s}", "op", "reload"), print_reload);
}

const struct cli_command cmd_reload = {
	.name = "reload",
	.operands = "",
	.summary = "make burstd read its configuration again",
	.about = "Shows what changed.  A file with an error, or with a change that "
		 "needs a restart, is refused as a whole.",
	.example = "burstctl config check && burstctl reload",
	.run = run_reload,
};

static int run_version(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	if (c->json)
		(void)fprintf(c->out.f, "{\n  \"version\": \"%s\"\n}\n", BURSTD_VERSION);
	else
		(void)fprintf(c->out.f, "burstctl %s\n", BURSTD_VERSION);
	return CLI_OK;
}

const struct cli_command cmd_version = {
	.name = "version",
	.operands = "",
	.summary = "show the version of burstctl; burstctl status has that of burstd",
	.about = "",
	.example = "burstctl version",
	.run = run_version,
};
