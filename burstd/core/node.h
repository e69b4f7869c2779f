/* node.h - the life of one generation of a cloud node, as a pure state machine.
 *
 * A Slurm node name comes and goes; each time it is bought it is a new *generation*, and identity
 * is (cluster, name, generation), never a name or an address.  node_step() is the only function
 * that moves a node: no clock, no I/O, no allocation.  The engine makes the result durable BEFORE
 * it acts on it, and node_want() says from the state alone which one idempotent request to send; a
 * restart asks again and gets the same answer.
 *
 *             refused, released
 *   WANTED ------------------------------------------------+
 *     |  ^                                                 |
 *     v  | not sent, throttled                             v
 *   CREATING ---refused--------------------------------> GONE
 *     |  |                                                 ^ ^
 *     |  +--lost reply--> INDOUBT --absent twice-----------+ |
 *     |                     |  ^ retry with the same token   |
 *     |        found        |  +- lost or not sent again      |
 *     v<--------------------+                                |
 *   BOOTING ---registered---> READY ---reclaim---> DRAINING  |
 *     |   \                     |                     |  |   |
 *     |    +-- ended / lost ----+---------------------+--+-->+
 *     |  deadline, stops,       |                     |      |
 *     |  released               | released            |      |
 *     +-------> DELETING <------+---------------------+      |
 *                |   ^ +--- ended, or absent twice ----------+
 *    refused for |   | tried again, operator                 |
 *    good        v   |                                       |
 *             QUARANTINED --- ended -------------------------+
 *
 * A reclaim leads from BOOTING to DRAINING, too; a rebalance notice for a node that boots takes
 * effect when the node is up.  An instance that stops while it boots, without a notice, does not
 * count as a reclaim (F10).  One that fails before it runs (PROVIDER_FAILED) is deleted as past
 * its deadline, and one that the provider ends by itself is gone: both with the provider's reason.
 * Gone is written only on proof (I9): the provider says ended, or two complete lists a settle time
 * apart do not show the instance.  A delete's success is not proof; nor is one list (I8, F12, F15).
 */
#ifndef BURSTD_NODE_H
#define BURSTD_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/provider.h"

enum node_state {
	NODE_WANTED,      /* decided, and counted against the limits; nothing was sent */
	NODE_CREATING,    /* a create may be on the wire */
	NODE_INDOUBT,     /* a create was sent and its answer lost: it may exist */
	NODE_BOOTING,     /* the instance exists; slurmd has not registered */
	NODE_READY,       /* slurmctld has it up */
	NODE_DRAINING,    /* the provider will take it; its jobs are moved away */
	NODE_DELETING,    /* it is deleted, until it is proven gone */
	NODE_GONE,        /* final, unless a list shows it again: see NODE_EV_SEEN */
	NODE_QUARANTINED, /* the provider refuses to delete it: it bills on, an admin must look */
	NODE_NSTATES
};

enum node_event_type {
	NODE_EV_START,   /* the create is about to be sent */
	NODE_EV_NOTSENT, /* the create was not sent, or was put off: nothing happened; retry_ms */
	NODE_EV_CREATED, /* the instance exists: instance */
	NODE_EV_LOST,    /* no usable answer to a create */
	NODE_EV_REFUSED, /* definite refusal; reason */
	NODE_EV_SEEN,    /* a list shows the instance; its state may be ended or reclaiming, or
			    failed for `reason` */
	NODE_EV_ABSENT,  /* a complete list begun at list_ms does not show the instance */
	NODE_EV_REGISTERED, /* slurmctld has the node up */
	NODE_EV_RELEASE,    /* the node is not wanted any more: suspended, refused gang, operator;
			       reason */
	NODE_EV_DELETED,    /* the provider accepted the delete */
	NODE_EV_DELETE_FAILED, /* the delete failed or its answer was lost: try again; retry_ms */
	NODE_EV_DELETE_DENIED, /* the provider refuses to delete it and will go on refusing */
	NODE_EV_TIMER,         /* now >= wake_ms */
	NODE_EV_RESTART,       /* burstd started: what was in flight is now in doubt */
	NODE_EV_NOTICE,        /* its machine will be taken away: notice, deadline_ms */
	NODE_EV_SIGNALLED,     /* its jobs are about to be told to save their work */
	NODE_EV_THROTTLED, /* the create or the delete was throttled: nothing happened, and it says
			      nothing of the node, which waits for the provider's limit alone */
	NODE_EV_PROVEN,    /* it works: what it was bought to show about its image is shown */
	NODE_EV_NTYPES
};

