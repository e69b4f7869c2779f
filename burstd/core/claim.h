/* claim.h - a claim: the one time that a machine may ask for the cluster's keys.  A pure state
 * machine.
 *
 * Each generation of a node has one claim.  The node shows the secret from its
 * user-data, a fresh key of its own (of which the claim keeps the hash), and a proof of which
 * machine it is.  claim_step() is the only function that moves a claim: no clock, no I/O, no secret
 * in it, whatever it is shown.  It compares and sets: the result of a proof that was begun before
 * the claim was revoked does nothing, and no claim is bound twice.  The engine makes the result
 * durable BEFORE it sends a byte.
 *
 *   ISSUED --right secret--> ATTESTING --released--> CLAIMED --confirmed--> CONFIRMED
 *     |                        |   |                   |                       |
 *     +-- too late -> EXPIRED <+---|--- not confirmed -+                       |
 *     |                            +-- proof refused --+--- a second key, -----+
 *     |                                                |    a proved alarm     |
 *     +--- a proved alarm -------------> BREACHED <----+-----------------------+
 *
 * From each state of the upper row a claim is REVOKED when its node is not wanted any more.  It is
 * CLOSED when the node is gone.  BREACHED is final.
 *
 * The keys are sent to one public key only.  Its owner may ask again for CLAIM_AGAIN_MS, in case
 * the answer was lost.  If anybody else comes with the right secret and another key, one of the two
 * has stolen the secret; nobody can say which, so the machine is ended either way.  A wrong secret
 * is no event of the claim: whoever guesses must not be able to end, or delay, a machine. */
#ifndef BURSTD_CLAIM_H
#define BURSTD_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/attest.h"
#include "core/secret_store.h"

enum claim_state {
	CLAIM_ISSUED,    /* its secret is in the user-data */
	CLAIM_ATTESTING, /* a machine showed the right secret, and its proof is being checked */
	CLAIM_CLAIMED,   /* the keys are on their way, or there */
	CLAIM_CONFIRMED, /* the node showed that it has its keys: it gets no more */
	CLAIM_CLOSED,    /* the node is gone */
	CLAIM_EXPIRED,   /* no proof came in time, or no confirmation after the keys */
	CLAIM_REVOKED,   /* the node was given up before that */
	CLAIM_BREACHED,  /* somebody else knows the secret: the machine must go */
	CLAIM_NSTATES
};

enum claim_event_type {
	CLAIM_EV_ASK,       /* a machine shows the right secret: spki, addr */
	CLAIM_EV_ATTESTED,  /* the proof is good: instance, weak */
	CLAIM_EV_REFUSED,   /* the proof is of another machine */
	CLAIM_EV_RELEASE,   /* the keys are at hand: serial, version */
	CLAIM_EV_CONFIRMED, /* by the owner of spki */
	CLAIM_EV_ALARM,     /* an alarm was raised; proved: by the node itself */
	CLAIM_EV_TIMER,     /* now >= claim_wake_ms() */
	CLAIM_EV_REVOKE,    /* the node is not wanted any more */
	CLAIM_EV_GONE,      /* the node is gone */
	CLAIM_EV_NTYPES
};

/* The answer to a request, once the claim is durable. */
enum claim_answer {
	CLAIM_SILENCE,  /* no request waits, or the event came too late */
	CLAIM_OK,       /* 200 */
	CLAIM_BYTES,    /* 200, and the keys */
	CLAIM_WAIT,     /* 202: the proof is being checked */
	CLAIM_DENIED,   /* 403: another machine */
	CLAIM_CONFLICT, /* 409: claimed already */
	CLAIM_OVER,     /* 410: too late */
	CLAIM_NANSWERS
};

/* What the claim wants done.  It follows from the state alone, so a restart wants the same. */
enum claim_want {
	CLAIM_WANT_NOTHING,
	CLAIM_WANT_PROOF, /* of which machine it is */
	CLAIM_WANT_BYTES, /* from the secret store, then CLAIM_EV_RELEASE */
	CLAIM_WANT_END,   /* the machine must go */
};

