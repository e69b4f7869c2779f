/* node_claims.h - the claims that may be made now, as the listener's thread knows them.
 *
 * The loop writes, the thread reads: a request that knows no secret is refused without the loop.
 * What takes place for an unknown claim, a wrong secret and a good one is the same work, so time
 * says nothing about which it was.  The claim itself (state, instance, attestation) is for the
 * loop. */
#ifndef BURSTD_NODE_CLAIMS_H
#define BURSTD_NODE_CLAIMS_H

#include <stdint.h>

#include "io/node_server.h"

struct node_claims;

enum {
	NODE_CLAIM_HASH = 32,   /* SHA-256 of the secret's text */
	NODE_CLAIM_ID_MAX = 96, /* bytes of a claim's id ... */
	NODE_SECRET_MAX = 128,  /* ... and of a secret, as they are written */
	NODE_CLAIM_WRONG_MAX = 5,
};

struct node_claims *node_claims_new(void);
void node_claims_free(struct node_claims *t); /* after the server was stopped; NULL is fine */
/* Replaces one of the same id, and forgets its wrong secrets.  -1: the id is too long. */
int node_claims_put(struct node_claims *t, const char *id, const uint8_t hash[NODE_CLAIM_HASH]);
void node_claims_del(struct node_claims *t, const char *id); /* absent is fine */

/* The next claim of which one wrong secret too many was shown, and from where the last one came:
 * each is named once.  false: none.  The request that tells of it may be lost on its way to the
 * loop, whose queue is full when many guess. */
bool node_claims_spoilt(struct node_claims *t, char id[NODE_CLAIM_ID_MAX + 1],
			char from[NODE_ADDR_SIZE]);

/* A node_check_fn; ctx is the table.  To the loop go: POST /v1/claim with the right secret, or with
 * the wrong one that is one too many (rq->spoilt: a breach; what comes after it for this claim is
 * refused here), GET /v1/claim/ID/nonce and POST /v1/alarm for a claim there is, and /v1/node/...
 * of who has a certificate.  All else is answered 400, 401 or 404. */
bool node_claims_check(void *ctx, struct node_request *rq, struct http_answer *an);

#endif
