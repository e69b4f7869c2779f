/* focus_file.h - FOCUS data sets in memory, for their tests. */
#ifndef FOCUS_FILE_H
#define FOCUS_FILE_H

#include "tests/unit/ledger/charges.h"
#include "tests/unit/ledger/table.h"

/* Write n charges as they come to s.  focus_write(). */
int focus_file_write(struct str *s, const struct focus_options *o, const struct charge *const *v,
		     size_t n, struct focus_sum *sum, struct err *e);
/* The same, and fail the test if it fails or the sum is wrong; the caller's (free()). */
char *focus_file(const struct focus_options *o, const struct charge *const *v, size_t n);
/* Of one charge, as a table. */
void focus_file_table(struct table *t, const struct focus_options *o, const struct charge *c);

#endif
