/* table.h - a table with aligned columns, as wide as their cells. */
#ifndef BURSTD_TABLE_H
#define BURSTD_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/out.h"

struct table_column {
	const char *title;
	bool right; /* right-aligned, for numbers */
};

struct table {
	const struct table_column *columns; /* borrowed */
	size_t ncolumns;
	struct table_cell *cells; /* row by row */
	size_t n, cap;
};

void table_init(struct table *t, const struct table_column *columns, size_t n);
void table_fini(struct table *t);
/* Add the next cell, copied; "" is printed as "-". */
void table_add(struct table *t, enum out_style style, const char *text);
void table_print(const struct table *t, const struct out *o, unsigned indent);

#endif
