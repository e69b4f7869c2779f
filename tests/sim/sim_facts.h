/* sim_facts.h - the judge of the facts that bills are computed from: a reader who has nothing else
 * must come to the bill that burstd writes. */
#ifndef SIM_FACTS_H
#define SIM_FACTS_H

#include "store/journal_life.h"
#include "world.h"

/* One instance of a generation, by its facts alone; instance "": what is said of the generation. */
struct sim_life {
	char node[24], instance[24];
	uint64_t gen;
	int64_t begin_ms, end_ms;
	int64_t skew; /* the world's, when it ended */
	bool machine, buyer, ready, ended;
	enum life_kind last;
};

struct sim_facts {
	struct sim_life *v;
	size_t n, cap;
	bool twice; /* an instance is billed twice, since burstd's time has jumped in between */
};

struct sim_bill;

/* Apply a committed fact.  step NULL: the machine, or a buyer of it. */
void sim_facts_put(struct world *w, struct sim_facts *f, const struct sim_life *is,
		   const struct life_step *step);
/* The bill that is being committed must be what the facts say. */
void sim_facts_bill(struct world *w, const struct sim_facts *f, const struct sim_bill *b);

#endif
