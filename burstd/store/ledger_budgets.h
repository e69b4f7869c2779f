/* ledger_budgets.h - the ledger's copy of what budgets came to in their periods, for statements. */
#ifndef BURSTD_STORE_LEDGER_BUDGETS_H
#define BURSTD_STORE_LEDGER_BUDGETS_H

#include "store/digest.h"
#include "store/journal_facts.h"
#include "store/ledger.h"

/* Copy one, or its new figures; last_day: of its period, in the ledger's zone.  Of a period whose
 * last day is closed nothing changes any more, and none is added. */
int ledger_put_budget(struct ledger *l, const struct fact_budget *b, int64_t last_day,
		      struct err *e);
/* Those whose whole period lies in [from_ms, to_ms), by budget, begin, end and value. */
int ledger_budgets(struct ledger *l, int64_t from_ms, int64_t to_ms, fact_budget_fn fn, void *ctx,
		   struct err *e);
/* All of those whose last day is in [from_day, to_day); *n: how many. */
int ledger_digest_budgets(struct ledger *l, int64_t from_day, int64_t to_day, struct digest *d,
			  int64_t *n, struct err *e);

#endif
