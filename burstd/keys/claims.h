/* claims.h - how a machine becomes a node that has the cluster's keys.  Only keys/ includes it.
 *
 *   claims.c       issues a claim for each generation with its create, and ends both together
 *   claim_ask.c    answers claiming machines: /v1/claim, /v1/claim/ID/nonce, /v1/alarm
 *   claim_proof.c  finds out which machine asks: by its document, its address, a port of its root's
 *   claim_lack.c   fetches the keys that documents are checked with
 *   door.c         answers nodes once the answer's meaning is durable
 *   door_node.c    handles the requests of a node with a certificate: /v1/node/...
 *   door_confirm.c ... that confirms its keys
 *   door_boot.c    ... that reports the end of its boot
 *   hosts.c        lists names and addresses of the cluster's nodes, for their /etc/hosts
 *
 * All instances of one create have the same user-data, and so one claim id and one secret.  The id
 * is the create's token followed by digits that nobody can guess; the secret is an HMAC of the id
 * with a key in the state directory.  So a repeated create has the same bytes (I4), and the journal
 * holds no secret.  The proof says which of the instances asks; only then is a claim bound to one
 * machine (core/claim.h). */
#ifndef BURSTD_CLAIMS_H
#define BURSTD_CLAIMS_H

#include "core/attest.h"
#include "core/bucket.h"
#include "core/claim.h"
#include "io/node_ca.h"
#include "io/node_claims.h"
#include "io/node_server.h"
#include "keys/keys.h"
#include "keys/secrets.h"

struct claim_ask; /* claim_ask.c: a request that waits for the answer to a claim */

struct claim_run {
	struct claim c;               /* as of the next commit */
	struct claim_run *next_of_id; /* the next claim of the same create */
	struct claim_ask *ask;        /* the request that waits; NULL: none does */
	/* What the node said since burstd started: door_node.c, door_boot.c. */
	int64_t ready_ms, heartbeat_ms; /* 0: not yet */
	int64_t boot_ms;                /* how long node-init took */
	int64_t cert_until_ms;          /* end of the newest certificate; 0: not known */
	uint64_t key_version;           /* by its last heartbeat or confirm; 0: not said */
	uint64_t events;                /* FNV-1a of the id of the newest event taken */
	bool faulty, old_keys, failed;
	/* How many of each were written down: the node may be hostile, so there is a limit. */
	uint32_t misuses, said, refused, alarms;
	int64_t said_ms;            /* start of the day that `said` counts */
	int64_t confirm_ms;         /* when munged got its credential; 0: munged has none */
	struct bucket asks, copies; /* for all requests; for long answers and signatures */
	int64_t keys_old_ms;        /* since when its keys are outdated; 0: they are not */
	int64_t keys_ms;            /* when it fetched keys again last; 0: never */
	bool keys_drained;          /* it was drained for its outdated keys */
};

/* --- claims.c --- */
/* The node was given these keys: revoke the token that it was given before. */
void claims_given(struct engine *e, struct claim_run *r, const struct secrets_released *rel);
bool claims_on(const struct engine *e); /* is there a listener for nodes at all? */
/* The claim of this generation, or NULL. */
struct claim_run *claims_of(const struct engine *e, const char *node, uint64_t gen);
/* Make a claim for a node with a valid certificate that the journal has no claim for, or one of
 * before the certificate: the journal was lost, or is an older copy. */
struct claim_run *claims_adopt(struct engine *e, const struct fleet_node *fn,
			       const unsigned char spki[CLAIM_SPKI_SIZE]);
/* claim_step(): stages the change, and what follows from it. */
struct claim_result claims_step(struct engine *e, struct claim_run *r,
				const struct claim_event *ev);
/* End a machine that did not become a node, in this step of node-init or in "claim": release its
 * row, which counts against its pool.  A node that is up has its jobs requeued first.  alarm: the
 * claim is breached as well, its certificates are void, and the alarm is on record. */
void claims_fail(struct engine *e, struct claim_run *r, const char *step, const char *why,
		 bool alarm);

/* --- door.c --- */
/* Answer this request once all that is staged now is durable; takes an->body. */
void door_answer(struct engine *e, uint64_t ticket, const struct http_answer *an);
/* *sha256: of the node-init that burstd serves, in hex; false: it serves none. */
bool door_stage1(const struct engine *e, const char **sha256);
/* Read node-init and its hash; no path: *text is NULL, sha256 "".  -1: *err, and nothing has
 * changed.  *text is the caller's. */
int door_read_stage1(const char *path, char **text, size_t *len, char sha256[65], struct err *err);

/* The secret store's version of the keys (secrets_version()) as the number in struct claim and in
 * the words of nodes: digits as they are, anything else as 59 bits of its hash, which have at most
 * 18 digits, so that the number as a text gives itself.  0: not known. */
int64_t door_key_version(const char *text);

/* --- door_node.c --- */
/* Handle a request of rq->peer, whose certificate is valid and whose generation is the present
 * one.  A node_handler_fn: sets an->later if door_answer() follows. */
void door_node(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an);

/* --- door_keys.c --- */
/* GET /v1/node/keys: give a node the keys again that has confirmed its first ones. */
void door_keys(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an);
void door_keys_free(struct engine *e);

/* --- rotate_nodes.c --- */
/* May a node with this version of the keys be in the cluster now?  claimed: the version that its
 * claim was given, which counts while the store has not named the current one. */
bool rotate_takes(const struct engine *e, int64_t version, int64_t claimed);
/* Add ,"keys":{...} to the answer to a heartbeat, if the node must fetch keys or switch. */
void rotate_tell(const struct engine *e, const struct claim_run *r, struct str *out);
/* Must a node that finds a new munge key in the bundle switch to it at once? */
bool rotate_says_switch(const struct engine *e);

/* --- hosts.c --- */
/* Lines "address name" of all our nodes with an address, sorted by name; the caller's.  *version,
 * if not NULL, changes whenever the text does. */
char *hosts_text(const struct engine *e, uint64_t *version);

/* --- claim_ask.c --- */
void claim_ask(struct engine *e, const struct node_request *rq, struct http_answer *an);
void claim_nonce(struct engine *e, const struct node_request *rq, struct http_answer *an);
void claim_alarm(struct engine *e, const struct node_request *rq, struct http_answer *an);
/* Write the keys alone, as text, for a node that claimed before. */
void claim_keys(struct engine *e, const struct secrets_released *rel, bool now,
		struct http_answer *an);

#endif
