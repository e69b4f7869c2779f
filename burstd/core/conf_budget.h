/* conf_budget.h - a section budget of burstd.conf: whose jobs it is for, how much these may cost,
 * and what happens as the money is used up.
 *
 * This is only what the admin wrote, checked; core/conf.h has the list of all, in the order of the
 * file.  A reload may add, remove, change and reorder budgets, so a budget is known by its name and
 * never by its index. */
#ifndef BURSTD_CONF_BUDGET_H
#define BURSTD_CONF_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/period.h"
#include "core/provider.h"

enum {
	CONF_BUDGETS_MAX = 20000, /* each new account, user and place is compared with all, once */
	CONF_BUDGET_LIST_MAX = 256,  /* names in one list */
	CONF_NOTIFY_MAX = 8,         /* percents of notify_at: each is a message */
	CONF_BUDGET_OPTIONS_MAX = 32 /* options of the section */
};

/* Of which of its jobs' values each has a budget of its own. */
enum conf_each {
	CONF_EACH_NONE, /* one budget for all of its jobs together */
	CONF_EACH_USER,
	CONF_EACH_ACCOUNT,
	CONF_EACH_PARTITION,
};

/* What is set aside when a job starts. */
enum conf_reserve {
	CONF_RESERVE_FULL,    /* what it may cost until its time limit */
	CONF_RESERVE_LEASE,   /* what it may cost in lease_ms, again and again */
	CONF_RESERVE_MINIMUM, /* the least that its machines are billed */
};

/* What happens to a job whose account or price is not known. */
enum conf_unknown { CONF_UNKNOWN_REFUSE, CONF_UNKNOWN_ALLOW };

/* What burst-prolog does with jobs while it cannot ask burstd whether there is money for them. */
enum conf_away { CONF_AWAY_START, CONF_AWAY_REQUEUE };

enum { CONF_MARKET_ANY = PROVIDER_NMARKETS }; /* beside enum provider_market */

struct conf_percents {
	uint32_t at[CONF_NOTIFY_MAX]; /* increasing */
	size_t n;
};

struct conf_budget {
	char *name;
	/* Its jobs have, of each list that is given, one of the values.  NULL-terminated; NULL:
	 * any. */
	char **partitions;
	char **pools;    /* each is a pool of struct conf */
	char **accounts; /* these, and all accounts below them */
	char **users;
	char **qos;
	char **wckeys;
	char **providers;    /* each is a provider of struct conf */
	int market;          /* enum provider_market, or CONF_MARKET_ANY */
	int each;            /* enum conf_each */
	int64_t amount_nano; /* most that a period may cost; 0: no such limit */
	int64_t rate_nano_h; /* most that all may cost per hour at one time; 0: no such limit */
	char *period;        /* as written; without an amount it has no meaning */
	struct period_rule period_rule; /* derived */
	uint32_t rollover; /* percent of the amount that may move to the next period, if unused */
	int reserve;       /* enum conf_reserve */
	int64_t lease_ms;  /* CONF_RESERVE_LEASE */
	/* Percents of the amount from which on each step is taken; 0: never. */
	struct conf_percents notify_at;
	uint32_t spot_only_at;
	uint32_t stop_at; /* no new jobs */
	uint32_t drain_at, requeue_at, kill_at;
	int64_t grace_ms;                   /* from the warning to requeue or kill */
	int unknown;                        /* enum conf_unknown */
	char *contact;                      /* whom users may ask; ""; printable ASCII */
	int line;                           /* in the file, where its section ends ... */
	int lines[CONF_BUDGET_OPTIONS_MAX]; /* ... and its options, in the order of conf_options[]
					     */
};

struct conf;
struct conf_option;

const struct conf_budget *conf_budget_named(const struct conf *c, const char *name); /* or NULL */
/* Why nothing can be added to this line's amount, nor set; NULL: there is such a line.  value: of
 * `each`; "": the budget has none. */
const char *conf_budget_lacks(const struct conf *c, const char *name, const char *value);
/* Does it count what jobs cost?  Else it counts machines, whole. */
bool conf_budget_is_of_jobs(const struct conf_budget *b);
/* Does the option mean anything for b?  Those about a period and its percents need an amount, lease
 * needs reserve = lease.  conf_print() leaves others out. */
bool conf_budget_takes(const struct conf_budget *b, const struct conf_option *o);
/* The line of that option, or else of the section; 0: it was not read from a file. */
int conf_budget_line(const struct conf_budget *b, const char *option);

/* A step of conf_finish(), once its pools and providers are known: check each budget, and fill in
 * what is derived. */
int conf_budgets_finish(struct conf *c, struct err *e);

#endif
