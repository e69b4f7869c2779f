/* journal_facts.h - reads the facts in burstd's journal from another process: what burstd did, and
 * when, which bills are computed from.
 *
 * Nothing is written, and burstd never waits: each call reads some rows in a transaction of its
 * own.  A journal that is missing, busy or too old to have facts is an error of ERR_IO, for it may
 * be another in a minute; one from a newer burstd is ERR_INVALID. */
#ifndef BURSTD_JOURNAL_FACTS_H
#define BURSTD_JOURNAL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct journal_facts;

/* The rows of the tables, as in schema.c; texts are borrowed for the visit.  seq: grows with each
 * row of its table. */
struct fact_life {
	int64_t seq;
	const char *node, *kind, *instance;
	uint64_t gen;
	int64_t at_ms, said_ms, rate_nano_h;
};

struct fact_machine {
	const char *node;
	uint64_t gen;
	int64_t at_ms;
	const char *pool, *provider, *offer, *type, *region, *zone, *market, *currency;
	int64_t quantum_ms, minimum_ms, cpus, memory_mb, gpus;
};

struct fact_said { /* of a job, by slurmctld */
	int64_t seq, at_ms;
	uint64_t job;
	const char *id, *account, *user, *partition, *qos, *wckey;
	int64_t limit_s, nodes, cpus, memory_mb, gpus;
};

struct fact_price {
	int64_t seq;
	const char *provider, *region, *zone, *type, *market, *currency;
	int64_t nano_h; /* negative: withdrawn */
	int64_t valid_from_ms, observed_ms;
	const char *source;
};

struct fact_spent {  /* what machines that have ended cost on a day, as budgets have it */
	int64_t day; /* of the report's zone; base/date.h */
	const char *provider, *market, *pool;
	int64_t nano;
};

/* What a job's owner spent on a day, likewise, whatever the wckey. */
struct fact_job_spent {
	int64_t day;
	const char *account, *user, *qos, *partition, *pool, *provider, *market;
	int64_t nano;
};

struct fact_override { /* what somebody added to a budget's amount, or set instead of it */
	int64_t id, nano, made_ms;
	bool set;
	int64_t until_ms; /* until when, or when it was revoked */
	const char *budget, *value, *by, *reason;
	const char *revoked_by, *revoked_why; /* "": it was not */
};

struct fact_budget { /* what a budget, or a value of its `each`, came to in a period */
	const char *budget, *value, *period;
	int64_t begin_ms, end_ms;
	int64_t amount, added, carried, spent, held; /* as struct budget_line */
	int64_t at_ms;                               /* of these figures */
	const char *counted;                         /* whose costs, for people; "": not known */
};

/* Each is called in order of seq.  A visit that returns -1 (with *e) ends the call, which returns
 * -1, too. */
typedef int (*fact_life_fn)(void *ctx, const struct fact_life *l, struct err *e);
typedef int (*fact_machine_fn)(void *ctx, const struct fact_machine *m, struct err *e);
typedef int (*fact_buyer_fn)(void *ctx, uint64_t job, struct err *e);
typedef int (*fact_said_fn)(void *ctx, const struct fact_said *s, struct err *e);
typedef int (*fact_price_fn)(void *ctx, const struct fact_price *p, struct err *e);
typedef int (*fact_spent_fn)(void *ctx, const struct fact_spent *s, struct err *e);
typedef int (*fact_job_spent_fn)(void *ctx, const struct fact_job_spent *s, struct err *e);
typedef int (*fact_day_fn)(void *ctx, int64_t day, int64_t nano, struct err *e);
typedef int (*fact_override_fn)(void *ctx, const struct fact_override *o, struct err *e);
typedef int (*fact_budget_fn)(void *ctx, const struct fact_budget *b, struct err *e);

int journal_facts_open(struct journal_facts **out, const char *path, struct err *e);
void journal_facts_close(struct journal_facts *f); /* NULL is fine */

/* Rows after that seq, at most limit.  A journal without prices has none. */
int journal_facts_lives(struct journal_facts *f, int64_t after, unsigned limit, fact_life_fn fn,
			void *ctx, struct err *e);
int journal_facts_said(struct journal_facts *f, int64_t after, unsigned limit, fact_said_fn fn,
		       void *ctx, struct err *e);
int journal_facts_prices(struct journal_facts *f, int64_t after, unsigned limit, fact_price_fn fn,
			 void *ctx, struct err *e);
/* What was bought for a generation, if that is known, and the jobs that it was bought for. */
int journal_facts_machine(struct journal_facts *f, const char *node, uint64_t gen,
			  fact_machine_fn fn, void *ctx, struct err *e);
int journal_facts_buyers(struct journal_facts *f, const char *node, uint64_t gen, fact_buyer_fn fn,
			 void *ctx, struct err *e);

struct fact_spending {
	int64_t seq;      /* the largest of life at that moment: what has ended by then is in it */
	int64_t since_ms; /* since when nothing is missing in it; 0: burstd has no budgets */
};
/* What all machines cost, by day, provider, market and pool, as of one moment. */
int journal_facts_spent(struct journal_facts *f, struct fact_spending *s, fact_spent_fn fn,
			void *ctx, struct err *e);

/* What all jobs have spent on each day from that one on; and the owners of one day.  A journal
 * without budgets has none. */
int journal_facts_job_days(struct journal_facts *f, int64_t from_day, fact_day_fn fn, void *ctx,
			   struct err *e);
int journal_facts_job_spent(struct journal_facts *f, int64_t day, fact_job_spent_fn fn, void *ctx,
			    struct err *e);
/* When the first thing begins that is held for a job now: what jobs have spent before does not
 * change until it is over.  INT64_MAX: nothing is held. */
int journal_facts_held_ms(struct journal_facts *f, int64_t *ms, struct err *e);

/* All overrides there ever were, by id.  A journal without them has none. */
int journal_facts_overrides(struct journal_facts *f, fact_override_fn fn, void *ctx, struct err *e);

/* Those whose figures are of after_ms or later, but for rolling periods, which have neither begin
 * nor end.  A journal without the table, or of a burstd that wrote no last figures, has none. */
int journal_facts_budgets(struct journal_facts *f, int64_t after_ms, fact_budget_fn fn, void *ctx,
			  struct err *e);

/* The largest seq of life; 0: none. */
int journal_facts_last(struct journal_facts *f, int64_t *seq, struct err *e);

#endif
