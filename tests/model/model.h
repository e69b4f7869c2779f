/* model.h - every state that two nodes of two generations each can get into.
 *
 * The simulator throws dice; this looks everywhere.  The real node_step(), node_want(),
 * fleet_live() and fleet_clear() live in a world small enough to be searched to its end (T5): a
 * cloud that may do all that provider.h lets it do, a slurmctld that wants a node or does not,
 * crashes.  What must hold is checked at each step and in each state (I3-I9, I14).  From each state
 * the way back to order is walked, and must end as slurmctld wants it (I24); as a crash is a step
 * like others, what follows a crash ends as it would have without (I23).  A violation is printed
 * with the shortest way to it.
 *
 * Time.  There is no clock in a state.  Wherever the code compares with a clock - is it time to
 * wake, has the settle time passed since the state began (list_ms against since_ms) or since the
 * first absence (missed_ms), is the token too old, is this the last retry - the model takes both
 * answers, each time anew, with numbers that lie just on either side of the limit.  Real time
 * allows fewer orders than that, never others, so what holds here holds with any clock (it is an
 * over-approximation).  That since_ms and missed_ms are when the model believes them to be is
 * checked at each step.  What a cloud promises is tied to the same answers, or nothing would hold:
 *   - what was sent, or lost, a settle time ago is not still on its way ("late"): a list begun so
 *     long after since_ms is only delivered when nothing is late;
 *   - an instance is not left out by two lists a settle time apart with none between that shows it
 *     (F12, F15): the first may come at any time, a second only sooner than that.
 * A list is one step, though it takes time: what happened between its begin and its end is a list
 * that began before since_ms, and it may show any earlier state of what it shows (F14).  For the
 * way back only one answer is taken at each limit, "much later", which any clock gives to who
 * waits; so the way that is found is one that can be gone.
 *
 * What is not here: addresses, money, reasons (they decide nothing in node.c), clocks that jump
 * (F57), a lost journal (F58), rows forgotten after GONE, lists that lack many nodes (I12; two are
 * few), limits, how lists and snapshots become events (observe.c, inventory.c) beyond what is said
 * in side.c. The unit tests and the simulator have those. */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/node.h"

enum { GENS = 2, SIDES = 2, NO_ROW = NODE_NSTATES };

enum instance { /* what the cloud has for one generation */
		NONE,
		LATE, /* nobody waits for its create any more, but it may still come (F1, F2) */
		LIVE,
		RECLAIMING, /* notice given (F41) */
		STOPPING,   /* a delete was accepted, or it powers itself off (F10): it may run
			     * for a while (I9) */
		DEAF,       /* accepted, and nothing happens (F21) */
		ENDED,      /* and a list may say so, or show it as it was (F14) */
		FORGOTTEN,  /* no list has it any more, but its token brings it up */
};

struct life {          /* one generation: a row and its world, as small as it can be told */
	uint8_t state; /* enum node_state, or NO_ROW */
	bool release, accepted, missed;
	bool tired;  /* INDOUBT: attempts used up */
	bool known;  /* GONE: it had an instance */
	bool asleep; /* wake_ms is never */
	bool joint;  /* in the one create that has nodes of both sides */
	uint8_t instance;
	bool omitted;            /* the last list left it out */
	bool creating, deleting; /* a request is on the wire; burstd waits for it */
	bool made;               /* by the create on the wire: no refusal can be its answer */
};

struct side { /* one Slurm node */
	struct life g[GENS];
	bool want; /* slurmctld has a job for it */
};

/* By what the cloud knows its instances, and whether it lies. */
enum cloud_kind { TOKENS, TAGS, NAMES, NKINDS };
struct rules {
	enum cloud_kind kind;
	bool liar;  /* a create that was refused may happen later (F3) */
	bool alone; /* one node only */
};

enum move_kind {
	ALONE,     /* nothing to do with the other side */
	BUY_BOTH,  /* START of one that goes out with one of the other side */
	ANSWER,    /* to a create with both: both get theirs at once */
	REPEAT,    /* the create with both goes out again, for this one */
	GIVE_UP,   /* or never again */
	RESTART,   /* a crash takes both sides */
	VIOLATION, /* this must not happen: `what` says why */
};

struct move {
	struct side to;
	enum move_kind kind;
	unsigned gen;
	unsigned heal; /* on the way back: the lowest is taken first; 0: not */
	const char *what;
};

enum { MOVES_MAX = 256 };

struct moves { /* all that may happen to one side */
	struct move v[MOVES_MAX];
	size_t n;
	const char *broken; /* what the step in hand did wrong; NULL: nothing */
};

/* --- life.c: one row --- */

/* Answers to what a row asks of the clock. */
struct when {
	bool due;    /* its time to wake has come */
	bool counts; /* ABSENT: the list began late enough to count */
	bool apart;  /* ABSENT: a settle time after the first that missed it */
	bool last;   /* one more failure is the last */
	bool stale;  /* its token is too old to be used (I6) */
};

void life_limits(const struct rules *r, struct node_limits *lim);
/* The row as struct node, for the answers given. */
struct node life_row(const struct life *l, unsigned gen, const struct when *w);
enum node_want life_want(const struct life *l, unsigned gen, const struct rules *r, bool stale);
/* Post an event by the real node_step().  NULL, or what it did wrong. */
const char *life_step(struct life *l, unsigned gen, const struct rules *r,
		      enum node_event_type type, enum provider_state shown, const struct when *w,
		      bool joint);
bool life_exists(const struct life *l); /* has an instance that runs, or may come to */
bool life_has_row(const struct life *l);

/* --- side.c: what may happen to one Slurm node --- */

void side_moves(const struct side *s, const struct rules *r, struct moves *out);
/* By the real fleet rules: the index of its live generation, or -1. */
int side_live(const struct side *s);
bool side_clear(const struct side *s, unsigned gen, const struct rules *r);
/* NULL, or what is wrong with this state whatever led to it. */
const char *side_check(const struct side *s, const struct rules *r);
/* Is it as slurmctld wants it, with nothing left to do? */
bool side_done(const struct side *s);
uint64_t side_pack(const struct side *s);
struct side side_unpack(uint64_t key);
void side_print(const struct side *s, const char *name);

/* --- explore.c: both sides; see explore.h --- */

struct summary {
	uint64_t states, alone, transitions, longest;
	unsigned depth;
};

/* Search all.  true: nothing was violated; else it is printed. */
bool explore(const struct rules *r, struct summary *out);

#endif
