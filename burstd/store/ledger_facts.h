/* ledger_facts.h - the ledger's copies of the journal's facts, and the lifetimes that they tell of:
 * an instance of a generation, from its create to its end. */
#ifndef BURSTD_STORE_LEDGER_FACTS_H
#define BURSTD_STORE_LEDGER_FACTS_H

#include "store/journal_facts.h"
#include "store/ledger.h"

/* Copy a fact, unless it is there: what is read twice changes nothing.  A row of life about an
 * instance makes its lifetime, or has it computed again. */
int ledger_put_life(struct ledger *l, const struct fact_life *life, struct err *e);
int ledger_put_machine(struct ledger *l, const struct fact_machine *m, struct err *e);
int ledger_put_buyer(struct ledger *l, const char *node, uint64_t gen, uint64_t job, struct err *e);
int ledger_put_said(struct ledger *l, const struct fact_said *s, struct err *e);
/* Lifetimes that were booked by then are computed again, if it was in effect for them.  *fresh: it
 * was not there. */
int ledger_put_price(struct ledger *l, const struct fact_price *p, bool *fresh, struct err *e);

/* In the order in which burstd wrote them: those of this instance, and those of the generation that
 * name no instance.  Not nested in itself, as all that follow. */
int ledger_lives(struct ledger *l, const char *node, uint64_t gen, const char *instance,
		 fact_life_fn fn, void *ctx, struct err *e);
int ledger_machine(struct ledger *l, const char *node, uint64_t gen, fact_machine_fn fn, void *ctx,
		   struct err *e);
int ledger_buyers(struct ledger *l, const char *node, uint64_t gen, fact_buyer_fn fn, void *ctx,
		  struct err *e);
/* The last that was said of the job until then; nothing: no visit. */
int ledger_said(struct ledger *l, uint64_t job, int64_t until_ms, fact_said_fn fn, void *ctx,
		struct err *e);
/* All prices of a type, wherever and in whichever market, by valid_from_ms, of equal ones in the
 * order in which burstd wrote them. */
int ledger_prices(struct ledger *l, const char *provider, const char *type, fact_price_fn fn,
		  void *ctx, struct err *e);

/* Does burstd know, or did it ever know, a node of that name? */
int ledger_knows_node(struct ledger *l, const char *node, bool *knows, struct err *e);

/* When this word was first written of a later generation of the node, in ms; 0: never. */
int ledger_next_ms(struct ledger *l, const char *node, uint64_t gen, const char *kind, int64_t *ms,
		   struct err *e);

enum ledger_state {
	LEDGER_OPEN,  /* it runs, as far as is known */
	LEDGER_ENDED, /* proven gone; what its jobs did may not all be known yet */
	LEDGER_FINAL, /* its postings are booked */
};

/* What is wrong with a lifetime, or to be known of its bill. */
enum ledger_flag {
	LEDGER_UNPRICED = 1,  /* no price is known: it has no postings, and is not free */
	LEDGER_ESTIMATED = 2, /* its end is when burstd saw it gone, not what the provider says */
	LEDGER_CLIPPED = 4,   /* Slurm has a job there for longer than the machine was ready */
	LEDGER_NEGATIVE = 8,  /* a job ended before it began */
	LEDGER_BROKEN = 16,   /* its postings do not add up, or it cannot be computed: `why` */
	/* Slurm's record of a job there cannot be right by minutes: somebody must look.  The job
	 * has the part of it that can be. */
	LEDGER_QUARANTINED = 64,
	/* It has no end, and its node got another machine long ago: perhaps its end was in a
	 * journal that is lost.  It bills on, and somebody must look. */
	LEDGER_UNENDED = 128,
	LEDGER_UNMEASURED = 32, /* what the machine has is not known: shares are by its jobs */
};

struct ledger_lifetime {
	int64_t id;
	const char *node, *instance;
	uint64_t gen;
	enum ledger_state state;
	bool dirty;
	unsigned flags;         /* enum ledger_flag */
	int64_t start_s, end_s; /* of what its postings pay for; end_s: so far */
	int64_t nano;           /* its bill */
	const char *why;        /* if broken or unpriced; "" */
};

typedef int (*ledger_lifetime_fn)(void *ctx, const struct ledger_lifetime *t, struct err *e);
/* Lifetimes with a larger id, at most limit; due: only those that are to be computed again. */
int ledger_lifetimes(struct ledger *l, int64_t after, unsigned limit, bool due,
		     ledger_lifetime_fn fn, void *ctx, struct err *e);
int ledger_lifetime(struct ledger *l, int64_t id, ledger_lifetime_fn fn, void *ctx, struct err *e);
/* Write all but its names; it is not dirty any more. */
int ledger_put_lifetime(struct ledger *l, const struct ledger_lifetime *t, struct err *e);
/* Have all final lifetimes without a price computed again. */
int ledger_touch_unpriced(struct ledger *l, struct err *e);
/* Have all computed again that have something late on a day from from_day on. */
int ledger_touch_late(struct ledger *l, int64_t from_day, struct err *e);
/* How many facts are of an instance that has no lifetime: somebody has taken it away. */
int ledger_count_lost_lives(struct ledger *l, int64_t *n, struct err *e);
/* When the first fact of life that was copied was written, in ms; 0: there is none. */
int ledger_first_fact(struct ledger *l, int64_t *ms, struct err *e);

#endif
