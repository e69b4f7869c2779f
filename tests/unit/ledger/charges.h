/* charges.h - charges for tests: of any seed as many as one likes, with the names that people give.
 */
#ifndef CHARGES_H
#define CHARGES_H

#include "ledger/focus.h"

enum { CHARGES_START = 1793487600, CHARGES_DAYS = 30 }; /* 2026-11-01, midnight in Berlin */

struct charges {
	struct charge *v;
	const struct charge **all; /* each of v */
	size_t n;
};

/* The same seed gives the same.  Most are of CHARGES_DAYS days from CHARGES_START on; a few adjust
 * the month before. */
void charges_make(struct charges *c, unsigned seed, size_t n);
void charges_fini(struct charges *c);
int64_t charges_sum(const struct charges *c);

/* One charge that is all right, to change. */
struct charge charges_one(void);
/* Options that fit. */
struct focus_options charges_options(enum focus_version version, enum focus_view view);
const struct zone *charges_zone(void); /* Europe/Berlin: UTC+1 in all of the period */

#endif
