/* unknown.h - finds nodes of pools that slurmctld does not know.
 *
 * slurmctld never calls ResumeProgram for such a node, so burstd never buys it, and refuses jobs
 * that name it.  The nodes are in `scontrol show nodes`, not in the settings that require.h checks:
 * this file finds them, and a rule there reports them. */
#ifndef BURSTD_SLURM_UNKNOWN_H
#define BURSTD_SLURM_UNKNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hostlist.h"

typedef bool (*slurm_known_fn)(void *ctx, const char *node);

/* The unknown nodes of the list, for people: "c[9-10]", "c9 and 199 more"; NULL: none.  The
 * caller's (free()). */
char *slurm_unknown(const struct hostlist *nodes, slurm_known_fn known, void *ctx);

#endif
