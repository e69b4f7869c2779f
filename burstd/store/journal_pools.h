/* journal_pools.h - what an admin, or its machines, did to a pool. */
#ifndef BURSTD_JOURNAL_POOLS_H
#define BURSTD_JOURNAL_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/breaker.h"

struct journal_tx;

enum { JOURNAL_BY_SIZE = 64 };

struct journal_pool {
	const char *name; /* borrowed */
	bool paused;
	struct breaker breaker;
	char by[JOURNAL_BY_SIZE]; /* who paused it; "": not known */
	int64_t paused_ms;        /* when; 0: not known */
};

void journal_put_pool(struct journal_tx *tx, const struct journal_pool *p);

#endif
