/* keys.h - how a machine proves what it is and gets the cluster's keys, as the rest of burstd sees
 * it.  Inside: a machine claims (claims.h), or has a token in its user-data (vouchers.h); door.h
 * answers the requests of nodes, secrets.h talks to the secret store, rotate.h replaces a key. */
#ifndef BURSTD_KEYS_KEYS_H
#define BURSTD_KEYS_KEYS_H

#include "engine/kernel.h"
#include "keys/keys_api.h"

/* The machines of one create, for their user-data and claims; borrowed. */
struct keys_for {
	const struct member *members;
	size_t n;
	uint32_t pool, cloud;
	const char *token; /* the create's */
};

struct keys_state {
	struct claims *claims;     /* NULL: no machine can claim */
	struct vouchers *vouchers; /* NULL: machines have no token in their user-data */
	struct secrets *secrets;   /* NULL: no secret store is configured */
	struct door *door;         /* NULL: burstd takes no requests from nodes */
	char init_off[256];        /* why node_init cannot be read; "": it can */
	int64_t init_next;         /* when reading it is tried again */
	struct rotate *rotate;     /* NULL: not loaded yet */
	struct engine_breaches breaches;
};

/* --- claims.c, claim_proof.c --- */
extern const struct engine_part claims_part, claims_turn_part;
/* Load the keys by which this provider signs its machines' documents, if that failed so far. */
int claims_may_use(struct engine *e, size_t provider, struct err *err);
/* Load a claim of the journal.  The rows of the fleet must be loaded before. */
int claims_load(struct engine *e, const struct claim *c);
/* Do machines of this provider claim? */
bool claims_wanted(const struct engine *e, uint32_t cloud);
/* The user-data of a create, the same bytes for the same token (I4): the caller's to wipe and free,
 * for it holds a secret.  NULL: *err. */
char *claims_user_data(const struct engine *e, const struct keys_for *k, struct err *err);
/* Issue a claim for each machine of a create, in the commit that writes the intent. */
void claims_issue(struct engine *e, const struct keys_for *k);

/* --- secrets.c, secrets_open.c, secrets_reload.c --- */
extern const struct engine_part secrets_part, secrets_turn_part;
/* Can the open driver do what the configuration `next` asks for?  -1: *err. */
int secrets_may_replace(struct engine *e, const struct conf *next, struct err *err);
void secrets_hurry(struct engine *e); /* try files again that could not be read */
void secrets_free(struct engine *e);

/* --- door_open.c --- */
extern const struct engine_part door_part;

/* --- node_init.c --- */
/* Note why node_init cannot be read; NULL: it can. */
void node_init_off(struct engine *e, const struct err *why);
bool node_init_due(const struct engine *e); /* time to try reading it again */
int64_t node_init_next_ms(const struct engine *e);

/* --- breach.c --- */
int breach_load(struct engine *e, struct err *err); /* the alarms of earlier runs */
struct breach {
	const char *node, *of, *why; /* of: "claims", "vouchers" */
	uint64_t gen;
	bool left; /* keys, or a token for them, were given out for this node */
};
/* Raise an alarm: somebody may have the cluster's keys.  Counts it, writes an event and an audit
 * record, and keeps the alarm in the journal. */
void breach_sound(struct engine *e, const struct breach *b);
/* The rotation r is complete: clear the alarms that were raised before it began. */
void breach_mended(struct engine *e, const struct rotation *r);

/* --- rotate.c --- */
extern const struct engine_part rotate_part, rotate_turn_part;

#endif
