/* header_lines.h - reads the head of an HTTP/1 reply, line by line, as an HTTP library hands it
 * over, and keeps the headers of the reply itself: not those of interim ones (status 1xx), and not
 * what follows the body (RFC 9112, 7.1.2). */
#ifndef BURSTD_HEADER_LINES_H
#define BURSTD_HEADER_LINES_H

#include "base/headers.h"
#include "base/str.h"

struct header_lines {
	struct headers headers; /* of the last status line, complete after its empty line */
	size_t bytes;           /* of all lines, also of those that were not kept */
	bool strange;           /* a status line is of no HTTP version that burstd speaks */
	bool ended;             /* the empty line has come */
	struct str last;        /* the line that the next may continue (RFC 9112, 5.2) */
	size_t max;
};

/* max: bytes of all lines. */
void header_lines_init(struct header_lines *h, size_t max);
/* Wipes what it had: a header may hold a session. */
void header_lines_fini(struct header_lines *h);
/* Take the next line, with its end.  false: they are longer than max. */
bool header_lines_take(struct header_lines *h, const char *line, size_t n);

#endif
