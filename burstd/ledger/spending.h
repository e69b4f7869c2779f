/* spending.h - copies what burstd's budgets have spent on jobs, day by day: a thousand times as
 * much as for machines, so only days that may have changed are looked at. */
#ifndef BURSTD_LEDGER_SPENDING_H
#define BURSTD_LEDGER_SPENDING_H

#include "ledger/calendar.h"
#include "store/journal_facts.h"
#include "store/ledger.h"

struct spending {
	struct ledger *ledger;
	struct journal_facts *journal;
	struct calendar *calendar;
	int64_t now_ms;
	bool (*stops)(void); /* true: end soon; NULL: never */
};

/* Copy what is new; each day in a transaction of its own. */
int spending_copy(const struct spending *s, struct err *e);

#endif
