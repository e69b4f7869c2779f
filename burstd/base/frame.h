/* frame.h - the control protocol's framing, spoken by burst-prolog, burstctl and burstd.
 *
 * A frame is the type byte 'J', a 4-byte big-endian length, and that many bytes of JSON.  A request
 * is one frame and is answered by one frame; an answer begins {"ok":true or {"ok":false, without
 * white space: burst-prolog compares bytes.  See docs/protocol.md. */
#ifndef BURSTD_FRAME_H
#define BURSTD_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	FRAME_HEADER = 5,
	FRAME_PAYLOAD_MAX = 1 << 20, /* a longer frame is a protocol error */
};

enum { FRAME_JSON = 'J' }; /* the type, for which there is one value */

void frame_header(unsigned char out[FRAME_HEADER], uint32_t len);

/* Called once for each whole frame; data is borrowed, with a NUL after its len bytes.  Return -1
 * (with *e) to stop. */
typedef int (*frame_fn)(void *ctx, const char *data, size_t len, struct err *e);

/* Splits a byte stream into frames.  Holds at most one frame: FRAME_PAYLOAD_MAX bytes. */
struct frame_reader {
	unsigned char head[FRAME_HEADER];
	size_t nhead;
	char *body; /* NULL until the header is in */
	size_t len, want;
};

void frame_reader_init(struct frame_reader *r);
void frame_reader_fini(struct frame_reader *r);
/* Feed n bytes.  -1: an unknown type, too long a frame, or fn said stop; then only fini is left. */
int frame_reader_feed(struct frame_reader *r, const void *data, size_t n, frame_fn fn, void *ctx,
		      struct err *e);
/* Is the stream between two frames? */
int frame_reader_at_rest(const struct frame_reader *r);

#endif
