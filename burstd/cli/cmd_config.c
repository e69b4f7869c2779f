#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "core/conf.h"
#include "core/conf_option.h"
#include "io/conf_file.h"

/* The running burstd's answer, or the same made from a file. */
static int get_config(const struct cli *c, const char *path, json_t **r)
{
	struct err e = {0};
	struct conf *conf;
	struct str text;

	*r = NULL;
	if (path == NULL)
		return cli_ask_loudly(c, json_pack("{s:s}", "op", "config"), r);
	if (conf_file_load(&conf, path, &e) != 0)
		return cli_complain(CLI_FAILED, e.msg);
	str_init(&text, CONF_PRINT_MAX);
	conf_print(conf, &text);
	*r = json_pack("{s:s, s:s}", "path", path, "text", text.p);
	str_fini(&text);
	conf_free(conf);
	return *r != NULL ? CLI_OK : cli_complain(CLI_FAILED, "the configuration is not UTF-8");
}

/* Print each line with its tabs, and otherwise plain as all output. */
static void print_lines(const struct cli *c, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n"), tabs = strspn(text, "\t");
		char *line = mem_check(strndup(text + tabs, n - tabs));

		plain_make(line, '?');
		(void)fprintf(c->out.f, "%.*s%s\n", (int)tabs, text, line);
		free(line);
		text += n + (text[n] == '\n');
	}
}

static int run_show(const struct cli *c, const void *args, char **operands)
{
	json_t *r;
	int rc = get_config(c, operands[0], &r);

	(void)args;
	if (rc != CLI_OK)
		return rc;
	if (c->json)
		cli_print_json(c, r);
	else
		print_lines(c, cli_text(r, "text"));
	json_decref(r);
	return CLI_OK;
}

const struct cli_command cmd_config_show = {
	.name = "config show",
	.operands = "[FILE]",
	.max = 1,
	.local = true,
	.summary = "show the configuration with every option written out",
	.about = "Without FILE: the configuration of the running burstd, which may be "
		 "older than its file.  It holds no secret: those have files of their "
		 "own.",
	.example = "burstctl config show",
	.run = run_show,
};

static void print_options_json(const struct cli *c)
{
	json_t *all = json_array(), *r;

	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];

		(void)json_array_append_new(all, json_pack("{s:s, s:s, s:s?, s:b, s:s}", "section",
							   o->section, "name", o->name, "initial",
							   o->initial, "reload", (int)o->reload,
							   "help", o->help));
	}
	r = json_pack("{s:o}", "options", all);
	cli_print_json(c, r);
	json_decref(r);
}

static int run_options(const struct cli *c, const void *args, char **operands)
{
	static const struct table_column columns[] = {{"SECTION", false},
						      {"OPTION", false},
						      {"DEFAULT", false},
						      {"BY RELOAD", false},
						      {"MEANING", false}};
	struct table t;

	(void)args;
	(void)operands;
	if (c->json) {
		print_options_json(c);
		return CLI_OK;
	}
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < conf_noptions; i++) {
		const struct conf_option *o = &conf_options[i];

		table_add(&t, OUT_PLAIN, o->section[0] != '\0' ? o->section : "(top)");
		table_add(&t, OUT_BOLD, o->name);
		table_add(&t, o->initial != NULL ? OUT_PLAIN : OUT_BUSY,
			  o->initial == NULL ? "must be given" : o->initial);
		table_add(&t, OUT_PLAIN, o->reload ? "yes" : "restart");
		table_add(&t, OUT_PLAIN, o->help);
	}
	table_print(&t, &c->out, 0);
	table_fini(&t);
	return CLI_OK;
}

const struct cli_command cmd_config_options = {
	.name = "config options",
	.operands = "",
	.summary = "list the options of burstd.conf, with default and meaning",
	.about = "",
	.example = "burstctl config options",
	.run = run_options,
};
