/* budget.h - what budgets have left, and whether a job fits into all that it concerns.
 *
 * Money is set aside as *holds*: a hold is a rate for a stretch of time, such as one machine from
 * its purchase to the end of its job's time limit.  It is made before the purchase and ended by
 * what was really spent, so what is spent and held is never more than the budget, unless a machine
 * outlives its hold.  There are two kinds of budgets.  One that names accounts, users, QOS or
 * wckeys counts what jobs cost: their share of the machines that boot for them and that they run
 * on.  Any other counts machines, whole, from begin to end.
 *
 * Pure, and in memory; money/ keeps holds and spending in the journal.  Amounts are nano-units of
 * the configured currency, saturating; times are milliseconds. */
#ifndef BURSTD_BUDGET_H
#define BURSTD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/zone.h"
#include "core/conf_budget.h"
#include "core/payer.h"
#include "core/provider.h"

enum { BUDGET_VALUE_MAX = PAYER_NAME_MAX }; /* bytes of an account, a user, ... */

/* Who spends.  Texts are borrowed; "": there is none, or it is not known. */
struct budget_spender {
	bool machine; /* a machine; account, user, qos and wckey are "" */
	const char *account, *user, *qos, *wckey;
	const char *partition; /* of the job; of a machine: of the job that it was held for */
	const char *pool, *provider;
	enum provider_market market;
};

enum budget_kind {
	BUDGET_MACHINE, /* the whole machine; of a machine's spender, as no other kind */
	BUDGET_BOOT,    /* the machine while it boots for a job, the job's part */
	BUDGET_RUN,     /* the job's part of a machine that it runs on */
	BUDGET_NKINDS
};

struct budget_hold {
	uint32_t spender; /* budgets_spender() */
	enum budget_kind kind;
	int64_t rate_nano_h;       /* of the job's part */
	int64_t from_ms, until_ms; /* until_ms is not part of it */
};

/* Why a job does not fit. */
struct budget_no {
	const struct conf_budget *budget; /* the one that lacks most; NULL: it fits */
	char value[BUDGET_VALUE_MAX + 1]; /* of budget->each; "": none */
	enum budget_lack {
		BUDGET_LACKS_MONEY, /* needs, left, limit: in this period */
		BUDGET_LACKS_LATER, /* likewise, after it: the job would still run then */
		BUDGET_LACKS_RATE,  /* likewise, per hour at one time */
		BUDGET_WANTS_SPOT,  /* what is left is for spot machines only */
		BUDGET_NO_ACCOUNT,  /* it cannot be told whose the job is */
		BUDGET_NO_LIMIT,    /* the job has no time limit, and all of its cost is held */
		BUDGET_NO_PRICE,
		BUDGET_NOT_YET, /* its period has not begun */
		BUDGET_OVER,    /* its period has ended */
	} lack;
	int64_t needs, left, limit;
	int64_t resets_ms; /* when its next period begins; 0: none does, or it is about a rate */
	char period[PERIOD_NAME_SIZE]; /* "": likewise */
	enum provider_market market;   /* for budgets_lack() */
	bool lasting; /* it never fits, into this budget or another: it needs more than there is in
		       * all */
};

struct budgets;
struct str;

/* zone borrowed.  There are no budgets until budgets_configure(). */
struct budgets *budgets_new(const struct zone *zone, int64_t now_ms);
void budgets_free(struct budgets *b); /* NULL is fine */
/* Go over to these budgets, which are borrowed until the next call: what was spent and is held
 * counts against those that it concerns now. */
void budgets_configure(struct budgets *b, const struct conf_budget *list, size_t n);
bool budgets_any(const struct budgets *b);
struct budget_account {
	char *name, *parent;
};
/* These are all accounts but the root; texts are copied.  A change counts for all that was spent.
 * false: it is the tree that is known. */
bool budgets_tree(struct budgets *b, const struct budget_account *v, size_t n);
bool budgets_knows(const struct budgets *b, const char *account); /* is it in the tree? */
/* The account is below this one; texts are copied.  A change counts for all that was spent. */
void budgets_account(struct budgets *b, const char *account, const char *parent);

/* The name of an account as Slurm has it: in small letters; cut at BUDGET_VALUE_MAX. */
void budget_fold(char out[BUDGET_VALUE_MAX + 1], const char *name);

