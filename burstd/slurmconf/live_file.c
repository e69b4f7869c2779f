/* slurm.conf as it is on disk, burstd's block with it: of each thing what slurmctld can be compared
 * by. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/show.h"
#include "slurmconf/live.h"

enum { LINES_MAX = 1 << 17 }; /* of nodes and partitions */

const struct slurmconf_live_key slurmconf_live_settings[] = {
	{"ResumeProgram", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
	{"SuspendProgram", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
	{"ResumeFailProgram", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
	{"PrologSlurmctld", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
	{"ResumeRate", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"SuspendRate", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"SuspendTime", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"SuspendTimeout", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"ResumeTimeout", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"SlurmctldParameters", NULL, SLURMCONF_LIVE_WORDS, false, NULL},
	{"ReturnToService", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"JobRequeue", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"TreeWidth", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"CommunicationParameters", NULL, SLURMCONF_LIVE_WORDS, false, NULL},
	{"GresTypes", NULL, SLURMCONF_LIVE_WORDS, true, NULL},
	{"AuthType", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
	{"AccountingStorageType", NULL, SLURMCONF_LIVE_TEXT, true, "accounting_storage/none"},
	{"AccountingStorageTRES", NULL, SLURMCONF_LIVE_SOME, true, NULL},
	{"AccountingStorageEnforce", NULL, SLURMCONF_LIVE_SOME, true, "all"},
	{"PriorityType", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
	{"PriorityFlags", NULL, SLURMCONF_LIVE_WORDS, false, NULL},
	{"PriorityWeightFairshare", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"PreemptType", NULL, SLURMCONF_LIVE_TEXT, true, "preempt/none"},
	{"PreemptMode", NULL, SLURMCONF_LIVE_WORDS, false, NULL},
	{"MinJobAge", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"SlurmdTimeout", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	/* Without a topology each release calls it otherwise. */
	{"TopologyPlugin", NULL, SLURMCONF_LIVE_TEXT, true, "topology/none"},
	{"SelectType", NULL, SLURMCONF_LIVE_TEXT, true, NULL},
};
const size_t slurmconf_live_nsettings =
	sizeof(slurmconf_live_settings) / sizeof(slurmconf_live_settings[0]);
_Static_assert(sizeof(slurmconf_live_settings) / sizeof(slurmconf_live_settings[0]) <=
		       SLURMCONF_LIVE_SETTINGS,
	       "settings");

const struct slurmconf_live_key slurmconf_live_node[] = {
	{"CPUs", "CPUTot", SLURMCONF_LIVE_NUMBER, true, NULL},
	{"Boards", NULL, SLURMCONF_LIVE_NUMBER, true, NULL},
	{"Sockets", NULL, SLURMCONF_LIVE_NUMBER, true, NULL},
	{"CoresPerSocket", NULL, SLURMCONF_LIVE_NUMBER, true, NULL},
	{"ThreadsPerCore", NULL, SLURMCONF_LIVE_NUMBER, true, NULL},
	{"RealMemory", NULL, SLURMCONF_LIVE_NUMBER, true, NULL},
	{"Gres", NULL, SLURMCONF_LIVE_WORDS, true, NULL},
	{"Feature", "AvailableFeatures", SLURMCONF_LIVE_WORDS, true, NULL},
	{"Features", "AvailableFeatures", SLURMCONF_LIVE_WORDS, true, NULL},
	{"State", NULL, SLURMCONF_LIVE_SOME, true, NULL}, /* CLOUD alone is compared */
};
const size_t slurmconf_live_nnode = sizeof(slurmconf_live_node) / sizeof(slurmconf_live_node[0]);
_Static_assert(sizeof(slurmconf_live_node) / sizeof(slurmconf_live_node[0]) == SLURMCONF_LIVE_NODE,
	       "keys of a node");

const struct slurmconf_live_key slurmconf_live_part[] = {
	{"SuspendTime", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"SuspendTimeout", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"ResumeTimeout", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"TRESBillingWeights", NULL, SLURMCONF_LIVE_TEXT, false, NULL},
	{"PriorityTier", NULL, SLURMCONF_LIVE_NUMBER, false, NULL},
	{"PreemptMode", NULL, SLURMCONF_LIVE_WORDS, false, NULL},
};
const size_t slurmconf_live_npart = sizeof(slurmconf_live_part) / sizeof(slurmconf_live_part[0]);

static struct slurmconf_place place(const struct slurmconf_line *l)
{
	return (struct slurmconf_place){l->file->path, l->number};
}

/* Take the values of these keys; of one that comes twice the last. */
static void take(struct slurmconf_live_value *of, const struct slurmconf_live_key *keys, size_t n,
		 const struct slurmconf_line *l)
{
	for (size_t i = 0; i < n; i++) {
		const struct slurmconf_pair *p = slurmconf_line_get(l, keys[i].file);

		if (p != NULL)
			of[i] = (struct slurmconf_live_value){p->value, place(l)};
	}
}

static struct slurmconf_live_line *add(struct slurmconf_live_file *f,
				       const struct slurmconf_line *l)
{
	struct slurmconf_live_line *x = mem_zalloc(sizeof(*x));

	if ((f->nlines & (f->nlines - 1)) == 0)
		f->lines = mem_realloc(f->lines,
				       (2 * f->nlines + 1) * sizeof(struct slurmconf_live_line *));
	f->lines[f->nlines++] = x;
	x->at = place(l);
	return x;
}

static int take_nodes(struct slurmconf_live_file *f, const struct slurmconf_line *l,
		      struct slurm_text list)
{
	struct slurmconf_live_line *x = NULL;
	struct hostlist *h;

	if (slurm_show_is(list, "DEFAULT")) {
		take(f->defaults.of, slurmconf_live_node, slurmconf_live_nnode, l);
		return 0;
	}
	if (hostlist_parse(&h, list.p, list.n, NULL) != 0)
		return 0; /* of a form that no pool has */
	for (size_t i = 0; i < h->n; i++) {
		/* The name in conf, which lives longer. */
		const char *name = map_get(&f->site->ours, h->names[i]);

		if (name == NULL)
			continue;
		if (x == NULL) {
			x = add(f, l);
			memcpy(x->of, f->defaults.of, sizeof(x->of));
			take(x->of, slurmconf_live_node, slurmconf_live_nnode, l);
		}
		map_put(&f->nodes, name, x);
	}
	hostlist_free(h);
	return 0;
}

static void take_part(struct slurmconf_live_file *f, const struct slurmconf_line *l,
		      struct slurm_text name)
{
	struct slurmconf_live_line *x;

	if (slurm_show_is(name, "DEFAULT"))
		return;
	x = add(f, l);
	x->name = mem_zalloc(name.n + 1);
	memcpy(x->name, name.p, name.n);
	take(x->of, slurmconf_live_part, slurmconf_live_npart, l);
	map_put(&f->parts, x->name, x);
}

static int take_line(void *ctx, const struct slurmconf_line *l, struct err *e)
{
	struct slurmconf_live_file *f = ctx;
	const struct slurm_text first = l->pairs[0].key, value = l->pairs[0].value;

	if (f->nlines == LINES_MAX)
		return err_set(e, ERR_LIMIT, "%.120s:%d: more than %d lines of nodes",
			       l->file->path, l->number, LINES_MAX);
	if (slurm_show_is(first, "NodeName"))
		return take_nodes(f, l, value);
	if (slurm_show_is(first, "PartitionName"))
		take_part(f, l, value);
	else if (!slurm_show_is(first, "NodeSet") && !slurm_show_is(first, "DownNodes"))
		take(f->settings, slurmconf_live_settings, slurmconf_live_nsettings, l);
	return 0;
}

int slurmconf_live_read(struct slurmconf_live_file *out, const struct slurmconf_site *site,
			const struct slurmconf_sources *files, struct err *e)
{
	*out = (struct slurmconf_live_file){.site = site, .at = {files->v[0].file.path, 0}};
	map_init(&out->nodes);
	map_init(&out->parts);
	if (slurmconf_sources_walk_all(files, take_line, out, e) == 0)
		return 0;
	slurmconf_live_fini(out);
	return -1;
}

void slurmconf_live_fini(struct slurmconf_live_file *f)
{
	map_fini(&f->nodes);
	map_fini(&f->parts);
	for (size_t i = 0; i < f->nlines; i++) {
		free(f->lines[i]->name);
		free(f->lines[i]);
	}
	free(f->lines);
}
