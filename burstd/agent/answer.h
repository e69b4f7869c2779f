/* answer.h - parses one HTTP/1.1 answer, as its bytes come in, from a server that may be hostile.
 *
 * Pure: bytes in, an answer or an error out.  Any deviation from RFC 9112 (bare line feeds, folded
 * headers, two lengths, a length beside chunks) is an error that ends the connection: with a
 * lenient parser answers could be mixed up on a kept connection. */
#ifndef AGENT_ANSWER_H
#define AGENT_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	ANSWER_LINE_MAX = 2048, /* bytes of a line of the head */
	ANSWER_HEAD_MAX = 8192, /* bytes of the head and trailers */
	ANSWER_BODY_MAX = 1 << 20,
	ANSWER_INTERIM_MAX = 4, /* 1xx answers before the final one */
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
	ANSWER_AFTER, /* the line end after a chunk */
	ANSWER_TRAILER,
	ANSWER_TO_EOF, /* a body that ends with the connection */
	ANSWER_DONE
};

struct answer {
	int status;
	bool close;  /* the server closes the connection */
	bool google; /* Metadata-Flavor: Google */
	char etag[ANSWER_ETAG_MAX];
	struct str body;

	enum answer_state state;
	bool to_eof_ok, chunked, has_length;
	unsigned interim;
	int64_t left;   /* bytes left of the body or the chunk */
	size_t head, n; /* bytes so far of the head, and of the line */
	char line[ANSWER_LINE_MAX];
};

/* body_max: bytes of a body.  to_eof_ok: may the end of the connection end the body?  Not with TLS,
 * since anybody can cut a connection. */
void answer_init(struct answer *a, size_t body_max, bool to_eof_ok);
void answer_fini(struct answer *a);

/* Parse bytes.  1: the answer is complete; bytes after it are an error.  0: more must come.  -1:
 * *e, and the connection cannot be used any more. */
int answer_feed(struct answer *a, const char *p, size_t len, struct err *e);

/* The connection has ended.  1: that completes the answer; else -1. */
int answer_eof(struct answer *a, struct err *e);

#endif
