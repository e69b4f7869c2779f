/* csv_in.h - reads comma-separated values, record by record, as spreadsheets and clouds write them:
 * with a byte order mark or none, lines that end in LF or CR LF, fields in quotes that have commas
 * and lines in them.  One record is in memory at a time. */
#ifndef BURSTD_LEDGER_CSV_IN_H
#define BURSTD_LEDGER_CSV_IN_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

enum {
	CSV_IN_RECORD_MAX = 1 << 22, /* bytes: tags of a resource may be long */
	CSV_IN_FIELDS_MAX = 2000,    /* AWS has some hundreds */
};

struct csv_in {
	FILE *f;
	const char *name;
	struct str text; /* the fields, each with its NUL */
	size_t at[CSV_IN_FIELDS_MAX];
	size_t n;          /* fields of the record */
	int64_t line;      /* in which it begins */
	int64_t next_line; /* in which the next one does */
};

/* path is borrowed.  -1: *e has its name; csv_in_close() in any case. */
int csv_in_open(struct csv_in *c, const char *path, struct err *e);
void csv_in_close(struct csv_in *c);
/* The next record that is not an empty line.  1: there is one; 0: the end; -1: *e has the name of
 * the file and the line. */
int csv_in_next(struct csv_in *c, struct err *e);
/* "" beyond the record's end; good until the next one. */
const char *csv_in_field(const struct csv_in *c, size_t i);

#endif
