/* sim_opinions.h - what the simulator's journal has of jobs and of pools. */
#ifndef SIM_OPINIONS_H
#define SIM_OPINIONS_H

#include "store/journal.h"
#include "store/journal_jobs.h"
#include "store/journal_pools.h"
#include "store/journal_rolls.h"
#include "world.h"

enum { SIM_OPINIONS_MAX = 256 }; /* of a kind */

struct sim_opinions {
	struct journal_refusal refusals[SIM_OPINIONS_MAX];
	size_t nrefusals;
	/* Jobs that have lost a node, and of which burstd does not know yet what became. */
	struct journal_rescue rescues[SIM_OPINIONS_MAX];
	size_t nrescues;
	struct journal_ending endings[SIM_OPINIONS_MAX]; /* jobs whose budget is used up */
	size_t nendings;
	struct sim_drained { /* machines that were drained for a budget */
		char node[HOSTLIST_NAME_MAX + 1];
		uint64_t gen;
	} drained[SIM_OPINIONS_MAX];
	size_t ndrained;
	struct journal_pool pools[SIM_POOLS_MAX];
	bool has_pool[SIM_POOLS_MAX];
	struct sim_roll { /* how far an offer is with a new image */
		char pool[PROVIDER_WORD_MAX + 1], offer[PROVIDER_WORD_MAX + 1];
		struct roll r;
	} rolls[SIM_OPINIONS_MAX];
	size_t nrolls;
};

/* Insert or replace that of a job; NULL: it is forgotten. */
void sim_opinions_refusal(struct world *w, struct sim_opinions *o, uint64_t job,
			  const struct refusal *r);
void sim_opinions_rescue(struct world *w, struct sim_opinions *o, uint64_t job,
			 const struct journal_rescue *r);
void sim_opinions_ending(struct world *w, struct sim_opinions *o, uint64_t job,
			 const struct journal_ending *x);
void sim_opinions_drained(struct world *w, struct sim_opinions *o, const char *node, uint64_t gen,
			  bool is);
void sim_opinions_pool(const struct world *w, struct sim_opinions *o, const char *name,
		       const struct journal_pool *p);
void sim_opinions_roll(struct world *w, struct sim_opinions *o, const char *pool, const char *offer,
		       const struct roll *r);
/* NULL: there is none. */
const struct roll *sim_opinions_roll_of(const struct sim_opinions *o, const char *pool,
					const char *offer);
int sim_opinions_load(const struct world *w, const struct sim_opinions *o,
		      const struct journal_visitor *v, struct err *e);

#endif
