/* version.h - the table of differences between releases of Slurm.
 *
 * Other code does not compare version numbers: it asks for a trait.  A release has its new traits
 * from its first release candidate on. */
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
	char text[SLURM_VERSION_SIZE]; /* as printed */
};

enum slurm_trait {
	SLURM_ALWAYS,                /* every release */
	SLURM_HIDES_POWERED_DOWN,    /* `show nodes` lacks them without PrivateData=cloud */
	SLURM_ADDR_BY_OPTION,        /* a node's address is set and reset only with an option */
	SLURM_FORWARDS_BY_NAME,      /* messages go through nodes that cannot resolve each other */
	SLURM_CACHES_ADDR,           /* keeps using a node's old address, unless told not to */
	SLURM_NO_ADDR_CACHE_IS_GONE, /* NoAddrCache is an error in the log */
	SLURM_EXCLUDES_STATES,       /* SuspendExcStates */
	SLURM_EXCLUDES_BY_UPDATE,    /* scontrol can change SuspendExcNodes at run time */
	SLURM_RESUME_TIMEOUT_INFINITE,   /* ResumeTimeout=INFINITE is allowed */
	SLURM_REQUEUE_ON_RESUME_FAILURE, /* there is such a scheduler parameter */
	SLURM_REQUEUE_DELAY,             /* there is such a scheduler parameter */
	SLURM_MAX_TRES_GRES,             /* there is such a flag of PriorityFlags */
	SLURM_FIFO_UNLESS_TOLD,          /* PriorityType may be priority/basic by default */
	SLURM_CGROUP_DISABLED,           /* CgroupPlugin=disabled is known */
	SLURM_FULL_UNITS,           /* an empty switch, or a block below BlockSizes, is fatal */
	SLURM_TOPOLOGY_YAML,        /* topology.yaml, if there is one, replaces topology.conf */
	SLURM_KEEPS_LEAVES,         /* a dynamic node's own switch must be in topology.conf */
	SLURM_KEEPS_BLOCKS,         /* likewise its block */
	SLURM_POWER_ACTIONS,        /* a program can be the name of a PowerAction */
	SLURM_HAS_EXCLUSIVE_COLUMN, /* squeue -O Exclusive; OverSubscribe does not say it */
	SLURM_BUG_STOP_WAITS,    /* slurmctld waits for its power programs for ever when it stops */
	SLURM_BUG_REQUEUE_LOST,  /* a completing job whose node goes down loses its GPUs */
	SLURM_BUG_TOPOLOGY_LOST, /* a cloud node leaves topology.conf when powered down */
	SLURM_NTRAITS
};

enum slurm_support { SLURM_TOO_OLD, SLURM_UNTESTED, SLURM_TESTED };

/* Parse slurmctld's version: "24.11.5", "25.11.0-rc1", "23.02.0-0rc1"; a "slurm " or "slurm-wlm "
 * before it, as `slurmctld -V` prints, is skipped. */
int slurm_version_parse(struct slurm_version *v, const char *text, size_t len, struct err *e);

bool slurm_version_has(const struct slurm_version *v, enum slurm_trait t);
/* Release candidates, and releases newer than this file, are UNTESTED. */
enum slurm_support slurm_version_support(const struct slurm_version *v);

/* "22.05", "up to 23.02", "from 25.05": for messages and documents. */
const char *slurm_trait_releases(enum slurm_trait t);

#endif
