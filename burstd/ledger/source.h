/* source.h - where a report's charges come from: a million of them pass by, one at a time.
 *
 * A report may ask for all of them more than once; they come in the same order each time. */
#ifndef BURSTD_LEDGER_SOURCE_H
#define BURSTD_LEDGER_SOURCE_H

#include <stddef.h>

#include "ledger/charge.h"

/* One charge; its texts are only good until this returns.  -1 ends the visit. */
typedef int (*source_fn)(void *arg, const struct charge *c, struct err *e);

struct source {
	int (*visit)(void *ctx, source_fn charge, void *arg, struct err *e);
	void *ctx;
};

struct source_array {
	const struct charge *const *v;
	size_t n;
};

struct source source_array(struct source_array *a); /* borrowed */

#endif
