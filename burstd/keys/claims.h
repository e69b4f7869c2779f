/* claims.h - how a machine becomes a node that has the cluster's keys: what the files about that
 * share; nobody else includes it.
 *
 *   claims.c       the table: one claim for each incarnation, issued with its create, over with it
 *   claim_ask.c    who asks, and what they get: /v1/claim, /v1/claim/ID/nonce, /v1/alarm
 *   claim_proof.c  which machine is it?  its document, its address, a port of its root's
 *   claim_lack.c   what documents are checked with, fetched
 *   door.c         requests of nodes: who deals with them; answers, sent when what they say is
 *                  durable
 *   door_node.c    what a node says that has a certificate: /v1/node/...
 *   door_confirm.c ... that it has the cluster's keys
 *   door_boot.c    ... what became of its boot
 *   hosts.c        names and addresses of the cluster's nodes, for their /etc/hosts
 *
 * All instances of one create have the same user-data, and so one claim id and one secret: the id
 * is the create's token with digits behind it that nobody can guess, the secret an HMAC of the id
 * with a key in the state directory, so that a repeated create has the same bytes (I4) and no
 * secret is in the journal.  Which of them it is
 * that asks is what its proof says; only then is there a claim that is its own (core/claim.h). */
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

struct claim_ask; /* claim_ask.c: who waits for the bytes of one */

struct claim_run {
	struct claim c;               /* as of the next commit */
	struct claim_run *next_of_id; /* of the same create */
	struct claim_ask *ask;        /* NULL: nobody waits for its answer */
	/* What the node said of itself in this life of burstd: door_node.c, door_boot.c. */
	int64_t ready_ms, heartbeat_ms; /* 0: not yet */
	int64_t boot_ms;                /* that node-init took */
	int64_t cert_until_ms;          /* of the newest certificate; 0: not known */
	uint64_t key_version;           /* by its last heartbeat, or confirm; 0: not said */
	uint64_t events;                /* FNV-1a of the id of the newest event taken */
	bool faulty, old_keys, failed;
	/* Of its certificate's owner, who may be hostile: no more than so many are written down. */
	uint32_t misuses, said, refused, alarms;
	int64_t said_ms;            /* since then "said" counts */
	int64_t confirm_ms;         /* when its credential was given to munged; 0: none is there */
	struct bucket asks, copies; /* all it asks; what is long, or costs a signature */
	int64_t keys_old_ms;        /* since when it has these, and should have others; 0: it has */
	int64_t keys_ms;            /* when it was given them last, but for the first time */
	bool keys_drained;          /* it was given up for old ones */
};

/* --- claims.c --- */
/* It is given these: what it was given before is nobody's. */
void claims_given(struct engine *e, struct claim_run *r, const struct secrets_released *rel);
bool claims_on(const struct engine *e); /* is there a listener for nodes at all? */
/* The claim of this incarnation, or NULL. */
struct claim_run *claims_of(const struct engine *e, const char *node, uint64_t gen);
/* Make one for a node whose certificate holds and whose claim the journal has lost, or has as it
 * was before that: it had one, or it would have no certificate. */
struct claim_run *claims_adopt(struct engine *e, const struct fleet_node *fn,
			       const unsigned char spki[CLAIM_SPKI_SIZE]);
/* claim_step(); what it changes is durable with the next commit, what follows is done after it. */
struct claim_result claims_step(struct engine *e, struct claim_run *r,
				const struct claim_event *ev);
/* It did not become a node (step: of node-init, or "claim"): it goes, its pool is told, and burstd
 * tries elsewhere.  If it is up already, its jobs are requeued first.  An alarm: it is on record
 * too, and its certificates are nobody's from now on. */
void claims_fail(struct engine *e, struct claim_run *r, const char *step, const char *why,
		 bool alarm);

/* --- door.c --- */
/* Answer this request when what is staged now is durable, or at once if nothing is; takes
 * an->body. */
void door_answer(struct engine *e, uint64_t ticket, const struct http_answer *an);
/* node-init's bytes have this SHA-256, in hex; false: burstd has none to give. */
bool door_stage1(const struct engine *e, const char **sha256);
/* node-init and its hash; NULL and "" for no path.  -1: *err, and nothing has changed.  *text is
 * the caller's. */
int door_read_stage1(const char *path, char **text, size_t *len, char sha256[65], struct err *err);

/* The secret store's word for a version (secrets_version()) as the number that claims, nodes and
 * struct claim have: digits as they are, else 59 bits of its hash
 * (18 digits: as a text again it is the same).  0: not known. */
int64_t door_key_version(const char *text);

/* --- door_node.c --- */
/* Of rq->peer, whose certificate holds and which is the present incarnation of its name.  As a
 * node_handler_fn; an->later, then door_answer(). */
void door_node(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an);

/* --- door_keys.c --- */
/* GET /v1/node/keys: the keys again, for one that has confirmed them. */
void door_keys(struct engine *e, struct claim_run *r, const struct node_request *rq,
	       struct http_answer *an);
void door_keys_free(struct engine *e);

/* --- rotate_nodes.c --- */
/* Does a node with this version of the keys fit in with the others now?  claimed: that it was
 * given, which is the right one as long as the store has not said another. */
bool rotate_takes(const struct engine *e, int64_t version, int64_t claimed);
/* For the answer to a heartbeat: ,"keys":{...}, if it is to fetch keys, or to switch. */
void rotate_tell(const struct engine *e, const struct claim_run *r, struct str *out);
/* Is a node that finds another key of munge's in the bundle than it has to switch at once? */
bool rotate_says_switch(const struct engine *e);

/* --- hosts.c --- */
/* Lines "address name", all nodes of ours that have an address, sorted by name; the caller's.
 * *version, not NULL, is another one whenever the text is. */
char *hosts_text(const struct engine *e, uint64_t *version);

/* --- claim_ask.c --- */
void claim_ask(struct engine *e, const struct node_request *rq, struct http_answer *an);
void claim_nonce(struct engine *e, const struct node_request *rq, struct http_answer *an);
void claim_alarm(struct engine *e, const struct node_request *rq, struct http_answer *an);
/* The keys alone, as text, for one that has claimed long ago. */
void claim_keys(struct engine *e, const struct secrets_released *rel, bool now,
		struct http_answer *an);

#endif
