/* pages.h - a list that comes in pages, each a request that asks its limit (limit.h).
 *
 * A page that is throttled is asked for again, not the list: with one request a second a list of
 * ten pages would never end otherwise.  One that never ends, or would take too long for what its
 * first page said to be true still, is given up. */
#ifndef BURSTD_PAGES_H
#define BURSTD_PAGES_H

#include "core/provider.h"

enum {
	PAGES_MAX = 1000,
	PAGES_MS = 1800000, /* so long a list of so many may take at one a second, and throttled */
};

struct pages {
	bool busy; /* a list is in progress */
	bool due;  /* ... and its next page is to be asked for; else it is on the wire */
	unsigned n;
	int64_t began_ms;
	char cursor[PROVIDER_CURSOR_MAX + 1]; /* of the page that is due, or asked for */
};

enum pages_next {
	PAGES_DONE,    /* that was the last one */
	PAGES_MORE,    /* another is due */
	PAGES_AGAIN,   /* the same is: it holds nothing */
	PAGES_FAILED,  /* there is no list */
	PAGES_ENDLESS, /* likewise: they do not end */
};

void pages_begin(struct pages *p, int64_t now_ms); /* the first is due */
void pages_end(struct pages *p);                   /* what is left of it is not wanted */
/* Of DONE and MORE what r holds belongs to the list.  Only after MORE and AGAIN it goes on. */
enum pages_next pages_answered(struct pages *p, const struct provider_result *r, int64_t now_ms);

#endif
