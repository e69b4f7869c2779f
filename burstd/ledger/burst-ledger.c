/* burst-ledger - what instances cost, and who caused it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text_file.h"
#include "ledger/allocate.h"
#include "ledger/case.h"
#include "ledger/command.h"
#include "ledger/complete.h"
#include "ledger/export.h"

enum {
	HELP_INDENT = 15,
	CASE_MAX = 1 << 30, /* bytes of a file, and of what it comes to */
};

static const struct command {
	const char *name, *help; /* help NULL: started by the service, not by people */
	int (*run)(const struct settings *s);
	int (*run_on)(const struct settings *s, const char *what);
	int (*run_all)(const struct settings *s, const struct opt_args *args);
} commands[] = {
	{"run", "keep the ledger, until it is told to end: the service", command_run, NULL, NULL},
	{"once", "bring the ledger up to date", command_once, NULL, NULL},
	{"status", "how far it is, and what is wrong with it", command_status, NULL, NULL},
	{"report", "what was spent, by account, day, class and more", command_report, NULL, NULL},
	{"export FORM", "a period as a statement, workbook, FOCUS data set; see below", NULL,
	 command_export, NULL},
	{"job ID", "what a job cost, and with --explain why", NULL, command_job, NULL},
	{"period list", "months that are closed, and those that are not", NULL, NULL,
	 command_period},
	{"period draft|close|reopen MONTH",
	 "what stands in the way of closing it; close it; open it again", NULL, NULL, NULL},
	{"invoice import FILE", "meet a provider's invoice", NULL, NULL, command_invoice},
	{"invoice list|show N|remove N", "invoices that were met", NULL, NULL, NULL},
	{"verify", "is it as it was written, and does it add up?", command_verify, NULL, NULL},
	{"desk", NULL, command_desk, NULL, NULL},
	{"answer", NULL, command_answer, NULL, NULL},
	{"rebuild --check", "is it what its facts come to?", command_rebuild, NULL, NULL},
};

enum { NCOMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void help_forms(struct str *s)
{
	const char *form;
	struct str all;

	str_init(&all, 1 << 10);
	for (size_t i = 0; (form = export_form_str(i)) != NULL; i++)
		str_addf(&all, "%s%s", i > 0 ? ", " : "", form);
	opt_wrap(s, all.p, 17, 2);
	str_fini(&all);
}

static int help(void)
{
	struct str s;

	str_init(&s, 1 << 14);
	str_adds(&s,
		 "usage: burst-ledger COMMAND [OPTION...]\n"
		 "       burst-ledger --case FILE\n"
		 "Says what instances cost, to the last nano-unit, and which jobs caused it.\n\n"
		 "Commands:\n");
	for (size_t i = 0; i < NCOMMANDS; i++) {
		if (commands[i].help == NULL)
			continue;
		str_addf(&s,
			 strlen(commands[i].name) > HELP_INDENT ? "  %s\n%18s%s\n"
								: "  %-15s%s %s\n",
			 commands[i].name, "", commands[i].help);
	}
	str_adds(&s, "\nOptions:\n");
	opt_help(settings_options, settings_noptions, &s);
	str_adds(&s, "\nForms of export: ");
	help_forms(&s);
	str_adds(&s, "\n");
	opt_wrap(
		&s,
		"FILE has records of instances, prices and jobs, or of a budget and the jobs that "
		"ask for it: one a line, fields separated by commas (burst-ledger(8)).  What in it "
		"cannot be as it says is told on standard error.",
		0, 0);
	str_adds(&s, "\nClasses of a report, categories of --case:\n");
	for (int c = 0; c < ALLOCATE_NCLASSES; c++) {
		str_addf(&s, "  %-13s", allocate_class_str((enum allocate_class)c));
		opt_wrap(&s, allocate_class_text((enum allocate_class)c), HELP_INDENT, HELP_INDENT);
	}
	(void)fputs(s.p, stdout);
	str_fini(&s);
	return fflush(stdout) == 0 ? 0 : COMMAND_WRONG;
}

/* A file with a hole in it would be read to the hole. */
static bool is_text(const char *file, const char *text, size_t len, struct err *e)
{
	if (strlen(text) == len)
		return true;
	(void)err_set(e, ERR_INVALID, "%s: byte %zu is NUL", file, strlen(text));
	return false;
}

static int run(const char *file)
{
	struct str out, notes;
	struct err e = {0};
	char *text = NULL;
	size_t len;
	int rc = COMMAND_WRONG;

	str_init(&out, CASE_MAX);
	str_init(&notes, CASE_MAX);
	if (text_file_read(file, CASE_MAX, &text, &len, &e) == 0 && is_text(file, text, len, &e) &&
	    case_run(file, text, &out, &notes, &e) == 0) {
		(void)fputs(notes.p, stderr);
		(void)fputs(out.p, stdout);
		rc = fflush(stdout) == 0 && !ferror(stdout) && !out.full ? 0 : COMMAND_WRONG;
		if (rc != 0)
			(void)fputs("burst-ledger: not all could be written\n", stderr);
	} else {
		rc = complain(&e);
	}
	free(text);
	str_fini(&out);
	str_fini(&notes);
	return rc;
}

/* For the shells; words: those that are typed. */
static int complete(char **words, size_t n)
{
	const char *names[NCOMMANDS];
	size_t nnames = 0;
	struct str s;

	for (size_t i = 0; i < NCOMMANDS; i++)
		if (commands[i].help != NULL)
			names[nnames++] = commands[i].name;
	str_init(&s, 1 << 16);
	complete_words(names, nnames, words, n, &s);
	(void)fputs(s.p, stdout);
	str_fini(&s);
	return fflush(stdout) == 0 ? 0 : COMMAND_WRONG;
}

/* Is it on the command line? */
static bool is_given(const struct settings *s, const struct opt *o)
{
	const char *at = (const char *)s + o->offset;
	const char *text;
	bool flag;

	if (o->type == OPT_FLAG) {
		memcpy(&flag, at, sizeof(flag));
		return flag;
	}
	memcpy(&text, at, sizeof(text));
	return o->type == OPT_TEXT && text != NULL;
}

/* An option that the command would not heed: who gave it thinks that it did something. */
static const struct opt *stray_option(const struct settings *s, const char *command)
{
	const char *names[NCOMMANDS];

	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i] = commands[i].name;
	for (size_t i = 0; i < settings_noptions; i++) {
		const struct opt *o = &settings_options[i];

		if (is_given(s, o) && !complete_is_for(names, NCOMMANDS, o, command))
			return o;
	}
	return NULL;
}

