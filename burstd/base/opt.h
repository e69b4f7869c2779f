/* opt.h - command-line options from a table: one table gives the parser, --help and, later,
 * completion.
 *
 * Options may stand anywhere among the operands ("--" ends them); -x VALUE, -xVALUE, --name VALUE
 * and
 * --name=VALUE are the same, and flags may be bundled (-fn5).  Long names are never abbreviated: a
 * script must not break when an option is added. */
#ifndef BURSTD_OPT_H
#define BURSTD_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { OPT_COLUMNS = 80 }; /* of a terminal, as --help takes it to be */

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
	const char *arg;  /* what --help calls the value; NULL for OPT_FLAG */
	const char *help; /* one sentence */
	size_t offset;    /* of the value in the object of its set; untouched when not given */
	int64_t min, max; /* OPT_NUMBER, OPT_DURATION */
};

struct opt_set { /* a table and the struct it fills */
	const struct opt *opts;
	size_t n;
	void *object;
};

struct opt_args { /* in: what to parse; out: the operands, in order */
	char **v; /* rearranged in place */
	int n;
};

/* Parse args by the sets; with first_operand_ends, everything from the first operand on is an
 * operand (for a program with subcommands).  -1: *e says what is wrong with which option; some
 * values may have been set. */
int opt_parse(const struct opt_set *sets, size_t nsets, struct opt_args *args,
	      bool first_operand_ends, struct err *e);

/* Append what each option of the table is for, aligned, in lines of OPT_COLUMNS at most. */
void opt_help(const struct opt *opts, size_t n, struct str *out);

/* Append text and a newline, broken between words so that no line is longer than OPT_COLUMNS.  The
 * first line begins at column `at`, which `out` has reached already; the others after `indent`
 * blanks.  A newline in text is a blank, unless an empty line or a blank follows: such a line
 * begins anew. */
void opt_wrap(struct str *out, const char *text, size_t at, size_t indent);

/* Edits (insert, delete, change) between two words, Levenshtein's distance; SIZE_MAX: too long. */
size_t opt_distance(const char *a, const char *b);

/* The candidate most like `word`, for "did you mean"; NULL when none is near. */
const char *opt_nearest(const char *word, const char *const *candidates, size_t n);

#endif
