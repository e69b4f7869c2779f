/* userdata.h - the text that a new instance gets at its creation: stage0, filled in.
 *
 * The templates are scripts/node/stage0.sh.in and, for machines that do not reach us,
 * stage0-token.sh.in, compiled in.  What is filled in ends up between a
 * shell's quotes, so each field may have the characters of its kind alone, and nothing is escaped.
 * The result depends on the fields only: a repeated create has the same bytes (I4). */
#ifndef BURSTD_USERDATA_H
#define BURSTD_USERDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	USERDATA_URLS_MAX = 8,
	USERDATA_TEXT_MAX = 2047, /* the URLs together, or a path */
	USERDATA_ID_MAX = 95,
	USERDATA_SECRET_MIN = 32, /* 256 bits in hex have 64; fewer could be guessed */
	USERDATA_SECRET_MAX = 127,
	USERDATA_CA_MAX = 4096,       /* two certificates of a P-256 key: ours, and the next */
	USERDATA_TIMEOUT_MAX = 86400, /* s */
	USERDATA_LINES_MAX = 12288,
	USERDATA_SHA256_LEN = 64,
	USERDATA_LIMIT = 16384, /* of a driver of which nothing is known, and of the least */
};

struct userdata {
	/* "https://host[:port]" of our listeners for nodes, blanks between them */
	const char *urls;
	const char *claim_id, *claim_secret;
	const char *identity;  /* "aws", "gcp", "azure": the cloud signs one; "none" */
	const char *node;      /* or "": the answer to the claim says which one it is */
	const char *ca_pem;    /* of the authority that our listeners' certificates are of */
	const char *node_init; /* its path in the image; another, or none, and it is fetched */
	uint32_t timeout_s;    /* for the claim */
	bool roots_port;       /* it claims from CLAIM_PORT_MIN to CLAIM_PORT_MAX */
};

/* *out is the caller's, a secret: secret_wipe().  max: bytes, as by userdata_limit().  -1: *e says
 * which field cannot be (ERR_INVALID; no part of the secret is in it), or that it is too long
 * (ERR_LIMIT). */
int userdata_fill(char **out, const struct userdata *u, size_t max, struct err *e);

/* Of a machine that has its keys from the secret store, by a token, and claims nothing. */
struct userdata_token {
	const char *lines;     /* "key=value\n", as node-init reads them: a secret */
	const char *node_init; /* its path in the image */
	const char *sha256;    /* of that file, in hex; "": whatever it is */
};

/* As userdata_fill(). */
int userdata_fill_token(char **out, const struct userdata_token *u, size_t max, struct err *e);

/* How many bytes of user-data, before base64, the API of driver takes. */
size_t userdata_limit(const char *driver);

#endif
