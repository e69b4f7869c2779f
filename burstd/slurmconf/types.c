#include "slurmconf/types.h"

#include <stdio.h>
#include <string.h>

#include "core/hardware.h"

enum { ROUND_MB = 100 };

int64_t slurmconf_types_memory(int64_t memory_mb)
{
	int64_t margin = memory_mb / 100 * HARDWARE_SOLD_MARGIN, left;

	if (margin < HARDWARE_SOLD_MARGIN_MB)
		margin = HARDWARE_SOLD_MARGIN_MB;
	left = memory_mb - margin;
	return left > ROUND_MB ? left / ROUND_MB * ROUND_MB : left > 0 ? left : 1;
}

static struct slurmconf_place place(const struct slurmconf_want *w, const struct conf_pool *p)
{
	return (struct slurmconf_place){w->conf->path, p->line};
}

static bool is_given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

/* Whole GPUs of gres; -1: it has parts of GPUs, whose number is not the machine's. */
static int64_t gpus_of(const struct conf_pool *p)
{
	struct hardware_gres_list l = {.n = 0};
	int64_t gpus = 0;

	if (is_given(p->gres))
		(void)hardware_parse_gres(p->gres, &l, NULL);
	for (size_t i = 0; i < l.n; i++) {
		if (strcmp(l.v[i].name, "gpu") != 0)
			continue;
		if (hardware_is_mig(&l.v[i]))
			return -1;
		gpus += l.v[i].count;
	}
	return gpus;
}

/* The least of each, since any of the offers may be bought. */
static struct slurmconf_type least(const struct slurmconf_type *types, size_t n, size_t pool)
{
	struct slurmconf_type m = {.pool = pool};

	for (size_t i = 0; i < n; i++) {
		const struct slurmconf_type *t = &types[i];

		if (t->pool != pool)
			continue;
		if (t->cpus != 0 && (m.cpus == 0 || t->gpus < m.gpus))
			m.gpus = t->gpus;
		if (t->cpus != 0 && (m.cpus == 0 || t->cpus < m.cpus)) {
			m.cpus = t->cpus;
			m.type = t->type;
		}
		if (t->memory_mb != 0 && (m.memory_mb == 0 || t->memory_mb < m.memory_mb))
			m.memory_mb = t->memory_mb;
	}
	return m;
}

static void propose(const struct slurmconf_want *w, const struct conf_pool *p,
		    const struct slurmconf_type *m)
{
	const struct hardware_node h = {.cpus = m->cpus,
					.memory_mb = slurmconf_types_memory(m->memory_mb)};
	char gres[64] = "";
	struct str node;

	if (m->cpus == 0 || m->memory_mb == 0) {
		slurmconf_find(w->findings, SLURM_ADVICE, place(w, p),
			       "pool \"%s\": no provider says what its machines have", p->name);
		return;
	}
	if (!is_given(p->gres) && m->gpus > 0)
		(void)snprintf(gres, sizeof(gres), " gres = \"gpu:%u\"", m->gpus);
	str_init(&node, HARDWARE_TEXT_MAX);
	hardware_print(&h, &node);
	slurmconf_find(
		w->findings, SLURM_ADVICE, place(w, p),
		"pool \"%s\": write node = \"%s\"%s, with Sockets, "
		"CoresPerSocket and ThreadsPerCore of slurmd -C, or slurmctld drains machines "
		"with hyperthreads: type %s, whose %lld MB have a margin of %d %%, at least "
		"%d MB",
		p->name, node.p, gres, m->type, (long long)m->memory_mb, HARDWARE_SOLD_MARGIN,
		HARDWARE_SOLD_MARGIN_MB);
	str_fini(&node);
}

static void compare_node(const struct slurmconf_want *w, const struct conf_pool *p,
			 const struct slurmconf_type *t)
{
	struct hardware_node h = {.cpus = 0};
	int64_t most = slurmconf_types_memory(t->memory_mb);

	if (hardware_parse_node(p->node, &h, NULL) != 0)
		return;
	if (t->memory_mb != 0 && h.memory_mb > most)
		slurmconf_find(w->findings, SLURM_WARNING, place(w, p),
			       "pool \"%s\": RealMemory=%lld of node is more than %lld, which is "
			       "what type %s has, less a margin of %d %%: a machine that registers "
			       "with less is drained",
			       p->name, (long long)h.memory_mb, (long long)most, t->type,
			       HARDWARE_SOLD_MARGIN);
	if (t->cpus != 0 && h.cpus > t->cpus)
		slurmconf_find(w->findings, SLURM_WARNING, place(w, p),
			       "pool \"%s\": CPUs=%u of node, and type %s has %u: its machines are "
			       "drained",
			       p->name, h.cpus, t->type, t->cpus);
}

static void compare_gpus(const struct slurmconf_want *w, const struct conf_pool *p,
			 const struct slurmconf_type *t)
{
	int64_t gpus = gpus_of(p);

	if (t->cpus != 0 && gpus >= 0 && gpus != (int64_t)t->gpus)
		slurmconf_find(w->findings, SLURM_WARNING, place(w, p),
			       "pool \"%s\": gres has %lld GPUs, and type %s has %u: %s", p->name,
			       (long long)gpus, t->type, t->gpus,
			       gpus > (int64_t)t->gpus ? "its machines are drained"
						       : "the others are paid for, and no job can "
							 "have them");
}

/* Offers of one type differ in place alone. */
static bool is_said(const struct slurmconf_type *types, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (types[i].pool == types[at].pool && strcmp(types[i].type, types[at].type) == 0 &&
		    types[i].cpus == types[at].cpus && types[i].gpus == types[at].gpus &&
		    types[i].memory_mb == types[at].memory_mb)
			return true;
	return false;
}

void slurmconf_types(const struct slurmconf_want *w, const struct slurmconf_type *types, size_t n)
{
	for (size_t i = 0; n > 0 && i < w->conf->npools; i++) {
		const struct conf_pool *p = &w->conf->pools[i];
		const struct slurmconf_type m = least(types, n, i);

		if (!is_given(p->node)) {
			propose(w, p, &m);
			continue;
		}
		for (size_t k = 0; k < n; k++) {
			if (types[k].pool != i || is_said(types, k))
				continue;
			compare_node(w, p, &types[k]);
			compare_gpus(w, p, &types[k]);
		}
	}
}
