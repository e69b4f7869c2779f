/* explore.c - breadth first, until nothing new comes.
 *
 * A side is what one node can be in; there are some thousands of them, each is made out once by the
 * real code and then known by its number, with all its moves.  A state is a pair of numbers.
 *
 * Two nodes have nothing in common but a create that has both, a list and a crash.  What a list
 * says of one does not depend on what it says of the other, so one list is as good as two; a crash
 * of both is as good as two crashes, for between them nothing has to happen.  So while no create
 * has both, the states of two nodes are all pairs of the states of one, and these are searched with
 * the other side idle.  Then come the pairs that may go out together, and from there all pairs
 * until their create is settled.  What is left of an older generation goes its own way meanwhile,
 * whoever else is in that create, so these pairs start without it; and so does a side whose own
 * part of it is settled: it stands still.  That all this leaves nothing out is not only said: each
 * side of each pair must be one that is known alone. */
#include <assert.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model.h"

enum { WAY_MAX = 1000 };
enum { UNKNOWN, DONE, ON_THE_WAY, UP_A = 4, UP_B = 8 }; /* fates */

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

/* An assertion in node.c must say which way led to it. */
static sigjmp_buf on_assert;

static void aborted(int signum)
{
	(void)signum;
	siglongjmp(on_assert, 1);
}

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	return v ^ v >> 29;
}

static void table_grow(struct table *t, uint64_t size)
{
	free(t->slot);
	t->slot = mem_zalloc(size * sizeof(*t->slot));
	memset(t->slot, 0xff, size * sizeof(*t->slot));
	t->mask = size - 1;
}

/* --- sides -------------------------------------------------------------------------------------
 */

static void describe(struct known_side *k, const struct side *s, const struct rules *r)
{
	for (unsigned i = 0; i < GENS; i++) {
		const struct life *l = &s->g[i];

		if (!life_has_row(l) || !l->joint)
			continue;
		k->joint = true;
		k->open = l->state == NODE_CREATING || l->state == NODE_INDOUBT;
		k->inflight = l->creating;
		k->wants = l->state == NODE_INDOUBT && !l->creating &&
			   life_want(l, i, r, false) == NODE_WANT_CREATE;
		/* as repeatable() in launch.c: nothing of it may be settled otherwise */
		k->named = l->state == NODE_INDOUBT ||
			   (l->state == NODE_GONE ? l->known : l->state >= NODE_BOOTING);
	}
}

static uint32_t intern(struct explorer *x, const struct side *s)
{
	uint64_t key = side_pack(s), at;

	if ((x->nsides + 1) * 2 > x->by_side.mask) {
		table_grow(&x->by_side, x->nsides < 4096 ? 16384 : 4 * (x->by_side.mask + 1));
		for (uint32_t i = 0; i < x->nsides; i++) {
			at = mix(x->sides[i].key) & x->by_side.mask;
			while (x->by_side.slot[at] != NO_STATE)
				at = (at + 1) & x->by_side.mask;
			x->by_side.slot[at] = i;
		}
	}
	at = mix(key) & x->by_side.mask;
	for (; x->by_side.slot[at] != NO_STATE; at = (at + 1) & x->by_side.mask)
		if (x->sides[x->by_side.slot[at]].key == key)
			return x->by_side.slot[at];
	if (x->nsides == x->sides_cap) {
		x->sides_cap = x->sides_cap == 0 ? 1024 : 2 * x->sides_cap;
		x->sides = mem_realloc(x->sides, x->sides_cap * sizeof(*x->sides));
	}
	x->sides[x->nsides] = (struct known_side){.key = key, .plain = NO_STATE};
	describe(&x->sides[x->nsides], s, x->r);
	x->by_side.slot[at] = (uint32_t)x->nsides;
	return (uint32_t)x->nsides++;
}

