/* reclaim.h - when to act on a node whose machine will be taken away.
 *
 * It follows from the row and the pool's options alone, so a restart gets the same answer.  Not
 * here: the node is fenced (drained) at once, always, so that no job starts there. */
#ifndef BURSTD_RECLAIM_H
#define BURSTD_RECLAIM_H

#include "core/node.h"

enum {
	RECLAIM_MARGIN_MS = 10000, /* jobs leave the node so long before the end */
	RECLAIM_LEAST_MS = 5000,   /* with less time left jobs are not signalled */
	RECLAIM_LEAD_MS = 120000,  /* jobs are signalled so long before the end, or at once */
};

struct reclaim_rules {   /* from the pool's options */
	bool signals;    /* it tells jobs to save their work */
	int64_t wait_ms; /* rebalance_wait: how long jobs may go on if no end is said; 0: for ever
			  */
};

struct reclaim_plan {      /* INT64_MAX: never */
	int64_t signal_ms; /* when to tell the jobs to save their work, once */
	int64_t force_ms;  /* when to power the node down by force, which requeues its jobs */
	bool dead;         /* power it down as a node that does not answer */
};

/* n is DRAINING, or about to be. */
void reclaim_plan(const struct node *n, const struct reclaim_rules *r, struct reclaim_plan *out);

const char *reclaim_kind_str(enum provider_notice_kind k);  /* "reclaim", "rebalance", ... */
int reclaim_kind_parse(const char *word);                   /* -1: none of these */
const char *reclaim_kind_text(enum provider_notice_kind k); /* a phrase for people */

#endif
