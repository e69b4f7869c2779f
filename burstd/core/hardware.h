/* hardware.h - what a node of a pool has, in Slurm's words: the options `node` and `gres` of a
 * pool.
 *
 * `node` is written as `slurmd -C` prints it on such a machine: "CPUs=208 Sockets=2
 * CoresPerSocket=52 ThreadsPerCore=2 RealMemory=1800000"; `gres` as Gres= of slurm.conf:
 * "gpu:h100:8". */
#ifndef BURSTD_HARDWARE_H
#define BURSTD_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	HARDWARE_TEXT_MAX = 512,
	HARDWARE_GRES_MAX = 16,       /* kinds of one node: a GPU can be cut into 7 */
	HARDWARE_WORD_MAX = 63,       /* bytes of a name or type */
	HARDWARE_CPUS_MAX = 65535,    /* Slurm's own limit of a node */
	HARDWARE_COUNT_MAX = 1 << 20, /* of one GRES: shards come in hundreds */
	/* Percent of a machine's memory that RealMemory leaves out where slurmd has measured it:
	   another kernel, or another machine of the type, may have a little less, and slurmctld
	   takes no node that does. */
	HARDWARE_MARGIN = 1,
	/* Percent, and at least so many MB, where only a provider tells what it sells: what
	   firmware, kernel and crash dump take, generously. */
	HARDWARE_SOLD_MARGIN = 5,
	HARDWARE_SOLD_MARGIN_MB = 1024,
	/* Percent that may be left out before it is a waste; HARDWARE_SOLD_MARGIN_MB never is. */
	HARDWARE_UNUSED = 10,
};

/* Largest memory of a node, and of its disk, in MB: a pebibyte. */
#define HARDWARE_MB_MAX (INT64_C(1) << 30)

struct hardware_node {
	uint32_t cpus;                            /* 0: not said, as are those that follow */
	uint32_t boards, sockets, cores, threads; /* cores: of a socket; threads: of a core */
	int64_t memory_mb, disk_mb;
};

struct hardware_gres {
	char name[HARDWARE_WORD_MAX + 1];
	char type[HARDWARE_WORD_MAX + 1]; /* "": none */
	uint32_t count;
};

struct hardware_gres_list {
	size_t n;
	struct hardware_gres v[HARDWARE_GRES_MAX];
};

/* Read the option `node`.  CPUs and RealMemory must be there; sockets, cores and threads must make
 * up the CPUs where all three are.  -1: *e says what is wanted. */
int hardware_parse_node(const char *text, struct hardware_node *out, struct err *e);

/* Append it as slurmd -C prints it, with all its memory. */
void hardware_print(const struct hardware_node *h, struct str *out);
/* Append what the option `node` should be for such a machine: with HARDWARE_MARGIN less memory. */
void hardware_propose(const struct hardware_node *has, struct str *out);

/* Does the option `node` fit a machine that has this?  CPUs, and sockets, cores and threads where
 * both give them, are the same; the machine has at least its memory and disk, and not so much more
 * memory that it is a waste. */
bool hardware_fits(const struct hardware_node *node, const struct hardware_node *has);

/* Read the option `gres`: NAME[:TYPE]:COUNT with commas between; no NAME and TYPE twice. */
int hardware_parse_gres(const char *text, struct hardware_gres_list *out, struct err *e);

/* Is this a part of a GPU, as MIG makes them: a type such as a100_3g.20gb? */
bool hardware_is_mig(const struct hardware_gres *g);

#endif
