/* payer.h - who a job's cost is put down to, and how much of its nodes it has, as slurmctld says.
 */
#ifndef BURSTD_PAYER_H
#define BURSTD_PAYER_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PAYER_NAME_MAX = 127, /* bytes of an account, user, QOS, wckey or partition; longer: cut */
	PAYER_UNLIMITED = -1,
};

struct payer {
	char id[32]; /* the job's, as people write it */
	char account[PAYER_NAME_MAX + 1], user[PAYER_NAME_MAX + 1], partition[PAYER_NAME_MAX + 1];
	char qos[PAYER_NAME_MAX + 1], wckey[PAYER_NAME_MAX + 1]; /* "": none */
	int64_t limit_s;                                         /* of its time; PAYER_UNLIMITED */
	uint32_t nodes;     /* that it has, or asks for; 0: not said */
	uint32_t cpus;      /* on all of them */
	uint32_t node_gpus; /* on each */
	bool exclusive;     /* its nodes are its own */
};

/* What a machine of this rate, with so many GPUs and CPUs, costs the job per hour: the larger of
 * its shares of both, rounded up; all of it, if the machine is its own, or the shares are not
 * known. */
int64_t payer_rate(const struct payer *p, int64_t rate_nano_h, uint32_t gpus, uint32_t cpus);

#endif
