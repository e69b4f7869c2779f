/* sim_topology.c - where instances of the simulated cloud are. */
#include "base/mem.h"
#include "providers/sim_private.h"

enum { PATHS_MAX = 1000, SWITCHES_MAX = 16 };

/* A path that cannot be read is none: half a path would say that it is near machines that it is not
 * near. */
static void read_path(struct provider_path *p, const struct doc_at *o)
{
	const struct doc_at list = doc_list(o, "path", SWITCHES_MAX);
	char name[PROVIDER_PATH_MAX + 1];

	doc_id(o, "id", p->id, sizeof(p->id));
	for (size_t i = 0; i < list.n; i++) {
		const struct doc_at item = doc_item(&list, i);

		doc_text(&item, NULL, name, sizeof(name));
		if (provider_path_add(p, name) != 0)
			doc_wrong(&item, NULL, "the name of a switch");
	}
}

int sim_paths_read(struct doc *d, struct provider_result *out)
{
	const struct doc_at list = doc_list(&d->top, "instances", PATHS_MAX);

	out->paths = mem_zalloc((list.n + 1) * sizeof(*out->paths));
	for (size_t i = 0; i < list.n && doc_good(d); i++) {
		const struct doc_at o = doc_item(&list, i);
		struct provider_path *p = &out->paths[out->npaths];

		*p = (struct provider_path){.id = ""};
		read_path(p, &o);
		out->npaths += !doc_forgive(d) && p->path[0] != '\0';
	}
	return 0;
}
