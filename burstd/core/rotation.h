/* rotation.h - the rotation of one of the cluster's keys, as a pure state machine.
 *
 * burstd writes the bundle in the secret store two or three times: with the new key beside the old
 * one; with the new key in its place; and for slurm.jwks without the old one.  Nodes fetch each
 * version and say which one they have; no key is used before all have it.  munge knows one key
 * only, so all switch at the same time, which nodes are told before (WINDOW).  slurm.jwks has
 * several keys, and nothing stands still.
 *
 *   STAGING -> SPREADING -> STAGED --munge--> WINDOW --+-> SWITCHING -> SETTLING -+-> DONE
 *      |           |          |  +---jwks--> LOADING --+                          |    ^
 *      +---abort---+----------+------abort----> ABORTING -> ABORTED    jwks: AGING -> DROPPING
 *
 * Munge's SETTLING ends when slurmctld's own munged has the new key, however long that takes:
 * without it the nodes that have followed are lost to slurmctld.
 *
 * The phases STAGING, SWITCHING, DROPPING and ABORTING write the bundle.  A write may be repeated:
 * it puts rotation_mark() into the bundle, where burstd finds it if it does not know whether it has
 * written.  A write by somebody else ends the rotation, with two exceptions: STAGING starts from a
 * write of before its own (the order was given for the store as of the last poll), and while
 * munge's nodes are SETTLING they follow to the other write. */
#ifndef BURSTD_ROTATION_H
#define BURSTD_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum rotation_kind { ROTATION_NONE, ROTATION_MUNGE, ROTATION_JWKS, ROTATION_NKINDS };

enum rotation_phase {
	ROTATION_IDLE,      /* there was no rotation yet */
	ROTATION_STAGING,   /* write the new key beside the old one */
	ROTATION_SPREADING, /* nodes fetch the new key */
	ROTATION_STAGED,    /* nodes have it: an admin may order the switch */
	ROTATION_WINDOW,    /* munge: nodes are told when to switch */
	ROTATION_LOADING,   /* jwks: have slurmctld load both keys */
	ROTATION_SWITCHING, /* write the new key as the one in use */
	ROTATION_SETTLING,  /* nodes and the munged beside slurmctld follow */
	ROTATION_AGING,     /* jwks: tokens of the old key are still valid */
	ROTATION_DROPPING,  /* jwks: write the bundle without the old key */
	ROTATION_DONE,
	ROTATION_ABORTING, /* write the bundle without the new key */
	ROTATION_ABORTED,
	ROTATION_NPHASES
};

enum rotation_event_type {
	ROTATION_EV_START, /* kind, id, version (the current one), life_ms */
	ROTATION_EV_WROTE, /* the write of the phase is the current version: version */
	ROTATION_EV_ALIEN, /* somebody else wrote the current version: version; in a WINDOW as ABORT
			    */
	ROTATION_EV_HAVE,  /* all nodes that report have the version that they should */
	ROTATION_EV_SWITCH, /* an admin orders the switch: at_ms */
	ROTATION_EV_TOLD,   /* slurmctld, or its munged, was told */
	ROTATION_EV_ABORT,  /* an admin aborts; not in the last ROTATION_HEAR_MS of a WINDOW */
	ROTATION_EV_TIMER,  /* now >= rotation_wake_ms() */
	ROTATION_EV_NTYPES
};

/* What to do.  It follows from the state alone, so that a restart does it again. */
enum rotation_want {
	ROTATION_WANT_NOTHING,
	ROTATION_WANT_WRITE, /* then WROTE or ALIEN */
	ROTATION_WANT_TELL,  /* then TOLD */
};

enum {
	ROTATION_SPREAD_MS = 600000, /* nodes without the new key by then are drained */
	ROTATION_SETTLE_MS = 300000, /* likewise after the switch */
	ROTATION_LIFE_MS = 300000,   /* default life of a token of slurm.jwks */
	ROTATION_WINDOW_MS = 60000,  /* least time to the switch: each node has a heartbeat in it */
	ROTATION_HEAR_MS = 45000,    /* it can be called off until so long before the switch */
	ROTATION_BEHIND_MS = 60000,  /* replicas of the store may lag so long behind a write */
	ROTATION_MARK_SIZE = 32,
};

