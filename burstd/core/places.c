#include "core/places.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void places_init(struct places *t, size_t max, size_t size, places_rank_fn rank)
{
	assert(max > 0 && size >= sizeof(struct places_entry));
	*t = (struct places){.max = max, .size = size, .rank = rank};
	map_init(&t->by_key);
}

void places_fini(struct places *t)
{
	while (t->first != NULL) {
		struct places_entry *e = t->first;

		t->first = e->next;
		free(e);
	}
	map_fini(&t->by_key);
	*t = (struct places){0};
}

/* No word holds a space, so no two places have one key. */
void places_key(char key[PLACES_KEY_SIZE], const char *why, enum places_scope scope,
		const struct place *p)
{
	int n = snprintf(key, PLACES_KEY_SIZE, "%.15s %.63s", why, p->provider);
	size_t room = PLACES_KEY_SIZE - (size_t)n;

	if (scope == PLACES_ACCOUNT)
		(void)snprintf(key + n, room, " %.63s %.63s %s", p->type, p->region,
			       provider_market_str(p->market));
	else if (scope == PLACES_WHOLE)
		(void)snprintf(key + n, room, " %.63s %.63s %.63s %s%s%.63s", p->type, p->region,
			       p->zone, provider_market_str(p->market),
			       p->fabric != NULL ? " " : "", p->fabric != NULL ? p->fabric : "");
}

const char *places_where(const char *key)
{
	const char *provider = strchr(key, ' ');
	const char *rest = provider != NULL ? strchr(provider + 1, ' ') : NULL;

	return rest != NULL ? rest + 1 : "";
}

void *places_find(const struct places *t, const char *key)
{
	return map_get(&t->by_key, key);
}

void places_drop(struct places *t, void *entry)
{
	struct places_entry *e = entry;
	struct places_entry **link = &t->first;

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
	map_del(&t->by_key, e->key);
	free(e);
	t->n--;
}

static void make_room(struct places *t)
{
	struct places_entry *least = NULL;
	int64_t rank = PLACES_STAYS;

	for (struct places_entry *e = t->first; e != NULL; e = e->next) {
		int64_t r = t->rank(e);

		if (r <= rank) {
			least = e;
			rank = r;
		}
	}
	assert(rank != PLACES_STAYS);
	places_drop(t, least);
}

void *places_get(struct places *t, const char *key)
{
	struct places_entry *e = places_find(t, key);

	if (e != NULL)
		return e;
	assert(strlen(key) < PLACES_KEY_SIZE);
	if (t->n >= t->max)
		make_room(t);
	e = mem_zalloc(t->size);
	(void)snprintf(e->key, sizeof(e->key), "%s", key);
	e->next = t->first;
	t->first = e;
	t->n++;
	map_put(&t->by_key, e->key, e);
	return e;
}

void *places_next(const struct places *t, const void *entry)
{
	const struct places_entry *e = entry;

	return e != NULL ? e->next : t->first;
}
