/* deadman.h - when a node that nobody asks for any more puts itself out.
 *
 * A node whose burstd is gone bills for ever.  But a node that goes without need loses a job, so:
 * only time in which we really tried counts (a machine that was suspended, or a clock that jumps,
 * adds one turn at most), and a running job has its own, longer time.  Pure: time comes in. */
#ifndef AGENT_DEADMAN_H
#define AGENT_DEADMAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DEADMAN_TURN_MS = 30000,  /* the most that one turn counts for */
	DEADMAN_TRIES = 3,        /* heartbeats that failed, at least */
	DEADMAN_IDLE_MS = 10000,  /* a node without a job must be seen so for as long */
	DEADMAN_AGAIN_MS = 60000, /* between two orders to power off */
};

/*  ALIVE --limit, tries--> SILENT --no job, or job_limit--> FIRED
 *    ^                        |                               |
 *    +----- heartbeat --------+-------------------------------+ */
enum deadman_state { DEADMAN_ALIVE, DEADMAN_SILENT, DEADMAN_FIRED };

enum deadman_order {
	DEADMAN_NOTHING,
	DEADMAN_WARN, /* once: silent for too long, but a job runs */
	DEADMAN_POWEROFF
};

struct deadman {
	int64_t limit, job_limit; /* ms; limit 0: switched off */
	enum deadman_state state;
	int64_t last;   /* turn */
	int64_t silent; /* ms of silence in which we tried */
	int64_t waited; /* ms of them for a job */
	int64_t idle;   /* ms without a job, since it was first seen so */
	int64_t again;  /* until the next order */
	unsigned tries;
	bool free; /* it had no job at the last turn of the silence */
};

void deadman_init(struct deadman *d, int64_t limit, int64_t job_limit, int64_t now);
void deadman_heard(struct deadman *d, int64_t now); /* a heartbeat was answered as it should be */
void deadman_failed(struct deadman *d);             /* one was not */
enum deadman_order deadman_turn(struct deadman *d, bool job, int64_t now);

#endif
