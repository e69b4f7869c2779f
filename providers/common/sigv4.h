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
	SIGV4_HEADERS_MAX = 16,    /* of one request */
	SIGV4_TEXT_MAX = 64 << 10, /* the canonical request: session tokens have some KiB */
};

struct sigv4_key {
	const char *id, *secret;
	const char *token; /* of a session; NULL: none */
};

struct sigv4_header {
	const char *name, *value;
};

struct sigv4_request { /* borrowed */
	const char *method;
	const char *path, *query; /* as they go out; query may be "" */
	/* Host and whatever else is to be signed; x-amz-date and the token come by themselves. */
	const struct sigv4_header *headers;
	size_t nheaders;
	const void *body;
	size_t len;
	const char *region, *service;
	int64_t at_ms;
	bool path_as_is;   /* S3's way: "a/../b" is not "b" */
	bool token_beside; /* the token is sent and not signed */
};

/* Append the value of Authorization to *out and fill date, the value of X-Amz-Date.  The session's
 * token is the value of X-Amz-Security-Token.  -1: too much of it. */
int sigv4_sign(struct str *out, char date[SIGV4_DATE_SIZE], const struct sigv4_key *key,
	       const struct sigv4_request *rq);

/* The two texts on the way there, for tests and for those who search for what is wrong. */
int sigv4_canonical(struct str *out, const struct sigv4_key *key, const struct sigv4_request *rq);
int sigv4_to_sign(struct str *out, const struct sigv4_key *key, const struct sigv4_request *rq);

#endif
