/* warm.h - which nodes of a pool stay up without a job: a fixed number (`warm`), and nodes whose
 * time is already paid for (`quantum`).
 *
 * Pure: buy/warm.c gives the state of each node, and gets which nodes to power up and which
 * slurmctld must not power down.  Each decision is made anew from the present state: a node that is
 * drained, reserved or gone does not count, and another one takes its place. */
#ifndef BURSTD_WARM_H
#define BURSTD_WARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fleet.h"

enum {
	/* A node is released so long before its quantum ends, for slurmctld has to notice, burstd
	 * to ask, and the provider to stop it before the next quantum begins. */
	WARM_MARGIN_MS = 120000,
};

enum warm_state {
	WARM_OUT,    /* of no use: drained, down, reserved, resting, going down */
	WARM_OFF,    /* can be powered up */
	WARM_COMING, /* on its way up, for any reason */
	WARM_UP,     /* up, with a job or without */
};

struct warm_node {
	enum warm_state state;
	bool busy;        /* it has a job */
	bool kept;        /* slurmctld was told not to power it down */
	int64_t start_ms; /* when its bill began; 0: not yet */
	bool keep, wake;  /* results: do not power it down; power it up */
	bool counted;     /* result: it is one of the warm nodes, or will be */
};

struct warm_pool {
	uint32_t want;      /* how many to keep up */
	uint32_t room;      /* how many may be bought now */
	int64_t quantum_ms; /* 0: none */
	int64_t unmount_ms; /* from a node's release to its delete */
};

struct warm_sum {
	uint32_t up, coming; /* of the wanted ones */
	uint32_t paid;       /* kept besides, since their time is paid for */
	int64_t next_ms;     /* when to decide again if nothing happens; INT64_MAX: never */
};

/* The state of a node, by the last snapshot and the fleet. */
enum warm_state warm_state(const struct fleet_name *nm, int64_t now_ms);

/* Until when to keep a node that is billed by the quantum since start_ms: until margin_ms before
 * its present quantum ends.  0: release it now, if it is idle. */
int64_t warm_paid_until(int64_t start_ms, int64_t quantum_ms, int64_t margin_ms, int64_t now_ms);

/* Decide for all nodes of a pool, in the order of its names. */
void warm_decide(struct warm_node *nodes, size_t n, const struct warm_pool *p, int64_t now_ms,
		 struct warm_sum *out);

#endif
