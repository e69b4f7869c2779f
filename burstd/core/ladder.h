/* ladder.h - which of a pool's offers a job's nodes may be bought from, and in what order.
 *
 * A pool has a ladder of offers, its rungs (conf_rungs()).  ladder_make() says, for one job at one
 * moment, which rungs to try, best first, and why not the others, for people.  It is called again
 * after every refusal: the rung that refused cools down by then (core/cooldown.h), or is in
 * `tried`.
 *
 *   order     as written, or cheapest first: reserved before all else, since it is paid already,
 *             then by price; what is equal stays as written
 *   never     outside of the pool's or the job's jurisdictions, against the job's constraint, above
 *             max_price, at an unknown price
 *   not now   what is of a provider that is off or cannot be reached, or whose machines would get
 *             no keys; what cools down, or would pass spot_share; on-demand while a job is to wait
 *             for spot
 *   half-open one rung at most, and it is on the ladder like any other: the purchase is the probe
 *   wrong     what came up wrong from there a moment ago may do so again: behind all others
 *   dry       so is what the provider says that it has none of at the moment, if it says so
 *
 * Pure: the same question has the same answer. */
#ifndef BURSTD_LADDER_H
#define BURSTD_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/conf.h"
#include "core/cooldown.h"

#define LADDER_UNPRICED (-2) /* the provider has no price for it, so the configuration must */

enum ladder_cause {
	LADDER_TRY,          /* it will be tried */
	LADDER_JURISDICTION, /* from here on the rung is left out; lasting causes come first */
	LADDER_CONSTRAINT,
	LADDER_OFF,
	LADDER_NOT_OFFERED,
	LADDER_NO_PRICE,
	LADDER_DEAR,
	LADDER_TRIED,
	LADDER_DENIED,
	LADDER_AWAY,
	LADDER_KEYLESS, /* its machines could not get their keys */
	LADDER_QUOTA,
	LADDER_FAILING, /* purchases there fail */
	LADDER_CAPACITY,
	LADDER_PROBING,
	LADDER_LATER, /* half-open, and another half-open rung is the probe */
	LADDER_SHARE,
	LADDER_SPOT_FIRST,
	LADDER_NCAUSES
};

struct ladder_known {   /* of one rung */
	int64_t price;  /* as the provider says; 0: not known yet; < 0: not offered, or: */
	int64_t agreed; /* the negotiated price, which wins over all (rates.h); 0: there is none */
	struct cooldown_view cool; /* of its place */
	int64_t away_ms;           /* since when its provider is away; 0: it is not */
	int64_t wrong_until_ms; /* until when it is tried last, as a machine came up wrong; 0: none
				   did lately */
	bool dry;               /* the provider says that none is free there now: likewise */
	const char *off;        /* why its provider is off; NULL: it is on */
	const char *keyless;    /* why its machines could not get their keys; NULL: they could */
};

/* Are all others tried before it? */
static inline bool ladder_is_last(const struct ladder_known *k)
{
	return k->wrong_until_ms != 0 || k->dry;
}

struct ladder_wish {                      /* restrictions: they only take rungs away */
	const char *constraint;           /* as in Slurm; NULL: none, or not known */
	const char *const *jurisdictions; /* besides the pool's; NULL: any */
	int64_t max_price_nano_h;         /* likewise; 0: any */
};

struct ladder_job {
	/* The wishes of the job, and of jobs that will share its nodes: all must be met. */
	const struct ladder_wish *wishes;
	size_t nwishes;
	uint32_t nodes;    /* nodes that it lacks in this pool */
	uint32_t refusals; /* so far */
	int64_t since_ms;  /* when it began to wait; in the future: now (F57) */
	uint32_t tried;    /* bit i: rung i refused it a moment ago */
	bool none;         /* there is no job that could wait for spot */
};

struct ladder_ask { /* everything is borrowed */
	const struct conf *conf;
	const struct conf_pool *pool;
	const struct ladder_known *known; /* one for each of conf_rungs() */
	uint32_t nodes, spot;             /* how many the pool has; spot: of these */
	struct ladder_job job;
	int64_t now_ms;
	int64_t ahead_ms; /* of the wall clock, which people read */
};

struct ladder {
	uint32_t order[CONF_OFFERS_MAX]; /* indices into conf_rungs(), to be tried in this order */
	size_t n;
	enum ladder_cause cause[CONF_OFFERS_MAX]; /* of each rung */
	size_t nrungs;
	/* n is 0, but a price, or the answer to a probe, will come: do not refuse yet. */
	bool waits;
	bool lasting;        /* no rung will ever do for the job, at these prices */
	int64_t next_ms;     /* when the next rung may be tried; 0: not known */
	int64_t fallback_ms; /* n is 0: when a fallback lets it have more rungs; 0: never */
};

void ladder_make(struct ladder *l, const struct ladder_ask *a);

/* Is this rung left out for a reason that no wait can mend: the job's wishes, the configuration,
 * the price? */
bool ladder_is_for_good(const struct ladder *l, const struct ladder_ask *a, size_t rung);

/* The price of a node of this rung, in nano-units per hour; 0: not known yet; < 0: not offered. */
int64_t ladder_price(const struct ladder_ask *a, size_t rung);

/* The price of the cheapest node that the pool may ever buy, for any job; 0: not known yet, or
 * none.  Of `known` only the prices count. */
int64_t ladder_cheapest(const struct conf *c, const struct conf_pool *p,
			const struct ladder_known *known);

/* Why this rung is left out, for people: "spot only until 2026-01-02T14:05:00Z", "0.92 above
 * max_price 0.80".  Empty for one that is not. */
void ladder_explain(const struct ladder *l, const struct ladder_ask *a, size_t rung, char *out,
		    size_t size);

/* A short word for the cause, for metrics and replies; "": LADDER_TRY. */
const char *ladder_cause_str(enum ladder_cause cause);

/* The explanations of all rungs, for a job that gets none: "spot-a: no capacity ...; od: ...". */
void ladder_why(const struct ladder *l, const struct ladder_ask *a, char *out, size_t size);

#endif
