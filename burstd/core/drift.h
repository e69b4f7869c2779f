/* drift.h - compares what slurmctld says, what a provider lists and what the journal has, and
 * decides what to do about each difference.
 *
 * None of the three is believed alone.  A list or a snapshot decides only about what is older than
 * it, only when it is complete, and never much at once (I12); what is not known is left as it is
 * (I14).  Pure: diff/inventory.c and diff/observe.c gather the facts, ask here, and carry out the
 * answer. */
#ifndef BURSTD_DRIFT_H
#define BURSTD_DRIFT_H

#include "core/fleet.h"
#include "core/reclaim.h"
#include "core/slurm_flag.h"

enum {
	DRIFT_BRAKE_MIN = 3,        /* one pass may lose this many nodes, or 10 % (I12) */
	DRIFT_REFORCE_MS = 10000,   /* between two POWER_DOWN_FORCE of one node */
	DRIFT_REFUSAL_MS = 900000,  /* a refusal is shown so long after it happened */
	DRIFT_VANISHED_MS = 300000, /* a node that no snapshot has had for so long is down */
	DRIFT_UNSEEN_MS = 60000, /* two polls of an idle cluster: a longer gap between snapshots may
				    hide a change */
};

/* --- an instance on a provider's list that has our tag -----------------------------------------
 */

/* The generation that has this instance, else the one in the instance's tags; NULL: none.  Staged
 * changes count: the same list may have shown another instance of it before. */
struct fleet_node *drift_owner(const struct fleet_name *nm, const struct provider_instance *in);
/* Is `in` the instance of that generation, or may it become so?  Not that of one that was refused,
 * if slurmctld has the node up, or has not said yet whether it has, and no other row could be that:
 * then it may have a job (I18). */
bool drift_owns(const struct fleet_node *fn, const struct provider_instance *in);

enum drift_claim {              /* what to do with an instance that no generation owns */
		   DRIFT_LEAVE, /* nothing: it has ended, or may have a job */
		   DRIFT_ASK,   /* ask slurmctld whether it is used, or the provider for its price,
				   and look again */
		   DRIFT_STRAY, /* delete it, unless a row for it comes: cloud_stray_due() */
		   DRIFT_ADOPT, /* make a row for it, with the generation in its tag */
		   DRIFT_ADOPT_NEXT, /* likewise with a new generation: another instance has that
					one */
};

struct drift_listed {
	const struct provider_instance *in;
	const struct fleet_name *nm; /* the node in its tag; NULL: no pool names that */
	const struct fleet_node *fn; /* has its generation, but another instance; NULL: none */
	bool here;                   /* the node is bought at this provider */
	bool priced;                 /* and its price is known */
};

enum drift_claim drift_claim(const struct drift_listed *l);

enum drift_fate {                /* what becomes of an adopted instance */
		  DRIFT_KEEP,    /* it stays: the node has no other */
		  DRIFT_REPLACE, /* it stays, and the live one is released */
		  DRIFT_LET_GO,  /* it is released */
};

/* started_ms: when burstd started; rows from before that may be outdated (F58). */
enum drift_fate drift_fate(const struct fleet_name *nm, const struct provider_instance *in,
			   int64_t started_ms);

/* Does slurmctld have the node up on this instance, which is not the live row's?  Then it must not
 * be deleted, even if it is NodeAddr that says so, and that may be an earlier generation's. */
bool drift_is_elsewhere(const struct fleet_name *nm, const char *id, const char *addr);

/* --- what a complete list lacks ----------------------------------------------------------------
 */

/* Should a list show this generation, so that the brake counts it? */
bool drift_must_show(const struct fleet_node *fn);
/* How many of so many nodes one pass may lose. */
size_t drift_most(size_t nodes);
/* Does the list lack so many that it must be broken? */
bool drift_brake(size_t alive, size_t absent);
/* Does slurmctld hear from the machine, by the last snapshot?  Then it lives, whatever a list
 * lacks.
 */
bool drift_is_heard(const struct fleet_node *fn);
/* Is the absence of this generation believed? */
bool drift_absent(const struct fleet_node *fn, bool brake);

/* --- a node in a snapshot of slurmctld ---------------------------------------------------------
 */

