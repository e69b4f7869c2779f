#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "cli/fold.h"

enum {
	HELP_MAX = 16384,    /* bytes of one --help */
	COMMAND_COLUMN = 28, /* where a command's summary begins */
	LIST_MAX = 100,      /* bytes of a list of nodes that an error repeats */
	TIMEOUT_MIN_MS = 10,
	TIMEOUT_MAX_MS = 600000,
};

#define AT(field) offsetof(struct cli, field)

const struct opt cli_globals[] = {
	{"json", 0, OPT_FLAG, NULL, "print burstd's answer as JSON: amounts and times unrounded",
	 AT(json), 0, 0},
	{"socket", 0, OPT_TEXT, "PATH",
	 "burstd's socket (default: " PATHS_SOCKET "; for reports " PATHS_LEDGER_SOCKET ")",
	 AT(socket), 0, 0},
	{"timeout", 0, OPT_DURATION, "TIME",
	 "how long to wait for an answer (default: 5s; for reports 65s)", AT(timeout_ms),
	 TIMEOUT_MIN_MS, TIMEOUT_MAX_MS},
	{"help", 'h', OPT_FLAG, NULL, "show help", AT(help), 0, 0},
	{"version", 'V', OPT_FLAG, NULL, "show the version of burstctl", AT(version), 0, 0},
};

#undef AT

enum { NGLOBALS = sizeof(cli_globals) / sizeof(cli_globals[0]) };

const size_t cli_nglobals = NGLOBALS;

static int run_help(const struct cli *c, const void *args, char **operands);

static const struct cli_command cmd_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.max = 2,
	.summary = "show help",
	.about = "",
	.example = "burstctl help node show",
	.run = run_help,
};

const struct cli_command *const cli_commands[] = {
	&cmd_status,
	&cmd_nodes,
	&cmd_node_show,
	&cmd_pools,
	&cmd_plan,
	&cmd_budget_list,
	&cmd_budget_show,
	&cmd_budget_set,
	&cmd_budget_override,
	&cmd_budget_revoke,
	&cmd_budget_overrides,
	&cmd_budget_import,
	&cmd_budget_alerts,
	&cmd_budget_alert_test,
	&cmd_balance,
	&cmd_report,
	&cmd_cost_job,
	&cmd_events,
	&cmd_drain,
	&cmd_terminate,
	&cmd_notice,
	&cmd_pause,
	&cmd_resume,
	&cmd_retry,
	&cmd_image_status,
	&cmd_image_stop,
	&cmd_image_resume,
	&cmd_check,
	&cmd_init,
	&cmd_slurm_conf,
	&cmd_provider_check,
	&cmd_image_check,
	&cmd_config_check,
	&cmd_config_show,
	&cmd_config_options,
	&cmd_reload,
	&cmd_reconcile,
	&cmd_audit,
	&cmd_audit_verify,
	&cmd_secrets_show,
	&cmd_secrets_enroll,
	&cmd_secrets_rotate,
	&cmd_complete,
	&cmd_version,
	&cmd_help,
};

enum { NCOMMANDS = sizeof(cli_commands) / sizeof(cli_commands[0]) };

const size_t cli_ncommands = NCOMMANDS;

/* --- help ----------------------------------------------------------------------------------------
 */

static int print(FILE *f, struct str *s, int rc)
{
	(void)fputs(s->p, f);
	str_fini(s);
	return rc;
}

static bool is_in_group(const struct cli_command *k, const char *group)
{
	size_t len = strlen(group);

	return len == 0 || (strncmp(k->name, group, len) == 0 && k->name[len] == ' ');
}

/* Every command, or those of one group ("config"). */
static void add_commands(struct str *s, const char *group)
{
	str_adds(s, "Commands:\n");
	for (size_t i = 0; i < NCOMMANDS; i++) {
		const struct cli_command *k = cli_commands[i];
		char head[80];

		if (k->hidden || !is_in_group(k, group))
			continue;
		(void)snprintf(head, sizeof(head), "%s %s", k->name, k->operands);
		str_addf(s, "  %-24s  ", head);
		opt_wrap(s, k->summary, COMMAND_COLUMN, COMMAND_COLUMN);
	}
}

