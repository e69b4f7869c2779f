#include "core/unsold.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { KEY_SIZE = 5 * (PROVIDER_WORD_MAX + 1) + 16 };

struct unsold_place {
	struct unsold_place *next;
	char key[KEY_SIZE];
	struct unsold_say said[UNSOLD_EACH]; /* the newest first */
};

void unsold_init(struct unsold *u)
{
	*u = (struct unsold){0};
	map_init(&u->by_key);
}

void unsold_fini(struct unsold *u)
{
	while (u->first != NULL) {
		struct unsold_place *p = u->first;

		u->first = p->next;
		free(p);
	}
	map_fini(&u->by_key);
	*u = (struct unsold){0};
}

/* No word holds a space, so no two places have one key. */
static char *make_key(char key[KEY_SIZE], const struct cooldown_place *p)
{
	(void)snprintf(key, KEY_SIZE, "%.63s %.63s %.63s %.63s %s %.63s", p->provider, p->type,
		       p->region, p->zone, provider_market_str(p->market),
		       p->fabric != NULL ? p->fabric : "");
	return key;
}

static void drop(struct unsold *u, struct unsold_place *p)
{
	struct unsold_place **link = &u->first;

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	map_del(&u->by_key, p->key);
	free(p);
	u->n--;
}

static void make_room(struct unsold *u)
{
	struct unsold_place *oldest = u->first;

	if (u->n < UNSOLD_PLACES_MAX)
		return;
	for (struct unsold_place *p = u->first; p != NULL; p = p->next)
		if (p->said[0].at_ms <= oldest->said[0].at_ms)
			oldest = p;
	assert(oldest != NULL);
	drop(u, oldest);
}

static struct unsold_place *get(struct unsold *u, const struct cooldown_place *at)
{
	char key[KEY_SIZE];
	struct unsold_place *p = map_get(&u->by_key, make_key(key, at));

	if (p != NULL)
		return p;
	make_room(u);
	p = mem_zalloc(sizeof(*p));
	memcpy(p->key, key, sizeof(key));
	p->next = u->first;
	u->first = p;
	u->n++;
	map_put(&u->by_key, p->key, p);
	return p;
}

void unsold_note(struct unsold *u, const struct cooldown_place *p, const struct unsold_say *say,
		 int64_t sent_ms)
{
	struct unsold_place *at = get(u, p);
	struct unsold_say *last = &at->said[0];

	if (last->at_ms != 0 && last->code == say->code && sent_ms <= last->at_ms) {
		last->nodes += say->nodes;
		return;
	}
	memmove(&at->said[1], &at->said[0], (UNSOLD_EACH - 1) * sizeof(at->said[0]));
	at->said[0] = *say;
}

size_t unsold_last(const struct unsold *u, const struct cooldown_place *p,
		   struct unsold_say out[UNSOLD_EACH])
{
	char key[KEY_SIZE];
	const struct unsold_place *at = map_get(&u->by_key, make_key(key, p));
	size_t n = 0;

	for (; at != NULL && n < UNSOLD_EACH && at->said[n].at_ms != 0; n++)
		out[n] = at->said[n];
	return n;
}
