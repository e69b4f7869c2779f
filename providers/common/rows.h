/* rows.h - reads a long list from front to back, without building a tree (jpull.h).
 *
 * A cluster of ten thousand instances is listed every few seconds.  A row is the values of the
 * fields that the driver wants, pieces of the text; the others are skipped. */
#ifndef PROVIDERS_COMMON_ROWS_H
#define PROVIDERS_COMMON_ROWS_H

#include <stddef.h>

#include "base/jpull.h"

enum { ROWS_FIELDS_MAX = 16 };

struct rows {
	const char *list;          /* {"LIST": [{...}, ...], "CURSOR": ...} */
	const char *const *fields; /* at most ROWS_FIELDS_MAX, fastest in the order of the reply */
	size_t nfields;
	size_t max; /* rows */
	/* Takes row i: its fields, JPULL_NONE if missing.  -1: the row makes no sense. */
	int (*fn)(void *ctx, size_t i, const struct jpull_value *v);
	void *ctx;
	const char *cursor; /* its key; NULL: "cursor" */
};

/* Read all of body.  *cursor (NULL: none is wanted) is left alone if there is none.  -1: not such a
 * list, too many rows, a member that comes twice, or fn returned -1; fn may have been called
 * before.
 */
int rows_read(const struct rows *rows, const char *body, size_t len, struct jpull_value *cursor);

#endif
