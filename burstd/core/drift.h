/* drift.h - the difference between what slurmctld says, what a provider lists and what we have
 * written down, as decisions: what is to be done about it.
 *
 * None of the three is believed alone.  A list or a snapshot decides only what it is newer than,
 * only when it is whole, and never much at once (I12); what nobody knows is left as it is (I14).
 * Here nothing is read, sent or changed: the engine gathers the facts, asks, and does what it is
 * told (diff/inventory.c, diff/observe.c). */
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
	DRIFT_UNSEEN_MS = 60000,    /* two polls of a quiet cluster: what slurmctld did meanwhile is
				       not known */
};

/* --- an instance on a provider's list that has our tag -----------------------------------------
 */

/* The incarnation that has this instance, else the one that it was made for; NULL: none.  What is
 * staged counts: the same list may have shown another instance of it before. */
struct fleet_node *drift_owner(const struct fleet_name *nm, const struct provider_instance *in);
/* Is it that incarnation's instance, or may it become so? */
bool drift_owns(const struct fleet_node *fn, const struct provider_instance *in);

enum drift_claim {              /* what an instance that no incarnation owns is to us */
		   DRIFT_LEAVE, /* leave it alone: it has ended, or may have a job */
		   DRIFT_ASK,   /* ask slurmctld whether it is needed, or its price, then look again
				 */
		   DRIFT_STRAY, /* to be deleted, after a settle time in which a row might come */
		   DRIFT_ADOPT, /* the node's, as the generation that its tag says */
		   DRIFT_ADOPT_NEXT, /* likewise, as a new one: another instance has that generation
				      */
};

struct drift_listed {
	const struct provider_instance *in;
	const struct fleet_name *nm; /* of its tag; NULL: no pool names such a node */
	const struct fleet_node *fn; /* its owner by generation, of another instance; NULL: none */
	bool here;                   /* the node is bought at this provider */
	bool priced;                 /* and we know for how much */
};

enum drift_claim drift_claim(const struct drift_listed *l);

enum drift_fate {                /* of one that is adopted */
		  DRIFT_KEEP,    /* the node has no other */
		  DRIFT_REPLACE, /* it stays, and our live one goes */
		  DRIFT_LET_GO,  /* it goes */
};

/* started_ms: when burstd started, for what was written down before may be old (F58). */
enum drift_fate drift_fate(const struct fleet_name *nm, const struct provider_instance *in,
			   int64_t started_ms);

/* Does slurmctld have the node up on this instance, and we do not? */
bool drift_is_elsewhere(const struct fleet_name *nm, const char *id, const char *addr);

/* --- what a complete list lacks ----------------------------------------------------------------
 */

/* Is it one that a list should show, so that the brake counts it? */
bool drift_must_show(const struct fleet_node *fn);
/* How many of so many one pass may lose. */
size_t drift_most(size_t nodes);
/* Does the list lack so many that it is a broken one? */
bool drift_brake(size_t alive, size_t absent);
/* Is the absence of this one believed? */
bool drift_absent(const struct fleet_node *fn, bool brake);

/* --- a node in a snapshot of slurmctld ---------------------------------------------------------
 */

enum drift_reason { /* what the node's Reason begins with: whose word it is */
		    DRIFT_REASON_OTHER,
		    DRIFT_REASON_OURS,
		    DRIFT_REASON_TIMEOUT, /* slurmctld's: it did not come up within ResumeTimeout */
		    DRIFT_REASON_SILENT,  /* slurmctld's: it did not answer for SlurmdTimeout */
};

enum drift_addr {                  /* NodeAddr there */
		  DRIFT_ADDR_NONE, /* none, that is the node's name */
		  DRIFT_ADDR_OURS, /* our live instance's */
		  DRIFT_ADDR_OTHER,
};

struct drift_seen {
	uint32_t flags;
	enum drift_reason reason;
	enum drift_addr addr;
	bool settled; /* the snapshot shows the effect of all that we told slurmctld */
	bool listed;  /* a list of its provider has been understood since we started */
	bool blind;   /* none of its live instance's has come for so long that the journal's word
			 on where that is must do */
	int64_t began_ms, now_ms, started_ms; /* the snapshot; now; burstd */
	int64_t before_ms;        /* the snapshot before began then; 0: there was none */
	struct reclaim_plan plan; /* of a live instance that is DRAINING */
};

enum drift_deed {
	DRIFT_WATCH = 1 << 0,       /* it is in transition: look again soon */
	DRIFT_BUY = 1 << 1,         /* slurmctld waits for it, and we know of no instance */
	DRIFT_REFUSE = 1 << 2,      /* it was told that there is none, and does not know */
	DRIFT_RELEASE = 1 << 3,     /* our live instance is not needed any more */
	DRIFT_SET_ADDR = 1 << 4,    /* slurmctld lacks its address */
	DRIFT_RESET_ADDR = 1 << 5,  /* slurmctld has an address of the past */
	DRIFT_RESUME = 1 << 6,      /* it would stay down for ever (slurm.md 2.1) */
	DRIFT_REGISTERED = 1 << 7,  /* its slurmd is there */
	DRIFT_FAILED = 1 << 8,      /* its slurmd is there, and wrong: its pool's fault */
	DRIFT_POWER_DOWN = 1 << 9,  /* slurmctld must let go of it */
	DRIFT_CANCEL = 1 << 10,     /* does the job that it boots for still live? */
	DRIFT_UNBAR = 1 << 11,      /* it may be bought again */
	DRIFT_FORGET_JOB = 1 << 12, /* it waits for no job */
	DRIFT_FORGET_REFUSAL = 1 << 13,
	DRIFT_REST = 1 << 14,   /* slurmctld must not use it for a while */
	DRIFT_FENCE = 1 << 15,  /* it must give it no more jobs, for its machine will go */
	DRIFT_SIGNAL = 1 << 16, /* the jobs on it are to be told so */
};

enum drift_why { /* it is powered down; texts: drift_why_text() */
		 DRIFT_WHY_NONE,
		 DRIFT_WHY_NOTICE,  /* its machine will go: reclaim_kind_text() */
		 DRIFT_WHY_INVALID, /* it registered wrong */
		 DRIFT_WHY_DEAD,
		 DRIFT_WHY_NO_INSTANCE,
		 DRIFT_WHY_DELETING,
		 DRIFT_WHY_MUTE,
};

struct drift_todo {
	unsigned deeds;           /* of enum drift_deed */
	enum node_reason release; /* RELEASE */
	enum drift_why why;       /* POWER_DOWN */
	bool dead; /* POWER_DOWN: nobody answers there, so DOWN first (slurm.md 2.2) */
};

/* nm has the flags and the place of this very snapshot already. */
void drift_node(const struct fleet_name *nm, const struct drift_seen *s, struct drift_todo *out);
const char *drift_why_text(enum drift_why w); /* "burstd: ..." */

/* Has slurmd registered, and well? */
bool drift_registered(uint32_t flags);

/* A node that the snapshots have not had since nm->missing_ms: has it vanished from slurmctld, and
 * is its live instance to be released for it? */
bool drift_vanished(const struct fleet_name *nm, int64_t began_ms);
bool drift_vanished_release(const struct fleet_name *nm, int64_t began_ms);

#endif
