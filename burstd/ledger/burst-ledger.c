/* burst-ledger - what instances cost, and who caused it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/text_file.h"
#include "ledger/allocate.h"
#include "ledger/case.h"

struct options {
	const char *file;
	bool help, version;
};

static const struct opt table[] = {
	{"case", 0, OPT_TEXT, "FILE", "print what the records of this file come to, and exit",
	 offsetof(struct options, file), 0, 0},
	{"help", 'h', OPT_FLAG, NULL, "show this help, and exit", offsetof(struct options, help), 0,
	 0},
	{"version", 'V', OPT_FLAG, NULL, "show the version, and exit",
	 offsetof(struct options, version), 0, 0},
};

enum {
	NOPTS = sizeof(table) / sizeof(table[0]),
	EXIT_WRONG = 1,
	EXIT_USAGE = 2,
	HELP_INDENT = 15,
	CASE_MAX = 1 << 30, /* bytes of a file, and of what it comes to */
};

static int help(void)
{
	struct str s;

	str_init(&s, 1 << 14);
	str_adds(&s,
		 "usage: burst-ledger --case FILE\n"
		 "Says what instances cost, to the last nano-unit, and which jobs caused it.\n\n");
	opt_help(table, NOPTS, &s);
	str_adds(&s, "\n");
	opt_wrap(
		&s,
		"FILE has records of instances, prices and jobs, or of a budget and the jobs that "
		"ask for it: one a line, fields separated by commas (burst-ledger(8)).  What in it "
		"cannot be as it says is told on standard error.",
		0, 0);
	str_adds(&s, "\nCategories:\n");
	for (int c = 0; c < ALLOCATE_NCLASSES; c++) {
		str_addf(&s, "  %-13s", allocate_class_str((enum allocate_class)c));
		opt_wrap(&s, allocate_class_text((enum allocate_class)c), HELP_INDENT, HELP_INDENT);
	}
	(void)fputs(s.p, stdout);
	str_fini(&s);
	return fflush(stdout) == 0 ? 0 : EXIT_WRONG;
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
	int rc = EXIT_WRONG;

	str_init(&out, CASE_MAX);
	str_init(&notes, CASE_MAX);
	if (text_file_read(file, CASE_MAX, &text, &len, &e) == 0 && is_text(file, text, len, &e) &&
	    case_run(file, text, &out, &notes, &e) == 0) {
		(void)fputs(notes.p, stderr);
		(void)fputs(out.p, stdout);
		rc = fflush(stdout) == 0 && !ferror(stdout) && !out.full ? 0 : EXIT_WRONG;
		if (rc != 0)
			(void)fputs("burst-ledger: not all could be written\n", stderr);
	} else {
		(void)fprintf(stderr, "burst-ledger: %s\n", e.msg);
	}
	free(text);
	str_fini(&out);
	str_fini(&notes);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {0};
	const struct opt_set set = {table, NOPTS, &o};
	struct opt_args args = {argv + 1, argc - 1};
	struct err e = {0};

	if (opt_parse(&set, 1, &args, false, &e) != 0) {
		(void)fprintf(stderr, "burst-ledger: %s\n", e.msg);
		return EXIT_USAGE;
	}
	if (o.help)
		return help();
	if (o.version) {
		(void)puts("burst-ledger " BURSTD_VERSION);
		return 0;
	}
	if (o.file == NULL || args.n > 0) {
		(void)fputs("burst-ledger: want --case FILE; see --help\n", stderr);
		return EXIT_USAGE;
	}
	return run(o.file);
}
