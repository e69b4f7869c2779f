/* Loads the journal at the start; refuses rows that burstd cannot have written. */
#include "store/private.h"

/* In the order that journal_load() promises. */
static int (*const loads[])(struct journal *j, const struct journal_visitor *v, struct err *e) = {
	journal_load_batches,        journal_load_nodes,   journal_load_spent,
	journal_load_refusals,       journal_load_pools,   journal_load_rolls,
	journal_load_rescues,        journal_load_claims,  journal_load_vouchers,
	journal_load_prices,         journal_load_holds,   journal_load_days,
	journal_load_budgets,        journal_load_endings, journal_load_alerts,
	journal_load_alert_messages,
};

int journal_load(struct journal *j, const struct journal_visitor *v, struct err *e)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		if (loads[i](j, v, e) < 0)
			return -1;
	return 0;
}
