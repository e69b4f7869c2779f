/* voucher.h - the wrapping token that one machine has in its user-data, as a pure state machine.
 *
 * With release = "user-data" nodes reach the secret store and not burstd, so that nobody asks which
 * machine it is: whoever reads the user-data first has the keys.  The token is good once, for the
 * time that the machine may boot.  It is made, and durable, before the create goes out, so that a
 * repeat has the same bytes (I4).  Nobody tells us of its use; what is known is whether the node
 * registered, and of one that did not whether the store still has its token:
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
	VOUCHER_HELD,    /* a create has it, or will have it */
	VOUCHER_SPENT,   /* the node is up; which version of the keys it has is what is kept */
	VOUCHER_DOUBTED, /* it is no node: was its token used? */
	VOUCHER_VOID,    /* nobody is to use it: the store must revoke it */
	VOUCHER_SPARE,   /* likewise, and no machine has had it */
	VOUCHER_NSTATES
};

enum voucher_event_type {
	VOUCHER_EV_ROW,     /* its node is `is` from now on; NULL: there is none */
	VOUCHER_EV_LET_GO,  /* we want its node no more, whatever it does; its row will go */
	VOUCHER_EV_UP,      /* slurmctld has its node up, though it may never be READY */
	VOUCHER_EV_VOID,    /* no create has had it, and none will */
	VOUCHER_EV_THERE,   /* the store has the token, unused */
	VOUCHER_EV_USED,    /* the store does not know it any more */
	VOUCHER_EV_REVOKED, /* the store has revoked it */
	VOUCHER_EV_TIMER,   /* now >= ends_ms */
	VOUCHER_EV_NTYPES
};

enum voucher_verdict {
	VOUCHER_KEEP,
	VOUCHER_DROP,  /* nothing hangs on it any more */
	VOUCHER_ALARM, /* likewise: it was used, and there is no node */
	VOUCHER_LATE,  /* likewise: it has ended, and whether it was used nobody can say */
	/* likewise: it was gone before it was revoked.  A machine that was let go had used it, or
	 * a thief, or a revoke was answered and the answer lost. */
	VOUCHER_UNSURE,
};

enum {
	VOUCHER_GPU_TYPE_MAX = 15, /* bytes of a model's name, such as "h100" */
	VOUCHER_MARGIN_MS =
		300000, /* of its life, beyond the time to boot: the create, and clocks */
	VOUCHER_LONGER_MAX_MS = 900000, /* ... and more, where those of a gang come slowly */
	VOUCHER_RESERVE_MS = VOUCHER_MARGIN_MS / 2, /* of that, for a look when the boot failed */
};

struct voucher {
	char node[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	enum voucher_state state;
	/* Not written down, for its node's row says so: it is released, or over; its create's
	 * answer was lost, so that there may be a machine, whatever a repeat of the create is told.
	 */
	bool let_go, in_doubt;
	/* likewise: it is from the future, and so is its end; or of another store.  That such a one
	 * is gone says nothing. */
	bool undated;
	struct secret *token; /* HELD; else NULL */
	char accessor[SECRET_ACCESSOR_MAX + 1];
	int64_t version; /* of the keys that it opens; 0: not known */
	/* What the node has by slurm.conf, as of then: it is in the user-data. */
	uint32_t gpus;
	char gpu_type[VOUCHER_GPU_TYPE_MAX + 1]; /* "": not known */
	int64_t made_ms, ends_ms, since_ms;
};

struct voucher_event {
	enum voucher_event_type type;
	int64_t now_ms;
	const struct node *is;
};

/* How long a token must be good for machines that may boot so long. */
static inline int64_t voucher_life_ms(int64_t boot_ms)
{
	return boot_ms + VOUCHER_MARGIN_MS;
}

/* Anything but KEEP: the caller deletes it.  *changed: it is to be written down. */
enum voucher_verdict voucher_step(struct voucher *v, const struct voucher_event *ev, bool *changed);
/* May a create carry it, of a machine that may boot so long, and then be looked after? */
bool voucher_is_good(const struct voucher *v, int64_t now_ms, int64_t boot_ms);
void voucher_fini(struct voucher *v);

const char *voucher_state_str(enum voucher_state s);
int voucher_state_parse(const char *word); /* -1: none of these */

#endif
