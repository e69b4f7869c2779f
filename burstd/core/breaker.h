/* breaker.h - the circuit of a pool: buying stops for a while when its machines come up wrong.
 *
 * A wrong image or GPU driver makes every node of a pool useless: slurmctld requeues the job, the
 * job resumes the same nodes, and a night costs a fortune (slurm.md 2.1: once every eight seconds).
 * The first failure is taken for bad luck and the node is replaced.  From the second wave on the
 * circuit is open, which blocks buying, for 5 minutes at first, doubling up to an hour; then one
 * purchase is tried as a probe, and the circuit closes when one of its nodes comes up.  Nodes
 * bought together fail together: they count once.  One node that fails alone says nothing of the
 * others: it rests, and they are used. */
#ifndef BURSTD_BREAKER_H
#define BURSTD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BREAKER_FREE = 1, /* waves of failures that are taken for bad luck */
	BREAKER_MS = 300000,
	BREAKER_MAX_MS = 3600000,
	BREAKER_REST_MS = 60000, /* rest of a node after its first failure: longer than a requeued
				    job waits */
};

struct breaker { /* all zero: nothing failed */
	uint32_t waves;
	int64_t last_ms;  /* when the last wave was seen */
	int64_t until_ms; /* the circuit is open until then */
};

/* A node that was bought at bought_ms failed.  false: its wave was counted before, and nothing
 * changed. */
bool breaker_fail(struct breaker *b, int64_t bought_ms, int64_t now_ms);
/* A node came up well: close the circuit.  false: there was nothing to forget. */
bool breaker_ok(struct breaker *b);
/* An open circuit blocks buying, as in electrical circuits. */
bool breaker_is_open(const struct breaker *b, int64_t now_ms);
/* Is the circuit half open: it was open, and no node has come up since?  One purchase at a time is
 * tried then. */
bool breaker_probes(const struct breaker *b, int64_t now_ms);

/* How long a node rests after so many failures in a row, >= 1. */
int64_t breaker_rest_ms(uint32_t fails);

#endif
