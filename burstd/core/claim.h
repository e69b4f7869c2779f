/* claim.h - the one time that a node may ask for the cluster's keys, as a pure state machine.
 *
 * Each incarnation of a node (name, generation) has one claim.  The node shows the secret from its
 * user-data, a fresh key of its own (of which the claim keeps the hash), and a proof of which
 * machine it is.  claim_step() is the only function that moves a claim: no clock, no I/O, no secret
 * in it, whatever it is shown.  It compares and sets: what comes of a proof that was begun before
 * the claim was revoked finds a claim that has moved on and does nothing; no claim is bound twice.
 * The engine makes the result durable BEFORE a byte leaves.
 *
 *   ISSUED --right secret--> ATTESTING --released--> CLAIMED --confirmed--> CONFIRMED
 *     |                        |   |                   |                       |
 *     +-- too late -> EXPIRED <+---|--- not confirmed -+                       |
 *     |                            +-- proof refused --+--- a second key, -----+
 *     |                                                |    a proved alarm     |
 *     +--- a proved alarm -------------> BREACHED <----+-----------------------+
 *
 *   REVOKED from all of the upper row (the node is not wanted any more), CLOSED when it is gone;
 *   of a breach nothing leads away.
 *
 * The bytes leave for one key only.  Its owner may ask again for CLAIM_AGAIN_MS, for an answer that
 * was lost; whoever comes with the right secret and another key has stolen it, or the first one
 * had: which of them it was nobody can say, so the machine goes either way.  Whoever has a wrong
 * secret is no event of the claim's: he must not be able to end, or delay, a machine. */
#ifndef BURSTD_CLAIM_H
#define BURSTD_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/attest.h"
#include "core/secret_store.h"

enum claim_state {
	CLAIM_ISSUED,    /* its secret is in the user-data */
	CLAIM_ATTESTING, /* somebody had the right secret; which machine it is is being proved */
	CLAIM_CLAIMED,   /* the bytes are on their way, or there */
	CLAIM_CONFIRMED, /* the node showed that it has them: nothing is given out any more */
	CLAIM_CLOSED,    /* the node is gone */
	CLAIM_EXPIRED,   /* nobody proved anything in time, or whoever did was not heard of again */
	CLAIM_REVOKED,   /* the node was given up before it came to that */
	CLAIM_BREACHED,  /* somebody else knows the secret: the machine must go */
	CLAIM_NSTATES
};

enum claim_event_type {
	CLAIM_EV_ASK,       /* somebody has the right secret: spki, addr */
	CLAIM_EV_ATTESTED,  /* the proof is good: instance, weak */
	CLAIM_EV_REFUSED,   /* it proves something else */
	CLAIM_EV_RELEASE,   /* the bytes are at hand and may leave: serial, version */
	CLAIM_EV_CONFIRMED, /* by the owner of spki */
	CLAIM_EV_ALARM,     /* somebody says that something is wrong; proved: it was the node */
	CLAIM_EV_TIMER,     /* now >= claim_wake_ms() */
	CLAIM_EV_REVOKE,    /* the node is not wanted any more */
	CLAIM_EV_GONE,      /* the node is gone */
	CLAIM_EV_NTYPES
};

/* What whoever asked is told, once the claim is durable. */
enum claim_answer {
	CLAIM_SILENCE,  /* nothing waits for an answer, or what happened comes too late */
	CLAIM_OK,       /* 200 */
	CLAIM_BYTES,    /* 200, and the bytes */
	CLAIM_WAIT,     /* 202: it is being proved */
	CLAIM_DENIED,   /* 403: it is another machine */
	CLAIM_CONFLICT, /* 409: it was claimed already */
	CLAIM_OVER,     /* 410: it is too late */
	CLAIM_NANSWERS
};

/* What the claim wants done; asked of the state alone, so that a restart asks again. */
enum claim_want {
	CLAIM_WANT_NOTHING,
	CLAIM_WANT_PROOF, /* of which machine it is */
	CLAIM_WANT_BYTES, /* from the secret store, then CLAIM_EV_RELEASE */
	CLAIM_WANT_END,   /* the machine must go */
};

enum claim_reason { /* why it ended before its time */
		    CLAIM_BECAUSE_NONE,
		    CLAIM_BECAUSE_SECRETS, /* wrong secrets: only in journals of older releases */
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
	CLAIM_AGAIN_MS = 120000,   /* a lost answer is asked for again that long */
	CLAIM_CONFIRM_MS = 900000, /* who has the keys has said so by then */
	CLAIM_ALARMS_MAX = 1000,   /* counted up to here, and written down so often at most */
	/* Where nobody signs for a machine it claims from one of these ports of its address, which
	 * root alone can have.  Not from a single one: what a request leaves behind keeps its port
	 * busy for a minute, and there may be one a second meanwhile. */
	CLAIM_PORT_MIN = 800,
	CLAIM_PORT_MAX = 863,
};

struct claim {
	char id[CLAIM_ID_MAX + 1]; /* of its create: see keys/claims.h */
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	enum claim_state state;
	enum claim_reason reason;
	uint32_t alarms; /* unproved ones */
	bool attested;   /* ATTESTING: the proof is there, the bytes are not */
	bool weak;       /* nothing but an address was proved */
	bool shared;     /* other machines were given its secret, too, whoever of them is left */
	bool bound;      /* spki is known */
	unsigned char spki[CLAIM_SPKI_SIZE]; /* of the first who had the right secret */
	char addr[PROVIDER_ADDR_MAX + 1];    /* ... and from where */
	char instance[PROVIDER_ID_MAX + 1];  /* that was proved */
	char serial[CLAIM_SERIAL_MAX + 1];   /* of the certificate that left with the bytes */
	/* Of the wrapping token that it got last, as long as it may have to be revoked; "": none */
	char accessor[SECRET_ACCESSOR_MAX + 1];
	int64_t version;               /* of the keys that left */
	int64_t issued_ms, expires_ms; /* it must be claimed before that */
	int64_t since_ms;              /* when the present state began */
	/* When the bytes first left, or, as they were lost perhaps, burstd was started or had none
	 * for their owner; 0: they did not leave */
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
	bool changed; /* it must be durable before anything else is done */
	bool alarm;   /* somebody has to be told: a breach, or an alarm that was raised */
	enum claim_answer answer;
};

void claim_init(struct claim *c, const char *id, const char *node, uint64_t gen);
/* It is good from now until expires_ms; the rest is by claim_init(). */
void claim_issue(struct claim *c, int64_t now_ms, int64_t expires_ms);

/* It was confirmed by the owner of this key, as its certificate shows, and that was forgotten. */
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
