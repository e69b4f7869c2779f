/* headers.h - the headers of an HTTP reply. */
#ifndef BURSTD_HEADERS_H
#define BURSTD_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct header {
	const char *name, *value;
};

struct headers { /* in the order in which they came; {0}: none */
	const struct header *v;
	size_t n;
};

/* Append copies.  Only of headers that were all added so, and are freed by headers_free(), which
 * wipes the values: a session may be one. */
void headers_add(struct headers *h, const char *name, const char *value);
void headers_free(struct headers *h);

/* Has the text a control byte?  In a line of HTTP it could begin another. */
bool headers_has_control(const char *text);
/* The value of the first header with this name, in any case (RFC 9110, 5.1).  NULL: there is none,
 * or it is empty, or it has a control byte. */
const char *headers_get(const struct headers *h, const char *name);
/* Parse the seconds of a Retry-After (RFC 9110, 10.2.3).  Returns milliseconds, at most max_ms; 0:
 * there is none, or it is a date, which would need a clock. */
int64_t headers_retry_after_ms(const struct headers *h, int64_t max_ms);

#endif
