/* parse.h - what scontrol prints about nodes, read without believing more than needed.
 *
 * A state is a set of flags (core/slurm_flag.h); a word we do not know is no flag of ours.  Values
 * may hold '=' and spaces, and a node's Reason is anybody's text: the first occurrence of a key
 * counts, and everything from Reason= on is free text; of what slurmctld prints after that, the
 * last. */
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
	/* p NULL: not there; features: those that slurm.conf gives it, "a,b" */
	struct slurm_text addr, host, state, instance, partitions, reason, features, gres;
	struct slurm_text alloc, used; /* what jobs have of it: AllocTRES=, GresUsed= (with -d) */
	/* as slurm.conf has them, whatever registered: a number, of MB the last two */
	struct slurm_text cpus, memory, tmp;
};

/* `scontrol -do show nodes`, read in pieces. */
struct slurm_reader {
	const char *at, *end;
	struct slurm_text state; /* of the line before: most nodes have the same one */
	uint32_t flags;
	long count; /* nodes so far */
};

typedef void (*slurm_node_fn)(void *ctx, const struct slurm_node *n);

/* `scontrol -do show nodes`: one line a node.  Return how many, or -1: not such text, or cut
 * short; then fn may have been called for some. */
long slurm_parse_nodes(const char *text, size_t len, slurm_node_fn fn, void *ctx, struct err *e);
/* The same in pieces of so many lines; what fn gets stays where it is in text.  1: there is more,
 * 0: that was all, -1 as above. */
void slurm_reader_init(struct slurm_reader *r, const char *text, size_t len);
int slurm_read_nodes(struct slurm_reader *r, size_t lines, slurm_node_fn fn, void *ctx,
		     struct err *e);
uint32_t slurm_parse_state(const char *text, size_t len);
/* The flags as words joined by '+', as Slurm prints them; "" when not known. */
void slurm_print_state(uint32_t flags, char *out, size_t size);
/* Gres=, "gpu:h100:8(S:0-1)". */
struct slurm_gpus {
	uint32_t n; /* 0: none, or parts are among them, which are not as many as the machine has */
	/* What the name of each must have in it, in any case: static; NULL when they are of two
	 * kinds, or the type is a word of the site's own. */
	const char *model;
	enum slurm_parts {
		SLURM_WHOLE,
		SLURM_SOME_PARTS, /* of GPUs (MIG), "gpu:a100_3g.20gb:2", and whole ones */
		SLURM_ALL_PARTS,
	} parts;
};

struct slurm_gpus slurm_parse_gpus(struct slurm_text gres);
/* Is it powered down and idle, and do jobs that are not there have something of it? slurmctld 22.05
 * forgets to take that back when all nodes of a job fail at once. */
bool slurm_node_holds(const struct slurm_node *n);
int slurm_text_is(struct slurm_text t, const char *s);

/* What becomes of a reason or a comment on its way to slurmctld: no control bytes, '=' or quotes,
 * which programs that read it would trip over. */
void slurm_clean(char *out, size_t size, const char *text);

#endif