/* What finance or an admin has changed of the amount of one line, for each period until a time. */
struct budget_override {
	const char *budget, *value; /* value: of `each`; "": none */
	/* false: it is added to the amount.  true: it is the amount, instead of that of
	 * burstd.conf: of several the last one in the list that has not ended.  0: nothing may be
	 * spent. */
	bool set;
	int64_t nano;     /* > 0, or of a set one >= 0 */
	int64_t until_ms; /* it counts before then */
	int64_t id;       /* for struct budget_line */
};
/* These are all of them; texts are copied.  true: some budget may have more room than before.  A
 * line that one is for exists, even if nobody has spent anything of it. */
bool budgets_overrides(struct budgets *b, const struct budget_override *v, size_t n);
struct budget_span { /* of a period; a month and a quarter may begin together */
	int64_t begin_ms, end_ms;
};
/* A budget of this name was there in this period, and this value of its `each` had this amount by
 * itself, without what was added: what was not spent of it may roll over to the next.  value "": so
 * had all values of which nothing else is said. */
void budgets_existed(struct budgets *b, const char *budget, const char *value,
		     const struct budget_span *span, int64_t amount);

/* The number of a spender, the same for the same texts, but for capital letters in the account, of
 * which Slurm makes small ones.  It is good until budgets_now(), and as long as the spender has a
 * hold, or a day on which it spent something.  Texts: at most BUDGET_VALUE_MAX bytes. */
uint32_t budgets_spender(struct budgets *b, const struct budget_spender *s);
const struct budget_spender *budgets_spender_at(const struct budgets *b, uint32_t spender);
/* Does any budget concern this spender? */
bool budgets_concern(const struct budgets *b, uint32_t spender);
/* How much of the coming time of a job must be held: the most that any budget of this spender
 * wants. limit_ms: of the job, with what it may exceed it by; -1: none.  -1: as long as it runs. */
int64_t budgets_reserve_ms(const struct budgets *b, uint32_t spender, int64_t limit_ms,
			   int64_t minimum_ms);

/* Something was spent on a day of the zone (base/zone.h), or given back (negative).  Returns what
 * the spender has spent on that day, in all. */
int64_t budgets_spent(struct budgets *b, uint32_t spender, int64_t day, int64_t nano);
/* Forget what was spent on days before this one.  Returns the first day that is kept, an earlier
 * one if it counts for the present period of a budget. */
int64_t budgets_forget(struct budgets *b, int64_t day);
int64_t budgets_day(const struct budgets *b, int64_t ms);
int64_t budgets_day_begin_ms(const struct budgets *b, int64_t day);

/* A hold begins to count; returns its number, until budgets_release(), which ends it. */
uint32_t budgets_hold(struct budgets *b, const struct budget_hold *h);
void budgets_release(struct budgets *b, uint32_t hold);
const struct budget_hold *budgets_hold_at(const struct budgets *b, uint32_t hold);
/* The most that a hold may cost from from_ms until until_ms, rounded up. */
int64_t budget_cost(int64_t rate_nano_h, int64_t from_ms, int64_t until_ms);

/* Time has passed: a new period may have begun.  true: some budget has more room than before. */
bool budgets_now(struct budgets *b, int64_t now_ms);
/* When that must be said at the latest, for a period or an override ends then; INT64_MAX: never. */
int64_t budgets_turn_ms(const struct budgets *b);

struct budget_want { /* n equal holds */
	struct budget_hold hold;
	uint32_t n;
	bool longer; /* what is held already is to last longer: no rate is added */
};
/* Do all holds that one job wants fit into all budgets that they concern?  true: if `take` they
 * count, until budgets_forget_tries(), so that the next job sees what is left.  false: *no is the
 * budget that lacks most, and nothing has changed.  until_ms INT64_MAX: the job has no time limit.
 */
bool budgets_try(struct budgets *b, const struct budget_want *wants, size_t n, bool take,
		 struct budget_no *no);
/* As `take` does, for the last job that fitted; once. */
void budgets_take(struct budgets *b);
void budgets_forget_tries(struct budgets *b);
/* The job that lacks something holds this already, and gives it back as it waits: it needs that as
 * well, and there is as much more. */
