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

struct journal_usage_key {
	const char *node, *instance;
	uint64_t gen;
};

/* Visit the bill of an instance that its tags call this generation: its own, or else that of the
 * next one that had the instance, as when another one had its generation.  An older one is not
 * meant: a provider may give out an id again.  No visit if there is none. */
int journal_usage_of(struct journal *j, const struct journal_usage_key *k, journal_usage_fn fn,
		     void *ctx, struct err *e);

#endif
