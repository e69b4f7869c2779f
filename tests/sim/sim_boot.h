/* sim_boot.h - machines that boot as nodes do: they claim at burstd's door, get the cluster's keys,
 * confirm them, and only then run slurmd; and those who want the keys and should not have them.
 *
 *   sim_door.c     what the engine has of io/ for that; requests on their way, and their answers
 *   sim_machine.c  what a machine does, from stage0 to its agent
 *   sim_thief.c    who knows what he should not
 *   sim_token.c    a machine that does not reach burstd, with a token in its user-data; its thief
 *   sim_store.c    the secret store
 *   sim_munge.c    munged, on burstd's host
 *   sim_keys.c     the judge: I31 to I35 ...
 *   sim_voucher.c  ... and, of tokens in user-data, I36 to I39
 *
 * Certificates and keys are numbers here: whoever shows one has it.  Whether that is enough to be
 * let in is the engine's own code, down to the listener's check. */
#ifndef SIM_BOOT_H
#define SIM_BOOT_H

#include "core/secret_store.h"
#include "io/munge_check.h"
#include "io/node_server.h"
#include "sim_cloud.h"

enum sim_verb {
	SIM_CLAIM,
	SIM_RAISE_ALARM,
	SIM_CONFIRM,
	SIM_REPORT_READY,
	SIM_REPORT_FAILED,
	SIM_HEARTBEAT,
	SIM_EVENT,
	SIM_KEYS_AGAIN,
};

struct sim_post { /* one request, from when it is sent until its answer is there, or never will be
		   */
	struct sim_post *next;
	struct inst *about; /* the machine that it comes from, or wants to be */
	enum sim_verb verb;
	uint32_t key;   /* of the client; of a claim, that its request is of */
	uint32_t shown; /* of a claim: of the certificate of its own that it shows; 0: none */
	bool thief;     /* this is not the machine */
	bool foreign;   /* it speaks for another node than its certificate is of */
	bool let_in;    /* when it came, it was a node that has confirmed its keys */
	bool forged;    /* munge's key is not behind its credential */
	/* the certificate that it shows; gen 0: none */
	char node[24];
	uint64_t gen;
	char address[20], cred[64];
	uint16_t port;
	char body[1024];
	/* on its way */
	uint64_t ticket;
	bool waits, over; /* for burstd; the sender has an answer, or has given up */
	unsigned refs, tries;
	struct sim_reply {
		unsigned status, retry_s;
		bool keys; /* there are some in it, or a token for them */
		char node[24];
		uint64_t gen, token; /* token 0: the keys themselves */
		int64_t version;
		bool switches; /* these keys are those that all use */
		int64_t want, switch_ms,
			now_ms; /* of a heartbeat; want 0, switch_ms -1: not said */
	} reply;
	void (*fn)(struct world *w, struct sim_post *p, const struct sim_reply *r);
};

struct sim_token {
	int64_t made, until, version;
	bool used, revoked;
	uint32_t by;     /* the machine that used it; 0: somebody else */
	bool kept;       /* the journal had it once ... */
	char create[64]; /* ... and what this create made; "": none */
};

struct node_claims;
struct node_ca;
struct sim_rotate;
struct sim_boot {
	struct world *w;
	struct node_ca *ca;
	struct node_claims *table; /* of this life of burstd */
	struct sim_post *posts;
	uint64_t last_ticket, last_serial;
	uint32_t last_key;
	/* the store */
	int64_t away_until, version;
	int64_t told_version, told_at; /* burstd was told of it, in this life: 0 it was not */
	int64_t jumped_at;             /* its clock did last; 0: never */
	struct sim_token *tokens;      /* number n is tokens[n - 1] */
	size_t ntokens, tokens_cap;
	struct munge_check *munge;
	struct sim_rotate *rotate; /* NULL: nobody does */
	/* who has been given keys, of all that ever lived */
	struct sim_given {
		char node[24];
		uint64_t gen;
		uint32_t key;
	} * given;
	size_t ngiven, given_cap;
};

