/* topo_check.h - steps of slurmconf_topo_init(): what in topology.conf slurmctld ends with, and
 * what it only logs. */
#ifndef BURSTD_SLURMCONF_TOPO_CHECK_H
#define BURSTD_SLURMCONF_TOPO_CHECK_H

#include "slurmconf/topo.h"

/* A line of a switch or a block by itself, and the nodes of pools in it. */
void slurmconf_topo_check_line(struct slurmconf_topo *t, struct slurmconf_unit *u,
			       const struct slurmconf_line *l);
/* The line BlockSizes=. */
void slurmconf_topo_take_sizes(struct slurmconf_topo *t, const struct slurmconf_line *l);
/* How they are together; path is the file's, borrowed by findings. */
void slurmconf_topo_check(struct slurmconf_topo *t, const char *path);

#endif
