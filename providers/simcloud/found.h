/* found.h - all instances that a list shows now, for faces whose lists are filtered or cut into
 * numbered pages: they must know how many there are before they write the first. */
#ifndef SIMCLOUD_FOUND_H
#define SIMCLOUD_FOUND_H

#include <stddef.h>

#include "providers/simcloud/cloud.h"

struct found {
	const struct cloud_instance **v; /* oldest first; valid until the cloud changes */
	size_t n, cap;
	bool (*keep)(const void *ctx, const struct cloud_instance *i); /* NULL: all */
	const void *ctx;
};

/* Fill *f, whose keep and ctx are set.  found_fini() frees. */
void found_list(struct found *f, struct cloud *c, int64_t now);
void found_fini(struct found *f);

#endif
