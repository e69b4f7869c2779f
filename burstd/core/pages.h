/* pages.h - a list that comes in pages, each a request that asks its limit (limit.h).
 *
 * A throttled page is asked for again, not the whole list: with one request a second a list of ten
 * pages would never end otherwise.  A list that does not end, or takes so long that its first page
 * is outdated, is given up. */
#ifndef BURSTD_PAGES_H
#define BURSTD_PAGES_H

#include "core/provider.h"

enum {
	PAGES_MAX = 1000,
	PAGES_MS = 1800000, /* longest list: PAGES_MAX pages at one a second, and throttled */
};

struct pages {
	bool busy; /* a list is in progress */
	bool due;  /* the next page must be asked for; else the request is on the wire */
	unsigned n;
	int64_t began_ms;
	char cursor[PROVIDER_CURSOR_MAX + 1]; /* of that page */
};

enum pages_next {
	PAGES_DONE,    /* that was the last one */
	PAGES_MORE,    /* another page is due */
	PAGES_AGAIN,   /* the same page is due: the answer holds nothing */
	PAGES_FAILED,  /* the list failed */
	PAGES_ENDLESS, /* the list failed: it does not end */
};

void pages_begin(struct pages *p, int64_t now_ms); /* the first page is due */
void pages_end(struct pages *p);                   /* give up the rest of the list */
/* Take the answer to a page.  After DONE and MORE the caller adds what r holds to the list; after
 * MORE and AGAIN the list goes on. */
enum pages_next pages_answered(struct pages *p, const struct provider_result *r, int64_t now_ms);

#endif
