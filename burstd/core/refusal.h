/* refusal.h - how long a job waits after it was refused its nodes.
 *
 * slurmctld starts a requeued job again after seconds; with no capacity that is a loop of requests,
 * requeues and log lines (eleven rounds in 84 s were seen).  So each refusal of a job makes it wait
 * longer, by its StartTime. */
#ifndef BURSTD_REFUSAL_H
#define BURSTD_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REFUSAL_MS = 30000,        /* after the first refusal, doubling ... */
	REFUSAL_MAX_MS = 900000,   /* ... up to this */
	REFUSAL_HOLD_MS = 3600000, /* longest wait because of refusal_hint.not_before_ms */
	REFUSAL_SLACK_MS = 60000,
	REFUSAL_DAY_MS = 86400000, /* if no wait can mend it; sooner if something changes */
};

struct refusal { /* of one job; all zero: never refused */
	uint32_t count;
	int64_t last_ms;
	int64_t first_ms; /* the first refusal that counts: the job waits since then */
	int64_t wait_ms;  /* least wait after the last one; 0: by the count */
	/* The begin time that slurmctld was told after the last refusal, by its clock; 0: none. */
	int64_t told_wall_ms;
	int64_t had_wall_ms; /* the begin time of burstd's that slurmctld has if it did not take
				that; 0: none */
	bool money;          /* it was refused for want of money (core/budget.h), the last time */
};

/* When another try of a refused job makes sense; 0: not known. */
struct refusal_hint {
	int64_t not_before_ms; /* an earlier try would be refused for the same reason */
	int64_t surely_ms;     /* a try then may have what this one may not */
	bool lasting;          /* no wait can mend it */
	bool money;            /* money can */
	uint64_t job;          /* the job that it is about; 0: any that has the node */
	bool stale;            /* something has changed since: decide anew */
	/* Jobs share a node, and no offer meets the wishes of all, though one may do for each of
	 * them.  `job` may try again first. */
	bool clash;
};

/* Count one more refusal.  Returns how long the job must wait, in ms.  If the last wait was over
 * for a while without a refusal, the job had its nodes: counting begins anew. */
int64_t refusal_add(struct refusal *r, struct refusal_hint hint, int64_t now_ms);
/* How long the job waits after its last refusal; 0: never refused. */
int64_t refusal_wait_ms(const struct refusal *r);
/* Was it refused for a reason that no wait can mend? */
bool refusal_lasts(const struct refusal *r);
/* May it be forgotten? */
bool refusal_over(const struct refusal *r, int64_t now_ms);

#endif