struct sim_machine { /* what one has, of its own */
	uint32_t key;
	int64_t until; /* it has patience for its claim; for its confirmation */
	char node[24]; /* as it was told */
	uint64_t gen, token;
	int64_t version, heard; /* heard: when burstd last answered its agent ... */
	int64_t told;           /* ... and which version that had said it has; 0: none */
	bool silent;            /* it never claims, nor has an agent */
	bool up, again;
	/* sim_follow.c: munge's keys, and the switch that it was told of, and has done */
	uint64_t munge, next;
	int64_t order, done, again_at, took_at;
	bool back, fetches, switches;
	bool robbed; /* somebody had the secret of its claim, or it says that something is wrong */
};

void sim_boot_init(struct world *w); /* also without machines that claim */
void sim_boot_fini(struct world *w);
void sim_boot_start(struct world *w); /* a life of burstd begins */
void sim_boot_end(struct world *w);   /* ... and is over */
/* This request goes out now; fn is called once, with an answer or NULL.  Takes *p (mem_zalloc). */
void sim_door_post(struct world *w, struct sim_post *p);
struct sim_post *sim_door_new(struct inst *about, enum sim_verb verb,
			      void (*fn)(struct world *w, struct sim_post *p,
					 const struct sim_reply *r));
/* The body of a claim for this instance's. */
void sim_door_claim(struct world *w, struct sim_post *p, const char *secret, uint32_t instance);

/* --- sim_machine.c --- */
/* It boots: what is not hindered runs slurmd in ms, or some seconds later. */
void sim_machine_boots(struct world *w, struct inst *i, int64_t ms);
bool sim_machine_runs(const struct inst *i);
void sim_machine_off(struct world *w, struct inst *i, const char *why); /* it ends itself */
/* Its agent has a word from the provider. */
void sim_machine_notice(struct world *w, struct inst *i);

/* --- sim_thief.c --- */
void sim_thief_comes(struct world *w, struct inst *i);
void sim_thief_on(struct world *w, struct inst *i); /* one of its users */

/* --- sim_token.c --- */
/* Likewise, with a token. */
void sim_token_boots(struct world *w, struct inst *i, int64_t ms);
/* It is made: perhaps somebody reads its user-data. */
void sim_token_is_read(struct world *w, struct inst *i);

/* --- sim_store.c --- */
const struct secret_store_ops *sim_store(const char *name);
/* The answer to what the engine sends to it; put: the bundle that it writes.  false: there is none.
 */
bool sim_store_serve(struct world *w, const char *url, const char *put, struct str *out,
		     long *status);
uint64_t sim_store_make(struct world *w, int64_t ms, int64_t version); /* a token */
/* Burstd has this answer. */
void sim_store_told(struct world *w, const char *url, const char *body);
/* By a machine; 0: by somebody else.  0: not now; -1: it opens nothing; else the version of the
 * keys in it. */
int64_t sim_store_unwrap(struct world *w, uint64_t token, uint32_t by);
struct sim_token *sim_store_token(const struct world *w, uint64_t token); /* NULL: none */

/* --- sim_keys.c --- */
void sim_keys_come(const struct world *w, struct sim_post *p);  /* burstd has it */
void sim_keys_leave(struct world *w, const struct sim_post *p); /* p->reply leaves burstd */
void sim_keys_check(struct world *w);                           /* at every step */
bool sim_keys_settled(const struct world *w, const struct node *n, char *why, size_t size);

/* --- sim_voucher.c --- */
/* A create is about to go onto the wire; again: as it did before. */
void sim_voucher_create(struct world *w, const struct create_request *rq, bool again);
/* It made this one. */
void sim_voucher_made(struct world *w, const struct inst *i, const char *create);
struct ctld_node;
/* Burstd is told that this node was up then. */
void sim_voucher_up(struct world *w, const struct ctld_node *n, int64_t at);
bool sim_voucher_settled(const struct world *w, char *why, size_t size);

#endif
