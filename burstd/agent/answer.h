/* answer.h - one HTTP/1.1 answer, taken in byte by byte from somebody who may be hostile.
 *
 * Pure: bytes in, an answer or an error out.  What is not exactly as RFC 9112 wants it (bare line
 * feeds, folded headers, two lengths, a length beside chunks) ends the connection: a lenient reader
 * is how answers get mixed up on a connection that is kept. */
#ifndef AGENT_ANSWER_H
#define AGENT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	ANSWER_LINE_MAX = 2048, /* one line of the head */
	ANSWER_HEAD_MAX = 8192, /* all of them, trailers too */
	ANSWER_BODY_MAX = 1 << 20,
	ANSWER_INTERIM_MAX = 4, /* 1xx before the real one */
	ANSWER_ETAG_MAX = 64,
};

/*  STATUS -> HEADER -+-> LENGTH ---------------------------+-> DONE
 *     ^        |     +-> SIZE -> DATA -> AFTER -> SIZE ... |
 *     +--1xx---+     |    +--0--> TRAILER -----------------+
 *                    +-> TO_EOF -- answer_eof() -----------+ */
enum answer_state {
	ANSWER_STATUS,
	ANSWER_HEADER,
	ANSWER_LENGTH, /* a body of known length */
	ANSWER_SIZE,   /* the line before a chunk */
	ANSWER_DATA,
	ANSWER_AFTER, /* the line end behind a chunk */
	ANSWER_TRAILER,
	ANSWER_TO_EOF, /* a body that ends with the connection */
	ANSWER_DONE
};

struct answer {
	int status;
	bool close;  /* the connection ends with it */
	bool google; /* Metadata-Flavor: Google */
	char etag[ANSWER_ETAG_MAX];
	struct str body;

	enum answer_state state;
	bool to_eof_ok, chunked, has_length;
	unsigned interim;
	int64_t left;   /* of the body or the chunk */
	size_t head, n; /* bytes of head so far; of the line */
	char line[ANSWER_LINE_MAX];
};

/* body_max: bytes of body that are taken.  to_eof_ok: may the end of the connection be the end of
 * the body?  Not with TLS, where anybody can cut a connection. */
void answer_init(struct answer *a, size_t body_max, bool to_eof_ok);
void answer_fini(struct answer *a);

/* Take bytes.  1: it is complete, and bytes behind it are an error (nothing was asked); 0: more has
 * to come; -1: *e, and the connection is of no more use. */
int answer_feed(struct answer *a, const char *p, size_t len, struct err *e);

/* The connection has ended: 1 when that completes the answer, else -1. */
int answer_eof(struct answer *a, struct err *e);

#endif
