/* places.h - a table of what is remembered of places, at most so many.
 *
 * A place is where something can be bought.  What a module remembers of one (core/cooldown.h,
 * core/unsold.h) is a structure that begins with `struct places_entry`; the table makes, finds,
 * forgets and releases it.  The modules share no entry, only this (ADR 35).
 *
 * The key of an entry is a text: why it is remembered, and as much of the place as that is about.
 * places_key() alone makes it, so that the same words are the same place everywhere. */
#ifndef BURSTD_PLACES_H
#define BURSTD_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/provider.h"

struct place { /* borrowed; zone may be "" */
	const char *provider, *type, *region, *zone;
	enum provider_market market;
	const char *fabric; /* the fabric of its machines; NULL: anywhere */
};

enum { PLACES_KEY_SIZE = 5 * (PROVIDER_WORD_MAX + 1) + 32 }; /* 32: why, and the market */

/* What an entry is about. */
enum places_scope {
	PLACES_PROVIDER, /* the provider as a whole */
	PLACES_ACCOUNT,  /* what its account may have: type, region, market, whatever the zone */
	PLACES_WHOLE,    /* the place, with its zone and fabric */
};

struct places_entry {
	struct places_entry *next;
	char key[PLACES_KEY_SIZE];
};

/* If the table is full, the entry with the least number is forgotten; of two alike the older. */
typedef int64_t (*places_rank_fn)(const void *entry);
#define PLACES_STAYS INT64_MAX /* it is never forgotten for another; not all may stay */

struct places {
	struct map by_key;
	struct places_entry *first; /* the newest */
	size_t n, max, size;        /* entries; entries at most; bytes of each */
	places_rank_fn rank;
};

void places_init(struct places *t, size_t max, size_t size, places_rank_fn rank);
void places_fini(struct places *t); /* releases the entries */

/* why: a word of at most 15 characters.  No word has a space.  Longer ones are cut, those of the
 * place to PROVIDER_WORD_MAX. */
void places_key(char key[PLACES_KEY_SIZE], const char *why, enum places_scope scope,
		const struct place *p);
/* What of the key follows the provider: "p5.48xlarge eu-north-1 a spot"; "": the whole provider. */
const char *places_where(const char *key);

void *places_find(const struct places *t, const char *key); /* NULL: there is none */
/* Makes one of zeros if there is none; another may be forgotten for it. */
void *places_get(struct places *t, const char *key);
void places_drop(struct places *t, void *entry);
/* The entry made before this one; of NULL the newest.  NULL: there is none. */
void *places_next(const struct places *t, const void *entry);

#endif
