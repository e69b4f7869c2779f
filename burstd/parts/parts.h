/* parts.h - the table of all parts of the engine, for main and for whoever else makes a whole one.
 * The kernel has it by struct engine_deps only. */
#ifndef BURSTD_PARTS_PARTS_H
#define BURSTD_PARTS_PARTS_H

#include "engine/part.h"

struct engine_parts parts_all(void);

extern const struct engine_part memory_part;

/* --- restore.c --- */
extern const struct engine_part restore_part;

/* --- follow.c --- */
extern const struct engine_part follow_part;

/* --- reconcile.c --- */
/* Ask slurmctld and all providers now, and compare, rather than when it is due. */
void engine_reconcile(struct engine *e);

#endif
