/* two_headers.h - a reply's headers for a test: Retry-After and Location, each if it is not NULL.
 */
#ifndef TESTS_TWO_HEADERS_H
#define TESTS_TWO_HEADERS_H

#include "base/headers.h"

static inline struct headers two_headers(struct header v[2], const char *retry_after,
					 const char *location)
{
	struct headers h = {v, 0};

	if (retry_after != NULL)
		v[h.n++] = (struct header){"retry-after", retry_after};
	if (location != NULL)
		v[h.n++] = (struct header){"Location", location};
	return h;
}

#endif