struct rotation { /* only numbers, since the journal keeps them as such */
	enum rotation_kind kind;
	enum rotation_phase phase;
	int64_t id;                 /* random, > 0 */
	int64_t now, prev;          /* versions that were written last and before that; 0: none */
	int64_t begun_ms, since_ms; /* since_ms: begin of the phase; AGING: or of TOLD */
	int64_t switch_ms; /* munge: the time of the switch as nodes were told; 0: they were not */
	int64_t life_ms;   /* jwks: life of a token */
	bool told;         /* ROTATION_WANT_TELL of this phase is done */
	bool alien;        /* it was ended by ROTATION_EV_ALIEN */
};

struct rotation_event {
	enum rotation_event_type type;
	int64_t now_ms;
	enum rotation_kind kind;
	int64_t id, version, at_ms, life_ms;
};

/* false: the event does not fit the phase, and nothing has changed. */
bool rotation_step(struct rotation *r, const struct rotation_event *ev);
enum rotation_want rotation_want(const struct rotation *r);
/* Must the munged beside slurmctld switch now?  At the time of the switch, whatever the store says
 * meanwhile; then TOLD. */
bool rotation_switches(const struct rotation *r);
int64_t rotation_wake_ms(const struct rotation *r); /* INT64_MAX: no timer */
bool rotation_runs(const struct rotation *r);       /* neither idle nor ended */
/* Did somebody else write the store's current version, as of seen_ms, while no write of burstd's
 * runs?  Then ALIEN. */
bool rotation_is_overwritten(const struct rotation *r, int64_t current, int64_t seen_ms);
/* Was a switch called off that a node may still expect? */
bool rotation_called_off(const struct rotation *r, int64_t now_ms);
/* Do all use munge's key of the version that was written last? */
bool rotation_in_use(const struct rotation *r);
/* Is munge's new key in use, or about to be?  Then a node with only the old one is useless. */
bool rotation_switched(const struct rotation *r);
/* May a node with this version be in the cluster, though another one may be current? */
bool rotation_takes(const struct rotation *r, int64_t version);
/* Must burstd give out no keys, as those in the store are about to be the wrong ones? */
bool rotation_holds(const struct rotation *r, int64_t current);
/* The mark of the phase's write, "5f3a...-1". */
void rotation_mark(const struct rotation *r, char out[ROTATION_MARK_SIZE]);

const char *rotation_phase_str(enum rotation_phase p);
const char *rotation_kind_str(enum rotation_kind k);
int rotation_kind_parse(const char *word); /* -1: none of these */
/* Are these numbers a possible rotation? */
bool rotation_good(const struct rotation *r);
/* The clock was set back while burstd was not running: move all times of r to before now_ms, and
 * the switch with them, so that it is no further away than it was when it was ordered (F57). */
void rotation_set_back(struct rotation *r, int64_t now_ms);

/* --- the bundle: rotation_bundle.c --- */

enum { ROTATION_FRESH = 128 }; /* random bytes for a new key */

enum rotation_found {
	ROTATION_FOUND_OLD,   /* the bundle as it was before */
	ROTATION_FOUND_OURS,  /* the bundle with the phase's mark */
	ROTATION_FOUND_OTHER, /* another bundle: *e */
};

/* Is the phase's write there already?  version: of the bundle that was read. */
enum rotation_found rotation_look(const struct rotation *r, int64_t version, const char *bundle,
				  size_t len, struct err *e);
/* Make the bundle that the phase writes from the present one; fresh has ROTATION_FRESH bytes.  The
 * text is the caller's: wipe its *size bytes before free().  NULL: *e. */
char *rotation_bundle(const struct rotation *r, const char *bundle, size_t len,
		      const unsigned char *fresh, size_t *size, struct err *e);

#endif
