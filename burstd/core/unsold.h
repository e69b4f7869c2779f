/* unsold.h - what places said lately instead of selling, for people.
 *
 * Nothing is decided by it: what a refusal closes, and for how long, is core/cooldown.h.  This is
 * the memory of who was asked for how many nodes, when, and the provider's own words.  A storm of
 * requests that were all on the wire when the first of them was refused is one entry. */
#ifndef BURSTD_UNSOLD_H
#define BURSTD_UNSOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "core/cooldown.h"

enum {
	UNSOLD_EACH = 4,          /* remembered of one place: the last ones */
	UNSOLD_PLACES_MAX = 1024, /* the one that was silent for longest is forgotten */
};

struct unsold_say {
	int64_t at_ms; /* the answer's; 0: none */
	enum provider_code code;
	uint32_t nodes;  /* that were not sold */
	char words[160]; /* the provider's; "": it had none */
};

struct unsold {
	struct map by_key;
	struct unsold_place *first;
	size_t n;
};

void unsold_init(struct unsold *u);
void unsold_fini(struct unsold *u);

/* A purchase that was sent at sent_ms was refused, as say says. */
void unsold_note(struct unsold *u, const struct cooldown_place *p, const struct unsold_say *say,
		 int64_t sent_ms);

/* The last ones of this place, the newest first; how many. */
size_t unsold_last(const struct unsold *u, const struct cooldown_place *p,
		   struct unsold_say out[UNSOLD_EACH]);

#endif
