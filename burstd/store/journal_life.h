/* journal_life.h - facts that bills are computed from; never changed.  Who reads them is the
 * ledger, a process of its own. */
#ifndef BURSTD_JOURNAL_LIFE_H
#define BURSTD_JOURNAL_LIFE_H

#include <stdint.h>

#include "core/life.h"
#include "core/payer.h"

struct journal_tx;

struct journal_life { /* a step in the life of an instance; borrowed */
	const char *node, *instance;
	uint64_t gen;
	struct life_step step;
	int64_t rate_nano_h; /* as burstd counts it against limits then */
};

struct journal_machine { /* what was bought for a generation; borrowed */
	const char *node;
	uint64_t gen;
	int64_t at_ms;
	const char *pool, *provider, *offer, *type, *region, *zone, *market, *currency;
	int64_t quantum_ms, minimum_ms; /* as struct provider_terms */
	uint32_t cpus, gpus;            /* as slurm.conf has the node; 0: not known */
	uint64_t memory_mb;
};

void journal_put_life(struct journal_tx *tx, const struct journal_life *l);
/* Written once for a generation; a second one is dropped. */
void journal_put_machine(struct journal_tx *tx, const struct journal_machine *m);
/* The generation was bought for this job, among others. */
void journal_put_buyer(struct journal_tx *tx, const char *node, uint64_t gen, uint64_t job);
/* What slurmctld said of a job at at_ms. */
void journal_put_job_said(struct journal_tx *tx, int64_t at_ms, uint64_t job,
			  const struct payer *p);

#endif
