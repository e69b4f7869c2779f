/* vouchers.h - machines that have a token for the secret store in their user-data (core/voucher.h).
 * Only the files of keys/ that ask for one of these include it. */
#ifndef BURSTD_VOUCHERS_H
#define BURSTD_VOUCHERS_H

#include "cloud/cloud.h"
#include "core/voucher.h"
#include "keys/keys.h"
#include "keys/secrets.h"

/* --- for the rest of engine/ --- */
/* With release = "user-data".  Else nobody gets a token, and what follows is about those of before
 * a restart. */
int vouchers_open(struct engine *e, struct err *err);
/* What next names, for machines that are bought from now on; -1: it cannot be read, and nothing has
 * changed. */
int vouchers_reload(struct engine *e, const struct conf *next, struct err *err);
/* As the journal has it; after rows.  Takes its token. */
void vouchers_load(struct engine *e, struct voucher *v);
/* Do machines of this provider have a token?  Then a create is of one machine. */
bool vouchers_wanted(const struct engine *e, uint32_t cloud);
const char *vouchers_keyless(const struct engine *e, uint32_t provider); /* part.h */
/* Has each of these, as far as it needs one, a token that is good for as long as it may boot?  Who
 * has none is asked for: the store's answer is a turn. */
bool vouchers_have(struct engine *e, struct fleet_node *const *v, size_t n);
/* Has it been asked for and is not there, or can none be had now?  Who waits so is in nobody's way.
 */
bool vouchers_waits(const struct engine *e, const struct node *n);
/* What the one machine of a create is given, bought there; the same text every time: the caller's,
 * a secret.  NULL: *err. */
char *vouchers_user_data(const struct engine *e, const struct keys_for *k,
			 const struct conf_offer *o, struct err *err);
/* A row is about to be written: whose machine is up or goes needs its token no more. */
void vouchers_row(struct engine *e, const struct node *is);
/* A row was told of that, whatever it made of it. */
void vouchers_posted(struct engine *e, const struct node *was, const struct node_event *ev);
/* slurmctld has it up, and of no use: it has used its token itself. */
void vouchers_up(struct engine *e, const struct node *n);
/* Is it still to be seen that its token was used by the node itself? */
bool vouchers_is_held(const struct engine *e, const struct node *n);
const struct voucher *vouchers_of(const struct engine *e, const char *node, uint64_t gen);
/* With that version of the keys, or another, which it cannot change?  false: it is none of those,
 * or not up.  *drained, if it was told to go for that. */
bool vouchers_keys(const struct engine *e, const struct node *n, int64_t *version, bool **drained);
void vouchers_run(struct engine *e);
int64_t vouchers_next_ms(const struct engine *e);
void vouchers_free(struct engine *e);

/* --- inside --- */
enum {
	VOUCHER_AGAIN_MS = 60000,        /* after the store has refused a token */
	VOUCHER_LOOK_MS = 10000,         /* ... or has not said whether it has one */
	VOUCHERS_FLYING_MAX = 16,        /* looks and revokes, on the wire */
	VOUCHER_LONGER_FOR_MS = 3600000, /* since it was last seen that tokens come slowly */
};

struct voucher_run {
	struct voucher_run *next_open, *next; /* next: of all */
	struct voucher_run *prev;
	struct engine *e;
	char key[HOSTLIST_NAME_MAX + FMT_U64_SIZE + 2];
	struct voucher v; /* asked for: nothing but names, and not durable */
	bool asked;
	uint64_t handle; /* of the ask */
	bool drained;    /* it has old keys, and is to go for that */
	bool looking;    /* the store is asked of it: it must stay */
	int64_t look_ms;
	struct secrets_look look;
};

struct vouchers {
	struct map runs; /* by "node/generation" */
	struct voucher_run *all;
	struct voucher_run *open; /* DOUBTED, VOID, SPARE: the store has to say, or do, something */
	unsigned flying;
	size_t nasked;    /* tokens that are waited for */
	int64_t again_ms; /* nothing is asked of the store before that ... */
	char why[160];    /* ... for it said so, and then for one until that comes; "" */
	int64_t longer_ms, longer_until_ms;
	char sha256[65];  /* of node_init; "": it may be any */
	int64_t store_ms; /* tokens from before that are of another store; 0: none is */
};

struct voucher_run *vouchers_find(const struct engine *e, const char *node, uint64_t gen);
/* A new one in the table, which is nothing but names so far. */
struct voucher_run *vouchers_put(struct engine *e, const char *node, uint64_t gen);
/* It is in the table no more, and freed; what was asked for it is cancelled. */
void vouchers_forget(struct engine *e, struct voucher_run *r);
/* voucher_step(), and what follows from it; r may be freed then.  is: of VOUCHER_EV_ROW. */
void vouchers_step(struct engine *e, struct voucher_run *r, enum voucher_event_type type,
		   const struct node *is);

#endif
