/* diff.h - compares what others say with what burstd knows: a provider's list with the rows, and a
 * snapshot of slurmctld with both.  Each difference becomes an event of a row or an order
 * (core/drift.h decides which). */
#ifndef BURSTD_DIFF_DIFF_H
#define BURSTD_DIFF_DIFF_H

#include "engine/kernel.h"
#include "slurm/parse.h"

enum {
	ENGINE_POLL_MS = 1000,       /* between two snapshots while any node is in transition */
	ENGINE_POLL_IDLE_MS = 30000, /* ... and while none is */
};

struct cloud;

struct sightings { /* burstd's nodes in one snapshot */
	struct slurm_node *nodes;
	struct fleet_name **names; /* each node's; NULL: no pool ever named the node */
	size_t n, cap;
};

struct diff_state {
	struct sightings seen; /* of the snapshot that is being read, or compared */
	struct look *look;     /* the comparison that runs; NULL: none does */
	struct timer *look_timer;
	struct node_queue up; /* nodes that registered and are still to be posted */
};

/* --- inventory.c --- */
extern const struct engine_part inventory_part;

/* --- observe.c --- */
/* Keep a node of a snapshot that is being read; ctx is the engine. */
void observe_node(void *ctx, const struct slurm_node *sn);
/* The snapshot is read, or err says that it is not to be believed: begin to compare it.  false:
 * more is left; then look_timer calls observe_some() until that returns true. */
bool observe_snapshot(struct engine *e, int64_t began_ms, const struct err *err);
bool observe_some(struct engine *e);
void observe_free(struct engine *e);

/* --- registered.c --- */
/* Post REGISTERED to this row in this turn or, when there are many, in one of the next. */
void registered_add(struct engine *e, struct fleet_node *fn);
extern const struct engine_part registered_part;

/* --- slurmctld.c --- */
extern const struct engine_part slurmctld_part;

/* --- deadline.c --- */
extern const struct engine_part deadline_part;

#endif
