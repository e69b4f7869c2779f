/* plan.h - which of the nodes asked for may be bought, from which rung of their pool's ladder.
 *
 * A job gets all the nodes it still lacks or none: nothing is bought that its job cannot use.  In
 * each pool they come from one rung, the first (core/ladder.h) that fits the pool's limits. */
#ifndef BURSTD_PLAN_H
#define BURSTD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/conf.h"
#include "core/demand.h"
#include "core/fleet.h"
#include "core/ladder.h"
#include "core/refusal.h"

enum plan_verdict {
	PLAN_SKIP,   /* no pool names it: not ours to touch */
	PLAN_HAVE,   /* a live incarnation exists or is on its way */
	PLAN_BUY,    /* make a new incarnation */
	PLAN_WAIT,   /* will fit once what is leaving has left, or once its price is known */
	PLAN_REFUSE, /* does not fit the pool's limits, or no rung may be had */
};

enum plan_cause { /* of a refusal */
		  PLAN_MAX_NODES,
		  PLAN_MAX_RATE,
		  PLAN_STUCK, /* an earlier instance of this very node cannot be deleted, or reached
			       */
		  PLAN_RESTS, /* this very node did not come up, lately */
		  PLAN_CLOSED, /* nothing is bought in the pool */
		  PLAN_PROBES, /* no more than what is being tried */
		  PLAN_LADDER, /* no rung is left for the job */
};

/* Of PLAN_LADDER: what the ladder said.  The pool is plan_node.full. */
struct plan_no_rung {
	char why[160];           /* ladder_why() */
	enum ladder_cause worst; /* of what time, or an admin, can mend; else of the last rung */
	struct refusal_hint hint;
};

struct plan_need { /* of a job, in one pool, by its dearest limit */
	uint32_t nodes;
	int64_t rate;  /* nano-units per hour, at the cheapest rung that it may ever have */
	uint32_t most; /* nodes that max_rate allows at that price */
};

struct plan_node {
	enum plan_verdict verdict;
	uint32_t group;                 /* BUY: of one job that comes whole; 0: alone */
	uint32_t pool;                  /* all but SKIP */
	uint32_t rung;                  /* BUY: index into conf_rungs() */
	int64_t price;                  /* BUY: nano-units per hour */
	uint64_t job;                   /* the number of a job it is for; 0: none known */
	struct fleet_name *name;        /* likewise; NULL while unknown to the fleet */
	enum plan_cause cause;          /* REFUSE */
	uint32_t full;                  /* REFUSE: the pool that it is about */
	uint32_t no_rung;               /* PLAN_LADDER: index into struct plan */
	const struct fleet_name *stuck; /* PLAN_STUCK: the one of its job that is */
	bool lasting;                   /* REFUSE: no wait can mend it; of a limit: */
	struct plan_need need;
	bool beside; /* REFUSE: another job on one of its nodes can never meet the limit */
};

struct plan_pool {                  /* what else there is to know of a pool at that moment */
	struct ladder_known *known; /* of each rung; the plan changes what its jobs try */
	const char *closed;         /* why nothing may be bought, for people; NULL: it may */
	uint64_t tried_for;         /* ... but for this job, whose nodes are tried; 0: no job */
	const char *probes; /* why only one job's nodes may be, at a time; NULL: as many as fit */
	/* For people: so many of its nodes may be at a provider that cannot be reached; 0: none. */
	uint32_t unreached;
	const char *unreached_at; /* one such provider */
	/* Of these, what it has taken to delete: that leaves when it can say so, and nobody waits.
	 */
	uint32_t stays;
	int64_t stays_nano_h;
};

struct plan_job { /* of struct demand_job of the same index */
	const struct ladder_wish *wishes;
	size_t nwishes;
	bool unknown; /* what it wishes must be known, and is not: it waits */
	uint32_t refusals;
	int64_t since_ms; /* when it began to wait; 0: now */
};

struct plan_ask { /* everything is borrowed */
	const struct demand *demand;
	const struct conf *conf;
	const struct fleet *fleet;
	struct plan_pool *pools;     /* one for each of conf */
	const struct plan_job *jobs; /* one for each of demand; NULL: nothing is known of them */
	bool anew; /* what its nodes were refused since slurmctld last asked does not count */
	int64_t now_ms;
	int64_t ahead_ms; /* of the wall clock, which people read */
};

struct plan {
	struct plan_node *nodes; /* one for each of demand */
	size_t n;
	uint32_t groups; /* how many there are: 1 ... groups */
	struct plan_no_rung *no_rungs;
	uint32_t nno_rungs;
};

/* *p is the caller's (plan_fini()). */
void plan_make(struct plan *p, const struct plan_ask *a);
/* Why this node was refused, for people. */
void plan_explain(const struct plan *p, const struct plan_node *pn, const struct plan_ask *a,
		  char *out, size_t size);
/* REFUSE: when another try is worth its while. */
struct refusal_hint plan_hint(const struct plan *p, const struct plan_node *pn);
void plan_fini(struct plan *p);

#endif
