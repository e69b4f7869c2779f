/* refusal.h - how long a job waits that could not get its nodes.
 *
 * slurmctld starts a requeued job again after seconds; with no capacity that is a loop of requests,
 * requeues and log lines (eleven rounds in 84 s were seen).  So each refusal of a job makes it wait
 * longer, by its own StartTime. */
#ifndef BURSTD_REFUSAL_H
#define BURSTD_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REFUSAL_MS = 30000,        /* after the first, doubling ... */
	REFUSAL_MAX_MS = 900000,   /* ... up to this */
	REFUSAL_HOLD_MS = 3600000, /* at most, whatever is known of when it may be tried */
	REFUSAL_SLACK_MS = 60000,
	REFUSAL_DAY_MS = 86400000, /* for what no wait can mend; sooner when something changes */
};

struct refusal { /* of one job, all zero: never refused */
	uint32_t count;
	int64_t last_ms;
	int64_t first_ms; /* of those: it waits since then */
	int64_t wait_ms;  /* after the last one at least; 0: as long as the count says */
	/* Until when slurmctld was told to wait after that, by its clock; 0: not at all. */
	int64_t told_wall_ms;
	int64_t had_wall_ms; /* what it has still, should it not have taken that; 0: nothing of ours
			      */
};

/* What is known of when another try is worth its while; 0: nothing. */
struct refusal_hint {
	int64_t not_before_ms; /* else it would find the same */
	int64_t surely_ms;     /* then it may have what it may not have now */
	bool lasting;          /* no wait can mend it ... */
	uint64_t job;          /* ... for this one; 0: for whichever has the node */
	bool stale;            /* ... though something has changed since: it is decided anew */
	/* It is for jobs that share a node: no machine is as all of them wish, but one may be for
	 * each of them.  That job may try again first. */
	bool clash;
};

/* One more, now.  Returns how long the job is to wait, in ms.  A job that was not refused again
 * soon after its wait was over got its nodes: it begins anew. */
int64_t refusal_add(struct refusal *r, struct refusal_hint hint, int64_t now_ms);
/* How long it waits after the last one; 0: never refused. */
int64_t refusal_wait_ms(const struct refusal *r);
/* Was it refused for what no wait can mend? */
bool refusal_lasts(const struct refusal *r);
/* May it be forgotten? */
bool refusal_over(const struct refusal *r, int64_t now_ms);

#endif
