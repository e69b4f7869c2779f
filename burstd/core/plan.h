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

struct plan_node {
	enum plan_verdict verdict;
	uint32_t group;          /* BUY: of one job that comes whole; 0: alone */
	uint32_t pool;           /* all but SKIP */
	struct fleet_name *name; /* likewise; NULL while unknown to the fleet */
	uint32_t full;           /* REFUSE: the pool whose limit it is ... */
	bool stuck;   /* ... or: an earlier instance of this very node cannot be deleted */
	bool by_rate; /* ... max_rate, not max_nodes */
};

struct plan {
	struct plan_node *nodes; /* one for each of demand */
	size_t n;
	uint32_t groups; /* how many there are: 1 ... groups */
};

/* price[i]: nano-units per hour of pool i, 0 when not known yet.  *p is the caller's (plan_fini()).
 */
void plan_make(struct plan *p, const struct demand *d, const struct conf *c, const struct fleet *f,
	       const int64_t *price);
/* Which limit refused this node, for people. */
void plan_explain(const struct plan_node *pn, const struct conf *c, char *out, size_t size);
void plan_fini(struct plan *p);

#endif
