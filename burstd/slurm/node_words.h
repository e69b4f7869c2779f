/* node_words.h - says what slurmctld is to know of a pool's nodes, in the words of slurm.conf. */
#ifndef BURSTD_SLURM_NODE_WORDS_H
#define BURSTD_SLURM_NODE_WORDS_H

#include "base/str.h"
#include "core/conf.h"

/* The feature that all nodes of all pools have. */
#define SLURM_NODE_FEATURE "cloud"

enum { SLURM_NODE_WORDS_MAX = 1 << 16 /* bytes */ };

/* Append " CPUs=96 RealMemory=... Gres=... Feature=cloud,POOL,..." for a NodeName line or for
 * `scontrol create`; conf has checked the pool's options node and gres.  The features are the
 * pool's name, and the words by which jobs choose among its offers. */
void slurm_node_words(const struct conf_pool *p, struct str *out);

#endif