static int print_overview(FILE *f, const char *group, int rc)
{
	struct str s;

	str_init(&s, HELP_MAX);
	str_addf(
		&s,
		"usage: burstctl %s%sCOMMAND [OPTIONS]\n\n"
		"burstctl asks burstd, which buys cloud nodes for Slurm, what it does and why.\n\n",
		group, group[0] != '\0' ? " " : "");
	add_commands(&s, group);
	str_adds(&s, "\nOptions of every command:\n");
	opt_help(cli_globals, NGLOBALS, &s);
	str_adds(&s, "\nExample:\n");
	if (group[0] == '\0')
		str_adds(&s, "  burstctl status               is all well? what does it cost?\n"
			     "  burstctl node show h100-1     why is this node what it is?\n"
			     "  burstctl events -f            watch it work\n");
	for (size_t i = 0; group[0] != '\0' && i < NCOMMANDS; i++)
		if (is_in_group(cli_commands[i], group))
			str_addf(&s, "  %s\n", cli_commands[i]->example);
	str_adds(&s, "\n"
		     "\"burstctl help COMMAND\" says more about one of them.\n"
		     "Exit codes: 0 ok; 1 refused or failed; 2 usage; 3 burstd not reachable.\n");
	return print(f, &s, rc);
}

static int print_command(FILE *f, const struct cli_command *k, int rc)
{
	struct str s;

	str_init(&s, HELP_MAX);
	str_addf(&s, "usage: burstctl %s%s%s%s\n\n%c%s.\n", k->name,
		 k->nopts > 0 ? " [OPTIONS]" : "", k->operands[0] != '\0' ? " " : "", k->operands,
		 toupper((unsigned char)k->summary[0]), k->summary + 1);
	if (k->about[0] != '\0')
		opt_wrap(&s, k->about, 0, 0);
	if (k->nopts > 0) {
		str_adds(&s, "\nOptions:\n");
		opt_help(k->opts, k->nopts, &s);
	}
	str_adds(&s, "\nOptions of every command:\n");
	opt_help(cli_globals, NGLOBALS, &s);
	str_addf(&s, "\nExample:\n  %s\n", k->example);
	return print(f, &s, rc);
}

/* --- choosing the command ------------------------------------------------------------------------
 */

/* "node h100-1" is "node show h100-1"; "node shwo h100-1" is a mistake. */
static bool is_short_show(char **words, int n)
{
	return n >= 2 && strcmp(words[0], "node") == 0 &&
	       (n == 2 || words[1][0] == '-' || words[2][0] == '-');
}

const struct cli_command *cli_find(char **words, int n, int *used)
{
	char two[64];

	*used = 2;
	if (n >= 2) {
		(void)snprintf(two, sizeof(two), "%s %s", words[0], words[1]);
		for (size_t i = 0; i < NCOMMANDS; i++)
			if (strcmp(cli_commands[i]->name, two) == 0)
				return cli_commands[i];
	}
	*used = 1;
	for (size_t i = 0; i < NCOMMANDS && n >= 1; i++)
		if (strcmp(cli_commands[i]->name, words[0]) == 0)
			return cli_commands[i];
	return is_short_show(words, n) ? &cmd_node_show : NULL;
}

static bool is_group(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strncmp(cli_commands[i]->name, word, len) == 0 &&
		    cli_commands[i]->name[len] == ' ')
			return true;
	return false;
}

/* "audit verif": the first word is a command, but both together are none. */
static bool is_bad_second(const struct cli_command *k, char **words, int n, int used)
{
	return k != NULL && used == 1 && k->max == 0 && n >= 2 && words[1][0] != '-' &&
	       is_group(words[0]);
}

