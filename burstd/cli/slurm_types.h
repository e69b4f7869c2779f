/* slurm_types.h - asks the providers of burstd.conf what the types have that its pools buy.
 *
 * burstd asks, as for `provider check`: it has drivers and credentials, and only looks. */
#ifndef BURSTD_CLI_SLURM_TYPES_H
#define BURSTD_CLI_SLURM_TYPES_H

#include "slurmconf/types.h"

struct slurm_types {
	struct slurmconf_type *v; /* of each offer; type is borrowed from conf */
	size_t n;
};

/* path: of burstd.conf, which conf is.  An offer that its provider does not know has zeros; a
 * provider that cannot be asked is complained of on standard error. */
void slurm_types_ask(struct slurm_types *t, const struct conf *conf, const char *path);
void slurm_types_fini(struct slurm_types *t);

#endif
