/* claim_set.h - what the files claim*.c share; nobody else
 * includes it. */
#ifndef BURSTD_CLAIM_SET_H
#define BURSTD_CLAIM_SET_H

#include "core/claim_body.h"
#include "keys/claims.h"

enum {
	CLAIM_SECRET_SIZE = 65,       /* 256 bits in hex */
	CLAIM_MARK_SIZE = 9,          /* of an id's SHA-256, in hex */
	CLAIM_HOLD_MS = 15000,        /* whoever asks waits so long for an answer, then for less */
	CLAIM_AGAIN_S = 2,            /* ... and asks again after so long; it is being looked at */
	CLAIM_FETCH_MAX = 262144,     /* bytes of what a verifier lacks */
	CLAIM_FETCH_MS = 10000,       /* for that */
	CLAIM_FETCH_AGAIN_MS = 30000, /* after it could not be had; the same, after it was */
	CLAIM_LACKS_MAX = 4, /* keys nobody knows that one create's machines may name: two were
			      * odd for a cloud that replaces its own */
	CLAIM_NONCE_MS = 120000,
	CLAIM_NONCES_MAX = 65536, /* used ones that are remembered; more must wait */
	CLAIM_TOLD_MAX = 16,      /* refusals of one id that are written down ... */
	CLAIM_NOISE_MAX = 4,      /* ... and alarms of it by who has not even its secret */
	CLAIM_GRACE_MS = 120000,  /* after a restart whoever has yet to claim has so long: stage0 */
	CLAIM_LATE_MS = 10000,    /* one that must go and whose machine is not known yet */
};

struct claim_entry {
	struct claim_run r; /* first: that is what others have */
	struct engine *e;
	char key[HOSTLIST_NAME_MAX + FMT_U64_SIZE + 2];
	struct claim_set *set;
	char why[160]; /* it did not become a node; "" */
	bool ended;    /* it was seen to that its machine goes */
	/* The secret store was asked for it, by this handle: once, however often its machine is
	 * told to come again meanwhile. */
	bool asked;
	uint64_t handle;
	bool keyless; /* it was said that there are no keys for it */
};

struct claim_lack { /* what somebody with the right secret showed a document of */
	struct attest_lack l;
	uint64_t from; /* fetches of its prover that had begun then */
	bool answered; /* one that was begun since had an answer */
};

struct claim_set { /* of one create: its machines have the same user-data */
	char id[CLAIM_ID_MAX + 1];
	/* What all may read of the id: whoever knows it whole can be a nuisance. */
	char mark[CLAIM_MARK_SIZE];
	struct claim_run *first;
	size_t n, at; /* machines; in claims.all */
	uint32_t cloud;
	struct claim_lack *lacks; /* NULL: all that was shown could be judged */
	size_t nlacks;
	unsigned told;  /* refusals, and alarms with the secret, that were written down */
	unsigned noise; /* alarms without it */
	bool shared;    /* it was given to several, whoever of them is left */
	bool nowhere;   /* it was said that nobody knows where it was bought */
};

struct claim_ask { /* somebody waits for the bytes of one claim */
	struct claim_ask *next;
	struct engine *e;
	struct claim_entry *entry;
	uint64_t ticket;
	bool text;        /* key=value, else JSON */
	bool again;       /* of a claim that was answered: the answer was lost */
	int64_t until_ms; /* then it is told to come again */
	char *csr;
};

struct claim_prover { /* of one provider */
	struct engine *e;
	const struct attest_ops *ops; /* NULL: its cloud signs nothing */
	void *self;
	bool fetching;
	uint64_t handle, begun;  /* begun: so many fetches */
	struct attest_lack lack; /* what was asked for last */
	int64_t failed_ms;       /* it could not be had; 0: that did not fail */
	int64_t answered_ms;     /* ... when there was an answer; 0: there was none */
};

struct claim_nonce_used {
	char text[33];
	int64_t until_ms;
};

struct claims {
	struct map sets; /* by id */
	struct map runs; /* by "node/generation" */
	struct claim_set **all;
	size_t nall, cap;
	int64_t wake_ms;                     /* not later than the first that is due */
	struct claim_ask *asks, **asks_last; /* who came first is first */
	struct claim_prover *provers;        /* by provider */
	size_t nprovers;
	struct claim_nonce_used *nonces;
	size_t nnonces;
	unsigned char nonce_key[CLAIM_SPKI_SIZE];
	uint64_t nonce_count;
};

/* --- claim_table.c --- */
struct claim_set *claims_named(const struct engine *e, const char *id); /* NULL: there is none */
struct fleet_node *claims_node(const struct engine *e, const struct claim_run *r); /* its row */
/* The secret of this id, as text. */
void claims_secret(const struct engine *e, const char *id, char out[CLAIM_SECRET_SIZE]);
/* Hex of HMAC-SHA256(key, label NUL text). */
void claims_mac(const unsigned char *key, const char *label, const char *text,
		char out[CLAIM_SECRET_SIZE]);

/* --- claims.c --- */
/* Somebody had the right secret and was refused: on record, as often as is bearable. */
void claims_refused(struct engine *e, struct claim_set *set, const char *from, const char *why);
static inline struct claim_entry *claim_entry(struct claim_run *r)
{
	return (struct claim_entry *)(void *)r;
}

/* --- claim_ask.c --- */
/* Nothing comes of it: it is told so, or, with CLAIM_WAIT, to come again. */
void claim_ask_end(struct claim_ask *ask, enum claim_answer answer, unsigned retry_s);
void claim_asks_run(struct engine *e);
/* Nobody is to have the keys that the secret store was asked for. */
void claim_store_cancel(struct claim_entry *x);
int64_t claim_asks_next_ms(const struct engine *e);
void claim_asks_free(struct engine *e);

/* --- claim_proof.c --- */
/* A provider whose file is no good is off then.  -1: there is no verifier of that name. */
int claim_proof_open(struct engine *e, struct err *err);
void claim_proof_free(struct engine *e);
enum claim_proof {
	CLAIM_PROVED, /* *whose it is */
	CLAIM_UNKNOWN_YET,
	CLAIM_UNTIMELY,  /* why: *whose it is, but by the times in it that cannot be */
	CLAIM_DISPROVED, /* why says what is wrong; *whose it is, if that is known */
};
enum claim_proof claim_prove(struct engine *e, struct claim_set *set, const struct claim_body *b,
			     const struct node_request *rq, struct claim_run **whose,
			     char why[160]);
/* Is that where its machine is (and its root, where nobody signs for it), or is it not asked where
 * it is?  So too while that is not known.  false: why. */
bool claim_is_from_machine(const struct engine *e, struct claim_run *r,
			   const struct node_request *rq, char why[160]);
/* A nonce that is good for this id, once. */
void claim_nonce_make(struct engine *e, const char *id, char out[33]);
bool claim_nonce_use(struct engine *e, const char *id, const char *nonce);

/* --- claim_lack.c --- */
/* The document is signed with what is not known here, which is fetched: CLAIM_UNKNOWN_YET.
 * CLAIM_DISPROVED: a fetch that was begun since it was first shown did not have it, or there is
 * nothing to fetch. */
enum claim_proof claim_lacks(struct engine *e, struct claim_set *set, const struct claim_body *b);

/* --- claim_text.c --- */
/* What the machine is to be, its certificate (NULL: there is none, status 500) and its keys. */
void claim_text(struct engine *e, struct claim_run *r, const char *cert,
		const struct secrets_released *rel, bool plain, struct http_answer *an);

#endif
