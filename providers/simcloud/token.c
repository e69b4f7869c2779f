#include "providers/simcloud/token.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/mem.h"

void tokens_init(struct tokens *t)
{
	*t = (struct tokens){0};
	map_init(&t->map);
}

static void drop_oldest(struct tokens *t)
{
	struct token *old = t->oldest;

	t->oldest = old->next;
	if (t->oldest == NULL)
		t->newest = NULL;
	if (map_get(&t->map, old->text) == old)
		map_del(&t->map, old->text);
	free(old);
}

void tokens_fini(struct tokens *t)
{
	while (t->oldest != NULL)
		drop_oldest(t);
	map_fini(&t->map);
}

const struct token *tokens_find(struct tokens *t, const char *text, int64_t now)
{
	const struct token *found;

	/* Oldest first.  After token_life was shortened, expired ones wait here for older ones to
	 * expire. */
	while (t->oldest != NULL && t->oldest->expires <= now)
		drop_oldest(t);
	found = map_get(&t->map, text);
	return found != NULL && found->expires > now ? found : NULL;
}

void tokens_put(struct tokens *t, const struct token *head, const int32_t *items)
{
	struct token *k = mem_zalloc(sizeof(*k) + head->nitems * sizeof(*items));

	*k = *head;
	k->next = NULL;
	memcpy(k->items, items, head->nitems * sizeof(*items));
	if (t->newest != NULL)
		t->newest->next = k;
	else
		t->oldest = k;
	t->newest = k;
	map_del(&t->map, k->text); /* the map keeps the key of an entry it replaces */
	map_put(&t->map, k->text, k);
	if (t->map.n > TOKEN_KEPT_MAX)
		drop_oldest(t);
}

uint64_t token_hash(const char *body, size_t len)
{
	return fnv_bytes(FNV_BEGIN, body, len);
}
