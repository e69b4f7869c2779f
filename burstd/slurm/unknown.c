#include "slurm/unknown.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

enum { UNKNOWN_MAX = 80 }; /* bytes of a list; a longer one is counted */

char *slurm_unknown(const struct hostlist *nodes, slurm_known_fn known, void *ctx)
{
	const char **lacks = mem_zalloc((nodes->n + 1) * sizeof(*lacks));
	struct str s;
	size_t n = 0;

	for (size_t i = 0; i < nodes->n; i++)
		if (!known(ctx, nodes->names[i]))
			lacks[n++] = nodes->names[i];
	str_init(&s, UNKNOWN_MAX);
	if (n > 0)
		hostlist_fold(&s, lacks, n);
	if (s.full) {
		str_fini(&s);
		str_init(&s, UNKNOWN_MAX + HOSTLIST_NAME_MAX);
		str_addf(&s, "%s and %zu more", lacks[0], n - 1);
	}
	free(lacks);
	if (n > 0)
		return str_take(&s);
	str_fini(&s);
	return NULL;
}
