/* unsold.h - the last refusals of each place, for people.
 *
 * It says nothing of when a place may be asked again, which core/cooldown.h does.  An entry has the
 * time of a refusal, the number of nodes and the provider's words.  Purchases that were on the wire
 * together are one entry.  Beside them stands when the place last sold something: who was refused
 * before and after that was passed over. */
#ifndef BURSTD_UNSOLD_H
#define BURSTD_UNSOLD_H

#include <stddef.h>
#include <stdint.h>

#include "core/places.h"

enum {
	UNSOLD_EACH = 4,          /* entries of one place: the last ones */
	UNSOLD_PLACES_MAX = 1024, /* the place with the oldest entry is forgotten */
};

struct unsold_say {
	int64_t at_ms; /* of the answer; 0: no entry */
	enum provider_code code;
	uint32_t nodes;  /* how many were refused */
	char words[160]; /* of the provider; "": none */
};

struct unsold {
	struct places places;
};

void unsold_init(struct unsold *u);
void unsold_fini(struct unsold *u);

/* Note that a purchase sent at sent_ms was refused. */
void unsold_note(struct unsold *u, const struct place *p, const struct unsold_say *say,
		 int64_t sent_ms);

/* Note that something was bought there for this job (0: for none).  Of a place that never refused
 * nothing is kept. */
void unsold_sold(struct unsold *u, const struct place *p, uint64_t job, int64_t now_ms);
/* When that was so last, for any other job; 0: not since the first refusal that is remembered. */
int64_t unsold_sold_ms(const struct unsold *u, const struct place *p, uint64_t job);

/* The entries of this place, the newest first; returns how many. */
size_t unsold_last(const struct unsold *u, const struct place *p,
		   struct unsold_say out[UNSOLD_EACH]);

#endif
