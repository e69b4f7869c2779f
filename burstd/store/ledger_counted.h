/* ledger_counted.h - compares the bills of machines with what burstd's budgets have for them: both
 * by day, provider, market and pool, of machines that have ended. */
#ifndef BURSTD_STORE_LEDGER_COUNTED_H
#define BURSTD_STORE_LEDGER_COUNTED_H

#include "store/journal_facts.h"
#include "store/ledger.h"

struct ledger_place {
	const char *provider, *market, *pool;
};

/* A day of a lifetime that has ended.  Amounts are nano-units. */
struct ledger_counted {
	int64_t day;
	int64_t bill;     /* by its postings, before credits */
	int64_t counted;  /* as burstd's budgets have counted it, by the facts */
	int64_t slack;    /* by so much the two may differ, since the ledger counts seconds */
	int64_t ended_ms; /* when it ended */
};

/* These are all days of the lifetime, in order.  What has changed is compared again. */
struct ledger_days {
	int64_t lifetime;
	struct ledger_place place;
	const struct ledger_counted *v;
	size_t n;
};
int ledger_set_counted(struct ledger *l, const struct ledger_days *d, struct err *e);
/* Copy what budgets have; likewise. */
int ledger_put_spent(struct ledger *l, const struct fact_spent *s, struct err *e);
/* Days from this one on are to be compared again. */
int ledger_compare_from(struct ledger *l, int64_t day, struct err *e);

enum ledger_agreement {
	LEDGER_AGREES,
	/* The budgets have what burstd knew then; the bill is by other prices or times, that came
	 * later. */
	LEDGER_EXPLAINED,
	LEDGER_DIFFERS, /* and nothing explains it */
};

struct ledger_agreed {
	int64_t day;
	int64_t provider, market, pool; /* words */
	enum ledger_agreement state;
	int64_t spent, bill;
};

/* All there is of a day, provider, market and pool. */
struct ledger_both {
	int64_t day;
	int64_t provider, market, pool;                /* words */
	int64_t spent, bill, counted, slack, ended_ms; /* ended_ms: of the first that ended */
};
typedef int (*ledger_both_fn)(void *ctx, const struct ledger_both *b, struct err *e);
/* Of days from this one on, in order. */
int ledger_both(struct ledger *l, int64_t from_day, ledger_both_fn fn, void *ctx, struct err *e);

/* Forget the results of days from this one on, and put new ones. */
int ledger_forget_agreed(struct ledger *l, int64_t from_day, struct err *e);
int ledger_put_agreed(struct ledger *l, const struct ledger_agreed *a, struct err *e);

/* How many results there are of each state. */
int ledger_count_agreed(struct ledger *l, int64_t n[LEDGER_DIFFERS + 1], struct err *e);
typedef int (*ledger_agreed_fn)(void *ctx, const struct ledger_agreed *a, struct err *e);
/* Those that differ, the last days first, at most limit. */
int ledger_differing(struct ledger *l, unsigned limit, ledger_agreed_fn fn, void *ctx,
		     struct err *e);

#endif
