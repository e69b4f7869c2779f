/* cgroup.h - what cgroup.conf needs for burstd's nodes, which slurmd reads there.
 *
 * Of several jobs on a node each must see its own GPUs and no more memory than it asked for.  Slurm
 * sees to that only with task/cgroup among TaskPlugin, which is for the whole cluster and the
 * site's: without it cgroup.conf has no effect, so burstd writes nothing there, and says so. */
#ifndef BURSTD_SLURMCONF_CGROUP_H
#define BURSTD_SLURMCONF_CGROUP_H

#include "slurmconf/want.h"

/* Append the lines of burstd's block in cgroup.conf, whose own lines are in files; findings go to
 * w->findings.  -1: a line cannot be read, *e begins "FILE:LINE: ". */
int slurmconf_want_cgroup(const struct slurmconf_want *w, const struct slurmconf_sources *files,
			  struct str *out, struct err *e);

#endif
