/* budget_private.h - what the files of budget.h share; only budget*.c include it. */
#ifndef BURSTD_BUDGET_PRIVATE_H
#define BURSTD_BUDGET_PRIVATE_H

#include "base/map.h"
#include "core/budget.h"

/* Sums are exact however many holds there are, so that what ends takes away what it added. */
__extension__ typedef __int128 budget_wide;

#define BUDGET_NO_HOLD UINT32_MAX

/* What holds cost in the period that is now, after it, and in the one that ended last. */
struct budget_sum {
	budget_wide now, later, last, rate;
};

struct budget_count { /* one budget, or one value of its `each` */
	const struct conf_budget *b;
	size_t order; /* of b in the file */
	char value[BUDGET_VALUE_MAX + 1];
	char *key; /* order and value, for by_key */
	struct period period;
	enum period_when when;
	struct budget_days_of {
		int64_t begin, end;
	} days, last_days; /* of the zone, that are in it, and in `last` */
	int64_t spent;     /* in that period */
	/* Likewise on days after it: what was billed ahead, such as the rest of an hour.  In a
	 * rolling window these days come into it, as what is held for them does. */
	int64_t ahead;
	struct budget_sum held, tried;
	struct budget_sum promised; /* to jobs that may try again: budgets_lack() */
	bool has_last;              /* the budget was there in a period that has ended: */
	struct period last; /* the last of these: a range that is over, or the one before now ... */
	int64_t last_amount; /* ... what the budget had then ... */
	int64_t last_spent;  /* ... and what was spent in it */
	int64_t added;       /* by overrides */
	/* What an override sets instead of the configured amount; -1: none does, and set_id is 0.
	 */
	int64_t set, set_id;
	int64_t next_set; /* likewise, when the next period begins */
};

struct budget_day {
	int64_t day, nano;
};

struct budget_who {              /* a spender */
	struct budget_spender s; /* its texts are in `text` */
	char *text;              /* also its key */
	struct budget_day *days; /* what it spent, by day, in order */
	size_t ndays;
	uint32_t *counts; /* the budgets that it concerns */
	size_t ncounts;
	size_t nholds;
	const struct conf_budget *unknown; /* one that it may concern: its account is not known */
};

enum { BUDGET_ANCESTORS_MAX = 64 }; /* of an account; Slurm's trees are not so deep; a loop ends */

/* What a budget is found by: the first of its lists that is given. */
enum budget_by {
	BUDGET_BY_ACCOUNT,
	BUDGET_BY_USER,
	BUDGET_BY_WCKEY,
	BUDGET_BY_QOS,
	BUDGET_BY_PARTITION,
	BUDGET_BY_POOL,
	BUDGET_BY_PROVIDER,
	BUDGET_NBY
};

struct budget_named;

struct budget_added {    /* an override */
	char *key;       /* of its line */
	size_t value_at; /* in the key */
	bool set;
	int64_t nano, until_ms, id;
	struct budget_added *next; /* of the same line: one that is older */
};

struct budget_index {
	struct map by[BUDGET_NBY]; /* a name -> struct budget_named */
	struct budget_named **all;
	size_t nall;
	uint32_t *rest; /* those without a list */
	size_t nrest;
	uint32_t *found; /* by the last look-up */
	size_t nfound, cap;
};

struct budgets {
	const struct zone *zone;
	int64_t now_ms;
	const struct conf_budget *list;
	size_t nlist;
	struct budget_index index; /* of list */
	bool stale;                /* accounts have moved since all was counted */
	int64_t turn_ms; /* when the period of a count begins or ends next; INT64_MAX: none does */
	struct budget_count **counts;
	size_t ncounts, counts_cap;
	struct map by_key;       /* -> index in counts, plus 1 */
	struct budget_who **who; /* NULL: free */
	size_t nwho, who_cap;
	uint32_t *free_who;
	size_t nfree;
	struct map by_spender;       /* -> index in who, plus 1 */
	uint32_t last_who[2];        /* those that were looked up last: of machines, of jobs */
	struct budget_trial *trials; /* of the last job */
	size_t ntrials, trials_cap;  /* ntrials 0: it did not fit, or counts already */
	struct budget_slot {
		struct budget_hold h;
		bool used;
		uint32_t next_free;
	} * holds;
	size_t nholds, holds_cap;
	uint32_t free_hold; /* BUDGET_NO_HOLD: none */
	struct map parents; /* account -> its parent's name, copied */
	char **parent_texts;
	size_t nparents;
	struct map added_to;        /* the key of a line -> the newest of its overrides */
	struct budget_added *added; /* all of them */
	int64_t lapse_ms;           /* when the next of them ends; INT64_MAX: none does */
	struct map past;            /* the key of a line and a period in which it was there */
	struct budget_past {
		char *key;
		int64_t amount; /* that it had by itself then, without what was added */
		struct budget_past *next;
	} * pasts; /* all of them */
};

