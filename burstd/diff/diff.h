/* diff.h - what a provider's list and a snapshot of slurmctld say, against what burstd knows: the
 * difference is posted, and ordered. */
#ifndef BURSTD_DIFF_DIFF_H
#define BURSTD_DIFF_DIFF_H

#include "engine/kernel.h"
#include "slurm/parse.h"

enum {
	ENGINE_POLL_MS = 1000, /* slurmctld, while anything moves */
	ENGINE_POLL_IDLE_MS = 30000,
};

struct cloud;

struct sightings { /* the nodes of ours in one snapshot */
	struct slurm_node *nodes;
	struct fleet_name **names; /* of these; NULL: no pool ever named it */
	size_t n, cap;
};

struct diff_state {
	struct sightings seen; /* in one that is being read, or looked at: */
	struct look *look;     /* NULL: none is */
	struct timer *look_timer;
	struct node_queue up; /* registered, to be posted */
};

/* --- inventory.c --- */
/* c->seen is a whole list, and is changed: what it says is staged. */
void inventory_take(struct cloud *c);

/* --- observe.c --- */
/* ctx: the engine.  A node in a snapshot of slurmctld; nothing is done before all are there. */
void observe_node(void *ctx, const struct slurm_node *sn);
/* That were all of them; err: or none is to be believed.  false: not all of it is looked at yet;
 * more by observe_some() whenever look_timer goes off, until that says true. */
bool observe_snapshot(struct engine *e, int64_t began_ms, const struct err *err);
bool observe_some(struct engine *e);
void observe_free(struct engine *e);

/* --- registered.c --- */
/* REGISTERED: posted now or, when there are many, some in each of the next turns. */
void registered_add(struct engine *e, struct fleet_node *fn);
void registered_run(struct engine *e); /* those, once all answers to creates are posted */
int64_t registered_next_ms(const struct engine *e);
void registered_free(struct engine *e);

/* --- slurmctld.c --- */
void slurmctld_init(struct engine *e);
void slurmctld_reload(struct engine *e);
void slurmctld_send(struct engine *e);
int64_t slurmctld_next_ms(const struct engine *e);
void slurmctld_stop(struct engine *e);

/* --- deadline.c --- */
void deadline_run(struct engine *e);

#endif