enum claim_reason { /* why a claim ended early */
		    CLAIM_BECAUSE_NONE,
		    CLAIM_BECAUSE_SECRETS, /* wrong secrets; only in journals of older releases */
		    CLAIM_BECAUSE_KEY,     /* a second key with the right secret */
		    CLAIM_BECAUSE_PROOF,   /* the right secret, from another machine */
		    CLAIM_BECAUSE_ALARM,   /* the node says so */
		    CLAIM_BECAUSE_TIME,
		    CLAIM_BECAUSE_RELEASED, /* it is not wanted any more */
		    CLAIM_BECAUSE_MUTE,     /* it got the keys, and never confirmed them */
		    CLAIM_NREASONS
};

enum {
	CLAIM_ID_MAX = 95,         /* a create's token, and some digits */
	CLAIM_SPKI_SIZE = 32,      /* SHA-256 of the SubjectPublicKeyInfo */
	CLAIM_SERIAL_MAX = 40,     /* hex digits of a certificate's serial number */
	CLAIM_AGAIN_MS = 120000,   /* so long a machine may ask again for a lost answer */
	CLAIM_CONFIRM_MS = 900000, /* so long a machine has to confirm its keys */
	CLAIM_ALARMS_MAX = 1000,   /* alarms that are counted and written down */
	/* Where the cloud signs nothing, a machine claims from one of these ports, which only its
	 * root can use.  It has several, since a closed connection keeps its port busy for a
	 * minute, and there may be a request each second. */
	CLAIM_PORT_MIN = 800,
	CLAIM_PORT_MAX = 863,
};

struct claim {
	char id[CLAIM_ID_MAX + 1]; /* of the create: see keys/claims.h */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	enum claim_state state;
	enum claim_reason reason;
	uint32_t alarms; /* unproved ones */
	bool attested;   /* ATTESTING: the proof is good, the keys are not there yet */
	bool weak;       /* only the address was proved */
	bool shared;     /* other machines of the create were given the same secret */
	bool bound;      /* spki is known */
	unsigned char spki[CLAIM_SPKI_SIZE]; /* of the first machine that showed the right secret */
	char addr[PROVIDER_ADDR_MAX + 1];    /* its address */
	char instance[PROVIDER_ID_MAX + 1];  /* by the proof */
	char serial[CLAIM_SERIAL_MAX + 1];   /* of the certificate that was sent with the keys */
	/* Of the last wrapping token that was sent, while it may have to be revoked; "": none. */
	char accessor[SECRET_ACCESSOR_MAX + 1];
	int64_t version;               /* of the keys that were sent */
	int64_t issued_ms, expires_ms; /* expires_ms: when it is too late to claim */
	int64_t since_ms;              /* when the present state began */
	/* When the keys were first sent; as that may have failed, moved on to when burstd started,
	 * or last had no keys for the owner.  0: they were not sent. */
	int64_t released_ms;
};

struct claim_event { /* borrowed */
	enum claim_event_type type;
	int64_t now_ms;
	const unsigned char *spki; /* ASK, CONFIRMED: CLAIM_SPKI_SIZE bytes */
	const char *addr;          /* ASK */
	const char *instance;      /* ATTESTED */
	bool weak;                 /* ATTESTED */
	bool proved;               /* ALARM: by the claim's secret or the node's certificate */
	const char *serial;        /* RELEASE */
	int64_t version;           /* RELEASE */
};

struct claim_result {
	bool changed; /* make it durable before anything else */
	bool alarm;   /* tell people: a breach, or an alarm that was raised */
	enum claim_answer answer;
};

void claim_init(struct claim *c, const char *id, const char *node, uint64_t gen);
/* Make it valid from now until expires_ms. */
void claim_issue(struct claim *c, int64_t now_ms, int64_t expires_ms);

/* Restore a claim that the journal lost: the certificate of this key shows that it was CONFIRMED.
 */
void claim_adopt(struct claim *c, int64_t now_ms, const unsigned char spki[CLAIM_SPKI_SIZE]);

struct claim_result claim_step(struct claim *c, const struct claim_event *ev);

/* Depends on its arguments only; asking twice is safe. */
enum claim_want claim_want(const struct claim *c);
/* The next CLAIM_EV_TIMER; INT64_MAX: none. */
int64_t claim_wake_ms(const struct claim *c);

const char *claim_state_str(enum claim_state s);
int claim_state_parse(const char *word); /* -1: none of these */
const char *claim_event_str(enum claim_event_type t);
const char *claim_reason_str(enum claim_reason r);
int claim_reason_parse(const char *word);
const char *claim_reason_text(enum claim_reason r); /* a phrase for people */

#endif
