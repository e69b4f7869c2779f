/* look.h - the context of a rule: slurmctld's settings, our nodes, and the problem found.
 *
 * Private to slurm/require.c and slurm/rules*.c.  slurm/others.c checks nodes of no pool,
 * slurm/least.c partitions for large jobs. */
#ifndef BURSTD_SLURM_LOOK_H
#define BURSTD_SLURM_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "slurm/require.h"

/* Times that a partition can override.  For a node the largest of its partitions' values holds, or
 * the global one if none has a value (slurm.conf(5), and power_save_set_timeouts() of slurmctld).
 */
enum slurm_own { SLURM_OWN_SUSPEND, SLURM_OWN_SUSPEND_TIMEOUT, SLURM_OWN_RESUME, SLURM_NOWN };

extern const char *const slurm_own_names[SLURM_NOWN]; /* as in slurm.conf */

struct slurm_our_node {
	size_t pool;
	int64_t own[SLURM_NOWN]; /* seconds; -1: no partition has a value */
	bool kept;               /* marked by the present rule */
};

struct slurm_look {
	const struct slurm_need *need;
	struct slurm_text config; /* the first block of it, whole lines */
	struct slurm_text partitions;
	struct slurm_version version;
	struct slurm_our_node *nodes; /* in the order of the pools */
	size_t n;
	struct map by_name;
	bool partition_suspends;            /* some partition has a SuspendTime */
	struct slurm_text value;            /* value of the rule's setting */
	const struct slurm_need_pool *pool; /* the first that breaks the rule */
	struct slurm_problem problem;       /* of the present rule */
};

/* The caller has set need, config, partitions and version.  -1: the partitions cannot be read; call
 * slurm_look_fini() all the same. */
int slurm_look_init(struct slurm_look *l, struct err *e);
void slurm_look_fini(struct slurm_look *l);

/* Fill in the problem's fields, cut to fit and printable.  The first two return false, so that
 * rules can return them. */
bool slurm_look_found(struct slurm_look *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool slurm_look_found_value(struct slurm_look *l);
void slurm_look_wanted(struct slurm_look *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The value that holds for this node, in seconds. */
int64_t slurm_look_seconds(const struct slurm_our_node *n, enum slurm_own t, int64_t global);

typedef bool (*slurm_seconds_fn)(const struct slurm_look *l, const struct slurm_need_pool *p,
				 int64_t seconds);
/* Is ok() true for each of our nodes?  If not, l->pool and the problem have the first pool. */
bool slurm_look_pools(struct slurm_look *l, enum slurm_own t, slurm_seconds_fn ok);

/* Cut the next list off a value of SuspendExcNodes such as "c[1-2]:1,c5", and the count after it (n
 * 0: all nodes).  false: no more. */
bool slurm_look_cut(struct slurm_text *rest, struct slurm_text *list, struct slurm_text *count);
/* Is name among the comma-separated names? */
bool slurm_look_lists(struct slurm_text names, struct slurm_text name);

/* Mark our nodes in this list; returns how many names it has. */
size_t slurm_look_keep(struct slurm_look *l, struct slurm_text list);
/* Is none of our nodes marked?  If one is, the problem has the setting's value.  Clears the marks.
 */
bool slurm_look_none_kept(struct slurm_look *l);

/* Does slurmctld leave idle nodes up that are in partitions but in no pool?  If not, the problem
 * has the first.  l->value is SuspendTime's. */
bool slurm_look_spares_others(struct slurm_look *l);

/* Can a job of MinNodes nodes get them in each partition, within the pools' max_nodes?  If not, the
 * problem has the first partition. */
bool slurm_look_least(struct slurm_look *l);

#endif
