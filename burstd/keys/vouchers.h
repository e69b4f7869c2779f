/* vouchers.h - vouchers: machines with a token for the secret store in their user-data
 * (core/voucher.h), for clouds from which no machine reaches burstd. */
#ifndef BURSTD_VOUCHERS_H
#define BURSTD_VOUCHERS_H

#include "cloud/cloud.h"
#include "core/voucher.h"
#include "keys/keys.h"
#include "keys/secrets.h"

/* --- for other parts --- */
extern const struct engine_part vouchers_part, vouchers_turn_part;
/* Load a voucher of the journal.  The rows of the fleet must be loaded before.  Takes v->token. */
void vouchers_load(struct engine *e, struct voucher *v);
/* Do machines of this provider get a token?  Then a create is of one machine. */
bool vouchers_wanted(const struct engine *e, uint32_t cloud);
/* Has each of these rows that needs one a token that lasts as long as its machine may boot?  Asks
 * the store for those that are missing; its answer begins a turn. */
bool vouchers_have(struct engine *e, struct fleet_node *const *v, size_t n);
/* Does the row wait for a token that is being made, or cannot be had now?  Other rows go first. */
bool vouchers_waits(const struct engine *e, const struct node *n);
/* The user-data of the one machine of a create, bought by o; the same bytes every time (I4): the
 * caller's to wipe and free, for it holds a secret.  NULL: *err. */
char *vouchers_user_data(const struct engine *e, const struct keys_for *k,
			 const struct conf_offer *o, struct err *err);
/* slurmctld has the node up, though it came up wrong: the node itself used its token. */
void vouchers_up(struct engine *e, const struct node *n);
/* Is the token of this row not known to be used yet? */
bool vouchers_is_held(const struct engine *e, const struct node *n);
const struct voucher *vouchers_of(const struct engine *e, const char *node, uint64_t gen);
/* The version of the keys that a node has by its token, and cannot change.  *drained: whether it
 * was drained for outdated keys, which the caller may set.  false: the row has no voucher, or the
 * token is not used yet. */
bool vouchers_keys(const struct engine *e, const struct node *n, int64_t *version, bool **drained);

/* --- inside --- */
enum {
	VOUCHER_AGAIN_MS = 60000,        /* after the store has refused a token */
	VOUCHER_LOOK_MS = 10000,         /* ... or has not said whether it has one */
	VOUCHERS_FLYING_MAX = 16,        /* looks and revokes on the wire */
	VOUCHER_LONGER_FOR_MS = 3600000, /* so long tokens are made to last longer, after one came
					    late */
};

struct voucher_run {
	struct voucher_run *next_open, *next; /* next: of all */
	struct voucher_run *prev;
	struct engine *e;
	char key[HOSTLIST_NAME_MAX + FMT_U64_SIZE + 2];
	struct voucher v; /* while `asked`: nothing but names, and not durable */
	bool asked;       /* the store makes its token */
	uint64_t handle;  /* of that request */
	bool drained;     /* the node was drained for outdated keys */
	bool looking;     /* a request about its token is on the wire: r must not be freed */
	int64_t look_ms;
	struct secrets_look look;
};

struct vouchers {
	struct map runs; /* by "node/generation" */
	struct voucher_run *all;
	struct voucher_run *open; /* DOUBTED, VOID, SPARE: the store has to say, or do, something */
	unsigned flying;
	size_t nasked;    /* tokens that the store is asked for */
	int64_t again_ms; /* the store refused a token: none is asked for before this time, ... */
	char why[160];    /* ... for this reason, and then a single one; "": it did not */
	int64_t longer_ms, longer_until_ms;
	char sha256[65];  /* of node_init; "": the image's own */
	int64_t store_ms; /* tokens made before this are of another store; 0: none is */
};

struct voucher_run *vouchers_find(const struct engine *e, const char *node, uint64_t gen);
/* Add an entry with nothing but its names. */
struct voucher_run *vouchers_put(struct engine *e, const char *node, uint64_t gen);
/* Remove an entry and free it; a request for its token is cancelled. */
void vouchers_forget(struct engine *e, struct voucher_run *r);
/* Do voucher_step() and what follows from it; r may be freed then.  is: of VOUCHER_EV_ROW. */
void vouchers_step(struct engine *e, struct voucher_run *r, enum voucher_event_type type,
		   const struct node *is);

#endif