/* Words that people try first, and the command that does what they mean. */
static const char *meant(const char *text)
{
	static const char *const words[][2] = {
		{"job", "cost job"},     {"jobs", "report"},     {"why", "plan"},
		{"bill", "report"},      {"list", "nodes"},      {"ls", "nodes"},
		{"delete", "terminate"}, {"kill", "terminate"},  {"stop", "pause"},
		{"start", "resume"},     {"continue", "resume"}, {"budgets", "budget list"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i][0]) == 0)
			return words[i][1];
	return NULL;
}

static int unknown(char **words, int n)
{
	const char *names[NCOMMANDS], *near;
	char text[160];

	if (is_group(words[0]) && n == 1)
		return print_overview(stderr, words[0], CLI_USAGE);
	(void)snprintf(text, sizeof(text), "%.60s%s%.60s", words[0], is_group(words[0]) ? " " : "",
		       is_group(words[0]) ? words[1] : "");
	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i] = cli_commands[i]->name;
	near = meant(text);
	if (near == NULL)
		near = opt_nearest(text, names, NCOMMANDS);
	(void)fprintf(stderr, "burstctl: no command \"%s\"", text);
	if (near != NULL)
		(void)fprintf(stderr, "; did you mean \"%s\"?", near);
	(void)fprintf(stderr, "\n\"burstctl help\" lists them all.\n");
	return CLI_USAGE;
}

static int run_help(const struct cli *c, const void *args, char **operands)
{
	int n = operands[0] == NULL ? 0 : operands[1] == NULL ? 1 : 2, used;
	const struct cli_command *k = cli_find(operands, n, &used);

	(void)args;
	if (n == 0)
		return print_overview(c->out.f, "", CLI_OK);
	if (k != NULL && !is_bad_second(k, operands, n, used))
		return print_command(c->out.f, k, CLI_OK);
	return n == 1 && is_group(operands[0]) ? print_overview(c->out.f, operands[0], CLI_OK)
					       : unknown(operands, n);
}

/* --- running it ----------------------------------------------------------------------------------
 */

static int usage(const struct cli_command *k, const char *what)
{
	(void)cli_complain(CLI_USAGE, what);
	(void)fprintf(stderr, "usage: burstctl %s%s%s%s (--help says more)\n", k->name,
		      k->nopts > 0 ? " [OPTIONS]" : "", k->operands[0] != '\0' ? " " : "",
		      k->operands);
	return CLI_USAGE;
}

/* "drain h1 h2": the shell has made words of what must be one list. */
static int too_many(const struct cli_command *k, const struct opt_args *a)
{
	struct err e = {0};
	struct str list;
	int rc;

	str_init(&list, LIST_MAX);
	for (int i = 0; i < a->n; i++)
		str_addf(&list, "%s%s", i > 0 ? "," : "", a->v[i]);
	if (strncmp(k->operands, "NODES", 5) == 0 && !list.full)
		(void)err_set(&e, ERR_INVALID, "NODES is one list: %s", list.p);
	else if (strncmp(k->operands, "NODES", 5) == 0)
		(void)err_set(&e, ERR_INVALID, "NODES is one list, without blanks");
	else
		(void)err_set(&e, ERR_INVALID, "unexpected argument: %.60s", a->v[k->max]);
	rc = usage(k, e.msg);
	str_fini(&list);
	return rc;
}

/* Operands and options with a text go to burstd as JSON, which must be UTF-8. */
static bool is_utf8(const char *text)
{
	json_t *j = json_string(text);

	json_decref(j);
	return j != NULL;
}

