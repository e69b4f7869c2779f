/* door.h - the requests of nodes with a certificate: the structs and functions that door*.c and
 * hosts.c share.  Only these include it; claims.h says what each file does. */
#ifndef BURSTD_DOOR_H
#define BURSTD_DOOR_H

#include "core/learned.h"
#include "io/munge_check.h"
#include "keys/claims.h"

enum {
	DOOR_BODY_MAX = 16384,      /* bytes of a node's request: burst-agent(8), PROTOCOL */
	DOOR_HEARTBEAT_S = 30,      /* between two heartbeats of one node ... */
	DOOR_SOON_S = 5,            /* ... or this, in a small cluster with new nodes, ... */
	DOOR_SOON_MS = 120000,      /* ... for so long, to spread their addresses, ... */
	DOOR_SOON_BYTES = 16384,    /* ... with so many bytes of these: some 500 nodes */
	DOOR_STAGE1_MAX = 262144,   /* bytes of node-init */
	DOOR_HOSTS_MAX = 1 << 20,   /* bytes of all names and addresses: 100 a node, of 10,000;
				       burst-agent takes no more either */
	DOOR_HOSTS_LONG = 64 << 10, /* a list of so many bytes takes a while to make */
	DOOR_HOSTS_MS = 5000,       /* so old the list in an answer to a heartbeat may be */
	DOOR_MISUSES_MAX = 10,      /* misuses by one generation that are written down */
	DOOR_SAID_MAX = 200,        /* likewise events a day; then it is told to be quiet */
	DOOR_SAID_MS = 86400000,
	DOOR_ASKS_S = 20,        /* requests of one generation a second; node-init and the agent
				    send about three */
	DOOR_COPIES_S = 3,       /* of these with a long answer, or a signature */
	DOOR_CONFIRM_MS = 25000, /* one credential of a node at a time; libmunge waits no longer */
	DOOR_AGAIN_S = 5,        /* Retry-After of a request that cannot be served now */
};

struct door_late { /* an answer that waits for a commit */
	struct door_late *next;
	uint64_t ticket;
	struct http_answer an;
};

struct door_hosts {
	char *text; /* NULL: not made yet */
	size_t len;
	uint64_t version, commits; /* commits: count of the journal's when the text was made */
	int64_t made_ms;
	int64_t changed_ms; /* since when it has this version */
};

struct door_keys_ask;

struct door {
	struct engine *e;
	struct door_late *first, **last; /* answers that wait for the commit of this turn */
	struct munge_check *munge;       /* NULL: the cluster does not use munge */
	char *munge_socket;
	char *stage1; /* node-init; NULL: none */
	size_t stage1_len;
	char stage1_sha256[65];
	struct door_hosts hosts;
	struct door_keys_ask *keys; /* nodes that wait for keys, again */
	struct bucket asks;         /* for requests with the certificate of a node that is gone */
	struct engine_door_counters count;
	struct learned learned; /* what machines told of their hardware */
};

/* --- door.c --- */
/* Answer with this status and a line of text; from 400 on the line is "error=TEXT". */
void door_say(struct http_answer *an, unsigned status, const char *text);
/* Answer 200 with text, which is taken. */
void door_give(struct http_answer *an, const char *type, char *text, size_t len);
void door_drop(const struct http_answer *an); /* free the body of an answer that is not sent */
void door_count(struct door *d, unsigned status);
uint64_t door_hash(const char *text); /* FNV-1a, never 0 */

/* --- door_request.c --- */
/* Record what no honest node does: an event and an audit record, up to DOOR_MISUSES_MAX. */
void door_misuse(struct engine *e, struct claim_run *r, const char *what);

struct node_said;
/* --- door_confirm.c --- */
/* POST /v1/node/confirm: check that the node has its keys.  Sets an->later; door_answer() follows.
 */
void door_confirm(struct engine *e, struct claim_run *r, const struct node_request *rq,
		  const struct node_said *s, struct http_answer *an);

/* --- door_boot.c --- */
/* POST /v1/node/ready and /v1/node/failed. */
void door_boot_ready(struct engine *e, struct claim_run *r, const struct node_said *s,
		     struct http_answer *an);
void door_boot_failed(struct engine *e, struct claim_run *r, const struct node_said *s,
		      struct http_answer *an);

/* --- hosts.c --- */
uint64_t hosts_version(struct engine *e); /* of a list no older than DOOR_HOSTS_MS */

#endif