static void expand_side(struct explorer *x, uint32_t id)
{
	struct side s = side_unpack(x->sides[id].key);
	struct known_move *v;
	size_t n = 0;

	if (x->sides[id].expanded)
		return;
	side_moves(&s, x->r, x->scratch);
	v = mem_zalloc((x->scratch->n + 1) * sizeof(*v));
	for (size_t i = 0; i < x->scratch->n; i++) {
		const struct move *m = &x->scratch->v[i];
		struct known_move to = {.to = intern(x, &m->to),
					.kind = (uint8_t)m->kind,
					.gen = (uint8_t)m->gen,
					.heal = (uint8_t)m->heal,
					.what = m->what};

		if (to.to != id || m->kind != ALONE)
			v[n++] = to;
	}
	x->sides[id].moves = v;
	x->sides[id].nmoves = n;
	x->sides[id].expanded = true;
	for (size_t i = 0; i < n; i++) {
		x->sides[id].buys = x->sides[id].buys || v[i].kind == BUY_BOTH;
		if (v[i].kind == VIOLATION && x->sides[id].bad == NULL)
			x->sides[id].bad = &v[i];
	}
}

/* The create with both is settled: nobody needs to know of it any more (launch_settle()). */
static uint32_t settled(struct explorer *x, uint32_t id)
{
	struct side s = side_unpack(x->sides[id].key);
	uint32_t plain;

	if (x->sides[id].plain != NO_STATE)
		return x->sides[id].plain;
	for (unsigned i = 0; i < GENS; i++)
		s.g[i].joint = false;
	plain = intern(x, &s);
	x->sides[id].plain = plain;
	return plain;
}

/* --- one step of both --------------------------------------------------------------------------
 */

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

static bool emit(struct explorer *x, const struct pass *p, const struct known_move *a,
		 const struct known_move *b)
{
	struct step s = {.m = {a, b}};
	uint32_t to[SIDES] = {a != NULL ? a->to : p->id[0], b != NULL ? b->to : p->id[1]};

	if (a != NULL)
		s.heal = a->heal;
	if (b != NULL && (s.heal == 0 || (b->heal != 0 && b->heal < s.heal)))
		s.heal = b->heal;
	if (p->healing && s.heal == 0)
		return false;
	if ((x->sides[to[0]].joint || x->sides[to[1]].joint) && !x->sides[to[0]].open &&
	    !x->sides[to[1]].open) {
		to[0] = settled(x, to[0]);
		to[1] = settled(x, to[1]);
	}
	s.to = (uint64_t)to[0] << 32 | to[1];
	return p->fn(x, &s, p->ctx);
}

static bool has(const struct known_side *k, enum move_kind kind)
{
	for (size_t i = 0; i < k->nmoves; i++)
		if (k->moves[i].kind == kind)
			return true;
	return false;
}

/* May this one be taken now?  On the way back every answer is the true one. */
static bool fits(const struct pass *p, const struct known_move *m, enum move_kind kind)
{
	return m == NULL || (m->kind == kind && (!p->healing || kind != ANSWER || m->heal != 0));
}

/* Both sides at once, each by one of its moves of this kind; alone where the other has none. */
static bool both(struct explorer *x, const struct pass *p, enum move_kind kind)
{
	const struct known_side a = x->sides[p->id[0]], b = x->sides[p->id[1]];
	bool any_a = has(&a, kind) && (a.open || !p->open);
	bool any_b = has(&b, kind) && (b.open || !p->open);

	if (!any_a && !any_b)
		return false;
	for (size_t i = 0; i < (any_a ? a.nmoves : 1); i++)
		for (size_t k = 0; k < (any_b ? b.nmoves : 1); k++) {
			const struct known_move *ma = any_a ? &a.moves[i] : NULL;
			const struct known_move *mb = any_b ? &b.moves[k] : NULL;

			if (fits(p, ma, kind) && fits(p, mb, kind) && emit(x, p, ma, mb))
				return true;
		}
	return false;
}

/* The create with both, once more: the same members, or not at all (I4, I5). */
static bool repeat(struct explorer *x, const struct pass *p)
{
	const struct known_side *a = &x->sides[p->id[0]], *b = &x->sides[p->id[1]];
	bool whole = a->joint && b->joint && a->named && b->named;

	if (a->inflight || b->inflight || (!a->wants && !b->wants))
		return false;
	if (whole && both(x, p, REPEAT))
		return true;
	if (whole && p->healing)
		return false;
	return both(x, p, GIVE_UP);
}

static bool is_open(const struct explorer *x, uint64_t key)
{
	return x->sides[key >> 32].open || x->sides[(uint32_t)key].open;
}

