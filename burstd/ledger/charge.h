/* charge.h - one line of the ledger with all that reports group it by: a part of what one instance
 * cost, in one class, by one owner, in one stretch of time that crosses neither a month nor a day
 * of the report's zone. */
#ifndef BURSTD_LEDGER_CHARGE_H
#define BURSTD_LEDGER_CHARGE_H

#include "core/provider.h"
#include "ledger/allocate.h"

/* What a charge is about; texts are borrowed, and "" where there is none or it is not known. */
struct charge {
	int64_t start_s, end_s; /* UTC; end_s is outside */
	int64_t nano;           /* of `currency`; negative: given back */
	/* What the same time costs on demand by list price; -1: not known. */
	int64_t list_nano;
	int64_t billed_s; /* how many seconds of the instance this pays for, all or a part: ... */
	int64_t share_part, share_whole; /* ... share_part of share_whole equal parts of it */
	int64_t gpu_s, cpu_s; /* GPU and CPU seconds that the owner had; of idle time: that nobody
				 had */
	enum allocate_class class;
	bool credit;    /* the provider gives it back */
	bool adjust;    /* corrects what was counted ... */
	bool invoiced;  /* ... to what the provider's invoice says */
	bool late;      /* ... in a month that was closed already: start_s is in that one */
	bool estimated; /* the instance's end is not told by the provider, only seen */
	enum allocate_owner owner;
	uint64_t job, attempt; /* of ALLOCATE_JOB; attempt: 1 is the job's first run */
	const char *job_id;    /* as people write it: "7", "7_2" */
	const char *job_name;  /* a user's text: anything */
	const char *account, *user, *partition, *qos, *wckey; /* of the job, by Slurm */
	const char *cluster;
	const char *node, *instance;
	uint64_t gen;
	const char *pool, *provider, *offer, *type, *region, *zone;
	enum provider_market market; /* of no machine none: see below */
	const char *currency;        /* ISO 4217 */
	uint32_t gpus, cpus;         /* of the machine */
	uint64_t memory_mb;
	int64_t rate_nano_h;      /* the price in effect; per hour of the whole machine */
	int64_t list_rate_nano_h; /* on demand; -1: not known */
};

/* An invoice has it for no machine: nobody bought it in a market. */
static inline bool charge_is_of_no_machine(const struct charge *c)
{
	return c->class >= ALLOCATE_SHARED && c->instance[0] == '\0';
}

#endif
