#include "cli/cli.h"

/* Ask for something to be done, and say so. */
static int order(const struct cli *c, const char *op, const char *done)
{
	json_t *r;
	int rc = cli_ask_loudly(c, json_pack("{s:s}", "op", op), &r);

	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		(void)fprintf(c->out.f, "%s\n", done);
	json_decref(r);
	return CLI_OK;
}

static int run_reconcile(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	return order(c, "reconcile",
		     "burstd compares Slurm, the providers and its journal now; \"burstctl events "
		     "-f\" shows "
		     "what comes of it");
}

const struct cli_command cmd_reconcile = {
	.name = "reconcile",
	.operands = "",
	.summary = "compare everything now rather than when it is due",
	.about = "burstd does so by itself at least every 30 s; this never does any harm.",
	.example = "burstctl reconcile",
	.run = run_reconcile,
};

static int run_reload(const struct cli *c, const void *args, char **operands)
{
	(void)args;
	(void)operands;
	return order(c, "reload", "burstd uses the new configuration");
}

const struct cli_command cmd_reload = {
	.name = "reload",
	.operands = "",
	.summary = "make burstd read its configuration again",
	.about = "A file with an error, or with a change that needs a restart, is refused whole "
		 "and changes\n"
		 "nothing.",
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
	.summary = "the version of burstctl; that of burstd is in its status",
	.about = "",
	.example = "burstctl version",
	.run = run_version,
};
