/* feature.h - checks that a pool's nodes have the features by which a job chooses among its offers.
 *
 * Without these features slurmctld refuses `--constraint=spot`; if only some nodes have them, only
 * those can run the job.  They are in `scontrol show nodes`, not in the settings that require.h
 * checks: this file reads them, and a rule there reports them. */
#ifndef BURSTD_SLURM_FEATURE_H
#define BURSTD_SLURM_FEATURE_H

#include "core/conf.h"
#include "slurm/parse.h"

struct slurm_feature {                    /* for one pool */
	char *wanted;                     /* "spot,ondemand,aws,lambda"; NULL: none */
	char bare[HOSTLIST_NAME_MAX + 1]; /* the first node that lacks a feature; "": none yet */
};

/* Make one for each pool of c, the caller's; NULL: no pool needs features. */
struct slurm_feature *slurm_features_new(const struct conf *c);
void slurm_features_free(struct slurm_feature *f, size_t npools); /* NULL is fine */

void slurm_features_look(struct slurm_feature *f, const struct conf *c, const struct slurm_node *n);

#endif
