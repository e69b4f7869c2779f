/* parse.h - what scontrol and squeue print, read without believing more than needed.
 *
 * States are sets of flags: a flag is tested, a whole state string never compared, because every
 * release adds words.  A word we do not know is no flag of ours.  Values may hold '=' and spaces (a
 * node's Reason is anybody's text), so only the first occurrence of a key counts and everything
 * from Reason= on is free text. */
#ifndef BURSTD_SLURM_PARSE_H
#define BURSTD_SLURM_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"

enum slurm_flag {
	SLURM_KNOWN = 1 << 0, /* set on every node that was parsed */
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
	SLURM_UNKNOWN = 1 << 17, /* slurmctld itself does not know */
	SLURM_VANISHED =
		1 << 18, /* ours, never parsed: its snapshots do not have the node any more */
};

struct slurm_text { /* borrowed, not NUL-terminated */
	const char *p;
	size_t n;
};

struct slurm_node {
	char name[HOSTLIST_NAME_MAX + 1];
	uint32_t flags;
	struct slurm_text addr, host, state, instance, partitions, reason; /* p NULL: not there */
};

typedef void (*slurm_node_fn)(void *ctx, const struct slurm_node *n);

/* `scontrol -o show nodes`: one line a node.  Return how many, or -1: not such text, or cut short;
 * then fn may have been called for some. */
long slurm_parse_nodes(const char *text, size_t len, slurm_node_fn fn, void *ctx, struct err *e);
uint32_t slurm_parse_state(const char *text, size_t len);
/* The flags as words joined by '+', as Slurm prints them; "" when not known. */
void slurm_print_state(uint32_t flags, char *out, size_t size);
int slurm_text_is(struct slurm_text t, const char *s);

#endif
