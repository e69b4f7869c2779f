/* The lines that topology.conf needs for burstd's pools. */
#include <stdio.h>
#include <string.h>

#include "core/unit.h"
#include "slurmconf/topo.h"
#include "slurmconf/want.h"

enum { NAME_SIZE = sizeof(SLURMCONF_SET_PREFIX) + HOSTLIST_NAME_MAX + 12 }; /* 12: of a unit */

struct want {
	const struct slurmconf_topo *t;
	struct str *out;
	struct str top; /* the children of SLURMCONF_TOP, with commas */
	size_t base;    /* as slurmconf_topo's, with burstd's own */
};

static struct slurmconf_place of_pool(const struct want *w, const struct conf_pool *p)
{
	return (struct slurmconf_place){w->t->site->conf->path, p->line};
}

/* Is the name free for burstd? */
static bool is_free(const struct want *w, const char *name)
{
	const struct slurmconf_unit *u = map_get(&w->t->named, name);

	if (u == NULL)
		return true;
	slurmconf_find(w->t->site->findings, SLURM_ERROR, u->at,
		       "%s is the name of a line of burstd's: choose another", name);
	return false;
}

/* Does burstd write this pool's unit? */
static bool is_ours(const struct want *w, const struct conf_pool *p, const char *name)
{
	const struct slurmconf_topo_pool *own = &w->t->pools[conf_pool_index(w->t->site->conf, p)];

	if (own->nodes.n > 0 && own->nodes.n < p->nodes->n)
		slurmconf_find(
			w->t->site->findings, SLURM_ERROR, own->nodes.at,
			"topology.conf has %zu of the %zu nodes of pool \"%s\": all, or none",
			own->nodes.n, p->nodes->n, p->name);
	if (own->nodes.n > 0 && own->placed != NULL)
		slurmconf_find(w->t->site->findings, SLURM_ERROR, own->placed->at,
			       "there is no switch %s, since nodes of its pool are in line %d: "
			       "slurmctld does not start",
			       name, own->nodes.at.line);
	return own->nodes.n == 0 && is_free(w, name);
}

static void add_line(const struct want *w, const char *key, const char *name,
		     const char *const *nodes, size_t n)
{
	str_addf(w->out, "%s=%s Nodes=", key, name);
	hostlist_fold(w->out, nodes, n);
	str_adds(w->out, "\n");
}

/* --- units ---------------------------------------------------------------------------------------
 */

/* Is it the name of another pool's line, too? */
static bool clashes(const struct want *w, const struct conf_pool *p, const char *name)
{
	const struct conf *c = w->t->site->conf;
	const size_t other = slurmconf_topo_pool_of(w->t, name);

	if (other == c->npools)
		return false;
	slurmconf_find(w->t->site->findings, SLURM_ERROR, of_pool(w, p),
		       "%s would be the line of a unit of pool \"%s\" and of pool \"%s\": rename "
		       "one of them",
		       name, p->name, c->pools[other].name);
	return true;
}

/* A line for each unit of the pool. */
static void add_units(const struct want *w, const struct conf_pool *p, const char *key,
		      const char *name)
{
	for (uint32_t u = 1; u <= unit_count(p); u++) {
		char of[NAME_SIZE];

		(void)snprintf(of, sizeof(of), "%s-%u", name, u);
		if (is_free(w, of) && !clashes(w, p, of))
			add_line(w, key, of, unit_nodes(p, u), p->unit);
	}
}

/* --- the tree ------------------------------------------------------------------------------------
 */

static void want_leaf(struct want *w, const struct conf_pool *p, const char *name)
{
	if (unit_count(p) > 0) {
		add_units(w, p, "SwitchName", name);
		str_addf(w->out, "SwitchName=%s Switches=%s-", name, name);
		str_addf(w->out, unit_count(p) > 1 ? "[1-%u]\n" : "%u\n", unit_count(p));
	} else {
		add_line(w, "SwitchName", name, p->nodes->names, p->nodes->n);
	}
	if (w->t->pools[conf_pool_index(w->t->site->conf, p)].placed == NULL)
		str_addf(&w->top, "%s%s", w->top.len > 0 ? "," : "", name);
}

