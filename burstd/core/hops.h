/* hops.h - how far machines are from each other in their provider's network, by the paths that it
 * says (provider_path in provider.h).
 *
 * Hops are how many levels above their own switches the lowest switch is that is above all of them:
 * 0 if they have the same switch, 1 if only the switches above those are one, and so on.  Pure. */
#ifndef BURSTD_HOPS_H
#define BURSTD_HOPS_H

#include <stddef.h>

enum {
	HOPS_APART = -1,   /* no switch is above all of them */
	HOPS_UNKNOWN = -2, /* of none is it known where it is */
	HOPS_TEXT_SIZE = 48,
};

struct hops {                         /* of some machines; begin with {0} */
	const char *first;            /* path of one of them, borrowed; NULL: none is known */
	unsigned common, deepest;     /* names that all paths begin with; of the longest path */
	unsigned long known, unknown; /* machines with and without a path */
};

/* One more; path "" or NULL: it is not known where it is.  Borrows path. */
void hops_add(struct hops *h, const char *path);
/* Of those that are known; HOPS_APART, HOPS_UNKNOWN. */
int hops_of(const struct hops *h);
/* "below one switch", "2 hops from each other"; HOPS_UNKNOWN: "".  Returns out. */
const char *hops_text(char out[HOPS_TEXT_SIZE], int hops);

#endif
