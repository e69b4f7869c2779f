#include "cloud/cloud.h"

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
			struct map *ids = &cloud_of(e, &fn->n)->ids;
			const struct node *n = latest(fn);

			if (n->instance[0] != '\0' && node_counts(n) &&
			    map_get(ids, n->instance) == NULL)
				map_put(ids, n->instance, fn);
		}
	e->cloud->owners_made = true;
	e->cloud->owners_commits = e->count.commits;
}

struct fleet_node *owner_of(struct cloud *c, const char *id)
{
	index_instances(c->e);
	return map_get(&c->ids, id);
}

void owner_set(struct cloud *c, struct fleet_node *fn)
{
	index_instances(c->e);
	map_put(&c->ids, latest(fn)->instance, fn);
}
