/* stages.h - how long nodes take from a purchase to a job and from a delete to the end of the bill:
 * a histogram for each offer and stage. */
#ifndef BURSTD_STAGES_H
#define BURSTD_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "core/node.h"

enum stage {
	STAGE_WAIT,   /* wanted until its create was sent */
	STAGE_CREATE, /* ... until the instance existed */
	STAGE_RUN,    /* ... until the provider showed it running */
	STAGE_BOOT,   /* from its existence until slurmctld had the node up */
	STAGE_READY,  /* wanted until slurmctld had the node up: all of the above */
	STAGE_DELETE, /* its delete was decided until it was proven gone */
	STAGE_N
};

enum { STAGES_BUCKETS = 12 }; /* the last has no bound */

struct stages_line { /* of one offer, since burstd started */
	uint32_t pool;
	char offer[PROVIDER_WORD_MAX + 1];
	uint64_t counts[STAGE_N][STAGES_BUCKETS]; /* each of its own bucket alone */
	int64_t sum_ms[STAGE_N];
};

struct stages { /* all zero: nothing was measured */
	struct stages_line *v;
	size_t n;
};

/* ms below 0, as after a jump of the clock, is not counted. */
void stages_add(struct stages *s, const struct node *n, enum stage stage, int64_t ms);
void stages_fini(struct stages *s);
int64_t stages_bound_ms(size_t bucket); /* INT64_MAX: the last */
const char *stages_str(enum stage stage);

#endif
