/* feature.h - do a pool's nodes carry the features by which a job chooses among its offers?
 *
 * Without them slurmctld refuses `--constraint=spot`, and with some of them only it gives the job
 * some of the nodes.  What a node carries is in `scontrol show nodes`, not in the settings that
 * require.h judges: so this looks, and a rule there tells. */
#ifndef BURSTD_SLURM_FEATURE_H
#define BURSTD_SLURM_FEATURE_H

#include "core/conf.h"
#include "slurm/parse.h"

struct slurm_feature {                    /* of one pool */
	char *wanted;                     /* "spot,ondemand,aws,lambda"; NULL: none */
	char bare[HOSTLIST_NAME_MAX + 1]; /* the first node seen that lacks some; "": none yet */
};

/* One for each of c's pools, or NULL: none of them wants any.  The caller's. */
struct slurm_feature *slurm_features_new(const struct conf *c);
void slurm_features_free(struct slurm_feature *f, size_t npools); /* NULL is fine */

void slurm_features_look(struct slurm_feature *f, const struct conf *c, const struct slurm_node *n);

#endif
