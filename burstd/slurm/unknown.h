/* unknown.h - nodes of pools that slurmctld does not know.
 *
 * For such a node slurmctld never calls a program, so that nothing is ever bought for it, and it
 * refuses the jobs that name it.  Which nodes it has is in `scontrol show nodes`, not in the
 * settings that require.h judges: so this looks, and a rule there tells. */
#ifndef BURSTD_SLURM_UNKNOWN_H
#define BURSTD_SLURM_UNKNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hostlist.h"

typedef bool (*slurm_known_fn)(void *ctx, const char *node);

/* The nodes of the list that are not known, for people: "c[9-10]", "c9 and 199 more"; NULL: all
 * are.  The caller's (free()). */
char *slurm_unknown(const struct hostlist *nodes, slurm_known_fn known, void *ctx);

#endif
