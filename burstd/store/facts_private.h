/* facts_private.h - reads rows of facts: the journal has them, and the ledger its copies, in
 * columns of one order. */
#ifndef BURSTD_STORE_FACTS_PRIVATE_H
#define BURSTD_STORE_FACTS_PRIVATE_H

#include "store/db.h"
#include "store/journal_facts.h"

struct facts_visit { /* one of the functions is set */
	fact_life_fn life;
	fact_machine_fn machine;
	fact_buyer_fn buyer;
	fact_said_fn said;
	fact_price_fn price;
	fact_spent_fn spent;
	fact_job_spent_fn job_spent;
	fact_day_fn day;
	fact_override_fn override;
	fact_budget_fn budget;
	void *ctx;
	const char *table; /* for errors */
};

/* Read the row at c, and give it to the visit.  1: it is damaged. */
typedef int (*facts_read_fn)(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_life(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_machine(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_buyer(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_spent(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_job_spent(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_day(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_override(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_budget(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_said(struct db_cursor *c, const struct facts_visit *v, struct err *e);
int facts_read_price(struct db_cursor *c, const struct facts_visit *v, struct err *e);

/* Give all rows of the statement at c, which is then reset, so that no transaction stays open. */
int facts_visit_all(struct db *d, struct db_cursor *c, facts_read_fn read,
		    const struct facts_visit *v, struct err *e);

#endif
