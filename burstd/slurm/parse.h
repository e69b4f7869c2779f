/* parse.h - parses scontrol's output about nodes, trusting no more of it than needed.
 *
 * A state is a set of flags (core/slurm_flag.h); unknown words are ignored.  Values may contain '='
 * and spaces, and a node's Reason is free text that anybody may have written.  So the first
 * occurrence of a key counts; of keys that slurmctld prints after Reason= the last. */
#ifndef BURSTD_SLURM_PARSE_H
#define BURSTD_SLURM_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hostlist.h"
#include "core/slurm_flag.h"

struct slurm_text { /* borrowed, not NUL-terminated */
	const char *p;
	size_t n;
};

struct slurm_node {
	char name[HOSTLIST_NAME_MAX + 1];
	uint32_t flags;
	/* p NULL: not there; features: as in slurm.conf, "a,b" */
	struct slurm_text addr, host, state, instance, partitions, reason, features, gres;
	struct slurm_text alloc, used; /* allocated to jobs: AllocTRES=, GresUsed= (with -d) */
	/* as in slurm.conf, not as registered: numbers, the last two in MB */
	struct slurm_text cpus, memory, tmp;
};

/* Reads `scontrol -do show nodes` in pieces. */
struct slurm_reader {
	const char *at, *end;
	struct slurm_text state; /* of the last line, since most nodes have the same */
	uint32_t flags;
	long count; /* nodes so far */
};

typedef void (*slurm_node_fn)(void *ctx, const struct slurm_node *n);

/* Parse `scontrol -do show nodes`, one line a node.  Returns how many; -1: it is another text, or
 * cut short; fn may have been called for some nodes. */
long slurm_parse_nodes(const char *text, size_t len, slurm_node_fn fn, void *ctx, struct err *e);
/* Likewise, so many lines at a time; what fn gets is borrowed from text.  1: there is more; 0: that
 * was all; -1: as above. */
void slurm_reader_init(struct slurm_reader *r, const char *text, size_t len);
int slurm_read_nodes(struct slurm_reader *r, size_t lines, slurm_node_fn fn, void *ctx,
		     struct err *e);
uint32_t slurm_parse_state(const char *text, size_t len);
/* Print flags as words joined by '+', as Slurm does; "" for 0. */
void slurm_print_state(uint32_t flags, char *out, size_t size);
/* Gres=, "gpu:h100:8(S:0-1)". */
struct slurm_gpus {
	uint32_t n; /* 0: none, or there are MIG parts, whose number is not the machine's */
	/* Text that the name of each GPU must contain, ignoring case: static; NULL: several kinds,
	 * or a type that the site made up. */
	const char *model;
	enum slurm_parts {
		SLURM_WHOLE,
		SLURM_SOME_PARTS, /* MIG parts, "gpu:a100_3g.20gb:2", and whole GPUs */
		SLURM_ALL_PARTS,
	} parts;
};

struct slurm_gpus slurm_parse_gpus(struct slurm_text gres);
/* Has this Gres= the same GPUs, by type and number, as a pool's `gres` (core/hardware.h)? */
bool slurm_same_gpus(struct slurm_text gres, const char *pools);
/* Is the node powered down and idle, but has allocations of jobs that do not exist?  slurmctld
 * 22.05 forgets to release these when all nodes of a job fail at once. */
bool slurm_node_holds(const struct slurm_node *n);
int slurm_text_is(struct slurm_text t, const char *s);

/* Copy a reason or a comment for slurmctld, replacing control bytes, '=' and quotes, which would
 * confuse programs that parse it. */
void slurm_clean(char *out, size_t size, const char *text);

#endif