static int check_words(const struct cli_command *k, const void *args, const struct opt_args *a)
{
	struct err e = {0};

	for (int i = 0; i < a->n && !k->local && e.code == 0; i++)
		if (!is_utf8(a->v[i]))
			(void)err_set(&e, ERR_INVALID, "argument %d: \"%.60s\" is not UTF-8", i + 1,
				      a->v[i]);
	for (size_t i = 0; i < k->nopts && !k->local && e.code == 0; i++) {
		const char *text = NULL;

		if (k->opts[i].type == OPT_TEXT)
			text = *(const char *const *)((const char *)args + k->opts[i].offset);
		if (text != NULL && !is_utf8(text))
			(void)err_set(&e, ERR_INVALID, "--%s: not UTF-8", k->opts[i].name);
	}
	return e.code == 0 ? CLI_OK : cli_complain(CLI_USAGE, e.msg);
}

static int run_folded(struct cli *c, const struct cli_command *k, const void *args, char **operands)
{
	FILE *f = c->out.f;
	bool folds = k->folds && !c->json && c->out.columns > 0;
	int rc;

	if (folds)
		c->out.f = fold_open(f, c->out.columns);
	rc = k->run(c, args, operands);
	if (folds)
		(void)fclose(c->out.f); /* errors show on f */
	c->out.f = f;
	return rc;
}

static int run(struct cli *c, const struct cli_command *k, struct opt_args *a)
{
	void *args = mem_zalloc(k->size + 1);
	const struct opt_set sets[] = {{k->opts, k->nopts, args}, {cli_globals, NGLOBALS, c}};
	char **operands = mem_zalloc(((size_t)a->n + 1) * sizeof(*operands));
	struct err e = {0};
	int rc;

	if (k->size > 0)
		memcpy(args, k->initial, k->size);
	rc = opt_parse(sets, 2, a, false, &e);
	if (rc != 0) {
		rc = usage(k, e.msg);
	} else if (c->help) {
		rc = print_command(c->out.f, k, CLI_OK);
	} else if (c->version) {
		rc = cmd_version.run(c, NULL, NULL);
	} else if (a->n < k->min) {
		(void)err_set(&e, ERR_INVALID, "%.60s is missing", k->operands);
		rc = usage(k, e.msg);
	} else if (a->n > k->max) {
		rc = too_many(k, a);
	} else {
		memcpy(operands, a->v, (size_t)a->n * sizeof(*operands));
		rc = check_words(k, args, a);
		rc = rc == CLI_OK ? run_folded(c, k, args, operands) : rc;
	}
	free(operands);
	free(args);
	return rc;
}

static int dispatch(struct cli *c, struct opt_args *a)
{
	const struct opt_set set = {cli_globals, NGLOBALS, c};
	const struct cli_command *k;
	struct err e = {0};
	int used;

	if (opt_parse(&set, 1, a, true, &e) != 0)
		return cli_complain(CLI_USAGE, e.msg);
	if (a->n == 0 && c->version && !c->help)
		return cmd_version.run(c, NULL, NULL);
	if (a->n == 0)
		return c->help ? print_overview(c->out.f, "", CLI_OK)
			       : print_overview(stderr, "", CLI_USAGE);
	k = cli_find(a->v, a->n, &used);
	if (is_group(a->v[0]) && (k == NULL || strcmp(k->name, a->v[0]) != 0) &&
	    ((k == NULL && c->help) ||
	     (a->n == 2 && (strcmp(a->v[1], "--help") == 0 || strcmp(a->v[1], "-h") == 0))))
		return print_overview(c->out.f, a->v[0], CLI_OK);
	if (k == NULL || is_bad_second(k, a->v, a->n, used))
		return unknown(a->v, a->n);
	a->v += used;
	a->n -= used;
	return run(c, k, a);
}

int cli_main(int argc, char **argv)
{
	struct cli c = {.socket = NULL};
	struct opt_args a = {argv + 1, argc > 0 ? argc - 1 : 0};
	int rc;

	out_init(&c.out, stdout);
	rc = dispatch(&c, &a);
	if ((fflush(stdout) != 0 || ferror(stdout)) && rc == CLI_OK)
		return cli_complain(CLI_FAILED, "cannot write the answer");
	return rc;
}