static bool steps_of(struct explorer *x, const struct pass *p, int side)
{
	for (size_t i = 0; i < x->sides[p->id[side]].nmoves; i++) {
		const struct known_move *m = &x->sides[p->id[side]].moves[i];
		bool alone = m->kind == ALONE || (m->kind == RESTART && p->alone);

		if (alone && emit(x, p, side == 0 ? m : NULL, side == 1 ? m : NULL))
			return true;
	}
	return false;
}

static bool steps(struct explorer *x, const struct pass *p)
{
	if (p->alone)
		return steps_of(x, p, 0);
	if (!p->open)
		return both(x, p, BUY_BOTH);
	for (int i = 0; i < SIDES; i++)
		if (x->sides[p->id[i]].open && steps_of(x, p, i))
			return true;
	return both(x, p, ANSWER) || repeat(x, p) || (!p->healing && both(x, p, RESTART));
}

static struct pass pass_at(struct explorer *x, uint32_t state, step_fn fn, void *ctx, bool healing)
{
	struct pass p = {.fn = fn, .ctx = ctx, .healing = healing};

	p.id[0] = (uint32_t)(x->states[state] >> 32);
	p.id[1] = (uint32_t)x->states[state];
	p.alone = state < x->nalone || x->nalone == 0;
	p.open = is_open(x, x->states[state]);
	expand_side(x, p.id[0]);
	expand_side(x, p.id[1]);
	return p;
}

/* --- states ------------------------------------------------------------------------------------
 */

static uint64_t place_of(const struct explorer *x, uint64_t key)
{
	uint64_t at = mix(key) & x->by_state.mask;

	while (x->by_state.slot[at] != NO_STATE && x->states[x->by_state.slot[at]] != key)
		at = (at + 1) & x->by_state.mask;
	return at;
}

static void grow(struct explorer *x)
{
	x->cap = x->cap == 0 ? 1 << 16 : 2 * x->cap;
	x->states = mem_realloc(x->states, x->cap * sizeof(*x->states));
	x->parent = mem_realloc(x->parent, x->cap * sizeof(*x->parent));
	table_grow(&x->by_state, 2 * x->cap);
	for (size_t i = 0; i < x->n; i++)
		x->by_state.slot[place_of(x, x->states[i])] = (uint32_t)i;
}

static void add_state(struct explorer *x, uint64_t key, uint32_t parent)
{
	uint64_t at;

	if (x->n == x->cap)
		grow(x);
	at = place_of(x, key);
	if (x->by_state.slot[at] != NO_STATE)
		return;
	assert(x->n < NO_STATE);
	x->by_state.slot[at] = (uint32_t)x->n;
	x->states[x->n] = key;
	x->parent[x->n++] = parent;
}

/* --- telling -----------------------------------------------------------------------------------
 */

struct named_step {
	uint64_t to;
	struct step found;
};

static bool name_step(struct explorer *x, const struct step *s, void *ctx)
{
	struct named_step *ns = ctx;

	(void)x;
	if (s->to == ns->to)
		ns->found = *s;
	return s->to == ns->to;
}

static void print_state(const struct explorer *x, uint64_t key)
{
	struct side a = side_unpack(x->sides[key >> 32].key);
	struct side b = side_unpack(x->sides[(uint32_t)key].key);

	side_print(&a, "a");
	side_print(&b, "| b");
	(void)printf("\n");
}

static void print_step(const struct step *s)
{
	(void)printf("#  ");
	for (int i = 0; i < SIDES; i++)
		if (s->m[i] != NULL)
			(void)printf(" %c%u: %s;", 'a' + i, s->m[i]->gen + 1u, s->m[i]->what);
	(void)printf("\n");
}

static uint32_t alone(const struct explorer *x, uint64_t side)
{
	return x->by_state.slot[place_of(x, side << 32 | x->idle)];
}

static void print_way(struct explorer *x, uint32_t state, unsigned *length)
{
	uint32_t from = x->parent[state];

	if (from == FROM_BOTH) {
		print_way(x, alone(x, x->states[state] >> 32), length);
		(void)printf("# and the other one:\n");
		print_way(x, alone(x, (uint32_t)x->states[state]), length);
		(void)printf("# so both are:\n");
	} else if (from != NO_STATE) {
		struct named_step ns = {.to = x->states[state]};
		struct pass p = pass_at(x, from, name_step, &ns, false);

		print_way(x, from, length);
		(void)steps(x, &p);
		print_step(&ns.found);
		++*length;
	}
	(void)printf("#");
	print_state(x, x->states[state]);
}