enum { BUDGET_KEY_SIZE = BUDGET_VALUE_MAX + 32 };
void budget_key(char out[BUDGET_KEY_SIZE], size_t order, const char *value); /* for by_key */

/* --- budget.c --- */
/* What the hold costs in the period that is now, and after it; of a rolling window all that is to
 * come is in it, as the days that it loses by then are not known to be cheap. */
struct budget_sum budget_part(const struct budget_count *c, const struct budget_hold *h);
/* All that it has cost, or is held for, in the period that is now, and after it. */
budget_wide budget_used(const struct budget_count *c);
budget_wide budget_after(const struct budget_count *c);
/* Something was spent on that day: count it. */
void budget_count_day(struct budget_count *c, int64_t day, int64_t nano);
void budget_sum_add(struct budget_sum *to, const struct budget_sum *s, int times);
void budget_recount(struct budgets *b); /* all counts anew, from what was spent and is held */
int64_t budget_narrow(budget_wide v);   /* saturates */
/* The index of the count of this budget for this spender, or for this value; makes it. */
uint32_t budget_count_of(struct budgets *b, size_t order, const struct budget_spender *s);
uint32_t budget_count_for(struct budgets *b, size_t order, const char *value);
/* Count all anew, if accounts have moved. */
void budget_refresh(struct budgets *b);

/* --- budget_amount.c --- */
void budget_amounts_init(struct budgets *b);
void budget_amounts_fini(struct budgets *b);
/* Find the period that is now, and the one that ended last. */
void budget_turn(struct budgets *b, struct budget_count *c);
/* What it has by itself, as configured or set; likewise when the next period begins. */
int64_t budget_own(const struct budget_count *c);
int64_t budget_next_own(const struct budget_count *c);
/* That, what rolls over, and what overrides add. */
int64_t budget_amount(const struct budget_count *c);
int64_t budget_carried(const struct budget_count *c);
void budget_lapses(struct budgets *b); /* which override ends next */
/* Make the counts of all lines that overrides are for. */
void budget_amounts_count(struct budgets *b);
/* Will any of them have more by itself, as overrides have ended since it was counted? */
bool budget_amounts_rise(const struct budgets *b);

/* --- budget_who.c --- */
/* Find the budgets that it concerns, and count there what it spent. */
void budget_who_match(struct budgets *b, struct budget_who *w);
void budget_who_free(struct budget_who *w); /* NULL is fine */
/* Forget those that have neither holds nor anything spent. */
void budget_who_sweep(struct budgets *b);

/* --- budget_index.c --- */
void budget_index_init(struct budget_index *x, const struct conf_budget *list, size_t n);
void budget_index_fini(struct budget_index *x);
/* The budgets that may concern the spender, in the order of the file; until the next call. */
size_t budget_index_find(struct budgets *b, const struct budget_spender *s, const uint32_t **out);

/* --- budget_match.c --- */
enum budget_match { BUDGET_NO, BUDGET_YES, BUDGET_PERHAPS };
/* Does the budget concern the spender?  PERHAPS: its account, user, QOS or wckey is not known. */
enum budget_match budget_match(const struct budgets *b, const struct conf_budget *of,
			       const struct budget_spender *s);
/* May its amount refuse a job of this market?  Else it only counts. */
bool budget_limits(const struct conf_budget *of, enum provider_market market);
/* A wckey by its name: slurmctld puts a "*" before the user's default if a job names none. */
const char *budget_wckey(const char *wckey);
/* The value of `each` that the spender has; "": none. */
const char *budget_value(const struct conf_budget *of, const struct budget_spender *s);

#endif
