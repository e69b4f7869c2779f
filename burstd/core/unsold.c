#include "core/unsold.h"

#include <string.h>

static const char why[] = "unsold";

struct unsold_entry {
	struct places_entry in;              /* the table: the first member */
	struct unsold_say said[UNSOLD_EACH]; /* the newest first */
	struct {
		uint64_t job;
		int64_t ms;
	} sold[2]; /* the last sale, and the last one before it to another job */
};

static int64_t rank(const void *entry)
{
	return ((const struct unsold_entry *)entry)->said[0].at_ms;
}

void unsold_init(struct unsold *u)
{
	places_init(&u->places, UNSOLD_PLACES_MAX, sizeof(struct unsold_entry), rank);
}

void unsold_fini(struct unsold *u)
{
	places_fini(&u->places);
}

void unsold_note(struct unsold *u, const struct place *p, const struct unsold_say *say,
		 int64_t sent_ms)
{
	char key[PLACES_KEY_SIZE];
	struct unsold_entry *at;
	struct unsold_say *last;

	places_key(key, why, PLACES_WHOLE, p);
	at = places_get(&u->places, key);
	last = &at->said[0];
	if (last->at_ms != 0 && last->code == say->code && sent_ms <= last->at_ms) {
		last->nodes += say->nodes;
		return;
	}
	memmove(&at->said[1], &at->said[0], (UNSOLD_EACH - 1) * sizeof(at->said[0]));
	at->said[0] = *say;
}

static struct unsold_entry *find(const struct unsold *u, const struct place *p)
{
	char key[PLACES_KEY_SIZE];

	places_key(key, why, PLACES_WHOLE, p);
	return places_find(&u->places, key);
}

void unsold_sold(struct unsold *u, const struct place *p, uint64_t job, int64_t now_ms)
{
	struct unsold_entry *at = find(u, p);

	if (at == NULL)
		return;
	if (at->sold[0].job != job)
		at->sold[1] = at->sold[0];
	at->sold[0].job = job;
	at->sold[0].ms = now_ms;
}

int64_t unsold_sold_ms(const struct unsold *u, const struct place *p, uint64_t job)
{
	const struct unsold_entry *at = find(u, p);

	if (at == NULL)
		return 0;
	return at->sold[0].job != job ? at->sold[0].ms : at->sold[1].ms;
}

size_t unsold_last(const struct unsold *u, const struct place *p,
		   struct unsold_say out[UNSOLD_EACH])
{
	const struct unsold_entry *at = find(u, p);
	size_t n = 0;

	for (; at != NULL && n < UNSOLD_EACH && at->said[n].at_ms != 0; n++)
		out[n] = at->said[n];
	return n;
}