enum node_want {
	NODE_WANT_NOTHING,
	NODE_WANT_CREATE, /* first time, or again with the same token after a lost answer */
	NODE_WANT_LIST,   /* a complete list of the provider */
	NODE_WANT_DELETE,
};

/* Why a node was refused or released; users see it, too. */
enum node_reason {
	NODE_BECAUSE_NONE,
	NODE_BECAUSE_SUSPENDED, /* slurmctld powered it down */
	NODE_BECAUSE_CAPACITY,  /* the provider has none */
	NODE_BECAUSE_QUOTA,     /* our account's limit at the provider */
	NODE_BECAUSE_DENIED,    /* credentials, permission or funds */
	NODE_BECAUSE_INVALID,   /* the provider cannot understand or will never do it */
	NODE_BECAUSE_LIMIT,     /* the pool's max_nodes or max_rate */
	NODE_BECAUSE_LOST,      /* the create's answer was lost and no instance was found */
	NODE_BECAUSE_BOOT,      /* did not register in time */
	NODE_BECAUSE_ENDED,     /* the provider ended it, or it vanished, when it was up */
	NODE_BECAUSE_RECLAIMED, /* spot capacity taken back */
	NODE_BECAUSE_REPLACED,  /* slurmctld wants the node powered up afresh */
	NODE_BECAUSE_OPERATOR,
	NODE_BECAUSE_DISK, /* there was no room to write a purchase down */
	NODE_BECAUSE_MAINTENANCE,
	NODE_BECAUSE_FAULTY,      /* its host was reported as broken */
	NODE_BECAUSE_BREACH,      /* a thief may have its keys: core/claim.h */
	NODE_BECAUSE_INIT,        /* it did not claim its keys, or node-init failed */
	NODE_BECAUSE_UNREACHABLE, /* the provider does not answer; no instance is known to be there
				   */
	NODE_BECAUSE_STOPPED, /* its machine stopped, ended or vanished before it was up, by itself:
				 no other node is released for this */
	NODE_BECAUSE_GANG,    /* its job lacks another node */
	NODE_BECAUSE_BUDGET,  /* no money is left for its job */
	NODE_NREASONS
};

/* Limits of node_step(). */
enum {
	NODE_RETRIES = 6,       /* repeats of a create, or denied deletes, before it gives up */
	NODE_BACKOFF_MS = 1000, /* doubles with each failure ... */
	NODE_BACKOFF_MAX_MS = 60000, /* ... up to this */
	NODE_GRACE_MS = 60000,       /* after a restart a booting node has at least this long */
	NODE_REDELETE_MS = 60000,    /* accepted and still there: ask again (F21, F23) */
	NODE_SKEW_MS = 600000,       /* a provider's clock may be this far behind ours (F39) */
	NODE_REVISIT_MS = 600000,    /* quarantined: try the delete again */
};

struct node_limits {
	bool tokens;        /* a create may be repeated with its token (I6) */
	int64_t settle_ms;  /* W: after this long a list shows what was created (I7) */
	int64_t token_ms;   /* half of what the provider remembers (I6) */
	int64_t boot_ms;    /* deadline from instance to registration */
	int64_t unmount_ms; /* from its release until it is deleted: the node unmounts meanwhile */
};

