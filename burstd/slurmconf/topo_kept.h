/* topo_kept.h - dynamic nodes whose place in the topology slurmctld itself keeps.
 *
 * From 25.05 on `scontrol create` and `scontrol update` take Topology=default:LEAF.  Of a node of
 * slurm.conf that lasts until the next reconfigure; of a dynamic one it is in slurmctld's state,
 * and slurmctld ends at a reconfigure, and at each start after it, once topology.conf has no such
 * leaf.  No slurmctld that is only tried sees that: it has no state. */
#ifndef BURSTD_SLURMCONF_TOPO_KEPT_H
#define BURSTD_SLURMCONF_TOPO_KEPT_H

#include "slurmconf/topo.h"

/* Does the release that reads topology.conf keep such places, and need them there? */
bool slurmconf_topo_keeps(const struct slurmconf_topo *t);

/* An error for each place that a node of `scontrol -o show nodes` has, and that neither the site's
 * lines nor body, burstd's, will have.  Only where slurmconf_topo_keeps(). */
void slurmconf_topo_kept(const struct slurmconf_topo *t, const char *body, struct slurm_text nodes,
			 struct slurmconf_place at);

#endif
