/* look.h - what one rule sees when it judges: the settings, our nodes, and what it found.
 *
 * Private to slurm/require.c and slurm/rules*.c; slurm/others.c is the part about the nodes of
 * others, slurm/least.c that about partitions of large jobs. */
#ifndef BURSTD_SLURM_LOOK_H
#define BURSTD_SLURM_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "slurm/require.h"

/* Times that a partition may have of its own.  Those of slurm.conf hold for a node that is in no
 * such partition, else the largest (slurm.conf(5), and power_save_set_timeouts() of slurmctld). */
enum slurm_own { SLURM_OWN_SUSPEND, SLURM_OWN_SUSPEND_TIMEOUT, SLURM_OWN_RESUME, SLURM_NOWN };

extern const char *const slurm_own_names[SLURM_NOWN]; /* as in slurm.conf */

struct slurm_our_node {
	size_t pool;
	int64_t own[SLURM_NOWN]; /* seconds; -1: no partition says */
	bool kept;               /* marked by the rule in hand */
};

struct slurm_look {
	const struct slurm_need *need;
	struct slurm_text config; /* its first block, whole lines */
	struct slurm_text partitions;
	struct slurm_version version;
	struct slurm_our_node *nodes; /* in the order of the pools */
	size_t n;
	struct map by_name;
	bool partition_suspends;            /* some partition has a SuspendTime */
	struct slurm_text value;            /* of the rule's setting */
	const struct slurm_need_pool *pool; /* the first that breaks the rule */
	struct slurm_problem problem;       /* of the rule in hand */
};

/* need, config, partitions and version are set.  -1: the partitions are none; fini all the same. */
int slurm_look_init(struct slurm_look *l, struct err *e);
void slurm_look_fini(struct slurm_look *l);

/* Fill the problem's fields, cut to fit and printable.  These return false, so that rules can
 * return them. */
bool slurm_look_found(struct slurm_look *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool slurm_look_found_value(struct slurm_look *l);
void slurm_look_wanted(struct slurm_look *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What holds for this node, in seconds. */
int64_t slurm_look_seconds(const struct slurm_our_node *n, enum slurm_own t, int64_t global);

typedef bool (*slurm_seconds_fn)(const struct slurm_look *l, const struct slurm_need_pool *p,
				 int64_t seconds);
/* Is ok() true for each of our nodes?  If not, the first pool is found, and l->pool. */
bool slurm_look_pools(struct slurm_look *l, enum slurm_own t, slurm_seconds_fn ok);

/* Of "c[1-2]:1,c5", SuspendExcNodes: the next list of nodes, and the count behind it (n 0: all of
 * them); false: no more. */
bool slurm_look_cut(struct slurm_text *rest, struct slurm_text *list, struct slurm_text *count);
/* Is name one of names, "a,b"? */
bool slurm_look_lists(struct slurm_text names, struct slurm_text name);

/* Mark our nodes of this list; return how many names it has. */
size_t slurm_look_keep(struct slurm_look *l, struct slurm_text list);
/* Are none of ours marked?  If not, the value is found.  Takes the marks away. */
bool slurm_look_none_kept(struct slurm_look *l);

/* Does slurmctld leave on, when they are idle, all nodes that partitions have and no pool?  If not,
 * the first is found.  The value is SuspendTime's. */
bool slurm_look_spares_others(struct slurm_look *l);

/* Can a job of MinNodes nodes have them, in each partition, within the pools' max_nodes?  If not,
 * the first partition is found. */
bool slurm_look_least(struct slurm_look *l);

#endif
