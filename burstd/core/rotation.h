/* rotation.h - one of the cluster's keys is replaced by another, as a pure state machine.
 *
 * The bundle in the secret store is written two or three times: the new key beside the old one; the
 * new key in its place; of slurm.jwks also without the old one.  Nodes fetch each version and say
 * which one they have; nobody uses a key before all have it.  munge knows one key only, so all
 * switch at one time, which is told to nodes before (WINDOW).  slurm.jwks has several, and nothing
 * stands still.
 *
 *   STAGING -> SPREADING -> STAGED --munge--> WINDOW --+-> SWITCHING -> SETTLING -+-> DONE
 *      |           |          |  +---jwks--> LOADING --+                          |    ^
 *      +---abort---+----------+------abort----> ABORTING -> ABORTED    jwks: AGING -> DROPPING
 *
 * Munge's SETTLING ends when slurmctld's own munged has the new key, however long that takes:
 * without it the nodes that have followed are lost to slurmctld.
 *
 * The phases STAGING, SWITCHING, DROPPING and ABORTING want something written.  Each may be
 * repeated: whoever writes puts rotation_mark() into the bundle, and finds it there when he does
 * not know whether he has written.  Anybody else's write ends the rotation, but for two: one from
 * before ours, which STAGING begins with (whoever orders a rotation knows the store as it was at
 * the last poll), and one while munge's nodes are SETTLING, who then follow to that. */
#ifndef BURSTD_ROTATION_H
#define BURSTD_ROTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum rotation_kind { ROTATION_NONE, ROTATION_MUNGE, ROTATION_JWKS, ROTATION_NKINDS };

enum rotation_phase {
	ROTATION_IDLE,      /* there never was one */
	ROTATION_STAGING,   /* the new key is to be written, beside the old one */
	ROTATION_SPREADING, /* it is; nodes fetch it */
	ROTATION_STAGED,    /* they have it: the switch may be ordered */
	ROTATION_WINDOW,    /* munge: nodes are told when */
	ROTATION_LOADING,   /* jwks: slurmctld is to know both keys */
	ROTATION_SWITCHING, /* the new key is to be written as the one in use */
	ROTATION_SETTLING,  /* it is; nodes follow, and munge beside slurmctld */
	ROTATION_AGING,     /* jwks: tokens of the old key are still about */
	ROTATION_DROPPING,  /* jwks: the old key is to be taken out */
	ROTATION_DONE,
	ROTATION_ABORTING, /* the new key is to be taken out again */
	ROTATION_ABORTED,
	ROTATION_NPHASES
};

enum rotation_event_type {
	ROTATION_EV_START,  /* kind, id, version (the current one), life_ms */
	ROTATION_EV_WROTE,  /* what the phase wanted is the current version: version */
	ROTATION_EV_ALIEN,  /* the current version is somebody else's: version; in a WINDOW as ABORT
			     */
	ROTATION_EV_HAVE,   /* all nodes that are heard of have what they should */
	ROTATION_EV_SWITCH, /* by an admin: at_ms */
	ROTATION_EV_TOLD,   /* slurmctld, or its munged, has what it should */
	ROTATION_EV_ABORT,  /* by an admin; in a WINDOW not in its last ROTATION_HEAR_MS */
	ROTATION_EV_TIMER,  /* now >= rotation_wake_ms() */
	ROTATION_EV_NTYPES
};

/* What is to be done; asked of the state alone, so that a restart does it again. */
enum rotation_want {
	ROTATION_WANT_NOTHING,
	ROTATION_WANT_WRITE, /* then WROTE or ALIEN */
	ROTATION_WANT_TELL,  /* then TOLD */
};

enum {
	ROTATION_SPREAD_MS = 600000, /* who has no new key by then is left behind, and drained */
	ROTATION_SETTLE_MS = 300000, /* likewise, after the switch */
	ROTATION_LIFE_MS = 300000,   /* of a token by slurm.jwks, unless the admin says otherwise */
	ROTATION_WINDOW_MS = 60000, /* to the switch, at least: each node has a heartbeat by then */
	ROTATION_HEAR_MS = 45000,   /* ... and this long before it, at least, it is called off */
	ROTATION_BEHIND_MS = 60000, /* so long after a write the store may not know it everywhere */
	ROTATION_MARK_SIZE = 32,
};

