/* sim_spool.h - io/spool.h in memory: files of hooks, which outlive burstd. */
#ifndef SIM_SPOOL_H
#define SIM_SPOOL_H

#include "io/spool.h"
#include "world.h"

struct spool *sim_spool_new(struct world *w);
void sim_spool_free(struct spool *s);

/* A hook leaves a call, which was made at this time; list and file are copied, file NULL: none. */
struct sim_call {
	enum call_kind kind;
	int64_t at;
	const char *list, *file;
};
void sim_spool_put(struct spool *s, const struct sim_call *c);

void sim_spool_life(struct spool *s); /* another burstd begins */

/* Whether the watch overflows and files cannot be deleted in this world. */
void sim_spool_choose(struct world *w);

#endif
