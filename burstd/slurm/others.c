/* Checks nodes of no pool: slurmctld saves power in the whole cluster, burstd in its pools. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "slurm/look.h"
#include "slurm/show.h"

struct other {
	int64_t own; /* largest SuspendTime of its partitions; -1: none is set */
	bool spared; /* by SuspendExcNodes or SuspendExcParts */
};

struct part {               /* a partition with nodes that no earlier one has */
	struct hostlist *h; /* has the names */
	struct other *others;
	struct part *next;
};

struct others {
	struct slurm_look *l;
	int64_t global;
	struct slurm_text spared_parts;
	struct part *first, **last;
	struct map by_name; /* -> struct other */
	size_t members;     /* names looked at */
};

static void others_fini(struct others *o)
{
	while (o->first != NULL) {
		struct part *p = o->first;

		o->first = p->next;
		hostlist_free(p->h);
		free(p->others);
		free(p);
	}
	map_fini(&o->by_name);
}

/* Note what the partition says about a node.  Returns whether *spare is in use for it now. */
static bool note(struct others *o, const char *name, struct other *spare, const struct other *says)
{
	struct other *other = map_get(&o->by_name, name);

	if (other != NULL) {
		other->own = says->own > other->own ? says->own : other->own;
		other->spared |= says->spared;
		return false;
	}
	if (map_get(&o->l->by_name, name) != NULL)
		return false;
	*spare = *says;
	map_put(&o->by_name, name, spare);
	return true;
}

static void take(struct others *o, struct slurm_text list, const struct other *says)
{
	struct part *p = mem_zalloc(sizeof(*p));
	bool keep = false;

	if (list.n == 0 || hostlist_parse(&p->h, list.p, list.n, NULL) != 0) {
		free(p);
		return;
	}
	o->members += p->h->n;
	p->others = mem_zalloc(p->h->n * sizeof(*p->others));
	for (size_t i = 0; i < p->h->n; i++)
		keep |= note(o, p->h->names[i], &p->others[i], says);
	*o->last = p;
	if (keep) {
		o->last = &p->next;
		return;
	}
	*o->last = NULL;
	hostlist_free(p->h);
	free(p->others);
	free(p);
}

static void take_partitions(struct others *o)
{
	struct slurm_text rest = o->l->partitions, line;

	while (slurm_show_cut(&rest, '\n', &line) && o->members <= SLURM_MEMBERS_MAX) {
		struct slurm_text name = slurm_show_word(line, "PartitionName");
		const struct other says = {.own = slurm_show_number(slurm_show_word(
						   line, slurm_own_names[SLURM_OWN_SUSPEND])),
					   .spared = slurm_look_lists(o->spared_parts, name)};

		/* slurmctld powers down no node without a SuspendTime in slurm.conf or a
		 * partition. */
		if (o->global != SLURM_INFINITE || says.own >= 0 || says.spared)
			take(o, slurm_show_word(line, "Nodes"), &says);
	}
}

/* "d[1-9]:2" keeps any two of them up: the others are powered down. */
static void spare_nodes(struct others *o)
{
	struct slurm_text rest = slurm_show_setting(o->l->config, "SuspendExcNodes"), list, count;

	while (slurm_look_cut(&rest, &list, &count)) {
		struct hostlist *h;

		if (list.n == 0 || hostlist_parse(&h, list.p, list.n, NULL) != 0)
			continue;
		for (size_t i = 0; i < h->n; i++) {
			struct other *other = map_get(&o->by_name, h->names[i]);

			if (other != NULL &&
			    (count.n == 0 || slurm_show_number(count) >= (int64_t)h->n))
				other->spared = true;
		}
		hostlist_free(h);
	}
}

static bool is_spared(const struct others *o, const struct other *other)
{
	return other->spared || (other->own >= 0 ? other->own : o->global) == SLURM_INFINITE;
}

/* Report the first node that is not spared, and how many more there are. */
static bool judge(struct others *o)
{
	const char *first = NULL;
	int64_t seconds = 0;
	size_t n = 0;

	for (const struct part *p = o->first; p != NULL; p = p->next)
		for (size_t i = 0; i < p->h->n; i++) {
			const struct other *other = &p->others[i];

			/* The same name may come twice in a list. */
			if (map_get(&o->by_name, p->h->names[i]) != other || is_spared(o, other))
				continue;
			if (n++ > 0)
				continue;
			first = p->h->names[i];
			seconds = other->own >= 0 ? other->own : o->global;
		}
	if (n > 1)
		return slurm_look_found(o->l, "%lld s for node %s and %zu more, which no pool has",
					(long long)seconds, first, n - 1);
	return n == 0 || slurm_look_found(o->l, "%lld s for node %s, which no pool has",
					  (long long)seconds, first);
}

bool slurm_look_spares_others(struct slurm_look *l)
{
	struct others o = {.l = l,
			   .global = slurm_show_number(l->value),
			   .spared_parts = slurm_show_setting(l->config, "SuspendExcParts"),
			   .last = &o.first};
	bool ok = true;

	/* Without pools all nodes would be others'; without a number nothing is known. */
	if (l->need->npools == 0 || o.global < 0 ||
	    (o.global == SLURM_INFINITE && !l->partition_suspends))
		return true;
	map_init(&o.by_name);
	take_partitions(&o);
	spare_nodes(&o);
	if (o.members <= SLURM_MEMBERS_MAX)
		ok = judge(&o);
	others_fini(&o);
	return ok;
}
