/* version.h - what differs between the releases of Slurm, in one table.
 *
 * Nothing else in burstd compares version numbers: it asks for a trait.  A trait that is new in a
 * release is there from its first release candidate on. */
#ifndef BURSTD_SLURM_VERSION_H
#define BURSTD_SLURM_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { SLURM_VERSION_SIZE = 32 };

struct slurm_version {
	uint32_t number;               /* 22.05.8 is 220508 */
	bool pre;                      /* a release candidate or the like */
	char text[SLURM_VERSION_SIZE]; /* as it was written */
};

enum slurm_trait {
	SLURM_ALWAYS,                /* every release */
	SLURM_HIDES_POWERED_DOWN,    /* unless PrivateData=cloud */
	SLURM_ADDR_BY_OPTION,        /* a node's address is taken and reset by an option only */
	SLURM_FORWARDS_BY_NAME,      /* messages go through nodes that cannot resolve each other */
	SLURM_CACHES_ADDR,           /* of a node whose address has changed, unless told not to */
	SLURM_NO_ADDR_CACHE_IS_GONE, /* NoAddrCache is an error in the log */
	SLURM_EXCLUDES_STATES,       /* SuspendExcStates */
	SLURM_EXCLUDES_BY_UPDATE,    /* SuspendExcNodes is changed at run time, by scontrol */
	SLURM_RESUME_TIMEOUT_INFINITE,   /* is allowed */
	SLURM_REQUEUE_ON_RESUME_FAILURE, /* there is such a scheduler parameter */
	SLURM_REQUEUE_DELAY,             /* there is such a scheduler parameter */
	SLURM_POWER_ACTIONS,             /* a program may be the name of a PowerAction */
	SLURM_BUG_STOP_WAITS,    /* a stopping slurmctld waits for power programs for ever */
	SLURM_BUG_REQUEUE_LOST,  /* a job whose node goes while it is completing loses its GPUs */
	SLURM_BUG_TOPOLOGY_LOST, /* a cloud node leaves topology.conf when powered down */
	SLURM_NTRAITS
};

enum slurm_support { SLURM_TOO_OLD, SLURM_UNTESTED, SLURM_TESTED };

/* text[0..len) is what slurmctld says of itself: "24.11.5", "25.11.0-rc1", "23.02.0-0rc1"; a
 * "slurm " or "slurm-wlm " before it, as `slurmctld -V` has, is skipped. */
int slurm_version_parse(struct slurm_version *v, const char *text, size_t len, struct err *e);

bool slurm_version_has(const struct slurm_version *v, enum slurm_trait t);
/* Release candidates and releases that did not exist when this was written are UNTESTED. */
enum slurm_support slurm_version_support(const struct slurm_version *v);

/* "22.05", "up to 23.02", "from 25.05": for messages and documents. */
const char *slurm_trait_releases(enum slurm_trait t);

#endif