static void violation(struct explorer *x, uint32_t state, const char *what)
{
	unsigned length = 0;

	x->violated = true;
	(void)printf("# VIOLATED: %s\n", what);
	print_way(x, state, &length);
	(void)printf("# %u steps\n", length);
}

/* --- the search --------------------------------------------------------------------------------
 */

struct search {
	uint32_t from;
	bool alone, astray;
};

static bool is_known(struct explorer *x, uint32_t side)
{
	return alone(x, settled(x, side)) != NO_STATE;
}

static bool take_step(struct explorer *x, const struct step *s, void *ctx)
{
	struct search *se = ctx;

	x->sum->transitions++;
	se->astray = !se->alone &&
		     (!is_known(x, (uint32_t)(s->to >> 32)) || !is_known(x, (uint32_t)s->to));
	if (se->alone || is_open(x, s->to))
		add_state(x, s->to, se->from);
	return se->astray;
}

static bool check_sides(struct explorer *x, const struct pass *p, uint32_t at)
{
	for (int i = 0; i < SIDES; i++) {
		const struct known_move *bad = x->sides[p->id[i]].bad;
		char what[200];

		if (bad == NULL)
			continue;
		(void)snprintf(what, sizeof(what), "%s (one more step of %c%u)", bad->what, 'a' + i,
			       bad->gen + 1u);
		violation(x, at, what);
		return false;
	}
	return true;
}

static void search(struct explorer *x)
{
	if (sigsetjmp(on_assert, 1) != 0) {
		violation(x, (uint32_t)x->at, "an assertion of the code fails in one more step");
		return;
	}
	for (x->level = x->n; x->at < x->n && !x->violated; x->at++) {
		struct search se = {.from = (uint32_t)x->at, .alone = x->nalone == 0};
		struct pass p;

		if (x->at == x->level) {
			x->level = x->n;
			x->sum->depth++;
		}
		p = pass_at(x, se.from, take_step, &se, false);
		if (!check_sides(x, &p, se.from))
			return;
		(void)steps(x, &p);
		if (se.astray)
			violation(x, se.from,
				  "one more step leads to a node that one alone cannot be");
	}
}

/* May it go out with another one, and is nothing of another generation left? */
static bool pairs(const struct explorer *x, size_t state)
{
	const struct known_side *k = &x->sides[x->states[state] >> 32];
	struct side s = side_unpack(k->key);

	for (unsigned i = 0; i < GENS; i++)
		if (life_has_row(&s.g[i]) && s.g[i].state != NODE_WANTED &&
		    (s.g[i].state != NODE_GONE || s.g[i].instance != NONE || s.g[i].deleting))
			return false;
	return k->buys;
}

static void pair_up(struct explorer *x)
{
	x->nalone = x->n;
	for (size_t i = 0; i < x->nalone; i++)
		for (size_t k = i; pairs(x, i) && k < x->nalone; k++)
			if (pairs(x, k))
				add_state(x,
					  (x->states[i] & ~UINT64_C(0xffffffff)) |
						  x->states[k] >> 32,
					  FROM_BOTH);
}

/* --- the way back (I23, I24) -------------------------------------------------------------------
 */

struct best {
	uint64_t from;
	struct step step;
};

static bool choose(struct explorer *x, const struct step *s, void *ctx)
{
	struct best *b = ctx;

	(void)x;
	if (s->to != b->from && (b->step.heal == 0 || s->heal < b->step.heal))
		b->step = *s;
	return false;
}

/* What is wanted and may still be bought comes up: a report is for what the model has no third
 * generation for. */
static bool fulfilled(const struct side *s, bool up)
{
	return !s->want || up || life_has_row(&s->g[GENS - 1]);
}

