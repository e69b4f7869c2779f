/* exclude.h - SuspendExcNodes: the nodes that slurmctld does not power down when they are idle.
 *
 * "c[1-2],d[1-8]:4" is both nodes of the first list, and of the second any four that are idle and
 * up.  slurmctld takes names in and out at run time (`scontrol update SuspendExcNodes+=c3`) from
 * 23.02 on, but none as long as one list has a count; and it forgets them at a restart and at a
 * reconfigure, when slurm.conf counts again. */
#ifndef BURSTD_SLURM_EXCLUDE_H
#define BURSTD_SLURM_EXCLUDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hostlist.h"
#include "slurm/parse.h"

enum { SLURM_EXCLUDE_WANTED_MAX = 100 }; /* bytes of a list that people are told to write there */

/* Its value, of what `scontrol show config` prints. */
struct slurm_text slurm_exclude_setting(struct slurm_text config);
/* The next list of *rest, which loses it; *h is the caller's, NULL if it cannot be read; *count -1:
 * all of them.  false: no more. */
bool slurm_exclude_next(struct slurm_text *rest, struct hostlist **h, int64_t *count);
/* Has some list a count, so that no name is taken in or out? */
bool slurm_exclude_is_fixed(struct slurm_text value);

#endif
