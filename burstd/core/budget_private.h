/* budget_private.h - what the files of budget.h share; only budget*.c include it. */
#ifndef BURSTD_BUDGET_PRIVATE_H
#define BURSTD_BUDGET_PRIVATE_H

#include "base/map.h"
#include "core/budget.h"

/* Sums are exact however many holds there are, so that what ends takes away what it added. */
__extension__ typedef __int128 budget_wide;

#define BUDGET_NO_HOLD UINT32_MAX

/* What holds cost in the period that is now, and after it. */
struct budget_sum {
	budget_wide now, later, rate;
};

struct budget_count { /* one budget, or one value of its `each` */
	const struct conf_budget *b;
	size_t order; /* of b in the file */
	char value[PROVIDER_WORD_MAX + 1];
	char *key; /* order and value, for by_key */
	struct period period;
	enum period_when when;
	int64_t spent; /* in that period */
	struct budget_sum held, tried;
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
	const struct conf_budget *unknown; /* one that it may concern: its account is not known */
};

struct budgets {
	const struct zone *zone;
	int64_t now_ms;
	const struct conf_budget *list;
	size_t nlist;
	struct budget_count **counts;
	size_t ncounts;
	struct map by_key; /* -> struct budget_count, plus 1 */
	struct budget_who **who;
	size_t nwho;
	struct map by_spender; /* -> index in who, plus 1 */
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
};

/* --- budget.c --- */
/* What the hold costs in the period that is now, and after it; of a rolling window all that is to
 * come is in it, as the days that it loses by then are not known to be cheap. */
struct budget_sum budget_part(const struct budget_count *c, const struct budget_hold *h);
void budget_sum_add(struct budget_sum *to, const struct budget_sum *s, int times);
void budget_recount(struct budgets *b); /* all counts anew, from what was spent and is held */
int64_t budget_narrow(budget_wide v);   /* saturates */

/* --- budget_match.c --- */
enum budget_match { BUDGET_NO, BUDGET_YES, BUDGET_PERHAPS };
/* Does the budget concern the spender?  PERHAPS: its account, user, QOS or wckey is not known. */
enum budget_match budget_match(const struct budgets *b, const struct conf_budget *of,
			       const struct budget_spender *s);
/* Does it count what jobs cost? */
bool budget_is_of_jobs(const struct conf_budget *of);
/* The value of `each` that the spender has; "": none. */
const char *budget_value(const struct conf_budget *of, const struct budget_spender *s);

#endif
