#include "slurmconf/topo_check.h"

#include <string.h>

#include "slurm/show.h"

/* --- nodes ---------------------------------------------------------------------------------------
 */

struct nodes {                       /* of one line */
	const char *unknown, *twice; /* the first */
	size_t nunknown, ntwice;
	const struct slurmconf_unit *other; /* that has twice, too */
};

static bool is_known(const struct slurmconf_site *s, const char *node)
{
	return s->unread || map_get(&s->ours, node) != NULL || map_get(&s->known, node) != NULL;
}

static void take_node(struct slurmconf_topo *t, struct slurmconf_unit *u, const char *node,
		      struct nodes *n)
{
	const struct slurmconf_site *s = t->site;
	const struct slurmconf_unit *old = map_get(&t->seen, node);
	const struct conf_pool *p = conf_pool_of(s->conf, node);

	if (!is_known(s, node)) {
		if (n->nunknown++ == 0)
			n->unknown = node;
		return;
	}
	if (old == u)
		return;
	u->count++;
	if (old != NULL && n->ntwice++ == 0) {
		n->twice = node;
		n->other = old;
	}
	if (old == NULL)
		map_put(&t->seen, node, u);
	if (old == NULL && p != NULL) {
		struct slurmconf_owned *o = &t->pools[conf_pool_index(s->conf, p)].nodes;

		if (o->n++ == 0)
			o->at = u->at;
	}
}

static void check_nodes(struct slurmconf_topo *t, struct slurmconf_unit *u)
{
	struct nodes n = {.unknown = NULL};

	for (size_t i = 0; u->nodes != NULL && i < u->nodes->n; i++)
		take_node(t, u, u->nodes->names[i], &n);
	if (n.nunknown > 0)
		slurmconf_find(t->site->findings, SLURM_WARNING, u->at,
			       "slurm.conf has no node %s, and %zu others of this line", n.unknown,
			       n.nunknown - 1);
	if (n.ntwice > 0)
		slurmconf_find(t->site->findings, SLURM_WARNING, u->at,
			       "node %s, and %zu others, are in %.100s of line %d too: jobs are "
			       "placed by one of them",
			       n.twice, n.ntwice - 1, n.other->name, n.other->at.line);
}

void slurmconf_topo_check_line(struct slurmconf_topo *t, struct slurmconf_unit *u,
			       const struct slurmconf_line *l)
{
	const bool tree = t->form == SLURMCONF_TREE, nodes = slurmconf_line_get(l, "Nodes") != NULL,
		   below = slurmconf_line_get(l, "Switches") != NULL;

	if (tree && nodes && below)
		slurmconf_find(t->site->findings, SLURM_ERROR, u->at,
			       "switch %.100s has both Nodes= and Switches=: slurmctld does not "
			       "start",
			       u->name);
	else if (!nodes && !below && slurm_version_has(t->version, SLURM_FULL_UNITS))
		slurmconf_find(t->site->findings, SLURM_ERROR, u->at,
			       "%.100s has nothing in it: slurmctld does not start", u->name);
	check_nodes(t, u);
}

/* --- the tree ------------------------------------------------------------------------------------
 */

/* Is it a name that burstd's lines may have? */
static bool take_ours(struct slurmconf_topo *t, const struct slurmconf_unit *u, const char *name)
{
	const size_t pool = slurmconf_topo_pool_of(t, name);

	if (strcmp(name, SLURMCONF_TOP) == 0)
		t->joined = u;
	else if (pool < t->site->conf->npools)
		t->pools[pool].placed = u;
	else
		return false;
	return true;
}

static void check_child(struct slurmconf_topo *t, const struct slurmconf_unit *u, const char *name)
{
	struct slurmconf_unit *c = map_get(&t->named, name);

	if (c == NULL) {
		if (!take_ours(t, u, name))
			slurmconf_find(t->site->findings, SLURM_ERROR, u->at,
				       "there is no switch %s: slurmctld does not start", name);
		return;
	}
	if (c->above != NULL && c->above != u)
		slurmconf_find(t->site->findings, SLURM_WARNING, u->at,
			       "switch %s is below %.100s of line %d too", name, c->above->name,
			       c->above->at.line);
	c->above = u;
}

/* A switch below this one that is not resolved; NULL: there is none. */
static const struct slurmconf_unit *open_below(const struct slurmconf_topo *t,
					       const struct slurmconf_unit *u)
{
	for (size_t i = 0; u->below != NULL && i < u->below->n; i++) {
		const struct slurmconf_unit *c = map_get(&t->named, u->below->names[i]);

		if (c != NULL && !c->resolved)
			return c;
	}
	return NULL;
}

