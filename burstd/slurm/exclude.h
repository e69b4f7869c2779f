/* exclude.h - SuspendExcNodes: the nodes that slurmctld does not power down when they are idle.
 *
 * "c[1-2],d[1-8]:4" means both nodes of the first list, and any four nodes of the second that are
 * idle and up.  From 23.02 on names can be added and removed at run time (`scontrol update
 * SuspendExcNodes+=c3`), but not while a list has a count.  A restart or a reconfigure of slurmctld
 * goes back to slurm.conf. */
#ifndef BURSTD_SLURM_EXCLUDE_H
#define BURSTD_SLURM_EXCLUDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "slurm/parse.h"

enum { SLURM_EXCLUDE_WANTED_MAX = 100 }; /* bytes of a list that a problem's text suggests */

/* The value of SuspendExcNodes in the output of `scontrol show config`. */
struct slurm_text slurm_exclude_setting(struct slurm_text config);
/* Cut the next list off *rest; *h is the caller's, NULL if it cannot be read; *count -1: all its
 * nodes.  false: no more. */
bool slurm_exclude_next(struct slurm_text *rest, struct hostlist **h, int64_t *count);
/* Has a list a count, so that names can be neither added nor removed? */
bool slurm_exclude_is_fixed(struct slurm_text value);

#endif
