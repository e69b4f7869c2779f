/* types.h - what providers say of the types that pools buy, beside `node` and `gres` in
 * burstd.conf.
 *
 * A provider tells CPUs, GPUs and memory; sockets and cores it does not, and an operating system
 * shows less memory than was bought.  So what it says is never written into slurm.conf: it is a
 * line for burstd.conf that an admin completes, or a warning where that has more. */
#ifndef BURSTD_SLURMCONF_TYPES_H
#define BURSTD_SLURMCONF_TYPES_H

#include "slurmconf/want.h"

struct slurmconf_type { /* of the machines of one offer */
	size_t pool;    /* index in conf */
	const char *type;
	uint32_t cpus, gpus; /* cpus 0: neither is known */
	int64_t memory_mb;   /* 0: not known */
};

/* RealMemory for a machine that is sold with so much: with the margin, in whole 100 MB. */
int64_t slurmconf_types_memory(int64_t memory_mb);

/* Say of each pool what to write, where `node` or `gres` is missing, and where they have more than
 * a type of its offers.  n 0: nobody asked, and nothing is said. */
void slurmconf_types(const struct slurmconf_want *w, const struct slurmconf_type *types, size_t n);

#endif