static int run_command(const struct command *c, const struct settings *s,
		       const struct opt_args *args)
{
	const struct opt *stray = c->help != NULL ? stray_option(s, args->v[0]) : NULL;

	if (stray != NULL)
		return complain_of_usage("%s does not take --%s, which is for %.*s", args->v[0],
					 stray->name, (int)strcspn(stray->help, ":"), stray->help);
	if (c->run_all != NULL)
		return c->run_all(s, &(struct opt_args){args->v + 1, args->n - 1});
	if (args->n != (c->run_on != NULL ? 2 : 1))
		return complain_of_usage("want \"burst-ledger %s\"; see --help", c->name);
	return c->run_on != NULL ? c->run_on(s, args->v[1]) : c->run(s);
}

static int dispatch(const struct settings *s, const struct opt_args *args)
{
	for (size_t i = 0; i < NCOMMANDS; i++) {
		const struct command *c = &commands[i];
		const size_t len = strcspn(c->name, " ");

		if (strlen(args->v[0]) == len && strncmp(c->name, args->v[0], len) == 0)
			return run_command(c, s, args);
	}
	return complain_of_usage("unknown command \"%.40s\"; see --help", args->v[0]);
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	const struct opt_set set = {settings_options, settings_noptions, &s};
	struct opt_args args = {argv + 1, argc - 1};
	struct err e = {0};

	if (argc > 2 && strcmp(argv[1], "complete") == 0 && strcmp(argv[2], "--") == 0)
		return complete(argv + 3, (size_t)argc - 3);
	if (opt_parse(&set, 1, &args, false, &e) != 0)
		return complain_of_usage("%s", e.msg);
	if (s.help)
		return help();
	if (s.version) {
		(void)puts("burst-ledger " BURSTD_VERSION);
		return 0;
	}
	if (s.file != NULL && args.n == 0)
		return run(s.file);
	if (s.file != NULL || args.n == 0) {
		(void)fputs("burst-ledger: want a command, or --case FILE; see --help\n", stderr);
		return COMMAND_USAGE;
	}
	return dispatch(&s, &args);
}
