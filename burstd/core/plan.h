/* plan.h - which of the nodes asked for may be bought, within the pools' limits.
 *
 * A job gets all the nodes it still lacks or none: nothing is bought that its job cannot use. */
#ifndef BURSTD_PLAN_H
#define BURSTD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/conf.h"
#include "core/demand.h"
#include "core/fleet.h"

enum plan_verdict {
	PLAN_SKIP,   /* no pool names it: not ours to touch */
	PLAN_HAVE,   /* a live incarnation exists or is on its way */
	PLAN_BUY,    /* make a new incarnation */
	PLAN_WAIT,   /* will fit once what is leaving has left, or once its price is known */
	PLAN_REFUSE, /* does not fit the pool's limits */
};

enum plan_cause { /* of a refusal */
		  PLAN_MAX_NODES,
		  PLAN_MAX_RATE,
		  PLAN_STUCK,  /* an earlier instance of this very node cannot be deleted */
		  PLAN_RESTS,  /* this very node did not come up, lately */
		  PLAN_CLOSED, /* nothing is bought in the pool */
		  PLAN_PROBES, /* no more than what is being tried */
};

struct plan_node {
	enum plan_verdict verdict;
	uint32_t group;          /* BUY: of one job that comes whole; 0: alone */
	uint32_t pool;           /* all but SKIP */
	uint64_t job;            /* BUY: the number of a job it is for; 0: none known */
	struct fleet_name *name; /* likewise; NULL while unknown to the fleet */
	enum plan_cause cause;   /* REFUSE */
	uint32_t full;           /* REFUSE: the pool that it is about */
};

struct plan_pool {          /* what else there is to know of a pool at that moment */
	int64_t price;      /* nano-units per hour of one node; 0: not known yet */
	const char *closed; /* why nothing may be bought, for people; NULL: it may */
	const char *probes; /* why only one job's nodes may be, at a time; NULL: as many as fit */
};

struct plan {
	struct plan_node *nodes; /* one for each of demand */
	size_t n;
	uint32_t groups; /* how many there are: 1 ... groups */
};

/* pools[i] is of pool i.  *p is the caller's (plan_fini()). */
void plan_make(struct plan *p, const struct demand *d, const struct conf *c, const struct fleet *f,
	       const struct plan_pool *pools);
/* Why this node was refused, for people. */
void plan_explain(const struct plan_node *pn, const struct conf *c, const struct plan_pool *pools,
		  char *out, size_t size);
void plan_fini(struct plan *p);

#endif
