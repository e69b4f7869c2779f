/* claim_body.h - what a node sends when it claims (POST /v1/claim), from JSON into fixed places.
 *
 *	{"v": 1, "claim_id": "...", "claim_secret": "...", "node": "c1", "provider": "aws",
 *	 "instance_id": "i-1", "boot_id": "...", "csr": "<base64 of PEM>",
 *	 "attest": {"type": "aws-rsa2048", "doc": "<base64>", "nonce": "..."},
 *	 "facts": {"kernel": "...", "gpus": 8, "driver": "...", "mem_mb": 1, "cpus": 1}}
 *
 * It comes from anybody, before anything is proved: no allocation, no recursion, each field has its
 * limit, and one that comes twice is refused.  Members that are not known are passed over, for a
 * node's image may be newer than burstd. */
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

struct claim_body { /* "" and 0: it says nothing of that */
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
	} facts; /* what it says of itself: believe none of it */
};

/* All of text is read, or -1 with *e (ERR_INVALID; no part of the secret is in it), and *b is
 * wiped.  claim_id, claim_secret and csr are there; texts are printable ASCII but for csr and doc,
 * whose bytes are for others to judge. */
int claim_body_parse(struct claim_body *b, const char *text, size_t len, struct err *e);
void claim_body_wipe(struct claim_body *b);

#endif