struct node {
	char name[HOSTLIST_NAME_MAX + 1];
	uint64_t gen;
	enum node_state state;
	enum node_reason reason; /* of its release, refusal or end */
	bool release;            /* it is to end; wins in every state */
	bool accepted;           /* DELETING: the provider said yes once */
	uint8_t misses;          /* complete lists in a row that did not show it */
	uint32_t attempts;       /* failed tries of the current request */
	uint32_t pool;           /* index in struct conf; stored by name */
	uint32_t cloud;          /* index of `provider`, set when the row is loaded or made */
	uint32_t group;          /* gang within its batch; 0: alone */
	uint32_t slot;           /* place within its batch */
	uint64_t batch;          /* create batch; 0: nothing was sent.  Fixed from then on (I5) */
	uint64_t job;            /* Slurm's number of the job it was bought for; 0: none known */
	/* Where it is bought, by name, since the configuration may change. */
	char offer[PROVIDER_WORD_MAX + 1]; /* name of the pool's offer; "": the pool's own place */
	char provider[PROVIDER_WORD_MAX + 1]; /* name of its section */
	enum provider_market market;
	char instance[PROVIDER_ID_MAX + 1]; /* "" until known */
	char addr[PROVIDER_ADDR_MAX + 1];   /* "" until known */
	/* What its create asked for; "": as the provider's section said, or as the provider chose.
	 * core/roll.h has the rest. */
	char image[PROVIDER_IMAGE_MAX + 1];
	bool canary; /* its image was new, and it has not shown yet that it works */
	/* The NodeAddr that slurmctld had before this row was made, and may have kept from another
	 * generation; "": none, or not known. */
	char stale_addr[PROVIDER_ADDR_MAX + 1];
	int64_t rate_nano_h; /* counts against the pool's max_rate from WANTED to GONE */
	int64_t wanted_ms;   /* when it was decided */
	int64_t since_ms;    /* when the present state began */
	int64_t sent_ms;     /* when the create was first sent: its token is so old (I6) */
	int64_t missed_ms;   /* begin of the first list that did not show it */
	int64_t wake_ms;     /* next NODE_EV_TIMER; INT64_MAX: none */
	int64_t start_ms; /* when billing began, by the provider, else when burstd learnt of it; 0:
			     it has not */
	/* When billing ended: by the provider, else when the first list was there that did not show
	 * it any more; 0: it has not.  Stays if GONE proves wrong: billed up to here.  A WANTED row
	 * that has it is made for an instance with a bill, which it goes on with. */
	int64_t end_ms;
	/* core/reclaim.h says what follows from these. */
	int64_t noticed_ms;  /* when the notice came that its machine will be taken; 0: none */
	int64_t deadline_ms; /* when the machine will be taken; 0: not said */
	int64_t signal_ms;   /* when its jobs were told to save their work; 0: they were not */
	enum provider_notice_kind notice; /* kind of the notice */
};

struct node_event {
	enum node_event_type type;
	int64_t now_ms;
	int64_t list_ms;   /* ABSENT: when the list began */
	int64_t shown_ms;  /* ABSENT, SEEN: when the last list before began that showed it; 0: not
			      known */
	int64_t lacked_ms; /* ABSENT: when the first list since its last sign of life was there that
			      did not; 0: likewise */
	int64_t retry_ms;  /* NOTSENT, DELETE_FAILED: not before; 0: own backoff */
	uint64_t batch;    /* START: the create it goes out with ... */
	uint32_t slot;     /* ... and its place there ... */
	const char *image; /* ... and its image; NULL: "" ... */
	bool canary;       /* ... which has not shown that it works */
	enum node_reason reason;                  /* REFUSED, RELEASE; SEEN: of a failed instance */
	enum provider_notice_kind notice;         /* NOTICE ... */
	int64_t deadline_ms;                      /* ... when it happens; 0: not said */
	const struct provider_instance *instance; /* CREATED, SEEN */
};

/* Make a WANTED node; the caller fills in pool, place, group and rate. */
void node_init(struct node *n, const char *name, uint64_t gen, int64_t now_ms);

/* Apply *ev to *n.  Return true if *n changed and must be made durable before anything is done. */
bool node_step(struct node *n, const struct node_event *ev, const struct node_limits *lim);

/* The request that *n needs at now_ms.  Pure: the same arguments give the same answer. */
enum node_want node_want(const struct node *n, int64_t now_ms, const struct node_limits *lim);

/* May it exist and bill, so that it counts against limits?  Every state but GONE. */
bool node_counts(const struct node *n);
/* Is it up, or on its way up: not released, not deleting, not gone? */
bool node_lives(const struct node *n);
/* Is it not up yet: wanted, being made, or booting? */
bool node_coming(const struct node *n);

const char *node_state_str(enum node_state s);
int node_state_parse(const char *name); /* -1: not a state */
const char *node_event_str(enum node_event_type t);
const char *node_reason_str(enum node_reason r);  /* short word, for events and metrics */
const char *node_reason_text(enum node_reason r); /* a phrase for people */
int node_reason_parse(const char *word);
/* The reason for a refusal with this code; NODE_BECAUSE_NONE: the code is no refusal. */
enum node_reason node_reason_of(enum provider_code code);
/* Is the reason about the place where the node was to be bought, so that another place may do? */
bool node_reason_of_place(enum node_reason r);

#endif
