#include "cloud/cloud.h"

#include <string.h>

/* Finds the row of an instance, by provider and id.
 *
 * The index is made again after a commit.  Until then only staged rows change, and owner_set() adds
 * their instances.  Without an index a thousand notices would be a thousand walks through the
 * fleet. */

/* The row as staged, or as durable; valid until the commit. */
static const struct node *latest(const struct fleet_node *fn)
{
	return fn->next != NULL ? fn->next : &fn->n;
}

struct cloud *owner_provider(const struct engine *e, const struct node *n)
{
	struct cloud *c = cloud_of(e, n);
	bool same = n->provider[0] == '\0' || strcmp(n->provider, c->conf->name) == 0;

	return same ? c : NULL;
}

/* Of two rows of one instance the one that counts, or else the newer. */
static void index_row(struct map *ids, struct fleet_node *fn)
{
	const struct node *n = latest(fn);
	const struct fleet_node *had = map_get(ids, n->instance);

	if (had == NULL || (node_counts(n) && !node_counts(latest(had))))
		map_put(ids, n->instance, fn);
}

static void index_instances(struct engine *e)
{
	if (e->cloud->owners_made && e->cloud->owners_commits == e->count.commits)
		return;
	for (size_t i = 0; i < e->conf->nproviders; i++) {
		map_fini(&e->cloud->all[i].ids);
		map_init(&e->cloud->all[i].ids);
	}
	for (size_t i = 0; i < e->fleet.nall; i++)
		for (struct fleet_node *fn = e->fleet.all[i]->newest; fn; fn = fn->older) {
			struct cloud *c = owner_provider(e, &fn->n);

			if (c != NULL && latest(fn)->instance[0] != '\0')
				index_row(&c->ids, fn);
		}
	e->cloud->owners_made = true;
	e->cloud->owners_commits = e->count.commits;
}

struct fleet_node *owner_once(struct cloud *c, const char *id)
{
	index_instances(c->e);
	return map_get(&c->ids, id);
}

struct fleet_node *owner_of(struct cloud *c, const char *id)
{
	struct fleet_node *fn = owner_once(c, id);

	return fn != NULL && node_counts(latest(fn)) ? fn : NULL;
}

void owner_set(struct cloud *c, struct fleet_node *fn)
{
	index_instances(c->e);
	map_put(&c->ids, latest(fn)->instance, fn);
}
