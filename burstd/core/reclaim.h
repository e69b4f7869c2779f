/* reclaim.h - a node whose machine will be taken away: what is to be done about it, and when.
 *
 * From the row and the pool's options alone, so that a restart comes to the same answer.  What is
 * always done, and at once, is not here: the node is fenced (DRAIN), so that no job starts there.
 */
#ifndef BURSTD_RECLAIM_H
#define BURSTD_RECLAIM_H

#include "core/node.h"

enum {
	RECLAIM_MARGIN_MS = 10000, /* the jobs are off so long before the end */
	RECLAIM_LEAST_MS = 5000,   /* a signal with less time than that is not worth it */
	RECLAIM_LEAD_MS = 120000,  /* a longer notice: the jobs work on, and are signalled then */
};

struct reclaim_rules {   /* of the pool */
	bool signals;    /* it has a way to tell jobs to save their work */
	int64_t wait_ms; /* rebalance_wait: how long jobs may go on where no end is said; 0: on
			    and on */
};

struct reclaim_plan {      /* INT64_MAX: never */
	int64_t signal_ms; /* the jobs are told to save their work; once */
	int64_t force_ms;  /* the node is powered down by force, which requeues its jobs */
	bool dead;         /* as one that does not answer */
};

/* n is DRAINING, or about to be. */
void reclaim_plan(const struct node *n, const struct reclaim_rules *r, struct reclaim_plan *out);

const char *reclaim_kind_str(enum provider_notice_kind k);  /* "reclaim", "rebalance", ... */
int reclaim_kind_parse(const char *word);                   /* -1: none of these */
const char *reclaim_kind_text(enum provider_notice_kind k); /* a phrase for people */

#endif