/* As slurmctld goes about it, which also gives up where a tree is deep and written from its root
 * down. */
static bool resolve(struct slurmconf_topo *t)
{
	bool done = false;

	for (int pass = 0; pass < SLURMCONF_TREE_PASSES && !done; pass++) {
		done = true;
		for (size_t i = 0; i < t->nunits; i++) {
			struct slurmconf_unit *u = &t->units[i];

			u->resolved = u->resolved || open_below(t, u) == NULL;
			done = done && u->resolved;
		}
	}
	return done;
}

/* From any that is not resolved the way down ends in the cycle. */
static void check_cycles(struct slurmconf_topo *t)
{
	const struct slurmconf_unit *u = t->units, *next;

	if (resolve(t))
		return;
	while (u->resolved)
		u++;
	for (size_t i = 0; i < t->nunits && (next = open_below(t, u)) != NULL; i++)
		u = next;
	slurmconf_find(t->site->findings, SLURM_ERROR, u->at,
		       "switch %.100s is below itself, or the tree is deeper than %d: slurmctld "
		       "does not start",
		       u->name, SLURMCONF_TREE_PASSES);
}

/* A node in no switch is never chosen for a job (measured with 22.05), once there is any switch.
 * Without lines of the site's there will be burstd's. */
static void check_left_out(struct slurmconf_topo *t, const char *path)
{
	const struct slurmconf_site *s = t->site;
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->nkept; i++)
		for (size_t k = 0; k < s->kept[i]->n; k++) {
			const char *node = s->kept[i]->names[k];

			if (map_get(&t->seen, node) != NULL || conf_pool_of(s->conf, node) != NULL)
				continue;
			first = first != NULL ? first : node;
			n++;
		}
	if (n > 0)
		slurmconf_find(s->findings, t->nunits > 0 ? SLURM_WARNING : SLURM_ERROR,
			       (struct slurmconf_place){path, 1},
			       "node %s, and %zu others, are in no switch: with topology/tree "
			       "jobs never run there",
			       first, n - 1);
}

/* --- blocks --------------------------------------------------------------------------------------
 */

static size_t number(struct slurm_text t)
{
	size_t n = 0;

	for (size_t i = 0; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9' || i == 9)
			return 0;
		n = 10 * n + (size_t)(t.p[i] - '0');
	}
	return n;
}

/* The first times a power of two? */
static bool is_level(size_t size, size_t base)
{
	size_t n = size / base;

	return size % base == 0 && n > 0 && n < (size_t)1 << SLURMCONF_BLOCK_LEVELS &&
	       (n & (n - 1)) == 0;
}

void slurmconf_topo_take_sizes(struct slurmconf_topo *t, const struct slurmconf_line *l)
{
	struct slurm_text rest = l->pairs[0].value, one;
	const struct slurmconf_place at = {l->file->path, l->number};
	bool good = rest.n > 0;

	t->base = 0; /* of two such lines the last counts */
	while (good && slurm_show_item(&rest, &one)) {
		if (t->base == 0)
			t->base = number(one);
		good = t->base > 0 && is_level(number(one), t->base);
	}
	if (!good)
		slurmconf_find(t->site->findings, SLURM_ERROR, at,
			       "BlockSizes are not a number of nodes and that number times powers "
			       "of two: slurmctld does not start");
}

/* Without BlockSizes the first block says how many nodes each must have. */
static void check_blocks(struct slurmconf_topo *t)
{
	for (size_t i = 0; i < t->nunits; i++) {
		const struct slurmconf_unit *u = &t->units[i];

		if (t->base == 0)
			t->base = u->count;
		if (u->count < t->base && u->nodes != NULL &&
		    slurm_version_has(t->version, SLURM_FULL_UNITS))
			slurmconf_find(t->site->findings, SLURM_ERROR, u->at,
				       "block %.100s has %zu nodes, and each must have %zu: "
				       "slurmctld does not start",
				       u->name, u->count, t->base);
	}
}

void slurmconf_topo_check(struct slurmconf_topo *t, const char *path)
{
	if (t->form == SLURMCONF_BLOCK) {
		check_blocks(t);
		return;
	}
	for (size_t i = 0; i < t->nunits; i++)
		for (size_t k = 0; t->units[i].below != NULL && k < t->units[i].below->n; k++)
			check_child(t, &t->units[i], t->units[i].below->names[k]);
	check_cycles(t);
	if (t->form == SLURMCONF_TREE)
		check_left_out(t, path);
}
