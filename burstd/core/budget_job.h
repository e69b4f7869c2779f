/* budget_job.h - what must be set aside for a job: the machines that are bought for it, from their
 * purchase until they are gone, and its own part of them. */
#ifndef BURSTD_BUDGET_JOB_H
#define BURSTD_BUDGET_JOB_H

#include "core/budget.h"
#include "core/payer.h"

struct budget_exception { /* what one partition, or pool, has instead of a time below */
	char name[PAYER_NAME_MAX + 1];
	int64_t ms;
};

struct budget_times { /* of slurmctld and providers, at most */
	/* How much longer than its limit a job may run: OverTimeLimit and KillWait; -1: without
	 * end, so that a limit says nothing. */
	int64_t over_ms;
	int64_t idle_ms; /* from a job's end until slurmctld gives the node up: SuspendTime */
	int64_t end_ms;  /* from there until the machine bills no more */
	const struct budget_exception *over,
		*idle; /* over: by partition; idle: by pool; borrowed */
	size_t nover, nidle;
};

struct budget_machine { /* one of those that a job has, or will have */
	const char *pool, *provider;
	enum provider_market market;
	int64_t rate_nano_h; /* <= 0: not known */
	int64_t boot_ms;     /* at most until the node is up; 0: it is */
	int64_t began_ms;    /* what is held for it began then; 0: it is bought now */
	int64_t quantum_ms;  /* its time is billed in such steps, ... */
	int64_t minimum_ms;  /* ... and at least this long */
	int64_t unmount_ms;  /* from its release to its delete: unmount_wait of its pool */
	uint32_t gpus, cpus; /* 0: not known */
};

enum { BUDGET_WANTS_MAX = BUDGET_NKINDS };

/* The holds for a machine that is bought for a job; p NULL: for none.  Returns how many. */
size_t budget_wants(struct budgets *b, const struct payer *p, const struct budget_machine *m,
		    const struct budget_times *t, int64_t now_ms,
		    struct budget_want out[BUDGET_WANTS_MAX]);
/* The hold for a job's part of a machine that is up. */
struct budget_hold budget_run(struct budgets *b, const struct payer *p,
			      const struct budget_machine *m, const struct budget_times *t,
			      int64_t now_ms);
/* Until when the machine itself must be held for a job that begins there now. */
int64_t budget_machine_until(struct budgets *b, const struct payer *p,
			     const struct budget_machine *m, const struct budget_times *t,
			     int64_t now_ms);

#endif
