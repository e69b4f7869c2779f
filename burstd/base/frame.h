/* frame.h - the control protocol's framing, spoken by burst-hook, burstctl and burstd.
 *
 * A frame is one type byte, a 4-byte big-endian length, and that many bytes.  A request is one JSON
 * frame and is answered by one JSON frame.  The one request with a body is a call from slurmctld:
 *
 *   'J' {"v":1,"op":"call","kind":"resume","at_ms":N,"file":"sent"}
 *                 kind: resume, suspend or resume-fail; at_ms: when the hook was started;
 *                 file: sent, none (slurmctld named none), missing (it cannot be read) or
 *                 dropped (longer than FRAME_FILE_MAX)
 *   'L' node list as slurmctld gave it        0 or more, in order
 *   'F' resume file as it is                  0 or more, in order
 *   'Z' empty, or {"truncated":true}          the call is complete; the file is not: do not use it
 *
 * answered by 'J' {"ok":true,"seq":N} once it is durable, "ok" first and without white space: the
 * hook compares bytes.  A file in the spool is exactly the bytes that the hook would have sent. See
 * docs/protocol.md. */
#ifndef BURSTD_FRAME_H
#define BURSTD_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	FRAME_HEADER = 5,
	FRAME_CHUNK = 32768,         /* what the hook puts into one 'L' or 'F' frame */
	FRAME_PAYLOAD_MAX = 1 << 20, /* a longer frame is a protocol error */
	FRAME_LIST_MAX = 1 << 17,    /* an argv string cannot be longer (MAX_ARG_STRLEN) */
	FRAME_FILE_MAX = 16 << 20,   /* a longer resume file is dropped and flagged */
};

enum frame_type { FRAME_JSON = 'J', FRAME_LIST = 'L', FRAME_FILE = 'F', FRAME_END = 'Z' };

void frame_header(unsigned char out[FRAME_HEADER], enum frame_type type, uint32_t len);

/* Called once for each whole frame; data is borrowed, with a NUL after its len bytes.  Return -1
 * (with *e) to stop. */
typedef int (*frame_fn)(void *ctx, enum frame_type type, const char *data, size_t len,
			struct err *e);

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