void budgets_add_held(const struct budgets *b, const struct budget_hold *h, struct budget_no *no);
/* A job that lacked this may try again, and its needs are as good as held for others that wait
 * (sign 1), or no more (sign -1).  budgets_try() does not ask for it: the job itself is tried. */
void budgets_promise(struct budgets *b, const struct budget_no *no, int sign);
/* Does the budget still lack what it did, beside what is promised?  *no must be of the present
 * configuration. */
bool budgets_lack(const struct budgets *b, const struct budget_no *no);

/* One line, for people: "budget physics: this job needs 118.08 EUR for its 4 h, 61.20 of 500.00
 * left in 2026-11".  limit_ms: of the job, -1 if it has none.  Whom to ask is left out where there
 * is no room for it, and what is too long all the same ends with "...". */
void budget_no_print(const struct budget_no *no, const char *currency, int64_t limit_ms, char *out,
		     size_t size);

struct budget_line { /* one budget, or one value of `each`; borrowed */
	const struct conf_budget *budget;
	const char *value; /* "": none */
	struct period period;
	enum period_when when;
	/* Is there a most that the period may cost?  Without it no field about an amount has a
	 * meaning. */
	bool limited;
	/* The most: what the line has by itself, what the period before left
	 * (conf_budget.rollover), and what overrides add.  0: nothing may be spent. */
	int64_t amount;
	int64_t own;            /* by itself: as configured, or as an override sets it */
	int64_t set_id;         /* the override that sets it; 0: it is as configured */
	int64_t carried, added; /* parts of amount: rolled over, and overrides */
	/* later: held for after the period, or billed ahead for then */
	int64_t spent, held, later;
	int64_t rate; /* of all holds */
	int64_t left; /* of the amount, may be negative; INT64_MAX: there is none */
	/* The period that ended last, if the budget was there in it: the one before this, or this
	 * range if it is over.  Its amount without what was carried or added, what was spent in
	 * it, and what is still held for it: what still runs has cost that until its end. */
	bool has_last;
	struct period last;
	int64_t last_amount, last_spent, last_held;
};
/* In no order; a number is good until budgets_configure(), and the next new spender. */
size_t budgets_lines(struct budgets *b);
struct budget_line budgets_line(const struct budgets *b, size_t i);
/* How far the ladder of the line has got: each step includes those before it. */
enum budget_step { BUDGET_GOES_ON, BUDGET_DRAINS, BUDGET_REQUEUES, BUDGET_KILLS, BUDGET_NSTEPS };
/* used_nano: what was really spent in the period, up to now, without what is only set aside. */
enum budget_step budget_step(const struct budget_line *l, int64_t used_nano);
const char *budget_step_str(enum budget_step s); /* "", "drain", "requeue", "kill" */
/* Write into s, which is empty, what a budget counts: "accounts physics, chem; spot machines", "all
 * jobs of each user", "all machines". */
void budget_print_counted(struct str *s, const struct conf_budget *b);

/* For each budget of the list the most that jobs may ever use of one period, by any of its lines:
 * with all that can roll over, and what overrides add or set; no job that needs more ever fits.  0:
 * it refuses none for an amount. */
void budgets_most(const struct budgets *b, int64_t *out);
/* Call fn for each account that is known to be below another one. */
typedef void (*budget_account_fn)(void *ctx, const char *account, const char *parent);
void budgets_each_account(const struct budgets *b, budget_account_fn fn, void *ctx);

/* What the hold has cost until now, of what counts for this line in its period: never more than
 * what is held for it.  0 without an amount. */
int64_t budgets_accrued(const struct budgets *b, size_t line, const struct budget_hold *h,
			int64_t now_ms);
/* The lines that the spender counts for; *lines: until the next call of anything that may change
 * them.  Returns how many. */
size_t budgets_lines_of(const struct budgets *b, uint32_t spender, const uint32_t **lines);
/* Which lines a user may see: those of each = user that have this name; those whose `users` have
 * it, unless they are somebody else's, or an account's; and those for which jobs of this user hold
 * something, or have spent something in the period.  lines: one for each, all are set. */
void budgets_lines_for(const struct budgets *b, const char *user, bool *lines);

#endif
