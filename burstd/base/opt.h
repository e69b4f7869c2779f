/* opt.h - command-line options from a table: for the parser, --help and completion.
 *
 * Options may stand anywhere among the operands ("--" ends them); -x VALUE, -xVALUE, --name VALUE
 * and --name=VALUE are the same, and flags can be bundled (-fn5).  Long names cannot be
 * abbreviated, so that a new option breaks no script. */
#ifndef BURSTD_OPT_H
#define BURSTD_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { OPT_COLUMNS = 80 }; /* width of --help */

enum opt_type {
	OPT_FLAG,     /* bool: true when given */
	OPT_TEXT,     /* const char *: borrowed from argv */
	OPT_NUMBER,   /* int64_t, min to max */
	OPT_DURATION, /* int64_t, milliseconds, min to max; written as 30s */
};

struct opt {
	const char *name; /* long name */
	char letter;      /* 0: none */
	enum opt_type type;
	const char *arg;  /* name of the value in --help; NULL for OPT_FLAG */
	const char *help; /* one sentence */
	size_t offset;    /* of the value in the set's object; unchanged if not given */
	int64_t min, max; /* OPT_NUMBER, OPT_DURATION */
};

struct opt_set { /* a table, and the struct that it fills in */
	const struct opt *opts;
	size_t n;
	void *object;
};

struct opt_args { /* in: what to parse; out: the operands, in order */
	char **v; /* rearranged in place */
	int n;
};

/* Parse args by the sets; with first_operand_ends everything from the first operand on is an
 * operand (for a program with subcommands).  -1: *e says which option is wrong, and why; some
 * values may be set. */
int opt_parse(const struct opt_set *sets, size_t nsets, struct opt_args *args,
	      bool first_operand_ends, struct err *e);

/* Append the help of each option of the table, aligned, in lines of at most OPT_COLUMNS. */
void opt_help(const struct opt *opts, size_t n, struct str *out);

/* Append text and a newline, broken between words so that no line is longer than OPT_COLUMNS.  The
 * first line begins at column `at`, which `out` has reached; the others begin after `indent`
 * blanks.  A newline in text counts as a blank, unless an empty line or a blank follows it: then
 * the line break stays. */
void opt_wrap(struct str *out, const char *text, size_t at, size_t indent);

/* Edits (insert, delete, change) between two words, Levenshtein's distance; SIZE_MAX: too long. */
size_t opt_distance(const char *a, const char *b);

/* The candidate most similar to `word`, for "did you mean"; NULL: none is similar. */
const char *opt_nearest(const char *word, const char *const *candidates, size_t n);

#endif
