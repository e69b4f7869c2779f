/* tool.h - the command line of the checking programs (sim, crash, model): options from one
 * table. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/opt.h"

enum { TOOL_HELP_MAX = 16384 };

struct tool {
	const char *name;
	const char *about; /* help text before the options, from "usage:" on */
	const char *exits; /* help text after the options */
	const struct opt *opts;
	size_t nopts;
	void *object; /* that the options fill */
};

static _Noreturn void tool_misuse(const struct tool *t, const char *why)
{
	(void)fprintf(stderr, "%s: %s\n\"%s --help\" lists the options\n", t->name, why, t->name);
	exit(2);
}

/* Fill the object.  --help exits with 0, misuse with 2. */
static void tool_options(const struct tool *t, int argc, char **argv)
{
	static const struct opt help_opts[] = {{"help", 'h', OPT_FLAG, NULL, "this text", 0, 0, 0}};
	bool help = false;
	const struct opt_set sets[] = {{t->opts, t->nopts, t->object}, {help_opts, 1, &help}};
	struct opt_args args = {.v = argv + 1, .n = argc > 0 ? argc - 1 : 0};
	struct err e;
	struct str s;

	if (opt_parse(sets, 2, &args, false, &e) != 0)
		tool_misuse(t, e.msg);
	if (args.n > 0) {
		(void)err_set(&e, ERR_INVALID, "unexpected argument: %.60s", args.v[0]);
		tool_misuse(t, e.msg);
	}
	if (!help)
		return;
	str_init(&s, TOOL_HELP_MAX);
	opt_help(t->opts, t->nopts, &s);
	opt_help(help_opts, 1, &s);
	exit(printf("%s\n%s\n%s", t->about, s.p, t->exits) < 0 ? 1 : 0);
}

#endif
