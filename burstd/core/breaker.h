/* breaker.h - a pool whose machines come up wrong is not bought from for a while.
 *
 * A wrong image or GPU driver makes every node of a pool useless: slurmctld requeues the job, the
 * job resumes the same nodes, and a night costs a fortune (slurm.md 2.1: once every eight seconds).
 * The first failure is taken for bad luck and the node is replaced.  From the second wave on the
 * pool is closed, 5 minutes at first, doubling up to an hour; then one purchase is tried, and the
 * pool opens when one of its nodes comes up.  Nodes bought together fail together: they count once.
 * One node that fails alone says nothing of the others: it rests, and they are used. */
#ifndef BURSTD_BREAKER_H
#define BURSTD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BREAKER_FREE = 1, /* waves of failures that are taken for bad luck */
	BREAKER_MS = 300000,
	BREAKER_MAX_MS = 3600000,
	BREAKER_REST_MS = 60000, /* of a node after its first failure: a requeued job waits less */
};

struct breaker { /* all zero: nothing failed */
	uint32_t waves;
	int64_t last_ms;  /* when the last wave was seen */
	int64_t until_ms; /* open until then */
};

/* A node that was bought at bought_ms is useless.  False: it belongs to a wave that was counted,
 * and nothing changed. */
bool breaker_fail(struct breaker *b, int64_t bought_ms, int64_t now_ms);
/* A node came up well.  False: there was nothing to forget. */
bool breaker_ok(struct breaker *b);
/* Open: nothing is bought.  (The word is that of electrical circuits: closed lets through.) */
bool breaker_is_open(const struct breaker *b, int64_t now_ms);
/* Half open: it was open, and no node has come up since.  One purchase is tried at a time. */
bool breaker_probes(const struct breaker *b, int64_t now_ms);

/* How long a node rests that has failed so often in a row, >= 1. */
int64_t breaker_rest_ms(uint32_t fails);

#endif