static bool judge(struct explorer *x, uint32_t state, uint8_t fate)
{
	struct side a = side_unpack(x->sides[x->states[state] >> 32].key);
	struct side b = side_unpack(x->sides[(uint32_t)x->states[state]].key);

	x->fate[state] = fate;
	return fulfilled(&a, (fate & UP_A) != 0) && fulfilled(&b, (fate & UP_B) != 0);
}

static bool is_done(const struct explorer *x, uint64_t key, uint8_t *fate)
{
	struct side a = side_unpack(x->sides[key >> 32].key);
	struct side b = side_unpack(x->sides[(uint32_t)key].key);

	*fate = (uint8_t)(DONE | (a.want ? UP_A : 0) | (b.want ? UP_B : 0));
	return side_done(&a) && side_done(&b);
}

/* What becomes of two that have nothing in common any more. */
static uint8_t fate_of_both(const struct explorer *x, uint64_t key)
{
	uint8_t a = x->fate[alone(x, key >> 32)], b = x->fate[alone(x, (uint32_t)key)];

	return (uint8_t)(DONE | (a & UP_A) | ((b & UP_A) != 0 ? UP_B : 0));
}

/* From here to a state whose fate is known.  The states of the way are on way[]. */
static const char *walk(struct explorer *x, uint32_t state, uint32_t *way, size_t *n)
{
	while (x->fate[state] == UNKNOWN) {
		struct best b = {.from = x->states[state]};
		struct pass p = pass_at(x, state, choose, &b, true);
		uint8_t fate;

		if (*n == WAY_MAX)
			return "I24: the way back to order does not end";
		way[(*n)++] = state;
		x->fate[state] = ON_THE_WAY;
		if (is_done(x, b.from, &fate)) {
			x->fate[state] = fate;
			return NULL;
		}
		if (!p.alone && !p.open) {
			x->fate[state] = fate_of_both(x, b.from);
			return NULL;
		}
		(void)steps(x, &p);
		if (b.step.heal == 0)
			return "I24: no way back to order from here";
		if (!p.alone && !is_open(x, b.step.to)) {
			x->fate[state] = fate_of_both(x, b.step.to);
			return NULL;
		}
		state = x->by_state.slot[place_of(x, b.step.to)];
		assert(state != NO_STATE);
		if (x->fate[state] == ON_THE_WAY)
			return "I24: the way back to order goes round in a circle";
	}
	way[(*n)++] = state;
	return NULL;
}

static void heal_all(struct explorer *x)
{
	uint32_t way[WAY_MAX + 1];

	x->fate = mem_zalloc(x->n);
	for (uint32_t i = 0; i < x->n && !x->violated; i++) {
		size_t n = 0;
		const char *wrong;

		if (x->fate[i] != UNKNOWN)
			continue;
		wrong = walk(x, i, way, &n);
		if (wrong != NULL) {
			violation(x, way[n - 1], wrong);
			return;
		}
		x->sum->longest = n > x->sum->longest ? n : x->sum->longest;
		for (size_t k = n; k-- > 0;)
			if (!judge(x, way[k], x->fate[way[n - 1]])) {
				violation(x, way[k], "I24: wanted, and never bought again");
				return;
			}
	}
}

bool explore(const struct rules *r, struct summary *out)
{
	struct explorer *x = mem_zalloc(sizeof(*x));
	const struct side first = {.g = {{.state = NO_ROW}, {.state = NO_ROW}}};
	bool ok;

	*out = (struct summary){0};
	x->r = r;
	x->sum = out;
	x->scratch = mem_zalloc(sizeof(*x->scratch));
	(void)signal(SIGABRT, aborted);
	x->idle = intern(x, &first);
	add_state(x, (uint64_t)x->idle << 32 | x->idle, NO_STATE);
	search(x);
	if (!x->violated && !r->alone) {
		pair_up(x);
		search(x);
	}
	if (!x->violated)
		heal_all(x);
	(void)signal(SIGABRT, SIG_DFL);
	out->alone = x->nalone != 0 ? x->nalone : x->n;
	out->states = x->n;
	ok = !x->violated;
	for (size_t i = 0; i < x->nsides; i++)
		free(x->sides[i].moves);
	free(x->sides);
	free(x->by_side.slot);
	free(x->by_state.slot);
	free(x->states);
	free(x->parent);
	free(x->fate);
	free(x->scratch);
	free(x);
	return ok;
}
