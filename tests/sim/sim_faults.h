/* sim_faults.h - what can go wrong in a world, how often, and which states of a node it can meet.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdint.h>

/* What can go wrong; numbers as in the fault catalogue.  sim_faults[] in sim_faults.c has their
 * names.
 */
enum sim_fault {
	SIM_CREATE_REPLY_LOST, /* F1 */
	SIM_CRASH,             /* F2, F54 */
	SIM_FAIL_THEN_SUCCESS, /* F3, reported as a failure that says nothing */
	SIM_REFUSED_YET_MADE,  /* F3, reported as a refusal: the provider lies */
	SIM_PARTIAL,           /* F4 */
	SIM_THROTTLED,         /* F7 */
	SIM_CAPACITY,          /* F8 */
	SIM_QUOTA,             /* F9 */
	SIM_LATE_VISIBLE,      /* F12 */
	SIM_NO_ADDRESS,        /* F13 */
	SIM_STALE,             /* F14 */
	SIM_FLAP,              /* F15 */
	SIM_LIST_BROKEN,       /* F16 */
	SIM_LIST_EMPTY,        /* F17 */
	SIM_LIST_OTHER,        /* F18: lists of another account, for minutes */
	SIM_UNKNOWN_STATE,     /* F19 */
	SIM_DELETE_404,        /* F20 */
	SIM_DELETE_IGNORED,    /* F21 */
	SIM_DELETE_DENIED,     /* F22 */
	SIM_STUCK_STOPPING,    /* F23 */
	SIM_DELETE_5XX,        /* F24 */
	SIM_DELETE_REPLY_LOST, /* F1 of a delete */
	SIM_NOT_SENT,          /* F26 */
	SIM_GARBAGE,           /* F30 */
	SIM_AUTH,              /* F33: our credentials are refused, for minutes */
	SIM_NEVER_BOOTS,       /* F34 */
	SIM_SLOW_BOOT,         /* F35 */
	SIM_RECLAIM,           /* F41 */
	SIM_MASS_RECLAIM,      /* F42: all that run, at once */
	SIM_ENDED,             /* F41 without notice, F10 */
	SIM_NOTICE,            /* F41: the word comes by itself, perhaps more than once */
	SIM_FALSE_NOTICE,      /* F41: and nothing comes of it */
	SIM_HOOK_LOST,         /* F45 */
	SIM_HOOK_TWICE,        /* F46 */
	SIM_HOOK_ORDER,        /* F47 */
	SIM_HOOK_LATE,         /* its file comes much later */
	SIM_HOOK_FALSE,        /* F46: again and again for a node that slurmctld does not want */
	SIM_NO_RESUME_FILE,
	SIM_CTLD_DOWN,       /* F48 */
	SIM_CTLD_DEAF,       /* F48: it works, and does not answer burstd, for minutes */
	SIM_SCONTROL_FAILS,  /* F49 */
	SIM_SCONTROL_HANGS,  /* F49: time-out after the effect */
	SIM_NODE_DELETED,    /* F51: slurmctld knows it no more */
	SIM_JOB_CANCELLED,   /* F53 */
	SIM_COMMIT_FAILS,    /* F55 */
	SIM_DISK_FULL,       /* F55: there is little room, for a while */
	SIM_CLOCK_JUMP,      /* F57, over a restart */
	SIM_CLOCK_SET,       /* F57, while burstd runs, forward and back */
	SIM_RESTORED,        /* F58: over a restart, an older copy of the journal */
	SIM_CONF_CHANGED,    /* over a restart: other creates from the same pool */
	SIM_RELOADED,        /* while it runs */
	SIM_RELOAD_REFUSED,  /* likewise, with what needs a restart: other creates from a pool */
	SIM_WRONG_NODE,      /* F36: one registers wrong */
	SIM_WRONG_IMAGE,     /* F36: all of a pool do, for a while */
	SIM_SLURMD_DIES,     /* in an instance that lives, and perhaps comes back */
	SIM_ADMIN_PAUSES,    /* an admin pauses a pool, or goes on */
	SIM_ADMIN_ORDERS,    /* has burstd drain or terminate nodes */
	SIM_ADMIN_DRAINS,    /* F51: drains nodes in slurmctld, or undrains them */
	SIM_ADMIN_DOWNS,     /* F51: sets nodes down, or resumes them */
	SIM_ADMIN_POWERS_UP, /* F51 */
	SIM_ADMIN_REBOOTS,   /* F51 */
	/* Of machines that claim, from here on. */
	SIM_NEVER_CLAIMS,    /* it hangs, or has keys of its own */
	SIM_THIEF,           /* somebody else knows its secret, or its claim's id */
	SIM_DOOR_LOST,       /* a request to burstd gets lost ... */
	SIM_DOOR_REPLY_LOST, /* ... or its answer */
	SIM_EARLY,           /* it says that it is ready before it has confirmed its keys */
	SIM_STEP_FAILS,      /* of node-init */
	SIM_ALARM,           /* of the node: something was tampered with */
	SIM_MISUSE,          /* a node speaks for another */
	SIM_MUNGE_AWAY,      /* munged does not answer */
	SIM_MUNGE_WRONG,     /* the node has not the key that it says it has */
	SIM_STORE_AWAY,      /* the secret store is sealed, for minutes */
	SIM_STORE_SLOW,      /* its answers get lost */
	SIM_KEYS_CHANGED,    /* there are others in it */
	/* By dice of their own, from here on: worlds without them stay as they were. */
	SIM_LIST_TWICE,   /* F16: a list has a row twice, perhaps with another state */
	SIM_AWAY,         /* F26: nobody answers, for minutes, or only with 500 */
	SIM_SHARED,       /* jobs of one node */
	SIM_NO_REQUEUE,   /* F41: jobs that end with their node (--no-requeue) */
	SIM_COMPLETES,    /* F53: the epilog of a job that is done takes its time */
	SIM_CTLD_FORGETS, /* F50: slurmctld comes back with an older state, or none */
	SIM_CALLS_SPLIT,  /* F47: ResumeRate: the nodes of a job come in several calls */
	SIM_ARRAYS,       /* tasks of an array, whose first has the number of them all */
	SIM_FROZEN,       /* F54: burstd stands still, and goes on; by the world's own choice */
	SIM_PLACE_FAILS,  /* F26: no create at one place is answered well, for minutes; likewise */
	SIM_ABSENT,       /* over a restart one of two providers is off; likewise */
	SIM_DISK_SLOW,    /* F55: what is written takes seconds to be durable; likewise */
	SIM_STILLBORN,    /* F10: what a create made, which was accepted, fails later; likewise */
	SIM_FULL,         /* F8: a place holds so many machines; likewise ... */
	SIM_NO_QUOTA,     /* F9: ... and the account may have so many there */
	SIM_TAGS_LATE,    /* F13: it is listed, and has no tags yet; likewise */
	SIM_TAGS_EDITED,  /* F13: somebody has changed them; likewise */
	SIM_PRICE_MOVES,  /* what an offer costs changes; likewise */
	SIM_OFFER_GONE,   /* F8: there is no such offer, for a while; likewise */
	SIM_CTLD_REVERTS, /* F50: slurmctld comes back without the last that scontrol set; likewise
			   */
	SIM_SPOOL_DEAF,   /* F47: inotify says nothing of a call; likewise */
	SIM_SPOOL_STAYS,  /* F55: the file of a call cannot be deleted; likewise */
	/* Of dynamic pools (ADR 67). */
	SIM_NO_ROOM,      /* slurmctld has none for more nodes, for minutes */
	SIM_CREATED_LATE, /* it is busy, and takes the order seconds later */
	/* Of where machines are (ADR 66). */
	SIM_PATHS_REFUSED, /* for one of them the provider refuses to say it of all */
	SIM_PATHS_DENIED,  /* nobody may ask, for minutes */
	SIM_PATHS_SLOW,    /* the answer takes long, or gets lost */
	SIM_NFAULTS
};

struct sim_fault_info {
	const char *name;
	uint32_t per_mille; /* how often when it is on: of the occasions it has */
	uint32_t never;     /* node states (1 << enum node_state) that it cannot meet, and why */
	const char *why;
};
extern const struct sim_fault_info sim_faults[SIM_NFAULTS];

#endif
