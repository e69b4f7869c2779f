/* ledger_overrides.h - the ledger's copy of what was added to budgets, for statements. */
#ifndef BURSTD_STORE_LEDGER_OVERRIDES_H
#define BURSTD_STORE_LEDGER_OVERRIDES_H

#include "store/digest.h"
#include "store/journal_facts.h"
#include "store/ledger.h"

/* Copy one, or when it ended and why: all else of it never changes.  made_day, until_day: when that
 * was and when it ends, in the ledger's zone.  In closed months none is made any more, and none
 * ends that did not: an older journal, restored, has some that did not end yet. */
int ledger_put_override(struct ledger *l, const struct fact_override *o, int64_t made_day,
			int64_t until_day, struct err *e);
/* Those that were made from from_ms until before to_ms, in that order. */
int ledger_overrides(struct ledger *l, int64_t from_ms, int64_t to_ms, fact_override_fn fn,
		     void *ctx, struct err *e);
/* Of those that were made or ended on days in [from_day, to_day) all that a statement of that time
 * shows, and so not when and why one ends later; *n: how many. */
int ledger_digest_overrides(struct ledger *l, int64_t from_day, int64_t to_day, struct digest *d,
			    int64_t *n, struct err *e);

#endif
