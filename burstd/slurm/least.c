/* Checks partitions that take large jobs only (MinNodes): can such a job have its nodes at all? */
#include <stdlib.h>

#include "base/mem.h"
#include "slurm/look.h"
#include "slurm/show.h"

struct members {
	size_t *of_pool; /* nodes of the partition in each pool */
	size_t others;   /* ... and in none: these always exist */
};

static void count(const struct slurm_look *l, const struct hostlist *h, struct members *m)
{
	for (size_t i = 0; i < h->n; i++) {
		const struct slurm_our_node *n = map_get(&l->by_name, h->names[i]);

		if (n != NULL)
			m->of_pool[n->pool]++;
		else
			m->others++;
	}
}

/* How many of the partition's nodes can exist at once; *tight: the pool that lacks most. */
static size_t most_of(const struct slurm_need *need, const struct members *m,
		      const struct slurm_need_pool **tight)
{
	size_t most = m->others, lacks = 0;

	*tight = NULL;
	for (size_t i = 0; i < need->npools; i++) {
		const struct slurm_need_pool *p = &need->pools[i];
		size_t n = m->of_pool[i] < p->max_nodes ? m->of_pool[i] : p->max_nodes;

		most += n;
		if (m->of_pool[i] - n <= lacks)
			continue;
		lacks = m->of_pool[i] - n;
		*tight = p;
	}
	return most;
}

/* Can a job have `least` nodes of this partition?  If not, report it.  *seen: names looked at. */
static bool can_have(struct slurm_look *l, struct slurm_text line, int64_t least, size_t *seen)
{
	struct slurm_text name = slurm_show_word(line, "PartitionName");
	struct slurm_text list = slurm_show_word(line, "Nodes");
	const struct slurm_need_pool *tight;
	struct hostlist *h;
	struct members m = {0};
	size_t most;

	if (list.n == 0 || hostlist_parse(&h, list.p, list.n, NULL) != 0)
		return true;
	*seen += h->n;
	m.of_pool = mem_zalloc((l->need->npools + 1) * sizeof(*m.of_pool));
	count(l, h, &m);
	most = most_of(l->need, &m, &tight);
	hostlist_free(h);
	free(m.of_pool);
	if (tight == NULL || (uint64_t)least <= most)
		return true;
	slurm_look_wanted(l, "at most %zu, or a higher max_nodes", most);
	return slurm_look_found(l,
				"%lld for %.*s, whose nodes can be %zu at once: pool %s has "
				"max_nodes %u",
				(long long)least, (int)(name.n < 40 ? name.n : 40), name.p, most,
				tight->name, (unsigned)tight->max_nodes);
}

bool slurm_look_least(struct slurm_look *l)
{
	struct slurm_text rest = l->partitions, line;
	size_t seen = 0;

	while (slurm_show_cut(&rest, '\n', &line) && seen <= SLURM_MEMBERS_MAX) {
		int64_t least = slurm_show_number(slurm_show_word(line, "MinNodes"));

		/* Not for MinNodes=1: an admin who closed a pool wants no job there. */
		if (least > 1 && least != SLURM_INFINITE && !can_have(l, line, least, &seen))
			return false;
	}
	return true;
}
