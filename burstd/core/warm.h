/* warm.h - which nodes of a pool stay up though no job has them: so many, always (`warm`), and
 * those whose time is paid for already (`quantum`).
 *
 * Pure: the engine says how each node is, and is told which to power up and which slurmctld must
 * not power down (buy/warm.c).  Everything is decided anew each time, from what is so now: a
 * node that is drained, reserved or gone counts no more, and another takes its place. */
#ifndef BURSTD_WARM_H
#define BURSTD_WARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fleet.h"

enum {
	/* So long before a quantum ends its node is let go: slurmctld has to look, burstd to ask,
	 * and the provider to stop it before the next one is begun. */
	WARM_MARGIN_MS = 120000,
};

enum warm_state {
	WARM_OUT,    /* of use: drained, down, reserved, resting, on its way down */
	WARM_OFF,    /* it may be powered up */
	WARM_COMING, /* it is on its way up, for whomever */
	WARM_UP,     /* with a job or without */
};

struct warm_node {
	enum warm_state state;
	bool busy;        /* it has a job */
	bool kept;        /* slurmctld has been told not to power it down */
	int64_t start_ms; /* when its bill began; 0: not yet */
	bool keep, wake;  /* the answer: it is not to be powered down; it is to be powered up */
	bool counted;     /* likewise: it is one of those that are warm, or will be */
};

struct warm_pool {
	uint32_t want;      /* so many are to be up */
	uint32_t room;      /* so many may be bought now */
	int64_t quantum_ms; /* 0: none */
};

struct warm_sum {
	uint32_t up, coming; /* of those wanted */
	uint32_t paid;       /* kept beyond them, for their time is paid */
	int64_t next_ms;     /* when to decide anew, should nothing happen; INT64_MAX: never */
};

/* How a node is to this; of the last snapshot and of what we have. */
enum warm_state warm_state(const struct fleet_name *nm, int64_t now_ms);

/* Until when a node is kept that is billed by the quantum since start_ms: shortly before the end of
 * the one that it is in.  0: it is to go now, if it is idle. */
int64_t warm_paid_until(int64_t start_ms, int64_t quantum_ms, int64_t now_ms);

/* Decide for all nodes of a pool, in the order of its names. */
void warm_decide(struct warm_node *nodes, size_t n, const struct warm_pool *p, int64_t now_ms,
		 struct warm_sum *out);

#endif
