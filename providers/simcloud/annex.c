#include "providers/simcloud/annex.h"

#include <stdlib.h>

#include "base/mem.h"

struct annex {
	const void *owner;
	void *own;
	void (*free_own)(void *own);
	struct annex *next;
};

void *annex_get(const struct annex *first, const void *owner)
{
	for (const struct annex *a = first; a != NULL; a = a->next)
		if (a->owner == owner)
			return a->own;
	return NULL;
}

void annex_put(struct annex **first, const void *owner, void *own, void (*free_own)(void *own))
{
	struct annex *a = mem_zalloc(sizeof(*a));

	*a = (struct annex){.owner = owner, .own = own, .free_own = free_own, .next = *first};
	*first = a;
}

void annex_free(struct annex *first)
{
	while (first != NULL) {
		struct annex *next = first->next;

		first->free_own(first->own);
		free(first);
		first = next;
	}
}
