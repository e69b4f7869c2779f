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
#include "providers/options.h"

/* The running burstd's answer, or the same made from a file. */
static int get_config(const struct cli *c, const char *path, json_t **r)
{
	struct err e = {0};
	struct conf *conf;
	struct str text;

	*r = NULL;
	if (path == NULL)
		return cli_ask_loudly(c, json_pack("{s:s}", "op", "config"), r);
	if (conf_file_load(&conf, path, provider_options, &e) != 0)
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

/* driver: the only one that has this option; NULL: all have it. */
typedef void option_fn(void *ctx, const struct conf_option *o, const char *driver);

/* Each option, a driver's own ones behind those of every provider. */
static void each_option(option_fn *fn, void *ctx)
{
	for (size_t i = 0; i < conf_noptions; i++) {
		bool last = i + 1 == conf_noptions ||
			    strcmp(conf_options[i].section, conf_options[i + 1].section) != 0;

		fn(ctx, &conf_options[i], NULL);
		if (!last || strcmp(conf_options[i].section, "provider") != 0)
			continue;
		for (size_t d = 0; provider_options[d] != NULL; d++)
			for (size_t k = 0; k < provider_options[d]->noptions; k++)
				fn(ctx, &provider_options[d]->options[k],
				   provider_options[d]->name);
	}
}

static void add_option_json(void *ctx, const struct conf_option *o, const char *driver)
{
	(void)json_array_append_new(ctx, json_pack("{s:s, s:s?, s:s, s:s?, s:b, s:s}", "section",
						   o->section, "driver", driver, "name", o->name,
						   "initial", o->initial, "reload", (int)o->reload,
						   "help", o->help));
}

static void print_options_json(const struct cli *c)
{
	json_t *all = json_array(), *r;

	each_option(add_option_json, all);
	r = json_pack("{s:o}", "options", all);
	cli_print_json(c, r);
	json_decref(r);
}

static void add_option(void *ctx, const struct conf_option *o, const char *driver)
{
	struct table *t = ctx;
	char section[48];

	(void)snprintf(section, sizeof(section), "%s %s", o->section, driver != NULL ? driver : "");
	if (driver == NULL)
		table_add(t, OUT_PLAIN, o->section[0] != '\0' ? o->section : "(top)");
	else
		table_add(t, OUT_PLAIN, section);
	table_add(t, OUT_BOLD, o->name);
	table_add(t, o->initial != NULL ? OUT_PLAIN : OUT_BUSY,
		  o->initial == NULL ? "must be given" : o->initial);
	table_add(t, OUT_PLAIN, o->reload ? "yes" : "restart");
	table_add(t, OUT_PLAIN, o->help);
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
	each_option(add_option, &t);
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
