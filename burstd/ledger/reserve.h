/* reserve.h - decides which jobs a budget can pay for, before anything is bought.
 *
 * A job reserves the most that it may cost: its nodes, each for its time limit and the time that a
 * node costs before and after, at the highest price that is possible, in the provider's steps.  So
 * what is spent, accrued and reserved is never more than the budget, unless the provider bills a
 * minimum that is longer, which must be in the time before or after.  A job gets all of its nodes
 * or none; one that does not fit keeps no smaller one from what is left.  Money is nano-units of
 * one currency. */
#ifndef BURSTD_LEDGER_RESERVE_H
#define BURSTD_LEDGER_RESERVE_H

#include <stddef.h>
#include <stdint.h>

struct reserve_budget {
	int64_t left;                       /* may be negative: it was made smaller */
	int64_t ceiling_nano_h;             /* the highest price of a node */
	int64_t boot_s, idle_s, teardown_s; /* how long it costs before and after a job, at most */
	int64_t granularity_s;              /* time is billed in such steps; above 0 */
};

enum reserve_state { RESERVE_WAITS, RESERVE_HELD, RESERVE_SETTLED };

struct reserve_job {
	uint64_t job;
	int64_t nodes, limit_s, priority; /* nodes and limit_s are not negative */
	enum reserve_state state;
	int64_t held; /* what is reserved for it, or was asked for in vain */
};

/* The most that the job may cost, rounded up; INT64_MAX: more than can be counted. */
int64_t reserve_need(const struct reserve_budget *b, const struct reserve_job *j);
/* Decide on every job that waits, by priority, of equal ones by number, and tell each decision. */
void reserve_batch(struct reserve_budget *b, struct reserve_job *jobs, size_t n,
		   void (*tell)(void *ctx, const struct reserve_budget *b,
				const struct reserve_job *j),
		   void *ctx);
/* The job has ended, and cost this much; what it did not use is free again. */
void reserve_settle(struct reserve_budget *b, struct reserve_job *j, int64_t nano);

#endif