enum drift_reason { /* who wrote the node's Reason, by its first words */
		    DRIFT_REASON_OTHER,
		    DRIFT_REASON_OURS,
		    DRIFT_REASON_TIMEOUT, /* slurmctld: the node did not come up within
					     ResumeTimeout */
		    DRIFT_REASON_SILENT,  /* slurmctld: the node did not answer for SlurmdTimeout */
};

enum drift_addr {                  /* NodeAddr */
		  DRIFT_ADDR_NONE, /* not set: the node's name */
		  DRIFT_ADDR_OURS, /* of our live instance */
		  DRIFT_ADDR_OTHER,
};

struct drift_seen {
	uint32_t flags;
	enum drift_reason reason;
	enum drift_addr addr;
	bool settled;        /* the snapshot shows the effect of all orders */
	bool listed;         /* its provider's list was read since burstd started */
	bool blind;          /* no list has come for so long that the journal's address must do */
	bool loses_requeued; /* slurmctld has, or may have, SLURM_BUG_REQUEUE_LOST */
	int64_t began_ms, now_ms, started_ms; /* the snapshot; now; burstd */
	int64_t before_ms;                    /* begin of the previous snapshot; 0: none */
	struct reclaim_plan plan;             /* of a live row that is DRAINING */
};

enum drift_deed {
	DRIFT_WATCH = 1 << 0,       /* the node is in transition: look again soon */
	DRIFT_BUY = 1 << 1,         /* slurmctld waits for the node, which has no instance */
	DRIFT_REFUSE = 1 << 2,      /* slurmctld still waits for a node that was refused */
	DRIFT_RELEASE = 1 << 3,     /* the live row is not needed any more */
	DRIFT_SET_ADDR = 1 << 4,    /* slurmctld lacks its address */
	DRIFT_RESET_ADDR = 1 << 5,  /* slurmctld has an outdated address */
	DRIFT_RESUME = 1 << 6,      /* the node would stay down for ever (slurm.md 2.1) */
	DRIFT_REGISTERED = 1 << 7,  /* its slurmd is there */
	DRIFT_FAILED = 1 << 8,      /* it registered with wrong hardware: its pool's fault */
	DRIFT_POWER_DOWN = 1 << 9,  /* have slurmctld power the node down */
	DRIFT_CANCEL = 1 << 10,     /* check whether the job that it boots for still exists */
	DRIFT_UNBAR = 1 << 11,      /* the node may be bought again */
	DRIFT_FORGET_JOB = 1 << 12, /* the node waits for no job any more */
	DRIFT_FORGET_REFUSAL = 1 << 13,
	DRIFT_REST = 1 << 14,   /* keep slurmctld from using the node for a while */
	DRIFT_FENCE = 1 << 15,  /* drain the node, since its machine will be taken */
	DRIFT_SIGNAL = 1 << 16, /* tell the jobs on it to save their work */
};

enum drift_why { /* why a node is powered down; texts: drift_why_text() */
		 DRIFT_WHY_NONE,
		 DRIFT_WHY_NOTICE,  /* its machine will be taken: reclaim_kind_text() */
		 DRIFT_WHY_INVALID, /* it registered with wrong hardware */
		 DRIFT_WHY_DEAD,
		 DRIFT_WHY_NO_INSTANCE,
		 DRIFT_WHY_DELETING,
		 DRIFT_WHY_MUTE,
};

struct drift_todo {
	unsigned deeds;           /* of enum drift_deed */
	enum node_reason release; /* RELEASE */
	enum drift_why why;       /* POWER_DOWN */
	bool dead; /* POWER_DOWN: the node does not answer, so DOWN first (slurm.md 2.2) */
};

/* Decide about one node.  nm has the flags and the place of this snapshot already. */
void drift_node(const struct fleet_name *nm, const struct drift_seen *s, struct drift_todo *out);
const char *drift_why_text(enum drift_why w); /* "burstd: ..." */

/* Has slurmd registered, with the right hardware? */
bool drift_registered(uint32_t flags);

/* Snapshots have not had the node since nm->missing_ms.  Has it vanished from slurmctld?  And
 * should its live row be released for that? */
bool drift_vanished(const struct fleet_name *nm, int64_t began_ms);
bool drift_vanished_release(const struct fleet_name *nm, int64_t began_ms);

#endif
