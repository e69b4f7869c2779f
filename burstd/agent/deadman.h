/* deadman.h - the dead-man's switch: when a node that burstd has forgotten powers itself off.
 *
 * A node whose burstd is gone would bill for ever.  But a needless power-off loses a job.  So only
 * time in which the agent really tried counts (a suspended machine, or a clock that jumps, adds one
 * turn at most), and a running job has a longer limit.  Pure: time is an argument. */
#ifndef AGENT_DEADMAN_H
#define AGENT_DEADMAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DEADMAN_TURN_MS = 30000,  /* the most time that one turn adds */
	DEADMAN_TRIES = 3,        /* least number of failed heartbeats */
	DEADMAN_IDLE_MS = 10000,  /* a node must be seen without a job for so long */
	DEADMAN_AGAIN_MS = 60000, /* between two orders to power off */
};

/*  ALIVE --limit, tries--> SILENT --no job, or job_limit--> FIRED
 *    ^                        |                               |
 *    +----- heartbeat --------+-------------------------------+ */
enum deadman_state { DEADMAN_ALIVE, DEADMAN_SILENT, DEADMAN_FIRED };

enum deadman_order {
	DEADMAN_NOTHING,
	DEADMAN_WARN, /* once: silent for too long, but a job is running */
	DEADMAN_POWEROFF
};

struct deadman {
	int64_t limit, job_limit; /* ms; limit 0: the switch is off */
	enum deadman_state state;
	int64_t last;   /* turn */
	int64_t silent; /* ms of silence in which the agent tried */
	int64_t waited; /* of these, ms in which a job ran */
	int64_t idle;   /* ms since it was first seen without a job */
	int64_t again;  /* when the next order may be given */
	unsigned tries;
	bool free; /* it had no job at the last turn */
};

void deadman_init(struct deadman *d, int64_t limit, int64_t job_limit, int64_t now);
void deadman_heard(struct deadman *d, int64_t now); /* a heartbeat succeeded */
void deadman_failed(struct deadman *d);             /* a heartbeat failed */
enum deadman_order deadman_turn(struct deadman *d, bool job, int64_t now);

#endif
