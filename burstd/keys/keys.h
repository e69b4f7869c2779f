/* keys.h - how a machine proves what it is and gets the cluster's keys, as the rest of burstd sees
 * it: claims.h and vouchers.h say how, door.h what nodes say and are told, secrets.h where the keys
 * are, rotate.h how one replaces another. */
#ifndef BURSTD_KEYS_KEYS_H
#define BURSTD_KEYS_KEYS_H

#include "engine/kernel.h"

/* The machines of one create, which are to get keys; borrowed. */
struct keys_for {
	const struct member *members;
	size_t n;
	uint32_t pool, cloud;
	const char *token; /* the create's */
};

struct keys_state {
	struct claims *claims;     /* NULL: machines get nothing of us */
	struct vouchers *vouchers; /* NULL: machines have no token in their user-data */
	struct secrets *secrets;
	struct door *door;     /* NULL: nodes do not talk to us */
	char init_off[256];    /* why node_init cannot be read; "" */
	int64_t init_next;     /* ... and when it is looked at again */
	struct rotate *rotate; /* NULL: not loaded yet */
	struct engine_breaches breaches;
};

/* --- claims.c --- */
/* With a section nodes and a door for them; else nothing, and all that follows does nothing. */
int claims_open(struct engine *e, struct err *err);
/* Load what proves that a machine is one of this provider's, if that failed so far. */
int claims_may_use(struct engine *e, size_t provider, struct err *err);
const char *claims_keyless(const struct engine *e, uint32_t provider);
int claims_load(struct engine *e, const struct claim *c); /* as the journal has it; after rows */
/* Do machines of this provider claim? */
bool claims_wanted(const struct engine *e, uint32_t cloud);
/* What machines of a create with this token are given, the same text every time: the caller's, a
 * secret.  NULL without an error: nothing. */
char *claims_user_data(const struct engine *e, const struct keys_for *k, struct err *err);
/* Its members may claim: durable with its intent, in the same commit. */
void claims_issue(struct engine *e, const struct keys_for *k);
/* A row is about to be written: whose machine goes, or is taken by its provider, claims nothing. */
void claims_row(struct engine *e, const struct node *is);
void claims_run(struct engine *e);
int64_t claims_next_ms(const struct engine *e);
void claims_free(struct engine *e);

/* --- secrets.c --- */
int secrets_open(struct engine *e, struct err *err);
/* Can the driver that is open do what next says?  -1: *err. */
int secrets_may_replace(struct engine *e, const struct conf *next, struct err *err);
void secrets_hurry(struct engine *e); /* files that could not be read are looked at now */
void secrets_run(struct engine *e);
int64_t secrets_next_ms(const struct engine *e);
void secrets_free(struct engine *e);

/* --- door.c --- */
/* With the configuration's section nodes and a way to reach them; else nothing. */
int door_open(struct engine *e, struct err *err);
void door_reload(struct engine *e); /* what cannot be read now stays as it was */
/* The answers whose meaning is durable go out. */
void door_run(struct engine *e);
void door_free(struct engine *e);

/* --- node_init.c --- */
void node_init_off(struct engine *e, const struct err *why); /* it cannot be read; NULL: it can */
bool node_init_due(const struct engine *e);                  /* it is to be looked at again */
int64_t node_init_next_ms(const struct engine *e);

/* --- breach.c --- */
int breach_load(struct engine *e, struct err *err);
struct breach {
	const char *node, *of, *why; /* of: "claims", "vouchers" */
	uint64_t gen;
	bool left; /* keys, or a token for them, had been given out for it */
};
/* Somebody may have the keys: counted, an event and on record. */
void breach_sound(struct engine *e, const struct breach *b);
void breach_mended(struct engine *e, const struct rotation *r); /* which is done */

/* --- rotate.c --- */
int rotate_load(struct engine *e, struct err *err); /* after secrets_open() */
void rotate_run(struct engine *e);
int64_t rotate_next_ms(const struct engine *e);
void rotate_free(struct engine *e);

#endif
