/* export_budgets.h - what budgets came to in a period, for its statement. */
#ifndef BURSTD_LEDGER_EXPORT_BUDGETS_H
#define BURSTD_LEDGER_EXPORT_BUDGETS_H

#include "base/secret.h"
#include "ledger/statement.h"
#include "store/ledger.h"

struct export_budgets { /* texts are its own */
	struct statement_budget *v;
	size_t n;
};

/* Those whose whole period lies in [start_s, end_s): of a month not a budget of a year, whose
 * figures go on to change.  site_key: not NULL: values are pseudonyms, and what a budget counts is
 * left out, for both may name somebody.  -1: *e; *x is empty then. */
int export_budgets_load(struct export_budgets *x, struct ledger *l, int64_t start_s, int64_t end_s,
			const struct secret *site_key, struct err *e);
void export_budgets_fini(struct export_budgets *x);
/* "physics", or "students/ann", the value as a pseudonym by site_key unless that is NULL: the
 * caller's. */
char *export_budget_name(const char *budget, const char *value, const struct secret *site_key);

#endif
