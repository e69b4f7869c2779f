#include "slurmconf/topo_kept.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/show.h"

enum { PLACES_MAX = 32 }; /* that are told: each is the same mistake */

struct lost { /* a place that will be gone */
	struct slurm_text place, node;
	size_t n; /* nodes that have it */
};

struct looking {
	struct map units; /* that there will be -> leaf, or above */
	char **names;     /* those of burstd's lines */
	size_t nnames;
	struct lost of[PLACES_MAX];
	size_t n;
};

static const char leaf[] = "leaf", above[] = "above";

bool slurmconf_topo_keeps(const struct slurmconf_topo *t)
{
	if (t->form == SLURMCONF_FLAT)
		return false;
	return slurm_version_has(t->version, t->form == SLURMCONF_TREE ? SLURM_KEEPS_LEAVES
								       : SLURM_KEEPS_BLOCKS);
}

static char *copy(struct slurm_text t)
{
	char *s = mem_zalloc(t.n + 1);

	memcpy(s, t.p, t.n);
	return s;
}

/* --- the units that there will be ----------------------------------------------------------------
 */

static void add_unit(struct looking *k, const char *name, bool has_below)
{
	map_put(&k->units, name, (void *)(uintptr_t)(has_below ? above : leaf));
}

static void add_ours(struct looking *k, const char *body)
{
	struct slurmconf_line l = {.number = 0};
	struct slurmconf_file f;
	struct err e = {0};
	int rc;

	rc = slurmconf_file_init(&f, "burstd", mem_strdup(body), strlen(body), &e);
	assert(rc == 0);
	while ((rc = slurmconf_line_next(&l, &f, &e)) == 1) {
		char *name = copy(l.pairs[0].value);

		if ((k->nnames & (k->nnames - 1)) == 0)
			k->names = mem_realloc(k->names, (2 * k->nnames + 1) * sizeof(char *));
		k->names[k->nnames++] = name;
		add_unit(k, name, slurmconf_line_get(&l, "Switches") != NULL);
	}
	assert(rc == 0); /* they are burstd's own */
	slurmconf_file_fini(&f);
}

/* --- nodes ---------------------------------------------------------------------------------------
 */

/* slurmctld prints it after all that people may write, so the last one is its own. */
static struct slurm_text place_of(struct slurm_text line)
{
	static const char key[] = "Topology=";
	struct slurm_text word, found = {NULL, 0};

	while (slurm_show_cut(&line, ' ', &word))
		if (word.n >= sizeof(key) && memcmp(word.p, key, sizeof(key) - 1) == 0)
			found = (struct slurm_text){word.p + sizeof(key) - 1,
						    word.n - (sizeof(key) - 1)};
	return found;
}

static bool is_dynamic(struct slurm_text line)
{
	struct slurm_text state = slurm_show_word(line, "State"), word;
	static const char key[] = "DYNAMIC_";

	while (slurm_show_cut(&state, '+', &word))
		if (word.n >= sizeof(key) && memcmp(word.p, key, sizeof(key) - 1) == 0)
			return true;
	return false;
}

/* "default:LEAF"; or "default:SWITCH:...", the last of which slurmctld makes anew below SWITCH. */
static bool will_be(const struct looking *k, struct slurm_text place)
{
	struct slurm_text topology, unit;
	const char *kind;
	char *name;

	if (!slurm_show_cut(&place, ':', &topology) || !slurm_show_cut(&place, ':', &unit))
		return true; /* not what slurmctld prints */
	name = copy(unit);
	kind = map_get(&k->units, name);
	free(name);
	return kind == (place.n > 0 ? above : leaf);
}

static void note(struct looking *k, struct slurm_text place, struct slurm_text node)
{
	size_t i = 0;

	while (i < k->n &&
	       (k->of[i].place.n != place.n || memcmp(k->of[i].place.p, place.p, place.n) != 0))
		i++;
	if (i == PLACES_MAX)
		return;
	if (i == k->n)
		k->of[k->n++] = (struct lost){.place = place, .node = node};
	k->of[i].n++;
}

static void take_node(struct looking *k, struct slurm_text line)
{
	struct slurm_text places = place_of(line), one;

	if (!is_dynamic(line))
		return;
	while (slurm_show_item(&places, &one))
		if (!will_be(k, one))
			note(k, one, slurm_show_word(line, "NodeName"));
}

static int shown(struct slurm_text t)
{
	return (int)(t.n < 100 ? t.n : 100);
}

void slurmconf_topo_kept(const struct slurmconf_topo *t, const char *body, struct slurm_text nodes,
			 struct slurmconf_place at)
{
	struct looking k = {.n = 0};
	struct slurm_text line;

	map_init(&k.units);
	for (size_t i = 0; i < t->nunits; i++)
		add_unit(&k, t->units[i].name, t->units[i].below != NULL);
	add_ours(&k, body);
	while (slurm_show_cut(&nodes, '\n', &line))
		take_node(&k, line);
	for (size_t i = 0; i < k.n; i++)
		slurmconf_find(t->site->findings, SLURM_ERROR, at,
			       "slurmctld keeps node %.*s, and %zu others, in Topology=%.*s, which "
			       "this file will not have: it ends at a reconfigure, and does not "
			       "start again; first scontrol update nodename=%.*s topology=",
			       shown(k.of[i].node), k.of[i].node.p, k.of[i].n - 1,
			       shown(k.of[i].place), k.of[i].place.p, shown(k.of[i].node),
			       k.of[i].node.p);
	map_fini(&k.units);
	for (size_t i = 0; i < k.nnames; i++)
		free(k.names[i]);
	free(k.names);
}
