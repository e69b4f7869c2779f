/* explore.h - the search through all states of two nodes: what its files share.
 *
 *   known.c     the sides and the states that are known, each by its number
 *   step.c      what may happen next to both sides
 *   back.c      the way back to order from each state
 *   explore.c   the search itself, and what is printed of a violation
 *
 * A side is what one node can be in; there are some thousands of them, each is made out once by the
 * real code and then known by its number, with all its moves.  A state is a pair of numbers. */
#ifndef TESTS_EXPLORE_H
#define TESTS_EXPLORE_H

#include "model.h"

#define NO_STATE  UINT32_MAX
#define FROM_BOTH (UINT32_MAX - 1) /* parent: one state of each side alone */

struct known_move {
	uint32_t to;
	uint8_t kind, gen, heal;
	const char *what;
};

struct known_side {
	uint64_t key;
	struct known_move *moves;
	size_t nmoves;
	const struct known_move *bad; /* a violation, or NULL */
	uint32_t plain;      /* the same, in no create with both; NO_STATE: not yet made out */
	bool expanded, buys; /* buys: it may go out together with another one */
	/* of its member of the create with both */
	bool joint, open, inflight, wants, named;
};

struct table { /* key -> index, open addressing */
	uint32_t *slot;
	uint64_t mask;
};

struct explorer {
	const struct rules *r;
	struct known_side *sides;
	size_t nsides, sides_cap;
	struct table by_side;
	uint64_t *states; /* side a << 32 | side b */
	uint32_t *parent;
	uint8_t *fate;            /* how its way back ends */
	uint32_t idle;            /* the side that was never wanted */
	size_t nalone;            /* states with the second side idle: the first ones */
	size_t n, cap, at, level; /* at: the one in hand; level: where the next depth begins */
	struct table by_state;
	struct summary *sum;
	struct moves *scratch;
	bool violated;
};

/* --- known.c --- */

/* The number of this side, which is known from now on. */
uint32_t known_side(struct explorer *x, const struct side *s);
void known_expand(struct explorer *x, uint32_t side); /* make out its moves */
/* The same side once the create with both is settled: nobody needs to know of it any more
 * (launch_settle()). */
uint32_t known_settled(struct explorer *x, uint32_t side);
void known_add(struct explorer *x, uint64_t state, uint32_t parent); /* unless it is known */
uint32_t known_state(const struct explorer *x, uint64_t state);      /* NO_STATE: it is not */
uint32_t known_alone(const struct explorer *x, uint64_t side); /* the state with the other idle */
bool known_open(const struct explorer *x, uint64_t state); /* a create with both is not settled */
void known_fini(struct explorer *x);

/* --- step.c --- */

struct step {
	uint64_t to;
	unsigned heal;
	const struct known_move *m[SIDES]; /* NULL: that side stays */
};

typedef bool (*step_fn)(struct explorer *x, const struct step *s, void *ctx); /* true: enough */

struct pass {
	step_fn fn;
	void *ctx;
	bool healing; /* only steps on the way back */
	bool alone;   /* the second side is idle */
	bool open;    /* a create with both is not settled */
	uint32_t id[SIDES];
};

/* From the state of this number: step_all() then calls fn for each step that may be next. */
struct pass step_pass(struct explorer *x, uint32_t state, step_fn fn, void *ctx, bool healing);
bool step_all(struct explorer *x, const struct pass *p); /* true: fn had enough */

/* --- back.c --- */

/* Find the way back from each state that is known, or print which has none. */
void back_from_all(struct explorer *x);

/* --- explore.c --- */

/* Print what is wrong in this state, or one step after it, and the way there. */
void explore_violation(struct explorer *x, uint32_t state, const char *what);

#endif