static void want_top(const struct want *w)
{
	if (w->top.len > 0 && is_free(w, SLURMCONF_TOP))
		str_addf(w->out, "SwitchName=" SLURMCONF_TOP " Switches=%s\n", w->top.p);
	else if (w->top.len == 0 && w->t->joined != NULL)
		slurmconf_find(
			w->t->site->findings, SLURM_ERROR, w->t->joined->at,
			"there is no switch " SLURMCONF_TOP
			", since all pools have switches of yours: slurmctld does not start");
}

/* --- blocks --------------------------------------------------------------------------------------
 */

/* Is each job of the pool in one fabric, whichever rung of its ladder it is bought from? */
static bool is_in_fabric(const struct conf_pool *p)
{
	size_t n;
	const struct conf_offer *v = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].in_fabric == NULL || strcmp(v[i].in_fabric, v[0].in_fabric) != 0)
			return false;
	return n > 0;
}

/* Is each unit in its fabric, whichever rung a node is bought from? */
static bool has_whole_units(const struct want *w, const struct conf_pool *p)
{
	size_t n;
	const struct conf_offer *v = conf_rungs(p, &n);

	for (size_t i = 0; i < n; i++) {
		if (unit_is_of(&v[i]))
			continue;
		slurmconf_find(
			w->t->site->findings, SLURM_ERROR,
			(struct slurmconf_place){w->t->site->conf->path, v[i].line},
			"pool \"%s\": offer \"%s\" buys outside of the fabric of a unit, and a "
			"block must be one: remove the offer, or use topology/tree",
			p->name, v[i].name);
		return false;
	}
	return true;
}

static void want_block(struct want *w, const struct conf_pool *p, const char *name)
{
	const struct slurmconf_topo *t = w->t;
	const size_t size = unit_count(p) > 0 ? p->unit : p->nodes->n; /* of each block */

	if (unit_count(p) > 0 && !has_whole_units(w, p))
		return;
	if (!is_in_fabric(p)) {
		slurmconf_find(t->site->findings, SLURM_ADVICE, of_pool(w, p),
			       "pool \"%s\" is no block: not all its machines are bought in the "
			       "same fabric",
			       p->name);
		return;
	}
	if (w->base == 0)
		w->base = size;
	if (size < w->base && slurm_version_has(t->version, SLURM_FULL_UNITS))
		slurmconf_find(t->site->findings, SLURM_ERROR, of_pool(w, p),
			       "pool \"%s\" has %zu nodes%s, and each block must have %zu: write "
			       "BlockSizes=%zu into topology.conf, or give it more nodes",
			       p->name, size, unit_count(p) > 0 ? " in each unit" : "", w->base,
			       size);
	else if (unit_count(p) > 0)
		add_units(w, p, "BlockName", name);
	else
		add_line(w, "BlockName", name, p->nodes->names, p->nodes->n);
}

/* slurmctld reads topology.conf before it knows dynamic nodes. */
static void no_place(const struct want *w, const struct conf_pool *p)
{
	slurmconf_find(
		w->t->site->findings, SLURM_WARNING, of_pool(w, p),
		"pool \"%s\" is dynamic, and its nodes are in no %s of topology.conf: jobs of "
		"several nodes may get none there; write dynamic = false",
		p->name, w->t->form == SLURMCONF_TREE ? "switch" : "block");
}

/* --- all of it -----------------------------------------------------------------------------------
 */

void slurmconf_want_topo(const struct slurmconf_topo *t, struct str *out)
{
	struct want w = {.t = t, .out = out, .base = t->base};
	const struct conf *c = t->site->conf;

	if (t->form == SLURMCONF_FLAT)
		return;
	str_init(&w.top, SLURMCONF_BODY_MAX);
	for (size_t i = 0; i < c->npools; i++) {
		char name[NAME_SIZE];
		const struct conf_pool *p = &c->pools[i];

		(void)snprintf(name, sizeof(name), SLURMCONF_SET_PREFIX "%s", p->name);
		if (p->dynamic)
			no_place(&w, p);
		if (p->dynamic || !is_ours(&w, p, name))
			continue;
		if (t->form == SLURMCONF_TREE)
			want_leaf(&w, p, name);
		else
			want_block(&w, p, name);
	}
	if (t->form == SLURMCONF_TREE)
		want_top(&w);
	str_fini(&w.top);
}
