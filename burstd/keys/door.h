/* door.h - what the files about the door to nodes share; nobody else includes it.  claims.h says
 * which they are. */
#ifndef BURSTD_DOOR_H
#define BURSTD_DOOR_H

#include "io/munge_check.h"
#include "keys/claims.h"

enum {
	DOOR_BODY_MAX = 16384,      /* bytes of a node's request: burst-agent(8), PROTOCOL */
	DOOR_HEARTBEAT_S = 30,      /* between two of one node ... */
	DOOR_SOON_S = 5,            /* ... in a small cluster whose nodes came just now: */
	DOOR_SOON_MS = 120000,      /* they are to know each other's addresses before long */
	DOOR_SOON_BYTES = 16384,    /* of names and addresses: some 500 nodes */
	DOOR_STAGE1_MAX = 262144,   /* bytes of node-init */
	DOOR_HOSTS_MAX = 1 << 20,   /* bytes of all names and addresses: 100 a node, of 10,000;
				       burst-agent takes no more either */
	DOOR_HOSTS_LONG = 64 << 10, /* from so many on it takes a while to make them */
	DOOR_HOSTS_MS = 5000,       /* whoever asks by the way gets a list no older than that */
	DOOR_MISUSES_MAX = 10,      /* of one incarnation that are written down */
	DOOR_SAID_MAX = 200,        /* likewise events in a day, then it is told to be quiet */
	DOOR_SAID_MS = 86400000,
	DOOR_ASKS_S = 20,        /* requests of one incarnation in a second; node-init and the
				    agent have some three */
	DOOR_COPIES_S = 3,       /* of them those that have a long answer, or a signature */
	DOOR_CONFIRM_MS = 25000, /* one credential of it at a time; libmunge waits no longer */
	DOOR_AGAIN_S = 5,        /* what cannot be now is asked for again after so long */
};

struct door_late { /* an answer, and whose it is */
	struct door_late *next;
	uint64_t ticket;
	struct http_answer an;
};

struct door_hosts {
	char *text; /* NULL: not made yet */
	size_t len;
	uint64_t version, commits; /* what the journal was when it was made, ... */
	int64_t made_ms;           /* ... and when */
	int64_t changed_ms;        /* since then it is this one */
};

struct door_keys_ask;

struct door {
	struct engine *e;
	struct door_late *first, **last; /* wait for what is staged now */
	struct munge_check *munge;       /* NULL: no munge here */
	char *munge_socket;              /* its */
	char *stage1;                    /* NULL: none */
	size_t stage1_len;
	char stage1_sha256[65];
	struct door_hosts hosts;
	struct door_keys_ask *keys; /* who waits for keys, again */
	struct bucket asks;         /* of certificates whose node is no more */
	struct engine_door_counters count;
};

/* --- door.c --- */
/* The answer is a line of text: status, and the error in one word or phrase. */
void door_say(struct http_answer *an, unsigned status, const char *text);
/* Takes text. */
void door_give(struct http_answer *an, const char *type, char *text, size_t len);
void door_drop(const struct http_answer *an); /* its body: nobody gets it */
void door_count(struct door *d, unsigned status);
uint64_t door_hash(const char *text); /* FNV-1a, never 0 */

/* --- door_request.c --- */
/* This node did what no honest one does: an event and a record, of the first few. */
void door_misuse(struct engine *e, struct claim_run *r, const char *what);

struct node_said;
/* --- door_confirm.c --- */
/* POST /v1/node/confirm: it has its keys.  an->later, then door_answer(). */
void door_confirm(struct engine *e, struct claim_run *r, const struct node_request *rq,
		  const struct node_said *s, struct http_answer *an);

/* --- door_boot.c --- */
/* POST /v1/node/ready and /v1/node/failed. */
void door_boot_ready(struct engine *e, struct claim_run *r, const struct node_said *s,
		     struct http_answer *an);
void door_boot_failed(struct engine *e, struct claim_run *r, const struct node_said *s,
		      struct http_answer *an);

/* --- hosts.c --- */
uint64_t hosts_version(struct engine *e); /* no older than DOOR_HOSTS_MS */

#endif
