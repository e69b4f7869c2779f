#include "base/map.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/fnv.h"
#include "base/mem.h"

struct map_slot {
	const char *key; /* NULL: never used, or deleted if value is set */
	void *value;
	uint64_t hash;
};

static char tombstone;

/* Keys may be a stranger's: a provider chooses the ids of its instances, thousands of them.  So
 * that he cannot choose them to collide, each process begins its hashes with another number. */
static uint64_t seed(void)
{
	static uint64_t number;

	while (number == 0)
		if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
			number = FNV_BEGIN; /* a kernel without it: better than no map */
	return number;
}

static uint64_t hash_of(const char *key)
{
	return fnv_text(FNV_BEGIN ^ seed(), key);
}

void map_init(struct map *m)
{
	*m = (struct map){0};
}

void map_fini(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

/* The slot that holds key, or the one to put it in. */
static struct map_slot *probe(const struct map *m, const char *key, uint64_t h)
{
	struct map_slot *grave = NULL;

	for (size_t i = h & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct map_slot *s = &m->slots[i];

		if (s->key == NULL && s->value == NULL)
			return grave != NULL ? grave : s;
		if (s->key == NULL)
			grave = grave != NULL ? grave : s;
		else if (s->hash == h && strcmp(s->key, key) == 0)
			return s;
	}
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->cap = old.n < 8 ? 16 : 4 * old.n;
	while ((m->cap & (m->cap - 1)) != 0)
		m->cap += m->cap & -m->cap;
	m->slots = mem_zalloc(m->cap * sizeof(*m->slots));
	m->used = m->n;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].key != NULL)
			*probe(m, old.slots[i].key, old.slots[i].hash) = old.slots[i];
	free(old.slots);
}

void *map_get(const struct map *m, const char *key)
{
	struct map_slot *s;

	if (m->n == 0)
		return NULL;
	s = probe(m, key, hash_of(key));
	return s->key != NULL ? s->value : NULL;
}

void map_put(struct map *m, const char *key, void *value)
{
	uint64_t h = hash_of(key);
	struct map_slot *s;

	assert(value != NULL);
	if (4 * (m->used + 1) > 3 * m->cap)
		grow(m);
	s = probe(m, key, h);
	if (s->key == NULL) {
		m->n++;
		m->used += s->value == NULL;
	}
	*s = (struct map_slot){.key = key, .value = value, .hash = h};
}

void map_del(struct map *m, const char *key)
{
	struct map_slot *s;

	if (m->n == 0)
		return;
	s = probe(m, key, hash_of(key));
	if (s->key == NULL)
		return;
	*s = (struct map_slot){.key = NULL, .value = &tombstone};
	m->n--;
}
