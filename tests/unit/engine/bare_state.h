/* bare_state.h - gives a bare struct engine the memory of all parts, empty. */
#ifndef TESTS_BARE_STATE_H
#define TESTS_BARE_STATE_H

#include <string.h>

#include "buy/buy.h"
#include "cloud/cloud.h"
#include "diff/diff.h"
#include "jobs/jobs.h"
#include "keys/keys.h"

static struct {
	struct cloud_state cloud;
	struct jobs_state jobs;
	struct keys_state keys;
	struct buy_state buy;
	struct diff_state diff;
} bare_memory;

static inline void bare_state(struct engine *e)
{
	memset(&bare_memory, 0, sizeof(bare_memory));
	e->cloud = &bare_memory.cloud;
	e->jobs = &bare_memory.jobs;
	e->keys = &bare_memory.keys;
	e->buy = &bare_memory.buy;
	e->diff = &bare_memory.diff;
}

#endif