struct rotation { /* numbers alone: the journal keeps them */
	enum rotation_kind kind;
	enum rotation_phase phase;
	int64_t id;                 /* > 0, of dice */
	int64_t now, prev;          /* version that was written last, and the one before; 0: none */
	int64_t begun_ms, since_ms; /* since_ms: of the phase; AGING: or of TOLD */
	int64_t switch_ms;          /* munge: when, as nodes are told, or were; 0: they are not */
	int64_t life_ms;            /* jwks: of a token */
	bool told;                  /* what the phase wanted to be told was told */
	bool alien;                 /* it ended for that */
};

struct rotation_event {
	enum rotation_event_type type;
	int64_t now_ms;
	enum rotation_kind kind;
	int64_t id, version, at_ms, life_ms;
};

/* false: it cannot be now, and nothing has changed. */
bool rotation_step(struct rotation *r, const struct rotation_event *ev);
enum rotation_want rotation_want(const struct rotation *r);
/* Is the munged beside slurmctld to switch?  As soon as it is time, whatever the store says
 * meanwhile; then TOLD. */
bool rotation_switches(const struct rotation *r);
int64_t rotation_wake_ms(const struct rotation *r); /* INT64_MAX: no timer */
bool rotation_runs(const struct rotation *r);       /* neither idle nor at its end */
/* Is the store's current version, as it said at seen_ms, none of its own, though nothing is on its
 * way?  Then ALIEN. */
bool rotation_is_overwritten(const struct rotation *r, int64_t current, int64_t seen_ms);
/* Nodes were told of a switch, it is called off, and one may think of it still. */
bool rotation_called_off(const struct rotation *r, int64_t now_ms);
/* Is munge's key of the version that was written last the one that all use? */
bool rotation_in_use(const struct rotation *r);
/* Is munge's new key in use, or about to be?  Who has the old one alone is of no use then. */
bool rotation_switched(const struct rotation *r);
/* Does whoever has this version fit in with the others, though another one may be current? */
bool rotation_takes(const struct rotation *r, int64_t version);
/* Keys are given to nobody: what the store has is about to be the wrong one. */
bool rotation_holds(const struct rotation *r, int64_t current);
/* "5f3a...-1": of what the phase wants written. */
void rotation_mark(const struct rotation *r, char out[ROTATION_MARK_SIZE]);

const char *rotation_phase_str(enum rotation_phase p);
const char *rotation_kind_str(enum rotation_kind k);
int rotation_kind_parse(const char *word); /* -1: none of these */
/* As it was kept; false: these numbers are none. */
bool rotation_good(const struct rotation *r);
/* The clock was set back while burstd was not running: move all times of r to before now_ms, and
 * the switch with them, so that it is no further away than it was when it was ordered (F57). */
void rotation_set_back(struct rotation *r, int64_t now_ms);

/* --- the bundle: rotation_bundle.c --- */

enum { ROTATION_FRESH = 128 }; /* bytes of dice for a new key */

enum rotation_found {
	ROTATION_FOUND_OLD,   /* as it was before */
	ROTATION_FOUND_OURS,  /* with this mark: it is written */
	ROTATION_FOUND_OTHER, /* neither: *e */
};

/* Is what the phase wants written there already?  version: of the bundle that was read. */
enum rotation_found rotation_look(const struct rotation *r, int64_t version, const char *bundle,
				  size_t len, struct err *e);
/* The bundle as the phase wants it, from what it is; fresh has ROTATION_FRESH bytes.  The text is
 * the caller's: it has *size bytes, to be wiped before free().  NULL: *e. */
char *rotation_bundle(const struct rotation *r, const char *bundle, size_t len,
		      const unsigned char *fresh, size_t *size, struct err *e);

#endif
