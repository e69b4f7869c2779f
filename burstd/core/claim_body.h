/* claim_body.h - parses the body of a claim (POST /v1/claim), JSON, into fixed buffers.
 *
 * 	{"v": 1, "claim_id": "...", "claim_secret": "...", "node": "c1", "provider": "aws",
 * 	 "instance_id": "i-1", "boot_id": "...", "csr": "<base64 of PEM>",
 * 	 "attest": {"type": "aws-rsa2048", "doc": "<base64>", "nonce": "..."},
 * 	 "facts": {"kernel": "...", "gpus": 8, "driver": "...", "mem_mb": 1, "cpus": 1}}
 *
 * The body comes from anybody, before anything is proved: no allocation, no recursion, a limit for
 * each field, and a field that comes twice is refused.  Unknown members are skipped, for a node's
 * image may be newer than burstd. */
#ifndef BURSTD_CLAIM_BODY_H
#define BURSTD_CLAIM_BODY_H

#include "core/attest.h"
#include "core/claim.h"

enum {
	CLAIM_BODY_MAX = 65536,      /* bytes of JSON */
	CLAIM_BODY_VERSION = 1,      /* v */
	CLAIM_BODY_SECRET_MAX = 127, /* 256 bits in hex are 64 */
	CLAIM_BODY_CSR_MAX = 4095,   /* PEM: of a P-256 key it has some 500 bytes */
	CLAIM_BODY_UUID_MAX = 63,    /* boot_id */
	CLAIM_BODY_NONCE_MAX = 63,
	CLAIM_BODY_FACT_MAX = 127,
	CLAIM_BODY_MEMBERS_MAX = 64, /* of one object */
};

struct claim_body { /* "" and 0: not given */
	char id[CLAIM_ID_MAX + 1];
	char secret[CLAIM_BODY_SECRET_MAX + 1]; /* wipe it: claim_body_wipe() */
	char node[HOSTLIST_NAME_MAX + 1];       /* a node name, or "" */
	char provider[PROVIDER_WORD_MAX + 1];
	char instance[PROVIDER_ID_MAX + 1];
	char boot[CLAIM_BODY_UUID_MAX + 1];
	char csr[CLAIM_BODY_CSR_MAX + 1]; /* PEM */
	enum attest_kind attest;
	unsigned char doc[ATTEST_DOC_MAX + 1]; /* and a NUL byte */
	size_t doc_len;
	char nonce[CLAIM_BODY_NONCE_MAX + 1];
	struct {
		char kernel[CLAIM_BODY_FACT_MAX + 1], driver[CLAIM_BODY_FACT_MAX + 1];
		int64_t gpus, mem_mb, cpus;
	} facts; /* not proved: believe none of it */
};

/* Parse all of text.  -1: *e (ERR_INVALID) without any part of the secret, and *b is wiped.  After
 * 0 claim_id, claim_secret and csr are there, and texts are printable ASCII, except for csr and
 * doc, which the caller checks. */
int claim_body_parse(struct claim_body *b, const char *text, size_t len, struct err *e);
void claim_body_wipe(struct claim_body *b);

#endif
