/* claim_set.h - the structs that claim*.c share; only these include it. */
#ifndef BURSTD_CLAIM_SET_H
#define BURSTD_CLAIM_SET_H

#include "core/claim_body.h"
#include "keys/claims.h"

enum {
	CLAIM_SECRET_SIZE = 65,       /* 256 bits in hex */
	CLAIM_MARK_SIZE = 9,          /* of an id's SHA-256, in hex */
	CLAIM_HOLD_MS = 15000,        /* how long a request is held for its answer ... */
	CLAIM_AGAIN_S = 2,            /* ... and when the machine is told to ask again */
	CLAIM_FETCH_MAX = 262144,     /* bytes of a fetched set of keys */
	CLAIM_FETCH_MS = 10000,       /* timeout of a fetch */
	CLAIM_FETCH_AGAIN_MS = 30000, /* between two fetches, whether the first failed or not */
	CLAIM_LACKS_MAX = 4,          /* unknown signing keys that machines of one create may name:
				       * a cloud that replaces its own has one or two */
	CLAIM_NONCE_MS = 120000,      /* life of a nonce */
	CLAIM_NONCES_MAX = 65536,     /* used nonces that are remembered; more must wait */
	CLAIM_TOLD_MAX = 16,          /* refusals of one id that are written down ... */
	CLAIM_NOISE_MAX = 4,          /* ... and its alarms from callers without the secret */
	CLAIM_GRACE_MS = 120000,      /* time to claim that is left at least after a restart */
	CLAIM_LATE_MS = 10000,        /* between two tries to end a machine not known yet */
};

struct claim_entry {
	struct claim_run r; /* first, so that claim_entry() can cast */
	struct engine *e;
	char key[HOSTLIST_NAME_MAX + FMT_U64_SIZE + 2];
	struct claim_set *set;
	char why[160]; /* why the machine did not become a node; "" */
	bool ended;    /* its machine was released, or is gone */
	/* The secret store is asked for its keys, by this handle: once, however often the machine
	 * asks meanwhile. */
	bool asked;
	uint64_t handle;
	bool keyless; /* an event has said that there are no keys for it */
};

struct claim_lack { /* an unknown signing key, from a document shown with the right secret */
	struct attest_lack l;
	uint64_t from; /* how many fetches of the prover had begun then */
	bool answered; /* a fetch begun since had an answer */
};

struct claim_set { /* the claims of one create, whose machines have the same user-data */
	char id[CLAIM_ID_MAX + 1];
	/* The part of the id's hash that every user may see: with the whole id a user could have
	 * events written. */
	char mark[CLAIM_MARK_SIZE];
	struct claim_run *first;
	size_t n, at; /* how many machines; index in claims.all */
	uint32_t cloud;
	struct claim_lack *lacks; /* NULL: every document could be checked */
	size_t nlacks;
	unsigned told;  /* refusals, and alarms with the secret, that were written down */
	unsigned noise; /* alarms without the secret, likewise */
	bool shared;    /* several machines had this id at first */
	bool nowhere;   /* an event has said that its offer is unknown */
};

struct claim_ask { /* a request that waits for the answer to a claim */
	struct claim_ask *next;
	struct engine *e;
	struct claim_entry *entry;
	uint64_t ticket;
	bool text;        /* key=value, else JSON */
	bool again;       /* the claim was answered before: that answer was lost */
	int64_t until_ms; /* when the machine is told to ask again */
	char *csr;
};

struct claim_prover { /* of one provider */
	struct engine *e;
	const struct attest_ops *ops; /* NULL: its cloud signs nothing */
	void *self;
	bool fetching;
	uint64_t handle, begun;  /* begun: how many fetches */
	struct attest_lack lack; /* the signing key that was fetched last */
	int64_t failed_ms;       /* when that fetch failed; 0: it did not */
	int64_t answered_ms;     /* when it was answered; 0: not yet */
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
	int64_t wake_ms;                     /* no claim is due before this */
	struct claim_ask *asks, **asks_last; /* in order of arrival */
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
/* Make the claim id of a create: its token can be guessed, and is in the provider's lists, while
 * with an id anybody could have events written. */
void claims_make_id(const struct engine *e, const char *token, char out[CLAIM_ID_MAX + 1]);
/* The secret of this id, as text. */
void claims_secret(const struct engine *e, const char *id, char out[CLAIM_SECRET_SIZE]);
/* Hex of HMAC-SHA256(key, label NUL text). */
void claims_mac(const unsigned char *key, const char *label, const char *text,
		char out[CLAIM_SECRET_SIZE]);

/* --- claims.c --- */
/* Record that a claim with the right secret was refused: at most CLAIM_TOLD_MAX times of one id. */
void claims_refused(struct engine *e, struct claim_set *set, const char *from, const char *why);
static inline struct claim_entry *claim_entry(struct claim_run *r)
{
	return (struct claim_entry *)(void *)r;
}

/* --- claim_ask.c --- */
/* Refuse a waiting request; with CLAIM_WAIT, tell the machine to ask again after retry_s. */
void claim_ask_end(struct claim_ask *ask, enum claim_answer answer, unsigned retry_s);
void claim_asks_run(struct engine *e);
/* Cancel the question to the secret store; an answer that comes is dropped. */
void claim_store_cancel(struct claim_entry *x);
int64_t claim_asks_next_ms(const struct engine *e);
void claim_asks_free(struct engine *e);

/* --- claim_proof.c --- */
/* Open a verifier for each provider whose machines claim.  A provider whose file cannot be used is
 * off.  -1: no verifier has that name. */
int claim_proof_open(struct engine *e, struct err *err);
void claim_proof_free(struct engine *e);
enum claim_proof {
	CLAIM_PROVED,      /* *whose is the claim of the machine that asks */
	CLAIM_UNKNOWN_YET, /* a signing key is being fetched */
	CLAIM_UNTIMELY,    /* why: the document is *whose, but the times in it cannot be right */
	CLAIM_DISPROVED,   /* why says what is wrong; *whose, if that is known */
};
enum claim_proof claim_prove(struct engine *e, struct claim_set *set, const struct claim_body *b,
			     const struct node_request *rq, struct claim_run **whose,
			     char why[160]);
/* Does the request come from the address of the claim's machine, and, where the cloud signs
 * nothing, from a port of its root's?  true as well where the address is not checked, or not known
 * yet.  false: why. */
bool claim_is_from_machine(const struct engine *e, struct claim_run *r,
			   const struct node_request *rq, char why[160]);
/* Make a nonce that this id can use once. */
void claim_nonce_make(struct engine *e, const char *id, char out[33]);
bool claim_nonce_use(struct engine *e, const char *id, const char *nonce);

/* --- claim_lack.c --- */
/* The document is signed with an unknown key: fetch the cloud's keys.  CLAIM_UNKNOWN_YET: the
 * fetch runs.  CLAIM_DISPROVED: a fetch begun after the document was first shown did not have the
 * key, or there is nothing to fetch. */
enum claim_proof claim_lacks(struct engine *e, struct claim_set *set, const struct claim_body *b);

/* --- claim_text.c --- */
/* Write the answer to a claim: which node the machine is to be, its certificate (NULL: none could
 * be made, status 500) and its keys. */
void claim_text(struct engine *e, struct claim_run *r, const char *cert,
		const struct secrets_released *rel, bool plain, struct http_answer *an);

#endif
