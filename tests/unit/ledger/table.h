/* table.h - a CSV file as a table of texts, to look into what was written. */
#ifndef TABLE_H
#define TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table {
	char *text;          /* all cells, each ended by a NUL */
	char **cells;        /* row by row; the first is the header */
	size_t ncols, nrows; /* rows without the header */
};

/* Fails the test if rows differ in length or a quote is not closed. */
void table_read(struct table *t, const char *csv);
void table_fini(struct table *t);
/* The cell of a row, from 0, in the column of that name; fails the test if there is none. */
const char *table_get(const struct table *t, size_t row, const char *column);
/* Sum of a column of decimals, exact; empty cells are 0. */
int64_t table_sum(const struct table *t, const char *column);

#endif
