/* node_claims.h - the table of open claims, by which the listener's thread checks secrets.
 *
 * The loop writes the table and the thread reads it: a request without a right secret is refused
 * without the loop.  An unknown claim, a wrong secret and a right one take the same time, so the
 * time gives nothing away.  The claim itself (state, instance, attestation) is the loop's. */
#ifndef BURSTD_NODE_CLAIMS_H
#define BURSTD_NODE_CLAIMS_H

#include <stdint.h>

#include "io/node_server.h"

struct node_claims;

enum {
	NODE_CLAIM_HASH = 32,   /* SHA-256 of the secret's text */
	NODE_CLAIM_ID_MAX = 96, /* bytes of a claim's id */
	NODE_SECRET_MAX = 128,  /* bytes of a secret's text */
	NODE_CLAIM_GUESSES = 5, /* so many wrong secrets for one claim are no accident */
};

struct node_claims *node_claims_new(void);
void node_claims_free(struct node_claims *t); /* after the server was stopped; NULL is fine */
/* Add a claim, or replace the one with this id, and forget its wrong secrets.  -1: the id is too
 * long. */
int node_claims_put(struct node_claims *t, const char *id, const uint8_t hash[NODE_CLAIM_HASH]);
void node_claims_del(struct node_claims *t, const char *id); /* absent is fine */

/* The next claim with NODE_CLAIM_GUESSES wrong secrets, and the address of the last guess: each
 * claim is named once.  false: none.  It is for an event only: wrong secrets change nothing for the
 * machine with the right one. */
bool node_claims_guessed(struct node_claims *t, char id[NODE_CLAIM_ID_MAX + 1],
			 char from[NODE_ADDR_SIZE]);

/* A node_check_fn; ctx is the table.  It passes to the loop: POST /v1/claim with the right secret,
 * whatever was tried before; GET /v1/claim/ID/nonce and POST /v1/alarm for an existing claim; and
 * /v1/node/... with a certificate.  It answers anything else by 400, 401 or 404. */
bool node_claims_check(void *ctx, struct node_request *rq, struct http_answer *an);

#endif
