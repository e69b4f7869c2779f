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
/* Make the table of claims, if nodes.listen is set and main gives a listener; else do nothing, and
 * neither does any function below. */
int claims_open(struct engine *e, struct err *err);
/* Load the keys by which this provider signs its machines' documents, if that failed so far. */
int claims_may_use(struct engine *e, size_t provider, struct err *err);
const char *claims_keyless(const struct engine *e, uint32_t provider);
/* Load a claim of the journal.  The rows of the fleet must be loaded before. */
int claims_load(struct engine *e, const struct claim *c);
/* Do machines of this provider claim? */
bool claims_wanted(const struct engine *e, uint32_t cloud);
/* The user-data of a create, the same bytes for the same token (I4): the caller's to wipe and free,
 * for it holds a secret.  NULL: *err. */
char *claims_user_data(const struct engine *e, const struct keys_for *k, struct err *err);
/* Issue a claim for each machine of a create, in the commit that writes the intent. */
void claims_issue(struct engine *e, const struct keys_for *k);
/* row_in_tx(): revoke the claim of a row that ends, or whose machine the provider takes before it
 * has its keys, in the same commit. */
void claims_row(struct engine *e, const struct node *is);
void claims_run(struct engine *e);
int64_t claims_next_ms(const struct engine *e);
void claims_free(struct engine *e);

/* --- secrets.c, secrets_open.c, secrets_reload.c --- */
/* Open the driver of the configured store; nothing is sent before secrets_run().  -1: the section
 * is wrong.  A file that cannot be read only turns the store off until it can. */
int secrets_open(struct engine *e, struct err *err);
/* Can the open driver do what the configuration `next` asks for?  -1: *err. */
int secrets_may_replace(struct engine *e, const struct conf *next, struct err *err);
void secrets_hurry(struct engine *e); /* try files again that could not be read */
void secrets_run(struct engine *e);
int64_t secrets_next_ms(const struct engine *e);
void secrets_free(struct engine *e);

/* --- door_open.c --- */
/* Take requests from nodes, if the configuration has a section nodes and main gives a listener. */
int door_open(struct engine *e, struct err *err);
void door_reload(struct engine *e); /* a node-init that cannot be read leaves the old one */
/* Commit what is staged, then send the answers to nodes that wait for that. */
void door_run(struct engine *e);
void door_free(struct engine *e);

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
int rotate_load(struct engine *e, struct err *err); /* after secrets_open() */
void rotate_run(struct engine *e);
int64_t rotate_next_ms(const struct engine *e);
void rotate_free(struct engine *e);

#endif
