/* export_overrides.h - what was added to budgets in a period, for its statement. */
#ifndef BURSTD_LEDGER_EXPORT_OVERRIDES_H
#define BURSTD_LEDGER_EXPORT_OVERRIDES_H

#include "base/secret.h"
#include "ledger/statement.h"
#include "store/ledger.h"

struct export_overrides { /* texts are its own */
	struct statement_override *v;
	size_t n;
};

/* Those that were made in [start_s, end_s), in that order.  What happened to one after end_s is
 * left out, so that a period that is over has the same ones for ever.  site_key: not NULL: names
 * are pseudonyms, and no reason is given, for it may name somebody.  -1: *e; *x is empty then. */
int export_overrides_load(struct export_overrides *x, struct ledger *l, int64_t start_s,
			  int64_t end_s, const struct secret *site_key, struct err *e);
void export_overrides_fini(struct export_overrides *x);

#endif
