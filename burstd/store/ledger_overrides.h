/* ledger_overrides.h - the ledger's copy of what was added to budgets, for statements. */
#ifndef BURSTD_STORE_LEDGER_OVERRIDES_H
#define BURSTD_STORE_LEDGER_OVERRIDES_H

#include "store/journal_facts.h"
#include "store/ledger.h"

/* Copy one, or when it ended and why: all else of it never changes. */
int ledger_put_override(struct ledger *l, const struct fact_override *o, struct err *e);
/* Those that were made from from_ms until before to_ms, in that order. */
int ledger_overrides(struct ledger *l, int64_t from_ms, int64_t to_ms, fact_override_fn fn,
		     void *ctx, struct err *e);

#endif
