/* voucher.h - a voucher: the wrapping token in the user-data of one machine, as a pure state
 * machine.
 *
 * With release = "user-data" nodes reach the secret store but not burstd, so no machine has to
 * prove what it is: whoever reads the user-data first gets the keys.  The token can be used once,
 * while the machine may boot.  It is made, and durable, before the create goes out, so that a
 * repeat has the same bytes (I4).  burstd does not hear of its use.  It knows whether the node
 * registered and, if it did not, whether the store still has the token:
 *
 *   HELD --the node is up--> SPENT --it is gone--> (dropped)
 *     |
 *     +-- never bought ---------------------------------------------> SPARE
 *     +-- let go on purpose ----------------------------------------> VOID
 *     |                                                                ^
 *     +-- its machine did not become a node --> DOUBTED --it is there--+
 *                                                  |  +---its time is over---> (LATE, dropped)
 *                                                  +--it is gone--> (ALARM, dropped)
 *
 *   SPARE, VOID --the store has revoked it, or its time is over--> (dropped)
 *   VOID --it is gone--> (UNSURE, dropped)
 *
 * The token is wiped when HELD ends. */
#ifndef BURSTD_VOUCHER_H
#define BURSTD_VOUCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/secret.h"
#include "core/node.h"
#include "core/secret_store.h"

enum voucher_state {
	VOUCHER_HELD,    /* a create has the token, or will have it */
	VOUCHER_SPENT,   /* the node is up; only the version of its keys is kept */
	VOUCHER_DOUBTED, /* the machine did not become a node: was its token used? */
	VOUCHER_VOID,    /* the token must not be used: the store must revoke it */
	VOUCHER_SPARE,   /* likewise, and no machine has had the token */
	VOUCHER_NSTATES
};

enum voucher_event_type {
	VOUCHER_EV_ROW,     /* the row of its node is `is` from now on; NULL: there is none */
	VOUCHER_EV_LET_GO,  /* burstd releases its node; the row will end */
	VOUCHER_EV_UP,      /* slurmctld has its node up, though it may never be READY */
	VOUCHER_EV_VOID,    /* no create has had the token, and none will */
	VOUCHER_EV_THERE,   /* the store has the token, unused */
	VOUCHER_EV_USED,    /* the store does not know it any more */
	VOUCHER_EV_REVOKED, /* the store has revoked it */
	VOUCHER_EV_TIMER,   /* now >= ends_ms */
	VOUCHER_EV_NTYPES
};

enum voucher_verdict {
	VOUCHER_KEEP,
	VOUCHER_DROP,  /* it is not needed any more */
	VOUCHER_ALARM, /* likewise: the token was used, and there is no node */
	VOUCHER_LATE,  /* likewise: the token has expired, and nobody knows whether it was used */
	/* likewise: the token was gone before it was revoked: used by the released machine or a
	 * thief, or revoked by a request whose answer was lost. */
	VOUCHER_UNSURE,
};

enum {
	VOUCHER_GPU_TYPE_MAX = 15,  /* bytes of a model's name, such as "h100" */
	VOUCHER_MARGIN_MS = 300000, /* life beyond the time to boot: for the create, and clocks */
	VOUCHER_LONGER_MAX_MS = 900000, /* more life, if tokens for a gang are made slowly */
	VOUCHER_RESERVE_MS = VOUCHER_MARGIN_MS / 2, /* to look at the token after a failed boot */
};

struct voucher {
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	enum voucher_state state;
	/* Not in the journal, as they follow from the row: let_go: it is released or has ended;
	 * in_doubt: the create's answer was lost, so that a machine may exist, whatever the answer
	 * to a repeat. */
	bool let_go, in_doubt;
	/* Not in the journal: the token is from the future, or of another store, so that its
	 * absence in the store proves nothing. */
	bool undated;
	struct secret *token; /* HELD; else NULL */
	char accessor[SECRET_ACCESSOR_MAX + 1];
	int64_t version; /* of the keys that the token gives; 0: not known */
	/* The node's hardware by slurm.conf when the token was made, for the user-data. */
	uint32_t gpus;
	char gpu_type[VOUCHER_GPU_TYPE_MAX + 1]; /* "": not known */
	int64_t made_ms, ends_ms, since_ms;
};

struct voucher_event {
	enum voucher_event_type type;
	int64_t now_ms;
	const struct node *is;
};

/* The life of a token for machines with this boot timeout. */
static inline int64_t voucher_life_ms(int64_t boot_ms)
{
	return boot_ms + VOUCHER_MARGIN_MS;
}

/* Any verdict but KEEP: delete the voucher.  *changed: write it to the journal. */
enum voucher_verdict voucher_step(struct voucher *v, const struct voucher_event *ev, bool *changed);
/* Does the token last for a machine with this boot timeout, and a look at it after a failure? */
bool voucher_is_good(const struct voucher *v, int64_t now_ms, int64_t boot_ms);
void voucher_fini(struct voucher *v);

const char *voucher_state_str(enum voucher_state s);
int voucher_state_parse(const char *word); /* -1: none of these */

#endif
