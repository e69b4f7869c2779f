/* parts.h - the table of all parts of the engine, for main and for whoever else makes a whole one.
 * The kernel has it by struct engine_deps only. */
#ifndef BURSTD_PARTS_PARTS_H
#define BURSTD_PARTS_PARTS_H

#include "engine/part.h"

struct engine_parts parts_all(void);

/* Make the memory of each directory of parts, empty. */
void parts_init(struct engine *e);

/* Ask slurmctld and all providers now, and compare, rather than when it is due. */
void engine_reconcile(struct engine *e);

/* --- restore.c --- */
/* Give each part what the journal has of it. */
int restore_open(struct engine *e, struct err *err);

/* --- follow.c --- */
/* Do what follows from a change of a row, once it is durable. */
void follow_row(struct engine *e, struct fleet_node *fn, const struct node *was);

#endif
