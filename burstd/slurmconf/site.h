/* site.h - what a site's own lines say: its settings, and which of burstd's nodes it has itself.
 *
 * A site may write the NodeName lines, the partition or the gres.conf lines of a pool itself: then
 * burstd leaves these out.  What it has for a part of a pool only, and what would come out wrong,
 * is a finding. */
#ifndef BURSTD_SLURMCONF_SITE_H
#define BURSTD_SLURMCONF_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "core/conf.h"
#include "slurmconf/finding.h"
#include "slurmconf/source.h"

enum {
	SLURMCONF_SETTINGS_MAX = 1024, /* Slurm has about 250 */
	SLURMCONF_PARTS_MAX = 4096,    /* partitions, and likewise sets of nodes */
	SLURMCONF_NAMES_MAX = 1 << 21, /* names of nodes in all lines together: 0.3 s */
};

/* The names of the set of a pool's nodes: this and the pool's name. */
#define SLURMCONF_SET_PREFIX "burst-"

struct slurmconf_setting {
	char *key; /* as written first */
	struct slurm_text value;
	struct slurmconf_place at;
};

struct slurmconf_part { /* a PartitionName line, or a NodeSet line */
	char *name;
	struct slurm_text nodes, feature; /* n 0: not there */
	bool suspends;                    /* has a SuspendTime of its own that is not INFINITE */
	struct slurm_text resume;         /* ResumeTimeout */
	struct slurm_text weights;        /* TRESBillingWeights */
	struct slurm_text preempt;        /* PreemptMode */
	int64_t rank;                     /* PriorityTier */
	struct slurmconf_place at;
};

struct slurmconf_owned {           /* what a site says of a pool */
	size_t n;                  /* of its nodes */
	struct slurmconf_place at; /* the first */
	int refused;               /* line of gres.conf that was complained of; 0: none */
};

struct slurmconf_pool {
	struct slurmconf_owned nodes, gres;
	const struct slurmconf_part *part; /* the first partition that names all its nodes; NULL */
	/* Of those that name some of its nodes, of lowest and highest PriorityTier; NULL: none. */
	const struct slurmconf_part *low, *high;
};

struct slurmconf_site {
	const struct conf *conf; /* borrowed */
	const char *path;        /* of slurm.conf, borrowed */
	struct slurmconf_pool *pools;
	struct slurmconf_setting *settings; /* SLURMCONF_SETTINGS_MAX of them, so that none moves */
	size_t nsettings;
	struct map by_key;                  /* in lower case -> struct slurmconf_setting */
	struct slurmconf_part part_default; /* PartitionName=DEFAULT, at this moment of reading */
	struct slurmconf_part *parts, *sets;
	size_t nparts, nsets;
	struct map part_named;          /* -> struct slurmconf_part */
	struct map ours;                /* a node of a pool -> its name in conf */
	struct map has_nodes, has_gres; /* likewise those that the site has itself */
	bool others;                    /* it has nodes that no pool has */
	struct map known;               /* their names -> themselves ... */
	struct hostlist **kept;         /* ... and who owns these */
	size_t nkept;
	bool unread;        /* some names are in lists that are not read here */
	bool detects;       /* gres.conf has an AutoDetect for all nodes, and it is not off */
	bool default_cloud; /* NodeName=DEFAULT has State=CLOUD, at this moment of reading */
	size_t names;       /* expanded so far */
	struct slurmconf_findings *findings;
};

/* Read slurm.conf and gres.conf; they and findings are borrowed for as long as *out lives.  What is
 * wrong goes to findings.  -1: *e has the place, and *out needs no fini. */
int slurmconf_site_init(struct slurmconf_site *out, const struct conf *conf,
			const struct slurmconf_trees *trees, struct slurmconf_findings *findings,
			struct err *e);
void slurmconf_site_fini(struct slurmconf_site *s);

/* The site's value of a setting; NULL: it has none. */
const struct slurmconf_setting *slurmconf_site_get(const struct slurmconf_site *s, const char *key);

#endif
