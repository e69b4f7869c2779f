/* names.h - who an instance is, written in its name: for clouds that have no tags.
 *
 *	b0b1c2d3e0000-5-gpu-07      "b" and the first 12 hex digits of the cluster's uuid,
 *	                            the generation in base 36, Slurm's node name
 *
 * The name is all that ties an instance to us, so nothing in it is cut or hashed: a node whose name
 * does not fit is refused before anything is bought, and what comes back is read only if it is
 * exactly a text that names_pack() writes.  A cloud that changes names (a suffix for each of
 * several instances) must be asked for one instance at a time. */
#ifndef PROVIDERS_COMMON_NAMES_H
#define PROVIDERS_COMMON_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/provider.h"

enum {
	NAMES_PREFIX_SIZE = 14, /* "b", 12 digits, NUL */
	NAMES_SIZE = 96,        /* of the longest name: prefix, 13 digits, 63 bytes, two '-' */
};

/* Write the name of a node's generation to out.  -1: the node's name is too long for this cloud or
 * has a character that it does not allow, or the cluster is no uuid; out is "". */
int names_pack(char out[NAMES_SIZE], const struct provider_names *f, const char *cluster,
	       const struct provider_want *want, struct err *e);

enum names_whose {
	NAMES_FOREIGN,    /* another cluster's or not burstd's; node and cluster are "", gen 0 */
	NAMES_UNREADABLE, /* our cluster's prefix, and no more; node is "", gen 0 */
	NAMES_OURS,
};

/* Who is it?  Fills in cluster, node and gen of *i as core/provider.h wants them.  Whatever has our
 * prefix is ours, for an instance that we do not see is one that nobody stops. */
enum names_whose names_unpack(const struct provider_names *f, const char *name, const char *cluster,
			      struct provider_instance *i);

/* The beginning of all names of a cluster, for clouds that can filter by it.  -1: no uuid; out is
 * "". */
int names_prefix(char out[NAMES_PREFIX_SIZE], const char *cluster);

#endif
