/* rows.h - the rows of one instance in the making: merged where they say the same. */
#ifndef BURSTD_LEDGER_ROWS_H
#define BURSTD_LEDGER_ROWS_H

#include "ledger/allocate.h"

struct rows { /* all zero: none */
	struct allocate_row *v;
	size_t n, cap;
};

void rows_add(struct rows *r, const struct allocate_row *row);
/* Merge all, in order of month, class, owner, job and attempt.  Sums must not overflow. */
void rows_merge(struct rows *r);
/* After that: is this row worth a line?  One of nothing is, if it is the first of a job that cost
 * nothing.  shown has r->n. */
void rows_shown(const struct rows *r, bool *shown);
void rows_fini(struct rows *r);

static inline int rows_compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

static inline int rows_compare_ids(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#endif
