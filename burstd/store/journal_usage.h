/* journal_usage.h - what each instance cost. */
#ifndef BURSTD_JOURNAL_USAGE_H
#define BURSTD_JOURNAL_USAGE_H

#include <stdint.h>

#include "base/err.h"

struct journal;
struct journal_tx;

/* One instance's bill: written when it ends.  Written again for the same (node, gen, instance), as
 * when a list shows an instance that was thought gone, it replaces the first. */
struct journal_usage {
	const char *pool, *node, *instance;
	uint64_t gen;
	int64_t start_ms, end_ms, rate_nano_h, cost_nano;
};

void journal_put_usage(struct journal_tx *tx, const struct journal_usage *u);

/* The bills of a node, the newest generation first.  A visit that does not return 0 ends it, which
 * is no error. */
typedef int (*journal_usage_fn)(void *ctx, const struct journal_usage *u);
int journal_usages(struct journal *j, const char *node, journal_usage_fn fn, void *ctx,
		   struct err *e);

#endif
