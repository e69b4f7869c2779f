/* csv.h - lines of comma-separated values that are safe to open in a spreadsheet.
 *
 * A spreadsheet takes a text that begins with one of = + - @ for a formula and runs it; users name
 * their jobs as they like.  Such a text gets an apostrophe in front of it, as does what is one
 * behind a ';' or an end of line, where some spreadsheets begin a field; and nothing else changes
 * but bytes that are no UTF-8 and control characters, which become '?'.  Numbers that we made are
 * written as they are: -1.5 stays a number. */
#ifndef BURSTD_LEDGER_CSV_H
#define BURSTD_LEDGER_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/sink.h"

struct csv {
	const struct sink *to;
	struct str line;
	bool crlf;
	bool begun; /* the line has a field */
};

/* Borrow `to`.  spreadsheet: begin with a byte order mark and end lines with CR LF, without which
 * some spreadsheets take UTF-8 for something else. */
void csv_init(struct csv *c, const struct sink *to, bool spreadsheet);
void csv_fini(struct csv *c);

/* Each adds one field to the line. */
void csv_text(struct csv *c, const char *text); /* a stranger's: guarded */
void csv_own(struct csv *c, const char *text);  /* ours, and no formula: quoted if it must be */
void csv_i64(struct csv *c, int64_t v);
void csv_money(struct csv *c, int64_t nano, bool point); /* exact: number_money() */
void csv_null(struct csv *c);
/* Hand the line over.  -1: it is too long, or the sink failed; the line is gone. */
int csv_end(struct csv *c, struct err *e);

/* May a spreadsheet take this text for a formula? */
bool csv_is_formula(const char *text);

#endif
