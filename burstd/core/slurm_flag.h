/* slurm_flag.h - what slurmctld says of a node, as flags.
 *
 * States are sets of flags: a flag is tested, a whole state never compared, because every release
 * of Slurm adds words.  The words are in burstd/slurm/parse.c. */
#ifndef BURSTD_SLURM_FLAG_H
#define BURSTD_SLURM_FLAG_H

#include <stdbool.h>
#include <stdint.h>

enum slurm_flag {
	SLURM_KNOWN = 1 << 0, /* set on every node that a snapshot had */
	SLURM_IDLE = 1 << 1,
	SLURM_ALLOCATED = 1 << 2, /* or mixed */
	SLURM_DOWN = 1 << 3,
	SLURM_CLOUD = 1 << 4,
	SLURM_POWERED_DOWN = 1 << 5,
	SLURM_POWERING_DOWN = 1 << 6,
	SLURM_POWERING_UP = 1 << 7,
	SLURM_POWER_DOWN = 1 << 8, /* will be powered down when its jobs are done */
	SLURM_NOT_RESPONDING = 1 << 9,
	SLURM_DRAIN = 1 << 10,
	SLURM_FAIL = 1 << 11,
	SLURM_COMPLETING = 1 << 12,
	SLURM_REBOOT = 1 << 13,
	SLURM_MAINT = 1 << 14,
	SLURM_INVALID_REG = 1 << 15,
	SLURM_POWER_UP = 1 << 16,
	SLURM_UNKNOWN = 1 << 17,  /* slurmctld does not know the state */
	SLURM_VANISHED = 1 << 18, /* burstd's own flag: snapshots do not have the node any more */
	SLURM_RESERVED = 1 << 19, /* in a reservation that is in force */
};

/* Powered down, or about to be: no job is on it, and none will start there. */
static inline bool slurm_is_off(uint32_t flags)
{
	return (flags & (SLURM_POWERED_DOWN | SLURM_POWERING_DOWN)) != 0;
}

/* Powered up and booted: jobs run there or may start, unless it is silent. */
static inline bool slurm_is_on(uint32_t flags)
{
	return (flags & SLURM_KNOWN) != 0 && (flags & (SLURM_POWERING_UP | SLURM_VANISHED)) == 0 &&
	       !slurm_is_off(flags);
}

/* The node does not answer, as far as slurmctld can tell. */
static inline bool slurm_is_silent(uint32_t flags)
{
	return (flags & (SLURM_NOT_RESPONDING | SLURM_DOWN | SLURM_UNKNOWN)) != 0;
}

#endif
