/* drift_world.h - what slurmctld shows, the journal has and the lists say, of which drift.c is to
 * make something. */
#ifndef TESTS_DRIFT_WORLD_H
#define TESTS_DRIFT_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/drift.h"

#define K          SLURM_KNOWN
#define DOWN       SLURM_DOWN
#define IDLE       SLURM_IDLE
#define ALLOC      SLURM_ALLOCATED
#define SILENT     SLURM_NOT_RESPONDING
#define UNKNOWN    SLURM_UNKNOWN
#define OFF        SLURM_POWERED_DOWN
#define GOING      SLURM_POWERING_DOWN
#define COMING     SLURM_POWERING_UP
#define TOLD       SLURM_POWER_DOWN
#define DRAIN      SLURM_DRAIN
#define REBOOT     SLURM_REBOOT
#define MAINT      SLURM_MAINT
#define INVALID    SLURM_INVALID_REG
#define COMPLETING SLURM_COMPLETING

enum { STARTED = 1000, WANTED = 2000, SINCE = 3000, BEGAN = 900000, NOW = 1000000 };
enum { NO_NODE = NODE_NSTATES }; /* a row's state: never bought */

struct world { /* one node with at most two generations */
	struct fleet f;
	struct fleet_name *nm;
	struct fleet_node *fn, *older;
	struct fleet_elsewhere place;
};

static inline struct fleet_node *add(struct world *w, uint64_t gen, enum node_state state,
				     const char *id, const char *addr)
{
	struct node n;

	node_init(&n, "c1", gen, WANTED);
	n.state = state;
	n.since_ms = SINCE;
	(void)snprintf(n.instance, sizeof(n.instance), "%s", id);
	(void)snprintf(n.addr, sizeof(n.addr), "%s", addr);
	return fleet_add(&w->f, &n);
}

static inline void begin(struct world *w, unsigned state)
{
	*w = (struct world){0};
	fleet_init(&w->f, 1);
	w->nm = fleet_name(&w->f, "c1", 0);
	if (state != NO_NODE)
		w->fn = add(w, 5, state, "i-5", "10.0.0.5");
}

static inline void finish(struct world *w)
{
	w->nm->elsewhere = NULL; /* it is the world's */
	fleet_fini(&w->f);
}

static inline void put_elsewhere(struct world *w, const char *id, const char *addr,
				 int64_t since_ms)
{
	(void)snprintf(w->place.id, sizeof(w->place.id), "%s", id);
	(void)snprintf(w->place.addr, sizeof(w->place.addr), "%s", addr);
	w->place.since_ms = since_ms;
	w->nm->elsewhere = &w->place;
}

enum { /* what differs from the usual: settled, listed, all long ago, address ours or none */
       UNSETTLED = 1 << 0,
       UNLISTED = 1 << 1,
       BARRED = 1 << 2,
       FORCED_NOW = 1 << 3, /* told to power down after the snapshot began */
       FORCED_LATELY = 1 << 4,
       TOO_OLD = 1 << 5,   /* the snapshot: the node changed, or was wanted, since */
       WAITS_NEW = 1 << 6, /* for a job, since later */
       REFUSED_NEW = 1 << 7,
       ADDR_OTHER = 1 << 8,
       ADDR_NONE = 1 << 9,
       NO_ADDR = 1 << 10,       /* the instance has none yet */
       UNPROVEN = 1 << 11,      /* bought before burstd started, in no list since */
       SHOWN = 1 << 12,         /* likewise, but a list has shown it */
       ELSEWHERE = 1 << 13,     /* slurmctld has it on another one, known before that list */
       ELSEWHERE_OLD = 1 << 14, /* ... and before this one */
       OURS = 1 << 15,
       TIMEOUT = 1 << 16,
       NOT_RESPONDING = 1 << 17,
       RESTS = 1 << 18,         /* it did not come up, lately ... */
       RESTED = 1 << 19,        /* ... or some time ago */
       WAITS = 1 << 20,         /* for a job, since an order to power it down was given ... */
       OBEYED = 1 << 21,        /* ... or before one that slurmctld carried out */
       UNSEEN = 1 << 22,        /* no snapshot came for a while before this one */
       BLIND = 1 << 23,         /* its provider has listed nothing since burstd started */
       REFUSED_SINCE = 1 << 24, /* the snapshot began */
       LOSES_REQUEUED = 1 << 25,
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#endif
