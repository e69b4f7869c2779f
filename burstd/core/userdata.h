/* userdata.h - fills in stage0, the script in the user-data of a new instance.
 *
 * The templates are scripts/node/stage0.sh.in and, for machines that do not reach burstd,
 * stage0-token.sh.in, compiled in.  Fields end up between a shell's quotes, so each may only have
 * the characters of its kind, and nothing is escaped.  The result depends on the fields only: a
 * repeated create has the same bytes (I4). */
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
	USERDATA_SECRET_MIN = 32, /* 256 bits in hex are 64; fewer could be guessed */
	USERDATA_SECRET_MAX = 127,
	USERDATA_CA_MAX = 4096, /* two certificates of P-256 keys: the present CA's, and the next */
	USERDATA_TIMEOUT_MAX = 86400, /* s */
	USERDATA_LINES_MAX = 12288,
	USERDATA_SHA256_LEN = 64,
	USERDATA_LIMIT = 65536, /* no fields make it longer; what a provider takes: core/terms.h */
};

struct userdata {
	/* "https://host[:port]" of the listeners for nodes, blank-separated */
	const char *urls;
	const char *claim_id, *claim_secret;
	const char *identity;  /* "aws", "gcp", "azure": the cloud that signs documents; "none" */
	const char *node;      /* "": the answer to the claim says which node it is */
	const char *ca_pem;    /* of the CA that signs the listeners' certificates */
	const char *node_init; /* its path in the image; if another file is there, or none, it is
				  fetched */
	uint32_t timeout_s;    /* for the claim */
	bool roots_port;       /* it claims from a port between CLAIM_PORT_MIN and CLAIM_PORT_MAX */
};

/* *out is the caller's to wipe (secret_wipe()), for it holds a secret.  max: bytes.  -1: *e says
 * which field is wrong (ERR_INVALID, without any part of the secret), or that the text is too long
 * (ERR_LIMIT). */
int userdata_fill(char **out, const struct userdata *u, size_t max, struct err *e);

/* For a machine that gets its keys from the secret store, by a token, and does not claim. */
struct userdata_token {
	const char *lines;     /* "key=value\n", as node-init reads them: a secret */
	const char *node_init; /* its path in the image */
	const char *sha256;    /* of that file, in hex; "": not checked */
};

/* As userdata_fill(). */
int userdata_fill_token(char **out, const struct userdata_token *u, size_t max, struct err *e);

#endif
