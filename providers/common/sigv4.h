/* sigv4.h - AWS Signature Version 4, in the headers of a request.
 *
 * Checked against all 38 published vectors (tests/unit/providers/test_sigv4.c). */
#ifndef PROVIDERS_COMMON_SIGV4_H
#define PROVIDERS_COMMON_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
	SIGV4_DATE_SIZE = 17,      /* "20150830T123600Z" */
	SIGV4_HEADERS_MAX = 16,    /* signed headers of one request */
	SIGV4_TEXT_MAX = 64 << 10, /* the canonical request: session tokens have some KiB */
};

struct sigv4_key {
	const char *id, *secret;
	const char *token; /* session token; NULL: none */
};

struct sigv4_header {
	const char *name, *value;
};

struct sigv4_request { /* borrowed */
	const char *method;
	const char *path, *query; /* as sent; query may be "" */
	/* Host and any others to be signed; x-amz-date and the token are added. */
	const struct sigv4_header *headers;
	size_t nheaders;
	const void *body;
	size_t len;
	const char *region, *service;
	int64_t at_ms;
	bool path_as_is;   /* for S3: "a/../b" is not "b" */
	bool token_beside; /* the token is sent, but not signed */
};

/* Append the value of Authorization to *out; date: the value of X-Amz-Date.  The caller sends the
 * session token as X-Amz-Security-Token.  -1: the request is too long. */
int sigv4_sign(struct str *out, char date[SIGV4_DATE_SIZE], const struct sigv4_key *key,
	       const struct sigv4_request *rq);

/* The two intermediate texts, for tests and debugging. */
int sigv4_canonical(struct str *out, const struct sigv4_key *key, const struct sigv4_request *rq);
int sigv4_to_sign(struct str *out, const struct sigv4_key *key, const struct sigv4_request *rq);

#endif
