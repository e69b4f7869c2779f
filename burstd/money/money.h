/* money.h - what burstd writes down and decides about money: the facts that bills are computed
 * from, and how long nodes take to become useful. */
#ifndef BURSTD_MONEY_MONEY_H
#define BURSTD_MONEY_MONEY_H

#include "core/payer.h"
#include "core/stages.h"
#include "engine/kernel.h"
#include "money/money_api.h"

enum {
	MONEY_SAID = 4096, /* jobs; what is said of one is written again after so many others */
	MONEY_UNSAID = 1 << 16, /* jobs that squeue is to tell of; sacct tells of more */
};

struct money_state {
	struct stages stages;
	struct money_said {
		uint64_t job, hash; /* of what slurmctld said of it last */
	} said[MONEY_SAID];         /* by number of the job */
	uint64_t *unsaid;           /* jobs that nodes were bought for, and who pays is not known */
	size_t nunsaid, unsaid_cap;
	size_t asked; /* so many of them squeue is being asked for */
};

/* --- facts.c --- */
extern const struct engine_part facts_part;
/* Write what slurmctld says of a job that nodes are bought for, unless it said the same before. */
void facts_said(struct engine *e, uint64_t job, const struct payer *p);
/* Ask squeue who pays for this job, to write that. */
void facts_ask(struct engine *e, uint64_t job);

#endif
