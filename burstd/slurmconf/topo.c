#include "slurmconf/topo.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/show.h"
#include "slurmconf/topo_check.h"

static struct slurmconf_place place(const struct slurmconf_line *l)
{
	return (struct slurmconf_place){l->file->path, l->number};
}

static enum slurmconf_form form_of(const struct slurmconf_site *s)
{
	const struct slurmconf_setting *x = slurmconf_site_get(s, "TopologyPlugin");

	if (x == NULL)
		return SLURMCONF_FLAT;
	if (slurm_show_is(x->value, "topology/tree") || slurm_show_is(x->value, "tree"))
		return SLURMCONF_TREE;
	if (slurm_show_is(x->value, "topology/block") || slurm_show_is(x->value, "block"))
		return SLURMCONF_BLOCK;
	return SLURMCONF_FLAT;
}

size_t slurmconf_topo_pool_of(const struct slurmconf_topo *t, const char *name)
{
	const struct conf *c = t->site->conf;
	const size_t n = strlen(SLURMCONF_SET_PREFIX);
	size_t i = 0;

	if (strncmp(name, SLURMCONF_SET_PREFIX, n) != 0)
		return c->npools;
	while (i < c->npools && strcmp(c->pools[i].name, name + n) != 0)
		i++;
	return i;
}

/* --- lines ---------------------------------------------------------------------------------------
 */

/* *out is NULL if the list is of a form that is not read here, which a finding says. */
static int expand(struct slurmconf_topo *t, const struct slurmconf_line *l, const char *key,
		  struct hostlist **out, struct err *e)
{
	const struct slurmconf_pair *p = slurmconf_line_get(l, key);
	struct err why = {0};

	*out = NULL;
	if (p == NULL)
		return 0;
	if (hostlist_parse(out, p->value.p, p->value.n, &why) != 0) {
		slurmconf_find(t->site->findings, SLURM_ADVICE, place(l),
			       "%s=\"%.*s\" is not checked: %s", key,
			       (int)(p->value.n < 80 ? p->value.n : 80), p->value.p, why.msg);
		return 0;
	}
	t->names += (*out)->n;
	if (t->names <= SLURMCONF_NAMES_MAX)
		return 0;
	return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d names", l->file->path, l->number,
		       SLURMCONF_NAMES_MAX);
}

static char *copy(struct slurm_text t)
{
	char *s = mem_zalloc(t.n + 1);

	if (t.n > 0)
		memcpy(s, t.p, t.n);
	return s;
}

static int take_unit(struct slurmconf_topo *t, const struct slurmconf_line *l, struct err *e)
{
	const struct slurmconf_unit *old;
	struct slurmconf_unit *u = &t->units[t->nunits];

	if (t->nunits == SLURMCONF_UNITS_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d switches or blocks",
			       l->file->path, l->number, SLURMCONF_UNITS_MAX);
	t->nunits++;
	*u = (struct slurmconf_unit){.name = copy(l->pairs[0].value), .at = place(l)};
	old = map_get(&t->named, u->name);
	if (old != NULL)
		slurmconf_find(t->site->findings, SLURM_ERROR, u->at,
			       "%.100s is there already, in line %d: slurmctld does not start",
			       u->name, old->at.line);
	else
		map_put(&t->named, u->name, u);
	if (expand(t, l, "Nodes", &u->nodes, e) != 0)
		return -1;
	if (t->form == SLURMCONF_TREE && expand(t, l, "Switches", &u->below, e) != 0)
		return -1;
	slurmconf_topo_check_line(t, u, l);
	return 0;
}

/* The first word of a line is its kind. */
static int take_line(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	struct slurmconf_topo *t = ctx;
	const bool tree = t->form == SLURMCONF_TREE;
	struct slurm_text kind = l->pairs[0].key;

	if (slurm_show_is(kind, tree ? "SwitchName" : "BlockName"))
		return take_unit(t, l, e);
	if (!tree && slurm_show_is(kind, "BlockSizes"))
		slurmconf_topo_take_sizes(t, l);
	else if (slurm_show_is(kind, "SwitchName") || slurm_show_is(kind, "BlockName") ||
		 slurm_show_is(kind, "BlockSizes"))
		slurmconf_find(t->site->findings, SLURM_ERROR, place(l),
			       "%.*s with TopologyPlugin=topology/%s: slurmctld does not start",
			       (int)kind.n, kind.p, tree ? "tree" : "block");
	return 0;
}

/* --- topology.yaml -------------------------------------------------------------------------------
 */

static int note_line(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	struct slurmconf_place *at = ctx;

	(void)e;
	if (at->file == NULL)
		*at = place(l);
	return 0;
}

static int beside_yaml(const struct slurmconf_topo_in *in, struct err *e)
{
	struct slurmconf_place at = {.file = NULL};

	if (slurmconf_sources_walk(in->files, note_line, &at, e) != 0)
		return -1;
	if (at.file != NULL)
		slurmconf_find(in->site->findings, SLURM_ERROR, at,
			       "slurmctld ignores this file, because there is %s: remove one of "
			       "them",
			       in->yaml);
	else
		slurmconf_find(in->site->findings, SLURM_ADVICE,
			       (struct slurmconf_place){in->yaml, 1},
			       "burstd writes topology.conf only: the nodes of its pools need "
			       "switches or blocks here");
	return 0;
}

/* --- all of it -----------------------------------------------------------------------------------
 */

int slurmconf_topo_init(struct slurmconf_topo *out, const struct slurmconf_topo_in *in,
			struct err *e)
{
	int rc = 0;

	*out = (struct slurmconf_topo){
		.form = form_of(in->site), .site = in->site, .version = in->version};
	out->units = mem_zalloc(SLURMCONF_UNITS_MAX * sizeof(*out->units));
	out->pools = mem_zalloc((in->site->conf->npools + 1) * sizeof(*out->pools));
	map_init(&out->named);
	map_init(&out->seen);
	if (in->yaml != NULL && slurm_version_has(in->version, SLURM_TOPOLOGY_YAML)) {
		out->form = SLURMCONF_FLAT;
		rc = beside_yaml(in, e);
	} else if (out->form != SLURMCONF_FLAT) {
		rc = slurmconf_sources_walk(in->files, take_line, out, e);
	}
	if (rc == 0)
		slurmconf_topo_check(out, in->files->v[0].file.path);
	else
		slurmconf_topo_fini(out);
	return rc;
}

void slurmconf_topo_fini(struct slurmconf_topo *t)
{
	map_fini(&t->named);
	map_fini(&t->seen);
	for (size_t i = 0; i < t->nunits; i++) {
		free(t->units[i].name);
		hostlist_free(t->units[i].nodes);
		hostlist_free(t->units[i].below);
	}
	free(t->units);
	free(t->pools);
	*t = (struct slurmconf_topo){.site = NULL};
}
