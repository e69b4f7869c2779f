/* hostlist.h - Slurm's node lists (`h100-[1-64,70],a100-[001-004]`), strictly.
 *
 * Lists come from slurmctld, from users' job scripts and from files, so a list is checked and
 * counted before anything is allocated: n[0-999999999] is refused at no cost.  `scontrol show
 * hostnames` would print sixteen million lines for n[0-255][0-255][0-255] (reliability.md L13). */
#ifndef BURSTD_HOSTLIST_H
#define BURSTD_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum {
	HOSTLIST_NAMES_MAX = 65536, /* Slurm's own limit on nodes in a cluster */
	HOSTLIST_NAME_MAX = 63,     /* bytes in one name, as a DNS label allows */
	HOSTLIST_DIGITS_MAX = 18,   /* of a number in brackets: fits an int64 */
};

/* Names in the order written, repeats kept; one block, so that hostlist_free() is one free(). */
struct hostlist {
	size_t n; /* 1 to HOSTLIST_NAMES_MAX */
	const char *const *names;
};

/* Expand text[0..len).  Allowed: letters, digits, '-', '_', '.' in a name that starts with a letter
 * or digit; one pair of brackets per name, not at its start, followed by the end of the name or by
 * more allowed characters; in it numbers and ranges a-b, a <= b, between commas; a comma between
 * names.  Each number of a range has at least as many digits as a is written with, and b is written
 * that way too: [08-11], [8-11] and, as Slurm prints it, [98-101] or [08-101]; never [8-011] or
 * [008-11]. -1: *out is NULL and *e says why and at which byte; ERR_LIMIT if only the number of
 * names is too large. */
int hostlist_parse(struct hostlist **out, const char *text, size_t len, struct err *e);
/* Likewise of a text by a stranger: at most `most` names, 1 to HOSTLIST_NAMES_MAX. */
int hostlist_parse_few(struct hostlist **out, const char *text, size_t len, size_t most,
		       struct err *e);
void hostlist_free(struct hostlist *h); /* NULL is fine */

/* Append the names to *s, folded: neighbours that differ only in the number at their end share one
 * pair of brackets, and consecutive numbers in it become a range (`c1 c2 c4` is `c[1-2,4]`).
 * Parsing the result gives the same names in the same order; sorted names give the shortest text.
 * The names are valid (hostlist_is_name).  If they do not fit, s->full is set, and the text is
 * useless. */
void hostlist_fold(struct str *s, const char *const *names, size_t n);

/* Is text one valid node name? */
bool hostlist_is_name(const char *text);

#endif
