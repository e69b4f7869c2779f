/* targets.h - the nodes that run, for Prometheus' HTTP service discovery.
 *
 * One target for each node with an address, at most as many as pools name.  Its address has no
 * port: which exporters a site's image has, the scrape configuration says. */
#ifndef BURSTD_TARGETS_H
#define BURSTD_TARGETS_H

#include "api/api.h"
#include "base/str.h"

enum { TARGETS_MAX = 64 << 20 }; /* bytes: as many nodes as Slurm can have, with long names */

/* Append them to *out, as JSON. */
void targets_write(const struct api *a, struct str *out);

#endif
