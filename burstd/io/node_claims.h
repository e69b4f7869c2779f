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
	NODE_CLAIM_GUESSES = 5, /* so many wrong secrets of one claim are no mistake */
};

struct node_claims *node_claims_new(void);
void node_claims_free(struct node_claims *t); /* after the server was stopped; NULL is fine */
/* Replaces one of the same id, and forgets its wrong secrets.  -1: the id is too long. */
int node_claims_put(struct node_claims *t, const char *id, const uint8_t hash[NODE_CLAIM_HASH]);
void node_claims_del(struct node_claims *t, const char *id); /* absent is fine */

/* The next claim whose secret was guessed at NODE_CLAIM_GUESSES times, and from where the last
 * guess came: each is named once.  false: none.  It is for people to know: a wrong secret changes
 * nothing for who has the right one. */
bool node_claims_guessed(struct node_claims *t, char id[NODE_CLAIM_ID_MAX + 1],
			 char from[NODE_ADDR_SIZE]);

/* A node_check_fn; ctx is the table.  To the loop go: POST /v1/claim with the right secret,
 * whatever was tried before, GET /v1/claim/ID/nonce and POST /v1/alarm for a claim there is, and
 * /v1/node/... of who has a certificate.  All else is answered 400, 401 or 404. */
bool node_claims_check(void *ctx, struct node_request *rq, struct http_answer *an);

#endif
